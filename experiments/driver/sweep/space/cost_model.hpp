// What a network costs and how much power it takes: NPUs and switches stand in racks, cables have
// lengths, a cable's technology is the one that reaches so far with the least price (without
// energy). A network is priced as it is: cables that have failed aren't paid.
//
//   [layout]                        # racks in a grid; a switch stands where its neighbours do
//   npus_per_rack = 16              # by NPU number
//   racks_per_row = 8               # default: as square as possible
//   rack_pitch = 0.6                # metres, along a row
//   row_pitch = 2.4                 # metres, from row to row
//   inside_rack = 2.0               # metres of a cable inside a rack
//   overhead = 4.0                  # metres that a cable between racks has beyond their distance
//   [[cables]]                      # a cable is a link and its opposite, or one link alone
//   name = "copper"
//   reach = 3.0                     # metres; default: any
//   price = 20.0                    # each; and per GB/s and direction, per metre, and per GB/s and
//   price_per_GBps = 4.6            # metre. Default 0
//   price_per_metre = 1.0
//   price_per_GBps_metre = 3.3
//   watts = 0.1                     # each; and per GB/s and direction
//   watts_per_GBps = 0.0
//   [switch]                        # price, price_per_port, price_per_GBps, watts, watts_per_port,
//                                   # watts_per_GBps: GB/s of all its links that go out
//   [nic]                           # of NPUs, one for each cable: price, price_per_GBps, watts,
//                                   # watts_per_GBps
//   [npu]                           # price, watts: default 0
//   [energy]                        # adds `price_per_kWh` for so many years to the cost
//   price_per_kWh = 0.1             # default 0
//   years = 5
#pragma once

#include "sim/files/config.hpp"
#include "sim/topology.hpp"

#include <limits>
#include <string>
#include <vector>

namespace tutti::sweep {

/// What a part costs: each, and per GB/s that it carries.
struct Rates {
  double each = 0, per_GBps = 0;
};
struct CableRates {
  std::string name;
  double reach = std::numeric_limits<double>::infinity(); ///< metres
  Rates price, watts;
  double price_per_metre = 0, price_per_GBps_metre = 0;
};
struct CostModel {
  std::uint32_t npus_per_rack = 16, racks_per_row = 0; ///< 0: as square as possible
  double rack_pitch = 0.6, row_pitch = 2.4, inside_rack = 2, overhead = 4; ///< metres
  std::vector<CableRates> cables; ///< at least one; some reach any distance
  Rates switch_price, switch_watts, nic_price, nic_watts;
  double switch_price_per_port = 0, switch_watts_per_port = 0;
  double npu_price = 0, npu_watts = 0;
  double price_per_kWh = 0, years = 0;
};

/// Errors: InputError with the place of what is wrong.
[[nodiscard]] CostModel read_cost_model(ConfigTable table);

/// In the model's currency, watts and metres.
struct NetworkCost {
  double cables = 0, switches = 0, nics = 0, npus = 0, energy = 0;
  double watts = 0;
  double cable_metres = 0;
  std::size_t cable_count = 0;
  [[nodiscard]] double total() const { return cables + switches + nics + npus + energy; }
};
/// Memory nodes and buses (shared groups) cost nothing. Cost: O(links log links).
/// Errors: InputError where no cable reaches.
[[nodiscard]] NetworkCost cost_of(const Topology& topology, const CostModel& model);

} // namespace tutti::sweep
