// A transport is data, so that whoever has measured a machine can write one.
//
//   name = "nccl"
//   note = "..."
//   [launch]                          # of a call, by model of NPU; "other" for all others
//   h100 = "12us"
//   other = "15us"
//   [launch_within]                   # by how much 90 % of what is measured may be off: 0.2 is a
//   h100 = 0.2                        # factor of 1.2 either way; default 0: nobody knows
//   [[rules]]
//   part = "nvlink4"                  # of links, as topologies name them
//   protocol = "simple"               # ll, ll128, simple, or nvls for what the switch reduces
//   share = 0.82                      # of the bandwidth that carries data
//   latency = "3.4us"                 # of a step
//   channel = "20GB/s"                # default: as much as the link
//   handover = "0.5us"                # default 0 s: of a chunk, by its channel
//   connection_loss = 0.02            # default 0: for each connection through a switch beyond the
//                                     # first, so much longer a byte takes
//   rates_within = 0.05               # share and channel, as in [launch_within]
//   times_within = 0.3                # latency and handover
//   measured_on = ["h100"]            # models of NPUs that these widths are of; default all; of
//   rates_elsewhere = 0.5             # others these, default the same
//   times_elsewhere = 1.2
//   source = "..."

#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/data_files.hpp"
#include "sim/files/toml_string.hpp"
#include "sim/text.hpp"
#include "sim/transport/constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace tutti {

namespace {

std::string transport_folder() { return data_folder("transports", TUTTI_TRANSPORTS_SOURCE_DIR); }

Time short_time(const ConfigValue& value) {
  const Time time = value.time();
  if (time.ps < 0 || time > Time{ps_per_s}) throw value.error("a time from 0 to 1 s");
  return time;
}

double within(const ConfigValue& value) {
  const double factor = value.number();
  constexpr double most = 10;
  if (!(factor >= 0 && factor <= most)) throw value.error("a number from 0 to 10");
  return factor;
}

TransportRule read_rule(ConfigTable& table) {
  TransportRule rule;
  rule.part = table.at("part").string();
  const ConfigValue protocol = table.at("protocol");
  rule.protocol = protocol.string();
  constexpr std::array<std::string_view, 4> known{"ll", "ll128", "simple", "nvls"};
  if (std::ranges::find(known, rule.protocol) == known.end())
    throw protocol.error(unknown_name("protocol", rule.protocol,
                                      std::vector<std::string>(known.begin(), known.end())));
  const ConfigValue share = table.at("share"), latency = table.at("latency");
  rule.share = share.number();
  constexpr double least_share = 0.001;
  if (!(rule.share >= least_share && rule.share <= 1))
    throw share.error("a share is from 0.001 to 1");
  rule.latency = short_time(latency);
  if (const auto channel = table.find("channel")) {
    rule.channel = channel->bandwidth();
    constexpr std::int64_t least = 1'000'000;
    if (rule.channel.bytes_per_second < least)
      throw channel->error("a channel carries 1 MB/s or more");
  }
  if (const auto handover = table.find("handover")) rule.handover = short_time(*handover);
  if (const auto loss = table.find("connection_loss")) {
    rule.connection_loss = loss->number();
    if (!(rule.connection_loss >= 0 && rule.connection_loss <= 1))
      throw loss->error("a loss is from 0 to 1");
  }
  if (const auto off = table.find("rates_within")) rule.rates_within = within(*off);
  if (const auto off = table.find("times_within")) rule.times_within = within(*off);
  if (const auto models = table.find("measured_on"))
    for (const ConfigValue& model : models->array()) rule.measured_on.push_back(model.string());
  if (const auto off = table.find("rates_elsewhere")) rule.rates_elsewhere = within(*off);
  if (const auto off = table.find("times_elsewhere")) rule.times_elsewhere = within(*off);
  if (rule.measured_on.empty() && (rule.rates_elsewhere || rule.times_elsewhere))
    throw table.error("widths elsewhere need \"measured_on\": where the others are from");
  if (const auto source = table.find("source")) rule.source = source->string();
  table.finish();
  return rule;
}

} // namespace

std::shared_ptr<const Transport> parse_transport(const std::string& text) {
  return text == "ideal" ? nullptr : std::make_shared<const Transport>(read_transport(text));
}

