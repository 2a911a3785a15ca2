// The order matters: networks and algorithms first, then the work, which must fit the networks,
// then what befalls it, then expectations, which are checked against the runs that there will be.
// So an expectation that picks nothing, or too much, is an error before hours of simulation.
#include "experiments/driver/studies/training/study.hpp"

#include "experiments/driver/cache/schedule_cache.hpp"
#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/studies/event_reader.hpp"
#include "experiments/driver/studies/expectation_reader.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"
#include "experiments/driver/studies/training/work_reader.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tutti {

namespace {

constexpr std::string_view automatic = "auto";
constexpr std::size_t most_variants = 4096; // more is a slip

std::vector<std::string> strings_of(const ConfigValue& value) {
  std::vector<std::string> texts;
  for (const ConfigValue& item : list_of(value)) texts.push_back(item.string());
  if (texts.empty()) throw value.error("the list is empty");
  return texts;
}

/// Candidates of `auto` by default: quick algorithms that plan most collectives.
std::vector<AlgorithmRow> default_candidates() {
  const std::vector<std::string> names{"direct", "ring", "rhd", "dbt", "tacos"};
  return find_algorithms(names);
}

std::vector<TrainingPlan> parse_plans(const std::vector<std::string>& names,
                                      const std::vector<AlgorithmRow>& candidates) {
  std::vector<TrainingPlan> plans;
  for (const std::string& name : names) {
    if (std::ranges::find(plans, name, &TrainingPlan::name) != plans.end())
      throw InputError(fmt::format("algorithm {} is named twice", name));
    plans.push_back({name, name == automatic ? candidates : std::vector{find_algorithm(name)}});
  }
  return plans;
}

std::vector<TrainingPlan> read_plans(ConfigTable& table) {
  const ConfigValue algorithms = table.at("algorithms");
  const std::vector<std::string> names = strings_of(algorithms);
  const auto given = table.find("candidates");
  if (given && std::ranges::find(names, automatic) == names.end())
    throw given->error("\"candidates\" are of algorithm \"auto\", which isn't asked for");
  const std::vector<AlgorithmRow> candidates =
      given ? given->located([&] { return find_algorithms(strings_of(*given)); })
            : default_candidates();
  return algorithms.located([&] { return parse_plans(names, candidates); });
}

/// All of them under each.
std::vector<TrainingPlan> under_transports(const std::vector<TrainingPlan>& plans,
                                           const ConfigValue& value) {
  std::vector<TrainingPlan> all;
  for (const ConfigValue& item : list_of(value)) {
    const std::shared_ptr<const Transport> transport = parsed(item, parse_transport);
    for (TrainingPlan plan : plans) {
      plan.transport = transport;
      if (std::ranges::any_of(all, [&](const TrainingPlan& other) {
            return other.name == plan.name && other.transport_name() == plan.transport_name();
          }))
        throw item.error(fmt::format("transport {} is named twice", plan.transport_name()));
      all.push_back(std::move(plan));
    }
  }
  if (all.empty()) throw value.error("the list is empty");
  return all;
}

std::map<std::string, AlgorithmRow> read_by_collective(ConfigTable& table) {
  std::map<std::string, AlgorithmRow> rows;
  const auto value = table.find("by_collective");
  if (!value) return rows;
  ConfigTable pairs = value->table();
  for (const std::string& name : pairs.keys()) {
    const ConfigValue algorithm = pairs.at(name);
    (void)algorithm.located([&] { return parse_collective_kind(name); });
    rows.emplace(name, parsed(algorithm, find_algorithm));
  }
  return rows;
}

// None: auto.
std::vector<std::uint32_t> read_chunks(ConfigTable& table) {
  std::vector<std::uint32_t> numbers;
  const auto value = table.find("chunks");
  if (!value) return numbers;
  const std::vector<ConfigValue> items = list_of(*value);
  for (const ConfigValue& item : items) {
    const auto chunks = chunks_of(item);
    if (chunks) numbers.push_back(*chunks);
    if (!chunks && items.size() > 1)
      throw item.error("\"auto\" stands alone, without numbers beside it");
  }
  return numbers;
}

/// At which an NPU reduces whose memory has this rate.
Bandwidth reduction_rate(Bandwidth local_memory) {
  constexpr std::int64_t accesses = 3; // two operands and the sum
  if (local_memory.bytes_per_second < accesses)
    throw InputError(fmt::format("{} is too slow for reductions", to_text(local_memory)));
  return {local_memory.bytes_per_second / accesses};
}

PlanningOptions read_planning(ConfigTable& table, std::uint64_t seed,
                              const std::string& source_name) {
  PlanningOptions planning;
  planning.by_collective = read_by_collective(table);
  planning.chunks = read_chunks(table);
  planning.options = options_of(table, seed, source_name);
  if (const auto one = table.find("one_at_a_time")) planning.one_at_a_time = one->boolean();
  if (const auto rate = table.find("local_mem_bw"))
    planning.options.model.reduce_rate = parsed(
        *rate, [](const std::string& text) { return reduction_rate(parse_bandwidth(text)); });
  return planning;
}

std::string read_cache(ConfigTable& table) {
  const std::string cache = string_at(table, "cache");
  return cache.empty() ? default_schedule_cache() : cache == "none" ? "" : cache;
}

std::vector<Straggler> read_stragglers(ConfigTable& table,
                                       std::span<const TrainingNetwork> networks) {
  std::vector<Straggler> stragglers;
  const auto value = table.find("stragglers");
  if (!value) return stragglers;
  ConfigTable pairs = value->table();
  for (const std::string& name : pairs.keys()) {
    const ConfigValue share = pairs.at(name);
    stragglers.push_back({name, share_of(share)});
    share.located([&] { require_npus({&stragglers.back(), 1}, networks); });
  }
  return stragglers;
}

// What [[failures]] draws at a moment of a run is out of order from the beginning here.
EventPlan read_event_plan(ConfigTable& table, const Topology& topology,
                          const std::string& source_name) {
  for (const char* key : {"at", "generated"})
    if (table.has(key))
      throw table.at(key).error(fmt::format(
          "\"{}\" isn't for training: failed links are out of order from the beginning", key));
  const auto events = table.find("events");
  if (!events || !events->is_string()) return read_events(table, topology);
  EventPlan plan = read_event_file(beside(events->string(), source_name), topology);
  if (plan.draws())
    throw events->error("training takes events that are written one by one, none that are drawn");
  for (const char* key : {"failed_links", "seeds"})
    if (table.has(key))
      throw table.at(key).error("failed links and a file of events are for two studies");
  return plan;
}

void refuse_dead_npus(const EventPlan& plan) {
  for (const PlannedEvent& event : plan.events)
    if (event.what.kind == NetworkEvent::Kind::npu_down)
      throw InputError("training doesn't survive an NPU that goes down");
}

Policy parse_training_policy(const std::string& text) {
  const Policy policy = parse_policy(text);
  if (policy != Policy::reroute && policy != Policy::resynthesize)
    throw InputError(
        fmt::format("training goes on by reroute or resynthesize, not by {}", to_text(policy)));
  return policy;
}

Disturbances read_disturbances(ConfigTable& table, std::span<const TrainingNetwork> networks,
                               const std::string& source_name) {
  Disturbances disturbances;
  disturbances.stragglers = read_stragglers(table, networks);
  for (const TrainingNetwork& network : networks) {
    disturbances.events.push_back(read_event_plan(table, *network.topology, source_name));
    try {
      refuse_dead_npus(disturbances.events.back());
    } catch (const InputError& error) {
      throw table.at("events").error(error.what());
    }
  }
  if (const auto policies = table.find("policies")) {
    if (!table.has("failed_links")) throw policies->error("\"policies\" needs \"failed_links\"");
    disturbances.policies.clear();
    for (const ConfigValue& item : list_of(*policies))
      disturbances.policies.push_back(parsed(item, parse_training_policy));
  }
  return disturbances;
}

/// Networks of a variant, which must be among those of its study.
std::vector<std::size_t> own_topologies(ConfigTable& own, const Experiment& experiment,
                                        std::span<const std::size_t> of_study) {
  return list_at(own, "topologies", std::vector<std::size_t>{}, [&](const ConfigValue& value) {
    const std::size_t network = topology_index(value, experiment.topologies);
    if (std::ranges::find(of_study, network) == of_study.end())
      throw value.error("it isn't among the topologies of its study");
    return network;
  });
}

std::vector<TrainingVariant> read_variants(ConfigTable& table, const Experiment& experiment,
                                           const TrainingStudy& study,
                                           const std::string& source_name) {
  std::vector<TrainingVariant> variants;
  const auto add = [&](std::string name, const WorkKeys& keys,
                       std::vector<std::size_t> topologies) {
    variants.push_back({std::move(name), read_work(keys, source_name), std::move(topologies)});
    for (const std::size_t network : study.topologies)
      if (variants.back().is_for(network))
        require_fitting(keys, variants.back().work, experiment.topologies[network].topology);
  };
  for (ConfigTable& own : table.tables("variants")) {
    if (variants.size() == most_variants) throw own.error("more variants than 4096");
    const ConfigValue name = own.at("name");
    if (std::ranges::find(variants, name.string(), &TrainingVariant::name) != variants.end())
      throw name.error(fmt::format("there is a variant \"{}\" already", name.string()));
    add(name.string(), WorkKeys(table, &own), own_topologies(own, experiment, study.topologies));
    own.finish();
  }
  if (variants.empty()) add("", WorkKeys(table, nullptr), {});
  for (const std::size_t network : study.topologies)
    if (std::ranges::none_of(variants,
                             [&](const auto& variant) { return variant.is_for(network); }))
      throw table.error(
          fmt::format("no variant is for topology \"{}\"", experiment.topologies[network].label));
  return variants;
}

template <typename Names>
std::string one_of(const ConfigValue& value, const char* what, const Names& names) {
  std::string name = value.string();
  const std::vector<std::string> known(names.begin(), names.end());
  if (std::ranges::find(known, name) == known.end())
    throw value.error(unknown_name(what, name, known));
  return name;
}

template <typename Rows, typename Member>
std::vector<std::string> names_of(const Rows& rows, Member member) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.*member);
  return names;
}

