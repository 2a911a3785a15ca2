// The numbers of a transport by their names, for whoever fits them or asks what they decide.
#pragma once

#include "sim/transport/transport.hpp"

#include <cstdint>
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
/// The slow end of what each rule may be off (TransportRule::rates_within) where NPUs are of this
/// model.
[[nodiscard]] Transport at_its_slowest(Transport transport, const std::string& npu_model);

} // namespace tutti
