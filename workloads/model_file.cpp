// Models as TOML: what the file says of the model, and its layers, which repeat and may be grouped.
// Every layer's table, and every group as a whole, makes a block per repetition.
//
// Papers tell models of one family by a row of numbers each (arXiv:2104.04473 table 1). So a
// decoder of equal blocks, as GPT's, can be given in one line,
// `gpt:layers=96,hidden=12288,heads=96,...`; it is written out as a model file, so that there is
// one reader of models.

#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/data_files.hpp"
#include "sim/text.hpp"
#include "workloads/layers/kinds.hpp"
#include "workloads/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

using layers::LayerKind;

constexpr std::string_view gpt_prefix = "gpt:";
constexpr std::array gpt_required{"layers", "hidden", "heads", "vocabulary", "sequence"};
constexpr std::array gpt_optional{"feed_forward", "kv_heads", "positions", "tied",
                                  "gated",        "flash",    "bias"};

using GptValues = std::map<std::string, std::string, std::less<>>;

GptValues gpt_values(std::string_view text) {
  std::vector<std::string> known(gpt_required.begin(), gpt_required.end());
  known.insert(known.end(), gpt_optional.begin(), gpt_optional.end());
  GptValues values;
  const std::string_view keys = text.substr(gpt_prefix.size());
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
  for (const char* key : gpt_required)
    if (!values.contains(key)) throw InputError(fmt::format("model gpt: {} is missing", key));
  return values;
}

std::int64_t gpt_number(const GptValues& values, std::string_view key, std::int64_t otherwise = 0) {
  const std::int64_t most = key == "layers" ? 10'000 : 1'000'000'000;
  const auto found = values.find(key);
  if (found == values.end()) return otherwise;
  return parse_integer(found->second, fmt::format("model gpt: {}", key), 1, most);
}

bool is_gpt_on(const GptValues& values, std::string_view key, bool otherwise) {
  const auto found = values.find(key);
  if (found == values.end()) return otherwise;
  if (found->second != "on" && found->second != "off")
    throw InputError(fmt::format("model gpt: {} is on or off, not \"{}\"", key, found->second));
  return found->second == "on";
}

/// The model that such a line gives as a model file. Keys: layers, hidden, heads, vocabulary,
/// sequence; feed_forward (default 4 * hidden), kv_heads (default heads); positions (learned), tied
/// (output and embedding), gated, flash, bias, each on or off (default on, on, off, off, on).
/// Errors: InputError for a key that isn't there, is there twice, is unknown or has no such value.
std::string gpt_file(std::string_view text) {
  const GptValues values = gpt_values(text);
  const std::int64_t layers = gpt_number(values, "layers"), hidden = gpt_number(values, "hidden"),
                     heads = gpt_number(values, "heads"), sequence = gpt_number(values, "sequence"),
                     vocabulary = gpt_number(values, "vocabulary");
  const std::int64_t kv_heads = gpt_number(values, "kv_heads", heads);
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
      fmt::arg("feed_forward", gpt_number(values, "feed_forward", 4 * hidden)),
      fmt::arg("positions", is_gpt_on(values, "positions", true)
                                ? fmt::format("positions = {}\n", sequence)
                                : ""),
      fmt::arg("gated", is_gpt_on(values, "gated", false)),
      fmt::arg("flash", is_gpt_on(values, "flash", false)),
      fmt::arg("bias", is_gpt_on(values, "bias", true)),
      fmt::arg("tied", is_gpt_on(values, "tied", true)));
}

constexpr std::int64_t most_layers = 100'000;

const LayerKind& find_kind(const ConfigValue& value) {
  const std::string name = value.string();
  std::vector<std::string> known;
  for (const LayerKind& kind : layers::layer_kinds()) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  known.emplace_back("group");
  throw value.error(unknown_name("kind of layer", name, known));
}

GivenTimes read_times(ConfigTable table) {
  table.allow_only({"forward", "input_gradient", "parameter_gradient"});
  return {table.at("forward").time(), table.at("input_gradient").time(),
          table.at("parameter_gradient").time()};
}

class LayerReader {
public:
  explicit LayerReader(Model& model) : model_(model) {}

  void read(ConfigTable table, const std::string& prefix, bool is_in_group) {
    const ConfigValue kind = table.at("kind");
    if (kind.string() == "group")
      read_group(table, prefix, is_in_group);
    else
      read_layer(table, find_kind(kind), prefix, is_in_group);
  }

private:
  void read_group(ConfigTable& table, const std::string& prefix, bool is_in_group) {
    table.allow_only({"kind", "name", "repeat", "layers"});
    if (is_in_group) throw table.error("a group can't hold a group");
    const std::string name = read_name(table, "group");
    const std::int64_t repeat = read_repeat(table);
    if (table.tables("layers").empty()) throw table.error("a group needs layers");
    for (std::int64_t i = 0; i < repeat; ++i) {
      for (ConfigTable& inner : table.tables("layers"))
        read(std::move(inner), prefix + numbered(name, i, repeat) + ".", true);
      ++block_;
    }
  }