/// As training_records() has them.
PlannedRows planned_runs(const TrainingStudy& study, std::span<const TrainingNetwork> networks) {
  using enum Quantity;
  using P = PlannedTraining;
  const auto of_failures = [](auto member) {
    return [member](const P& p) {
      return p.condition.failed_links > 0 ? Cell(p.condition.*member) : Cell();
    };
  };
  const Fields<P> fields{
      {{"topology", text}, [](const P& p) { return p.network.label; }},
      {{"variant", text}, [](const P& p) { return p.variant.name; }},
      {{"algorithm", text}, [](const P& p) { return p.plan.name; }},
      {{"transport", text}, [](const P& p) { return p.plan.transport_name(); }},
      {{"condition", text}, [](const P& p) { return to_text(p.condition.kind); }},
      {{"failed_links", count}, of_failures(&Condition::failed_links)},
      {{"seed", count}, of_failures(&Condition::seed)},
      {{"skew", text}, [](const P& p) { return p.skew.text; }},
      {{"jitter", text}, [&study](const P&) { return study.noise.jitter_text; }}};
  PlannedRows planned{
      {}, {}, {{"condition", {}}, {"skew", {}}}, TrainingStudy::columns(), "iterations_per_s"};
  const std::vector<P> rows = planned_rows(study, networks);
  for (const P& row : rows) {
    planned.opt_in[0].rows.push_back(row.condition.kind != Condition::Kind::undisturbed);
    planned.opt_in[1].rows.push_back(&row.skew != &study.noise.skews.front());
  }
  planned.keys = records_of<P>(fields, rows);
  return planned;
}

