// Each setting is read once, with its range and the names that are known.
#include "synth/teccl/settings.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

namespace {

template <typename Value> using Choice = std::pair<std::string_view, Value>;

constexpr std::array<Choice<TecclMethod>, 4> methods{{{"auto", TecclMethod::automatic},
                                                      {"program", TecclMethod::program},
                                                      {"rounds", TecclMethod::rounds},
                                                      {"flows", TecclMethod::flows}}};
constexpr std::array<Choice<EpochObjective>, 2> objectives{
    {{"paper", EpochObjective::paper}, {"public_code", EpochObjective::public_code}}};
constexpr std::array<Choice<SwitchModel>, 3> switch_models{
    {{"by_ability", SwitchModel::by_ability},
     {"no_copy", SwitchModel::no_copy},
     {"hyper_edges", SwitchModel::hyper_edges}}};
constexpr std::array<Choice<bool>, 2> switch_exits{{{"free", true}, {"epoch", false}}};

class SettingReader {
public:
  explicit SettingReader(const SynthesisOptions& options) : options_(options) {}

  [[nodiscard]] const std::string* find(const std::string& key) const {
    return find_setting(options_, key);
  }

  template <typename Value, std::size_t count>
  void choose(const std::string& key, const std::array<Choice<Value>, count>& choices,
              Value& value) const {
    const std::string* const text = find(key);
    if (text == nullptr) return;
    std::vector<std::string> known;
    for (const Choice<Value>& choice : choices) {
      if (choice.first == *text) {
        value = choice.second;
        return;
      }
      known.emplace_back(choice.first);
    }
    throw InputError(unknown_name("value of " + key, *text, known));
  }

  [[nodiscard]] std::optional<std::uint32_t> count(const std::string& key, std::uint32_t low,
                                                   std::uint32_t high) const {
    return find_count(options_, key, low, high);
  }

  void number(const std::string& key, double low, double high, double& value) const {
    const std::string* const text = find(key);
    if (text == nullptr) return;
    value = parse_decimal(*text, key, low, high);
  }

private:
  const SynthesisOptions& options_;
};

/// "fastest", "slowest", or a duration.
void read_epoch(const std::string& text, EpochSettings& epochs) {
  if (text == "fastest" || text == "slowest") {
    epochs.basis = text == "fastest" ? EpochBasis::fastest_link : EpochBasis::slowest_link;
    return;
  }
  try {
    epochs.duration = parse_time(text);
  } catch (const InputError&) {
    throw InputError(
        fmt::format("epoch \"{}\": fastest or slowest (link), or a time (0.5us)", text));
  }
}

} // namespace

TecclSettings teccl_settings(const SynthesisOptions& options) {
  constexpr std::uint32_t most_epochs = 1'000'000;
  const SettingReader reader(options);
  TecclSettings settings;
  EpochSettings& epochs = settings.epochs;
  // An epoch far below the latencies makes many epochs in which nothing happens: the public code
  // goes to 200.
  epochs.most_alpha_epochs = 8;
  reader.choose("method", methods, settings.method);
  reader.choose("objective", objectives, settings.objective);
  reader.choose("switches", switch_models, epochs.switches);
  reader.choose("switch_exit", switch_exits, epochs.free_switch_exit);
  epochs.with_alpha = find_yes(options, "alpha").value_or(epochs.with_alpha);
  if (const std::string* const epoch = reader.find("epoch")) read_epoch(*epoch, epochs);
  if (epochs.duration) epochs.most_alpha_epochs = 1e6; // it is what was asked for
  reader.number("multiplier", 1e-3, 1e6, epochs.multiplier);
  reader.number("alpha_threshold", 0, 1e6, epochs.alpha_threshold);
  reader.number("alpha_epochs", 1e-3, 1e6, epochs.most_alpha_epochs);
  const std::string* const count = reader.find("epochs");
  settings.epochs_by_bound = count != nullptr && *count == "bound";
  if (!settings.epochs_by_bound) settings.epoch_count = reader.count("epochs", 1, most_epochs);
  settings.buffer_limit = reader.count("buffer", 0, most_epochs);
  if (const auto effort = reader.count("effort", 0, 1'000'000'000))
    settings.effort.conflicts = *effort;
  reader.number("gap", 0, 1, settings.gap);
  if (const auto nodes = reader.count("nodes", 0, 1'000'000'000)) settings.nodes = *nodes;
  if (const auto largest = reader.count("largest", 1, 1'000'000'000))
    settings.largest = static_cast<std::uint64_t>(*largest);
  settings.rounds.epochs = reader.count("round_epochs", 1, most_epochs);
  if (const auto nodes = reader.count("round_nodes", 0, 1'000'000'000))
    settings.rounds.most_nodes = *nodes;
  return settings;
}

} // namespace tutti
