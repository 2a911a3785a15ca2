// Papers tell models of one family by a row of numbers each (arXiv:2104.04473 table 1). A row is
// written out as a model file, so that there is one reader of models.
#include "workloads/gpt_text.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace tutti {

namespace {

constexpr std::string_view prefix = "gpt:";
constexpr std::array required{"layers", "hidden", "heads", "vocabulary", "sequence"};
constexpr std::array optional{"feed_forward", "kv_heads", "positions", "tied",
                              "gated",        "flash",    "bias"};

using Values = std::map<std::string, std::string, std::less<>>;

Values values_of(std::string_view text) {
  std::vector<std::string> known(required.begin(), required.end());
  known.insert(known.end(), optional.begin(), optional.end());
  Values values;
  const std::string_view keys = text.substr(prefix.size());
  for (const std::string_view part : split(keys, ',')) {
    if (keys.empty()) break;
    const std::size_t equals = part.find('=');
    const std::string key(part.substr(0, equals));
    if (std::ranges::find(known, key) == known.end())
      throw InputError(unknown_name("key of model gpt", key, known));
    if (equals == std::string_view::npos)
      throw InputError(fmt::format("model gpt: {} has no value", key));
    if (!values.emplace(key, part.substr(equals + 1)).second)
      throw InputError(fmt::format("model gpt: {} is given twice", key));
  }
  for (const char* key : required)
    if (!values.contains(key)) throw InputError(fmt::format("model gpt: {} is missing", key));
  return values;
}

std::int64_t number(const Values& values, std::string_view key, std::int64_t otherwise = 0) {
  const std::int64_t most = key == "layers" ? 10'000 : 1'000'000'000;
  const auto found = values.find(key);
  if (found == values.end()) return otherwise;
  return parse_integer(found->second, fmt::format("model gpt: {}", key), 1, most);
}

bool is_on(const Values& values, std::string_view key, bool otherwise) {
  const auto found = values.find(key);
  if (found == values.end()) return otherwise;
  if (found->second != "on" && found->second != "off")
    throw InputError(fmt::format("model gpt: {} is on or off, not \"{}\"", key, found->second));
  return found->second == "on";
}

} // namespace

bool is_gpt_text(std::string_view text) { return text.starts_with(prefix); }

std::string gpt_file(std::string_view text) {
  const Values values = values_of(text);
  const std::int64_t layers = number(values, "layers"), hidden = number(values, "hidden"),
                     heads = number(values, "heads"), sequence = number(values, "sequence"),
                     vocabulary = number(values, "vocabulary");
  const std::int64_t kv_heads = number(values, "kv_heads", heads);
  if (hidden % heads != 0)
    throw InputError(fmt::format("model gpt: {} heads don't divide hidden {}", heads, hidden));
  if (heads % kv_heads != 0)
    throw InputError(fmt::format("model gpt: {} kv_heads don't divide {} heads", kv_heads, heads));
  return fmt::format(
      R"(name = "{text}"
note = "decoder of {layers} blocks"
sample = "sequence"
item = "token"
items_per_sample = {sequence}

[[layers]]
kind = "embedding"
vocabulary = {vocabulary}
hidden = {hidden}
sequence = {sequence}
{positions}
[[layers]]
kind = "transformer"
name = "block"
repeat = {layers}
hidden = {hidden}
heads = {heads}
kv_heads = {kv_heads}
feed_forward = {feed_forward}
sequence = {sequence}
dropout = true
gated = {gated}
flash = {flash}
bias = {bias}

[[layers]]
kind = "output"
vocabulary = {vocabulary}
hidden = {hidden}
sequence = {sequence}
norm = "layer"
tied = {tied}
)",
      fmt::arg("text", text), fmt::arg("layers", layers), fmt::arg("hidden", hidden),
      fmt::arg("heads", heads), fmt::arg("sequence", sequence), fmt::arg("vocabulary", vocabulary),
      fmt::arg("kv_heads", kv_heads),
      fmt::arg("feed_forward", number(values, "feed_forward", 4 * hidden)),
      fmt::arg("positions",
               is_on(values, "positions", true) ? fmt::format("positions = {}\n", sequence) : ""),
      fmt::arg("gated", is_on(values, "gated", false)),
      fmt::arg("flash", is_on(values, "flash", false)),
      fmt::arg("bias", is_on(values, "bias", true)), fmt::arg("tied", is_on(values, "tied", true)));
}

} // namespace tutti
