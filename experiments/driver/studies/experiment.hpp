// An experiment in a TOML file: what to run, what to draw, and what a paper says should come out.
//
//   name = "fig02"                         # letters, digits, - and _; names the output folder
//   title = "TACOS, Fig. 2"
//   seed = 1                               # default 1
//   [topologies]                           # label = text of `tutti -t` (files: beside this one)
//   Mesh = "mesh2d:8x8,bandwidth=50GB/s,latency=0.5us"
//   [[runs]], [[frontiers]], [[jobs]], [[failures]], [[training]], [[executions]], [[bounds]],
//   [[fits]]                               # at least one of these kinds of study: docs/formats/
//                                          # has the format of each, that of [[figures]] with
//                                          # [[runs]], and of [[expect]]
//   include = ["gpu_rate"]                 # the executions of gpu_rate.toml beside this file, too;
//                                          # their labels become "gpu_rate: LABEL". It has nothing
//                                          # but executions, and includes no others
//
// Unknown keys and labels are errors.
#pragma once

#include "experiments/driver/studies/bounds/study.hpp"
#include "experiments/driver/studies/executions/study.hpp"
#include "experiments/driver/studies/failures/study.hpp"
#include "experiments/driver/studies/fits/study.hpp"
#include "experiments/driver/studies/frontiers/study.hpp"
#include "experiments/driver/studies/jobs/study.hpp"
#include "experiments/driver/studies/runs/study.hpp"
#include "experiments/driver/studies/study.hpp"
#include "experiments/driver/studies/training/study.hpp"
#include "sim/files/config.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace tutti {

/// The kinds of study, in the order in which they run. Each is a folder, and a row here.
using AnyStudy = std::variant<RunStudy,       //
                              FrontierStudy,  //
                              JobStudy,       //
                              FailureStudy,   //
                              TrainingStudy,  //
                              ExecutionStudy, //
                              BoundStudy,     //
                              FitStudy>;

/// Calls `body` with each kind of study, as a type.
template <typename Body> void for_each_kind(const Body& body) {
  [&body]<typename... Kinds>(std::type_identity<std::variant<Kinds...>>) {
    (body(std::type_identity<Kinds>{}), ...);
  }(std::type_identity<AnyStudy>{});
}

/// "runs": as its tables are called.
[[nodiscard]] std::string_view kind_of(const AnyStudy& study);
/// Names of all kinds, in the order of AnyStudy.
[[nodiscard]] std::vector<std::string> kind_names();
/// Those that rows of every study of a kind have. Pre: the name of a kind.
[[nodiscard]] std::vector<RecordColumn> columns_of_kind(std::string_view kind);
/// How many cases it has.
[[nodiscard]] std::size_t case_count(const AnyStudy& study);
/// Empty where it is the only one of its kind.
[[nodiscard]] const std::string& label_of(const AnyStudy& study);
/// Errors: InputError.
void require_sound(const AnyStudy& study, Networks networks);
[[nodiscard]] StudyResult run_study(const AnyStudy& study, const StudyRun& how);

struct Experiment {
  std::string name, title;
  std::uint64_t seed = 1;
  std::vector<LabelledTopology> topologies;
  std::vector<AnyStudy> studies; ///< by kind, then as in the file

  /// Those of one kind.
  template <typename Kind> [[nodiscard]] std::vector<const Kind*> all() const {
    std::vector<const Kind*> found;
    for (const AnyStudy& study : studies)
      if (const auto* one = std::get_if<Kind>(&study)) found.push_back(one);
    return found;
  }
};

/// Errors: InputError with file:line:column for anything wrong or unknown.
[[nodiscard]] Experiment parse_experiment(std::string_view toml, const std::string& source_name,
                                          ProgramGate gate = {});
[[nodiscard]] Experiment parse_experiment(ConfigTable table, const std::string& source_name);
[[nodiscard]] Experiment read_experiment(const std::string& file);

/// From topologies and what runs on them, without name, title and seed.
[[nodiscard]] Experiment unnamed_experiment(ConfigTable table, const std::string& source_name,
                                            std::uint64_t seed);

} // namespace tutti
