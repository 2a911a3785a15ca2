// A transport's numbers are in three units and two maps. Whoever varies them needs one list with
// names, so that what is fitted, reported and written is called the same.
#include "sim/transport/constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tutti {

namespace {

constexpr double least_share = 0.001, most_share = 1; // as files may have it
constexpr double least_rate = 1e6, least_seconds = 1e-12, most_seconds = 1;

/// Beyond what files may have, too.
void stretch(Time& time, double factor) {
  if (time.ps > 0) time.ps = std::llround(static_cast<double>(time.ps) * factor);
}

} // namespace

double TransportConstant::value() const {
  switch (kind()) {
  case ConstantKind::share: return *std::get<double*>(place_);
  case ConstantKind::rate:
    return static_cast<double>(std::get<Bandwidth*>(place_)->bytes_per_second);
  case ConstantKind::time: return std::get<Time*>(place_)->seconds();
  }
  return 0;
}

void TransportConstant::set(double value) const {
  switch (kind()) {
  case ConstantKind::share:
    *std::get<double*>(place_) = std::clamp(value, least_share, most_share);
    return;
  case ConstantKind::rate:
    std::get<Bandwidth*>(place_)->bytes_per_second = std::llround(std::max(value, least_rate));
    return;
  case ConstantKind::time:
    std::get<Time*>(place_)->ps = std::llround(static_cast<double>(ps_per_s) *
                                               std::clamp(value, least_seconds, most_seconds));
    return;
  }
}

std::string TransportConstant::text() const {
  switch (kind()) {
  case ConstantKind::share: return fmt::format("{:.6g}", value());
  case ConstantKind::rate: return fmt::format("{:.6g}GB/s", value() / 1e9);
  case ConstantKind::time: return fmt::format("{:.6g}us", value() * 1e6);
  }
  return {};
}

std::vector<TransportConstant> constants_of(Transport& transport) {
  std::vector<TransportConstant> constants;
  for (auto& [model, time] : transport.launch)
    constants.emplace_back("launch." + (model.empty() ? "other" : model), time);
  for (TransportRule& rule : transport.rules) {
    const std::string name = fmt::format("{}.{}.", rule.part, rule.protocol);
    constants.emplace_back(name + "share", rule.share);
    constants.emplace_back(name + "latency", rule.latency);
    constants.emplace_back(name + "channel", rule.channel);
    constants.emplace_back(name + "handover", rule.handover);
  }
  std::erase_if(constants, [](const TransportConstant& constant) { return constant.value() == 0; });
  return constants;
}

Transport scaled(Transport transport, double rates, double times) {
  for (const TransportConstant& constant : constants_of(transport))
    constant.set(constant.value() * (constant.kind() == ConstantKind::time ? times : rates));
  return transport;
}

bool knows_intervals(const Transport& transport) {
  const auto is_known = [](const TransportRule& rule) {
    return rule.rates_within > 0 || rule.times_within > 0 || rule.rates_elsewhere > 0.0 ||
           rule.times_elsewhere > 0.0;
  };
  return std::ranges::any_of(transport.rules, is_known) ||
         std::ranges::any_of(transport.launch_within,
                             [](const auto& launch) { return launch.second > 0; });
}

namespace {

bool is_elsewhere(const TransportRule& rule, const std::string& npu_model) {
  return !rule.measured_on.empty() &&
         std::ranges::find(rule.measured_on, npu_model) == rule.measured_on.end();
}

/// The launch of these NPUs, or that of all others.
auto launch_at(std::map<std::string, Time>& launch, const std::string& npu_model) {
  const auto own = launch.find(npu_model);
  return own != launch.end() ? own : launch.find("");
}

void slow_down_launch(Transport& transport, const std::string& model, Time& launch) {
  if (const auto within = transport.launch_within.find(model);
      within != transport.launch_within.end())
    stretch(launch, 1 + within->second);
}

void slow_down_rates(TransportRule& rule, const std::string& npu_model) {
  const double rates =
      1 + (is_elsewhere(rule, npu_model) ? rule.rates_elsewhere.value_or(rule.rates_within)
                                         : rule.rates_within);
  rule.share /= rates;
  if (rule.channel.bytes_per_second > 0)
    rule.channel.bytes_per_second =
        std::llround(static_cast<double>(rule.channel.bytes_per_second) / rates);
}

void slow_down_times(TransportRule& rule, const std::string& npu_model) {
  const double times =
      1 + (is_elsewhere(rule, npu_model) ? rule.times_elsewhere.value_or(rule.times_within)
                                         : rule.times_within);
  stretch(rule.latency, times);
  stretch(rule.handover, times);
}

} // namespace