Transport read_transport(const std::string& name_or_file) {
  ConfigTable root = read_config(find_data_file("transport", name_or_file, transport_folder()));
  root.allow_only({"name", "note", "launch", "launch_within", "rules"});
  Transport transport;
  const ConfigValue name = root.at("name");
  transport.name = name.string();
  if (transport.name.empty() || transport.name == "ideal")
    throw name.error("a transport has a name, other than \"ideal\"");
  (void)root.find("note");
  if (const auto launch = root.find("launch")) {
    ConfigTable table = launch->table();
    for (const std::string& model : table.keys()) {
      const ConfigValue value = table.at(model);
      if (model.empty()) throw value.error("a model of NPU, or \"other\"");
      transport.launch[model == "other" ? "" : model] = short_time(value);
    }
    table.finish();
  }
  if (const auto launch = root.find("launch_within")) {
    ConfigTable table = launch->table();
    for (const std::string& text : table.keys()) {
      const std::string model = text == "other" ? "" : text;
      const ConfigValue value = table.at(text);
      if (!transport.launch.contains(model)) throw value.error("no launch of " + text);
      transport.launch_within[model] = within(value);
    }
    table.finish();
  }
  for (ConfigTable& table : root.tables("rules")) {
    TransportRule rule = read_rule(table);
    if (std::ranges::any_of(transport.rules, [&](const TransportRule& other) {
          return other.part == rule.part && other.protocol == rule.protocol;
        }))
      throw table.error("a second rule of " + rule.part + " under " + rule.protocol);
    transport.rules.push_back(std::move(rule));
  }
  if (transport.rules.empty()) throw root.error("a transport needs [[rules]]");
  root.finish();
  return transport;
}

std::string transport_toml(const Transport& given, const std::string& note) {
  Transport transport = given;
  std::string text = fmt::format("name = {}\n", toml_string(transport.name));
  if (!note.empty()) text += fmt::format("note = {}\n", toml_string(note));
  const auto name_of = [&](const std::string& model) {
    return toml_string(model.empty() ? "other" : model);
  };
  if (!transport.launch.empty()) text += "\n[launch]\n";
  for (auto& [model, time] : transport.launch)
    text += fmt::format("{} = \"{}\"\n", name_of(model), TransportConstant("", time).text());
  if (!transport.launch_within.empty()) text += "\n[launch_within]\n";
  for (const auto& [model, within] : transport.launch_within)
    text += fmt::format("{} = {:.6g}\n", name_of(model), within);
  for (TransportRule& rule : transport.rules) {
    text += fmt::format("\n[[rules]]\npart = {}\nprotocol = {}\nshare = {:.6g}\nlatency = \"{}\"\n",
                        toml_string(rule.part), toml_string(rule.protocol), rule.share,
                        TransportConstant("", rule.latency).text());
    if (rule.channel.bytes_per_second > 0)
      text += fmt::format("channel = \"{}\"\n", TransportConstant("", rule.channel).text());
    if (rule.handover.ps > 0)
      text += fmt::format("handover = \"{}\"\n", TransportConstant("", rule.handover).text());
    if (rule.connection_loss > 0)
      text += fmt::format("connection_loss = {:.6g}\n", rule.connection_loss);
    if (rule.rates_within > 0) text += fmt::format("rates_within = {:.6g}\n", rule.rates_within);
    if (rule.times_within > 0) text += fmt::format("times_within = {:.6g}\n", rule.times_within);
    if (!rule.measured_on.empty()) {
      std::vector<std::string> models;
      for (const std::string& model : rule.measured_on) models.push_back(toml_string(model));
      text += fmt::format("measured_on = [{}]\n", joined(models, ", "));
    }
    if (rule.rates_elsewhere)
      text += fmt::format("rates_elsewhere = {:.6g}\n", *rule.rates_elsewhere);
    if (rule.times_elsewhere)
      text += fmt::format("times_elsewhere = {:.6g}\n", *rule.times_elsewhere);
    if (!rule.source.empty()) text += fmt::format("source = {}\n", toml_string(rule.source));
  }
  return text;
}

} // namespace tutti