/// All that plan something in the study.
std::vector<AlgorithmRow> algorithms_of(const TrainingStudy& study) {
  std::vector<AlgorithmRow> rows;
  for (const TrainingPlan& plan : study.plans)
    rows.insert(rows.end(), plan.algorithms.begin(), plan.algorithms.end());
  for (const auto& [collective, row] : study.planning.by_collective) rows.push_back(row);
  return rows;
}

TrainingStudy read_study(ConfigTable table, const Experiment& experiment,
                         const std::string& source_name, std::span<const TrainingStudy> others) {
  TrainingStudy study;
  study.label = label_at(table, others);
  std::vector<std::size_t> all(experiment.topologies.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  study.topologies = list_at(table, "topologies", all, [&](const ConfigValue& value) {
    return topology_index(value, experiment.topologies);
  });
  const std::vector<TrainingNetwork> networks = study.own(experiment.topologies);
  study.plans = read_plans(table);
  study.planning = read_planning(table, experiment.seed, source_name);
  study.cache = read_cache(table);
  study.engines = parsed_at(table, "engine", "native", parse_engines);
  if (const auto fold = table.find("fold")) study.fold = fold->boolean();
  study.variants = read_variants(table, experiment, study, source_name);
  study.disturbances = read_disturbances(table, networks, source_name);
  study.noise = noise_at(table, source_name, [&](std::span<const std::string> texts) {
    for (const TrainingNetwork& network : networks) (void)starts_on(*network.topology, texts);
  });
  if (const auto skews = table.find("skews"))
    skews->located([&] { require_bounds(study, networks.size()); });
  if (const auto transport = table.find("transport")) {
    study.plans = under_transports(study.plans, *transport);
    transport->located([&] { require_transport(study); });
  }
  if (const auto settings = table.find("settings"))
    settings->located(
        [&] { require_known_settings(algorithms_of(study), study.planning.options); });
  if (const auto reference = table.find("reference"))
    study.reference = one_of(*reference, "algorithm", names_of(study.plans, &TrainingPlan::name));
  study.expectations = read_expectations(table.tables("expect"), planned_runs(study, networks));
  table.finish();
  return study;
}

} // namespace

std::vector<TrainingStudy> TrainingStudy::read_all(ConfigTable& root, const Experiment& experiment,
                                                   const std::string& source_name) {
  return studies_in<TrainingStudy>(
      root, [&](const ConfigTable& table, std::span<const TrainingStudy> others) {
        return read_study(table, experiment, source_name, others);
      });
}

} // namespace tutti
