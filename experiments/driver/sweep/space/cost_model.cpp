// Prices in the order in which a network would be ordered: its cables with their lengths first
// (rack_layout), for each cable the cheapest technology that reaches so far, what stands at its two
// ends, then what there is once for each node. The model's numbers are the user's; none is ours.
#include "experiments/driver/sweep/space/cost_model.hpp"

#include "experiments/driver/sweep/space/rack_layout.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tutti::sweep {

namespace {

constexpr double bytes_per_gigabyte = 1e9;
constexpr double hours_per_year = 24 * 365.25;

double amount_at(ConfigTable& table, const std::string& key, double otherwise = 0) {
  const auto value = table.find(key);
  if (!value) return otherwise;
  const double amount = value->number();
  if (amount < 0) throw value->error(fmt::format("\"{}\" is negative", key));
  return amount;
}

std::uint32_t count_at(ConfigTable& table, const std::string& key, std::uint32_t otherwise) {
  const auto value = table.find(key);
  return value ? static_cast<std::uint32_t>(value->integer(1, 1'000'000'000)) : otherwise;
}

// Amounts that aren't given are 0, not unknown: a model of cables alone is one.
CableRates read_cable(ConfigTable table) {
  CableRates cable;
  table.allow_only({"name", "reach", "price", "price_per_GBps", "price_per_metre",
                    "price_per_GBps_metre", "watts", "watts_per_GBps"});
  cable.name = table.at("name").string();
  cable.reach = amount_at(table, "reach", cable.reach);
  cable.price = {amount_at(table, "price"), amount_at(table, "price_per_GBps")};
  cable.watts = {amount_at(table, "watts"), amount_at(table, "watts_per_GBps")};
  cable.price_per_metre = amount_at(table, "price_per_metre");
  cable.price_per_GBps_metre = amount_at(table, "price_per_GBps_metre");
  return cable;
}

void read_layout(ConfigTable table, CostModel& model) {
  model.npus_per_rack = count_at(table, "npus_per_rack", model.npus_per_rack);
  model.racks_per_row = count_at(table, "racks_per_row", model.racks_per_row);
  model.rack_pitch = amount_at(table, "rack_pitch", model.rack_pitch);
  model.row_pitch = amount_at(table, "row_pitch", model.row_pitch);
  model.inside_rack = amount_at(table, "inside_rack", model.inside_rack);
  model.overhead = amount_at(table, "overhead", model.overhead);
  table.finish();
}

void read_switch(ConfigTable table, CostModel& model) {
  model.switch_price = {amount_at(table, "price"), amount_at(table, "price_per_GBps")};
  model.switch_watts = {amount_at(table, "watts"), amount_at(table, "watts_per_GBps")};
  model.switch_price_per_port = amount_at(table, "price_per_port");
  model.switch_watts_per_port = amount_at(table, "watts_per_port");
  table.finish();
}

void read_nic(ConfigTable table, CostModel& model) {
  model.nic_price = {amount_at(table, "price"), amount_at(table, "price_per_GBps")};
  model.nic_watts = {amount_at(table, "watts"), amount_at(table, "watts_per_GBps")};
  table.finish();
}

void read_npu(ConfigTable table, CostModel& model) {
  model.npu_price = amount_at(table, "price");
  model.npu_watts = amount_at(table, "watts");
  table.finish();
}

void read_energy(ConfigTable table, CostModel& model) {
  model.price_per_kWh = amount_at(table, "price_per_kWh");
  model.years = amount_at(table, "years", 5);
  table.finish();
}

double gigabytes_per_second(Bandwidth rate) {
  return static_cast<double>(rate.bytes_per_second) / bytes_per_gigabyte;
}

double at_rate(const Rates& rates, double gigabytes) {
  return rates.each + rates.per_GBps * gigabytes;
}

struct PricedCable {
  double price = 0, watts = 0;
};

PricedCable cheapest_cable(const CostModel& model, double metres, double gigabytes) {
  std::optional<PricedCable> best;
  for (const CableRates& cable : model.cables) {
    if (cable.reach < metres) continue;
    const double price = at_rate(cable.price, gigabytes) +
                         (cable.price_per_metre + cable.price_per_GBps_metre * gigabytes) * metres;
    if (!best || price < best->price) best = {price, at_rate(cable.watts, gigabytes)};
  }
  if (!best) throw InputError(fmt::format("no cable of the cost model reaches {:.4g} m", metres));
  return *best;
}

} // namespace

CostModel read_cost_model(ConfigTable table) {
  CostModel model;
  table.allow_only({"layout", "cables", "switch", "nic", "npu", "energy"});
  const auto part = [&table, &model](const char* key, auto read) {
    if (const auto value = table.find(key)) read(value->table(), model);
  };
  part("layout", read_layout);
  part("switch", read_switch);
  part("nic", read_nic);
  part("npu", read_npu);
  part("energy", read_energy);
  bool any_distance = false;
  for (ConfigTable& cable : table.tables("cables")) {
    model.cables.push_back(read_cable(cable));
    any_distance = any_distance || std::isinf(model.cables.back().reach);
  }
  if (!any_distance) throw table.error("needs [[cables]], one of them without a \"reach\"");
  return model;
}

NetworkCost cost_of(const Topology& topology, const CostModel& model) {
  NetworkCost cost;
  const std::vector<PhysicalCable> cables = physical_cables(topology);
  const std::vector<RackPlace> places = rack_places(topology, cables, model);
  for (const PhysicalCable& cable : cables) {
    const double metres = cable_length(places[cable.a.value], places[cable.b.value], model);
    const double gigabytes = gigabytes_per_second(cable.bandwidth());
    const PricedCable priced = cheapest_cable(model, metres, gigabytes);
    cost.cables += priced.price;
    cost.watts += priced.watts;
    cost.cable_metres += metres;
    ++cost.cable_count;
    // An NPU pays a NIC for each of its cables; a switch pays a port, and what it sends at most.
    for (const NodeId end : {cable.a, cable.b}) {
      if (topology.node(end).kind == NodeKind::npu) {
        cost.nics += at_rate(model.nic_price, gigabytes);
        cost.watts += at_rate(model.nic_watts, gigabytes);
      } else {
        const double out = gigabytes_per_second(end == cable.a ? cable.a_to_b : cable.b_to_a);
        cost.switches += model.switch_price_per_port + model.switch_price.per_GBps * out;
        cost.watts += model.switch_watts_per_port + model.switch_watts.per_GBps * out;
      }
    }
  }
  for (const Node& node : topology.nodes()) {
    if (node.kind == NodeKind::npu) {
      cost.npus += model.npu_price;
      cost.watts += model.npu_watts;
    } else if (node.kind == NodeKind::switching) {
      cost.switches += model.switch_price.each;
      cost.watts += model.switch_watts.each;
    }
  }
  cost.energy = cost.watts / 1000 * hours_per_year * model.years * model.price_per_kWh;
  return cost;
}

} // namespace tutti::sweep
