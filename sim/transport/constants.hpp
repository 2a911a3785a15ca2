// The numbers of a transport by their names, for whoever fits them or asks what they decide.
#pragma once

#include "sim/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tutti {

enum class ConstantKind : std::uint8_t { share, rate, time };

/// Points into a transport.
class TransportConstant {
public:
  TransportConstant(std::string constant_name, double& share)
      : name(std::move(constant_name)), place_(&share) {}
  TransportConstant(std::string constant_name, Bandwidth& rate)
      : name(std::move(constant_name)), place_(&rate) {}
  TransportConstant(std::string constant_name, Time& time)
      : name(std::move(constant_name)), place_(&time) {}

  std::string name; ///< "nvlink4.simple.latency", "launch.h100", "launch.other"

  [[nodiscard]] ConstantKind kind() const { return static_cast<ConstantKind>(place_.index()); }
  [[nodiscard]] double value() const;     ///< in bytes/s, s
  void set(double value) const;           ///< rounded to what a transport holds, at least that
  [[nodiscard]] std::string text() const; ///< as files have it: "0.81", "20GB/s", "3.4us"

private:
  std::variant<double*, Bandwidth*, Time*> place_; // in the order of ConstantKind
};

/// All but those that are 0: launches, then rules in their order. They live as long as it does.
[[nodiscard]] std::vector<TransportConstant> constants_of(Transport& transport);
/// The same with all rates and all times multiplied; no share is above 1.
[[nodiscard]] Transport scaled(Transport transport, double rates, double times);
/// Whether any of its rules or launches says how far it may be off.
[[nodiscard]] bool knows_intervals(const Transport& transport);
/// What may be off for a reason of its own: the rates or the times of a rule, or a model's launch.
struct Uncertainty {
  std::string name;                       ///< "nvlink4.simple rates", "launch.h100"
  std::size_t rule = 0;                   ///< of the transport; as many as it has: a launch
  ConstantKind kind = ConstantKind::time; ///< time, or share for all rates
};

/// Those of the launch on NPUs of this model, and of these rules, in their order.
[[nodiscard]] std::vector<Uncertainty> uncertainties_of(const Transport& transport,
                                                        const std::string& npu_model,
                                                        std::span<const std::size_t> rules);
/// The slow end of what this may be off (TransportRule::rates_within) where NPUs are of this model.
[[nodiscard]] Transport at_slow_end(Transport transport, const std::string& npu_model,
                                    const Uncertainty& of);
/// The slow end of all.
[[nodiscard]] Transport at_its_slowest(Transport transport, const std::string& npu_model);
/// With rules for all parts of this network: what stands in for one (Transport::part_for()) may be
/// off by as much as anything that the transport has. New rules follow the transport's own.
[[nodiscard]] Transport with_stand_ins(Transport transport, const Topology& topology);
/// at_its_slowest() of that.
[[nodiscard]] Transport at_its_slowest(Transport transport, const Topology& topology);
/// The network's parts that others stand in for: "pcie3 as pcie4, ...". Empty: none.
[[nodiscard]] std::string stand_ins(const Transport& transport, const Topology& topology);

} // namespace tutti
