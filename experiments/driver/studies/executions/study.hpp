// What an experiment asks of executions ([[executions]]; format at the head of reader.hpp).
#pragma once

#include "experiments/driver/studies/executions/evaluation.hpp"
#include "experiments/driver/studies/executions/expectation.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tutti {

struct ExecutionStudy {
  std::string label;        ///< unique in its experiment
  std::size_t topology = 0; ///< into Experiment::topologies
  ExecutionCase execution;  ///< without its topology, which the experiment sets
  std::vector<ExecutionExpectation> expectations;
};

} // namespace tutti