  void read_layer(ConfigTable& table, const LayerKind& kind, const std::string& prefix,
                  bool is_in_group) {
    std::vector<std::string> keys{"kind", "name", "repeat", "times"};
    for (const std::string_view key : split(kind.keys, ' ')) keys.emplace_back(key);
    table.allow_only(std::move(keys));
    const std::string name = read_name(table, kind.name);
    const std::int64_t repeat = read_repeat(table);
    std::vector<Layer> derived = kind.derive(table);
    if (const auto times = table.find("times")) {
      if (derived.size() > 1)
        throw times->error(fmt::format("a {} makes {} layers, which have no times of their own",
                                       kind.name, derived.size()));
      derived.front().times = read_times(times->table());
    }
    read_experts(table, derived);
    for (std::int64_t i = 0; i < repeat; ++i) {
      for (const Layer& layer : derived) add(table, layer, prefix + numbered(name, i, repeat));
      if (!is_in_group) ++block_;
    }
  }

  static std::string read_name(ConfigTable& table, std::string_view otherwise) {
    const auto name = table.find("name");
    return name ? name->string() : std::string(otherwise);
  }

  static std::int64_t read_repeat(ConfigTable& table) {
    const auto repeat = table.find("repeat");
    return repeat ? repeat->integer(1, most_layers) : 1;
  }

  static std::string numbered(const std::string& name, std::int64_t i, std::int64_t repeat) {
    return repeat == 1 ? name : name + std::to_string(i);
  }

  // Layers agree on how many experts there are, since one degree of expert parallelism divides all.
  void read_experts(ConfigTable& table, const std::vector<Layer>& derived) {
    bool has_experts = false;
    for (const Layer& layer : derived) has_experts |= layer.expert_parameters > 0;
    if (!has_experts) return;
    const ConfigValue value = table.at(table.has("shards") ? "shards" : "experts");
    const auto count = static_cast<std::uint32_t>(value.integer(1, UINT32_MAX));
    if (model_.experts != 0 && model_.experts != count)
      throw value.error(
          fmt::format("{} experts, but an earlier layer has {}", count, model_.experts));
    model_.experts = count;
  }

  void add(const ConfigTable& table, Layer layer, std::string name) {
    if (!layer.name.empty()) name += "." + layer.name;
    if (!names_.insert(name).second)
      throw table.error(fmt::format("two layers are called \"{}\"; name one of them", name));
    if (static_cast<std::int64_t>(model_.layers.size()) == most_layers)
      throw table.error(fmt::format("more than {} layers", most_layers));
    layer.name = std::move(name);
    layer.block = block_;
    model_.layers.push_back(std::move(layer));
  }

  Model& model_;
  std::uint32_t block_ = 0;
  std::set<std::string> names_;
};

PublishedTotals read_published(ConfigTable table) {
  table.allow_only({"parameters", "forward_flops", "training_flops", "items", "flops_tolerance"});
  PublishedTotals published;
  published.parameters = layers::amount(table, "parameters");
  published.forward_flops = layers::amount(table, "forward_flops");
  published.training_flops = layers::amount(table, "training_flops");
  if (table.has("items")) published.items = layers::amount(table, "items");
  if (table.has("flops_tolerance"))
    published.flops_tolerance = layers::amount(table, "flops_tolerance");
  return published;
}

std::string read_text(ConfigTable& table, const std::string& key, std::string otherwise) {
  const auto value = table.find(key);
  return value ? value->string() : std::move(otherwise);
}

Model read_model(ConfigTable file) {
  file.allow_only(
      {"name", "note", "source", "sample", "item", "items_per_sample", "published", "layers"});
  Model model;
  model.name = file.at("name").string();
  model.note = read_text(file, "note", "");
  model.source = read_text(file, "source", "");
  model.sample = read_text(file, "sample", "sample");
  model.item = read_text(file, "item", model.sample);
  model.items_per_sample = layers::dimension(file, "items_per_sample", 1);
  if (const auto published = file.find("published"))
    model.published = read_published(published->table());
  LayerReader reader(model);
  for (ConfigTable& table : file.tables("layers")) reader.read(std::move(table), "", false);
  if (model.layers.empty()) throw file.error("a model needs layers");
  return model;
}

} // namespace

std::string model_folder() {
  return data_folder("models", std::string(TUTTI_WORKLOADS_SOURCE_DIR) + "/models");
}

std::vector<NamedModel> named_models() {
  std::vector<NamedModel> models;
  const std::string folder = model_folder();
  for (const std::string& name : data_names(folder)) {
    ConfigTable file = read_config(find_data_file("model", name, folder));
    models.push_back({name, read_text(file, "note", "")});
  }
  return models;
}

Model load_model(const std::string& name_or_file) {
  if (name_or_file.starts_with(gpt_prefix))
    return read_model(parse_config(gpt_file(name_or_file), name_or_file));
  return read_model(read_config(find_data_file("model", name_or_file, model_folder())));
}

} // namespace tutti
