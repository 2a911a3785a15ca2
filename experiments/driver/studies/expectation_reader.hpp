// The [[expect]] tables of an experiment's file.
#pragma once

#include "experiments/driver/studies/expectation.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/study.hpp"
#include "sim/files/config.hpp"

#include <span>

namespace tutti {

/// Selectors (`of`, `over`) pick cases; a missing field picks all. Where they pick several for a
/// mean, each case of `of` meets every case of `over` with the same topology, collective and size,
/// and the same chunks unless a selector names them or an algorithm chooses them.
/// Pre: `cases` are those of [[runs]], on these networks. Errors: InputError with file:line:column.
[[nodiscard]] Expectation read_expectation(ConfigTable table, Networks networks,
                                           std::span<const Case> cases);

} // namespace tutti
