// Papers count C, the chunks of an NPU's buffer, where we count chunks per shard: how many of
// theirs one of ours is depends on the collective, and a C that it doesn't divide is no algorithm
// of it.
#include "experiments/driver/studies/frontiers/study.hpp"

#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

namespace {

constexpr std::int64_t most_counted = 1 << 20; // chunks, steps, rounds; more is a slip

// Reads the collective and the sizes at which it is tried; how many shards an NPU's buffer has, as
// the paper counts chunks of the whole buffer. Makes no collective of a name, which may be of any
// size.
std::uint32_t read_collective_and_sizes(ConfigTable& table, const Topology& topology,
                                        const std::string& source_name, FrontierStudy& study) {
  const ConfigValue value = table.at("collective");
  study.collective = collective_beside(value.string(), source_name);
  if (is_collective_file(study.collective)) {
    if (const auto sizes = table.find("sizes"))
      throw sizes->error("the size of a collective from a file is in the file");
    const Collective collective =
        value.located([&] { return read_collective(study.collective, topology); });
    if (const std::string obstacle = frontier_obstacle(topology, collective); !obstacle.empty())
      throw value.error(obstacle);
    study.sizes = {collective.size()};
    return counted_chunks(collective.parts.front());
  }
  study.sizes = sizes_at(table, "sizes", "1KiB..1GiB");
  if (!std::is_sorted(study.sizes.begin(), study.sizes.end()))
    throw table.at("sizes").error("sizes must ascend");
  const CollectiveSpec spec = parsed(value, parse_collective);
  CollectivePart part;
  part.kind = spec.kind;
  part.group = spec.group;
  if (part.group.empty()) part.group.resize(topology.npu_count());
  return counted_chunks(part);
}

std::uint32_t counted_at(ConfigTable& table, const std::string& key) {
  return static_cast<std::uint32_t>(table.at(key).integer(1, most_counted));
}

PaperInstance read_instance(ConfigTable table, std::uint32_t shards_per_buffer) {
  PaperInstance instance;
  const ConfigValue chunks = table.at("chunks");
  instance.chunks = counted_at(table, "chunks");
  if (instance.chunks % shards_per_buffer != 0)
    throw chunks.error(fmt::format("{} chunks can't be: this collective has a multiple of {}",
                                   instance.chunks, shards_per_buffer));
  instance.chunks_per_shard = instance.chunks / shards_per_buffer;
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

FrontierStudy read_frontier(ConfigTable table, const Experiment& experiment,
                            const std::string& source_name, std::span<const FrontierStudy> others) {
  const Networks networks = experiment.topologies;
  FrontierStudy study;
  study.label = label_at(table, others);
  study.options = options_of(table, experiment.seed, source_name);
  study.engines = parsed_at(table, "engine", "both", parse_engines);
  study.topology = topology_at(table, networks);
  const Topology& topology = networks[study.topology].topology;
  const std::uint32_t shards_per_buffer =
      read_collective_and_sizes(table, topology, source_name, study);
  if (const auto settings = table.find("settings"))
    settings->located([&] { (void)request_of(study.frontier(networks)); });
  for (ConfigTable& row : table.tables("paper"))
    study.paper.push_back(read_instance(row, shards_per_buffer));
  table.finish();
  return study;
}

} // namespace

std::vector<FrontierStudy> FrontierStudy::read_all(ConfigTable& root, const Experiment& experiment,
                                                   const std::string& source_name) {
  return studies_in<FrontierStudy>(
      root, [&](const ConfigTable& table, std::span<const FrontierStudy> others) {
        return read_frontier(table, experiment, source_name, others);
      });
}

} // namespace tutti
