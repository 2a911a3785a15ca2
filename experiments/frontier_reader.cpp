#include "experiments/frontier_reader.hpp"

#include "experiments/experiment_values.hpp"
#include "experiments/frontier_figure.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tutti {

namespace {

constexpr std::int64_t most_counted = 1 << 20; // chunks, steps, rounds; more is a slip

std::string read_label(ConfigTable& table, const Experiment& experiment) {
  const ConfigValue value = table.at("label");
  const std::string label = value.string();
  if (figure_stem(label) == figure_stem("")) throw value.error("a label needs letters or digits");
  for (const FrontierStudy& other : experiment.frontiers)
    if (figure_stem(other.label) == figure_stem(label))
      throw value.error(
          fmt::format("\"{}\" would have the same files as \"{}\"", label, other.label));
  return label;
}

// The collective with one chunk per shard, and the sizes at which it is tried.
Collective read_problem(ConfigTable& table, const Experiment& experiment, FrontierStudy& study) {
  const ConfigValue topology = table.at("topology");
  study.topology = topology_index(topology, experiment.topologies);
  const ConfigValue value = table.at("collective");
  study.collective = value.string();
  const bool named = !is_collective_file(study.collective);
  if (const auto sizes = table.find("sizes"); sizes && !named)
    throw sizes->error("the size of a collective from a file is in the file");
  study.sizes = sizes_at(table, "sizes", "1KiB..1GiB");
  if (!std::is_sorted(study.sizes.begin(), study.sizes.end()))
    throw table.at("sizes").error("sizes must ascend");
  const FrontierCase c = experiment.frontier_case(study);
  Collective collective = value.located([&] { return collective_of(c, study.sizes.back(), 1); });
  if (!named) study.sizes = {collective.size()};
  if (const std::string obstacle = frontier_obstacle(*c.topology, collective); !obstacle.empty())
    throw value.error(obstacle);
  return collective;
}

std::uint32_t counted_at(ConfigTable& table, const std::string& key) {
  return static_cast<std::uint32_t>(table.at(key).integer(1, most_counted));
}

PaperInstance read_instance(ConfigTable table, std::uint32_t chunks_of_piece) {
  PaperInstance instance;
  const ConfigValue chunks = table.at("chunks");
  instance.chunks = counted_at(table, "chunks");
  if (instance.chunks % chunks_of_piece != 0)
    throw chunks.error(fmt::format("{} chunks can't be: this collective has a multiple of {}",
                                   instance.chunks, chunks_of_piece));
  instance.pieces = instance.chunks / chunks_of_piece;
  instance.steps = counted_at(table, "steps");
  instance.rounds = counted_at(table, "rounds");
  if (instance.rounds < instance.steps)
    throw table.at("rounds").error(fmt::format("{} steps need as many rounds", instance.steps));
  if (const auto claimed = table.find("optimality"))
    instance.claimed = parsed(*claimed, parse_optimality);
  if (const auto seconds = table.find("seconds")) {
    instance.seconds = seconds->number();
    if (*instance.seconds < 0) throw seconds->error("a time can't be below 0");
  }
  instance.explanation = string_at(table, "explanation");
  table.finish();
  return instance;
}

} // namespace

FrontierStudy read_frontier(ConfigTable table, const Experiment& experiment) {
  FrontierStudy study;
  study.label = read_label(table, experiment);
  study.options = options_of(table, experiment.seed);
  const Collective collective = read_problem(table, experiment, study);
  if (const auto settings = table.find("settings"))
    settings->located([&] { (void)request_of(experiment.frontier_case(study)); });
  const std::uint32_t chunks_of_piece = counted_chunks(collective.parts.front());
  for (ConfigTable& row : table.tables("paper"))
    study.paper.push_back(read_instance(row, chunks_of_piece));
  table.finish();
  return study;
}

} // namespace tutti
