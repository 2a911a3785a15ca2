// Models as TOML: what the file says of the model, and its layers, which repeat and may be grouped.
// Every layer's table, and every group as a whole, makes a block per repetition.
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/data_files.hpp"
#include "sim/text.hpp"
#include "workloads/gpt_text.hpp"
#include "workloads/layers/kinds.hpp"
#include "workloads/model.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

using layers::LayerKind;

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
  if (is_gpt_text(name_or_file))
    return read_model(parse_config(gpt_file(name_or_file), name_or_file));
  return read_model(read_config(find_data_file("model", name_or_file, model_folder())));
}

} // namespace tutti