std::vector<Uncertainty> uncertainties_of(const Transport& transport, const std::string& npu_model,
                                          std::span<const std::size_t> rules) {
  std::vector<Uncertainty> all;
  std::map<std::string, Time> launches = transport.launch;
  if (const auto launch = launch_at(launches, npu_model); launch != launches.end())
    all.push_back({"launch." + (launch->first.empty() ? "other" : launch->first),
                   transport.rules.size(), ConstantKind::time});
  for (const std::size_t r : rules) {
    const TransportRule& rule = transport.rules[r];
    const std::string name = fmt::format("{}.{} ", rule.part, rule.protocol);
    all.push_back({name + "rates", r, ConstantKind::share});
    all.push_back({name + "times", r, ConstantKind::time});
  }
  return all;
}

Transport at_slow_end(Transport transport, const std::string& npu_model, const Uncertainty& of) {
  if (of.rule >= transport.rules.size()) {
    if (const auto launch = launch_at(transport.launch, npu_model);
        launch != transport.launch.end())
      slow_down_launch(transport, launch->first, launch->second);
  } else if (of.kind == ConstantKind::time) {
    slow_down_times(transport.rules[of.rule], npu_model);
  } else {
    slow_down_rates(transport.rules[of.rule], npu_model);
  }
  return transport;
}

Transport at_its_slowest(Transport transport, const std::string& npu_model) {
  for (auto& [model, time] : transport.launch) slow_down_launch(transport, model, time);
  for (TransportRule& rule : transport.rules) {
    slow_down_rates(rule, npu_model);
    slow_down_times(rule, npu_model);
  }
  return transport;
}

namespace {

/// Calls `take(part, the one that stands in for it)`.
template <typename Take>
void each_stand_in(const Transport& transport, const Topology& topology, const Take& take) {
  for (const std::string& part : topology.parts().link_parts)
    if (const std::string known = transport.part_for(part); !known.empty() && known != part)
      take(part, known);
}

} // namespace

Transport with_stand_ins(Transport transport, const Topology& topology) {
  double rates = 0, times = 0;
  for (const TransportRule& rule : transport.rules) {
    rates = std::max({rates, rule.rates_within, rule.rates_elsewhere.value_or(0)});
    times = std::max({times, rule.times_within, rule.times_elsewhere.value_or(0)});
  }
  const std::vector<TransportRule> known = transport.rules;
  each_stand_in(transport, topology, [&](const std::string& part, const std::string& other) {
    for (TransportRule rule : known) {
      if (rule.part != other) continue;
      rule.part = part;
      rule.measured_on.clear();
      rule.rates_within = rates;
      rule.times_within = times;
      transport.rules.push_back(std::move(rule));
    }
  });
  return transport;
}

Transport at_its_slowest(Transport transport, const Topology& topology) {
  return at_its_slowest(with_stand_ins(std::move(transport), topology), topology.parts().npu_model);
}

std::string stand_ins(const Transport& transport, const Topology& topology) {
  std::string text;
  each_stand_in(transport, topology, [&](const std::string& part, const std::string& other) {
    text += fmt::format("{}{} as {}", text.empty() ? "" : ", ", part, other);
  });
  return text;
}

} // namespace tutti
