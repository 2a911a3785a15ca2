// InfraGraph (Keysight/infragraph, schema 2.4, and the examples of before 1.0), in YAML: devices of
// components, links and connections; instances of the devices; connections between those:
//
//   devices:
//     - name: server
//       components: [{name: xpu, choice: xpu, count: 2}, {name: nic, choice: nic, count: 2}]
//       links: [{name: pcie, physical: {bandwidth: {gigabytes_per_second: 32}}}]
//       edges: [{ep1: {component: xpu}, ep2: {component: nic}, scheme: one2one, link: pcie}]
//   instances: [{name: host, device: server, count: 4}]
//   edges: [{ep1: {instance: "host[0]", component: nic}, ep2: ..., scheme: one2one, link: eth}]
//
// The examples write a connection as one word, "xpu.0.pcie.nic.0". Slices are Python's. A component
// may be a device itself, by its name; so the whole is read as a device whose components are the
// instances. What pairs a scheme makes is taken from InfraGraph's own service: one2one as far as
// the shorter side goes, many2many without loops, and the same edge again is the same edge.
//
// Devices are often in other files: those given with it, and then those beside it.
#include "sim/error.hpp"
#include "topologies/import/list.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr std::size_t most_infra_bytes = std::size_t{16} << 20;
constexpr std::size_t most_infra_values = 3'000'000; ///< of YAML, in one file
constexpr std::size_t most_infra_depth = 32;         ///< of YAML
constexpr int most_nested_devices = 16;
constexpr std::int64_t most_infra_links = 4'000'000;
constexpr std::size_t most_infra_names = std::size_t{128} << 20; ///< bytes of all nodes' names

struct InfraPlace {
  std::uint32_t file = 0; ///< of InfraSources
  int line = 0, column = 0;
};

class InfraSources {
public:
  std::uint32_t add(std::string source) {
    names_.push_back(std::move(source));
    return static_cast<std::uint32_t>(names_.size() - 1);
  }
  [[nodiscard]] const std::string& name(std::uint32_t file) const { return names_[file]; }
  [[nodiscard]] InputError error(const InfraPlace& at, const std::string& message) const {
    if (at.line == 0) return InputError(fmt::format("{}: {}", names_[at.file], message));
    return InputError(fmt::format("{}:{}:{}: {}", names_[at.file], at.line, at.column, message));
  }

private:
  std::vector<std::string> names_;
};

/// Quoted, and cut where it is long.
std::string infra_quoted(std::string_view name) {
  constexpr std::size_t most = 64;
  if (name.size() <= most) return fmt::format("\"{}\"", name);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return fmt::format("\"{}...\"", name.substr(0, end));
}

/// "a, b and 3 more".
std::string infra_listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

/// What stands in a YAML file.
struct InfraValue {
  enum class Kind : std::uint8_t { nothing, word, list, keys };
  Kind kind = Kind::nothing;
  std::string text;
  InfraPlace at;
  std::vector<InfraValue> items; ///< of keys: a key, its value, the next key, ...

  /// The same for the same content, wherever it stands.
  void write(std::string& to) const {
    to += fmt::format("{}:{}:{}:{};", static_cast<int>(kind), text.size(), text, items.size());
    for (const InfraValue& item : items) item.write(to);
  }
};

/// Refuses what would make a small file a large tree before it does.
class InfraTree : public YAML::EventHandler {
public:
  InfraTree(const InfraSources& sources, std::uint32_t file) : sources_(sources), file_(file) {
    root_.at.file = file;
  }

  [[nodiscard]] InfraValue take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw sources_.error(place(mark), "a second document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(value(mark, anchor, InfraValue::Kind::nothing));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw sources_.error(place(mark), "aliases aren't read");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                const std::string& text) override {
    InfraValue word = value(mark, anchor, InfraValue::Kind::word);
    word.text = text;
    add(std::move(word));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(value(mark, anchor, InfraValue::Kind::list));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(value(mark, anchor, InfraValue::Kind::keys));
  }
  void OnMapEnd() override { close(); }

private:
  [[nodiscard]] InfraPlace place(const YAML::Mark& mark) const {
    if (mark.is_null()) return {file_, 0, 0};
    return {file_, mark.line + 1, mark.column + 1};
  }
  InfraValue value(const YAML::Mark& mark, YAML::anchor_t anchor, InfraValue::Kind kind) {
    if (anchor != 0) throw sources_.error(place(mark), "anchors aren't read");
    if (++values_ > most_infra_values)
      throw sources_.error(place(mark), fmt::format("more than {} values", most_infra_values));
    return {kind, {}, place(mark), {}};
  }
  void add(InfraValue done) {
    if (open_.empty())
      root_ = std::move(done);
    else
      open_.back().items.push_back(std::move(done));
  }
  void open(InfraValue begun) {
    if (open_.size() >= most_infra_depth)
      throw sources_.error(begun.at,
                           fmt::format("lists and keys within {} others", most_infra_depth));
    open_.push_back(std::move(begun));
  }
  void close() {
    InfraValue done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done));
  }

  const InfraSources& sources_;
  std::uint32_t file_;
  std::size_t documents_ = 0, values_ = 0;
  std::vector<InfraValue> open_;
  InfraValue root_;
};

struct InfraLink {
  std::string name;
  std::optional<Bandwidth> rate;
  std::optional<Time> latency;
  std::string lanes; ///< how transfers became bytes
};

/// "nic[0:4]"; last < 0: to the end.
struct InfraPart {
  std::string name;
  InfraPlace at;
  std::int64_t first = 0, last = -1, step = 1;
  bool is_slice = false;
};
/// From the outside: "host[0]", "nic[0:4]".
using InfraEnd = std::vector<InfraPart>;

struct InfraEdge {
  enum class Scheme : std::uint8_t { single, one2one, many2many, ring };
  std::array<InfraEnd, 2> ends;
  Scheme scheme = Scheme::single; ///< single: none is given
  std::string link;
  InfraPlace at, link_at;
};

struct InfraComponent {
  std::string name, device; ///< device: that it is; empty: it is none
  InfraPlace at;
  std::int64_t count = -1; ///< < 0: not given
  std::int64_t seen = 0;   ///< one more than the largest index that occurs
  bool npu = false;
  std::size_t offset = 0; ///< of its first node within the device
};

struct InfraPair {
  std::uint32_t from, to, link;
};

struct InfraDevice {
  std::string name, content; ///< content: to compare
  InfraPlace at;
  std::vector<InfraComponent> components;
  std::unordered_map<std::string, std::size_t> component_of;
  std::vector<InfraLink> links;
  std::unordered_map<std::string, std::size_t> link_of;
  std::vector<InfraEdge> edges;

  int depth = 0; ///< of devices within devices; 0: not laid out yet
  bool open = false;
  std::int64_t nodes = 0, all_links = 0; ///< with those of its devices
  std::vector<InfraPair> pairs;          ///< of its own edges
  bool has_pairs = false;
};

/// One file: devices, and what is between instances of them.
struct InfraFile {
  std::vector<InfraDevice> devices;
  std::optional<InfraDevice> whole; ///< its components are the instances
};

class InfraParser {
public:
  explicit InfraParser(InfraSources& sources) : sources_(sources) {}

  [[nodiscard]] InfraFile parse(std::string_view content, const std::string& source) {
    file_ = sources_.add(source);
    if (content.size() > most_infra_bytes)
      throw sources_.error(
          {file_}, fmt::format("{} bytes are no InfraGraph (at most 16 MiB)", content.size()));
    if (first_no_text(content) != std::string_view::npos)
      throw sources_.error({file_}, "no text in UTF-8");
    InfraTree tree(sources_, file_);
    try {
      std::istringstream stream{std::string(content)};
      YAML::Parser parser(stream);
      while (parser.HandleNextDocument(tree)) continue;
    } catch (const YAML::Exception& e) {
      if (e.mark.is_null()) throw sources_.error({file_}, e.msg);
      throw sources_.error({file_, e.mark.line + 1, e.mark.column + 1}, e.msg);
    }
    return file(tree.take());
  }

private:
  using Fields = std::map<std::string_view, const InfraValue*>;

  [[nodiscard]] InputError error(const InfraValue& value, const std::string& message) const {
    return sources_.error(value.at, message);
  }
  [[nodiscard]] Fields fields(const InfraValue& value,
                              const std::vector<std::string>& known) const {
    if (value.kind != InfraValue::Kind::keys) throw error(value, "expected keys");
    Fields found;
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
      const InfraValue& key = value.items[i];
      if (std::ranges::find(known, key.text) == known.end())
        throw error(key, unknown_name("key", key.text.substr(0, 64), known));
      if (!found.emplace(key.text, &value.items[i + 1]).second)
        throw error(key, fmt::format("the key \"{}\" stands twice", key.text));
    }
    return found;
  }
  /// Null where the key isn't there, or has no value.
  [[nodiscard]] static const InfraValue* find(const Fields& fields, std::string_view key) {
    const auto found = fields.find(key);
    if (found == fields.end() || found->second->kind == InfraValue::Kind::nothing) return nullptr;
    return found->second;
  }
  [[nodiscard]] const InfraValue& need(const Fields& fields, const InfraValue& in,
                                       std::string_view key) const {
    const InfraValue* value = find(fields, key);
    if (value == nullptr) throw error(in, fmt::format("no \"{}\"", key));
    return *value;
  }
  [[nodiscard]] const std::string& word(const InfraValue& value) const {
    if (value.kind != InfraValue::Kind::word || value.text.empty())
      throw error(value, "expected a word");
    return value.text;
  }
  [[nodiscard]] const std::vector<InfraValue>& list(const Fields& fields,
                                                    std::string_view key) const {
    static const std::vector<InfraValue> none;
    const InfraValue* value = find(fields, key);
    if (value == nullptr) return none;
    if (value->kind != InfraValue::Kind::list) throw error(*value, "expected a list");
    return value->items;
  }
  [[nodiscard]] std::string name(const Fields& fields, const InfraValue& in) const {
    constexpr std::size_t longest = 128;
    const InfraValue& value = need(fields, in, "name");
    if (word(value).size() > longest)
      throw error(value,
                  fmt::format("a name of {} bytes (at most {})", value.text.size(), longest));
    return value.text;
  }
  [[nodiscard]] std::int64_t whole_number(std::string_view text, const InfraPlace& at) const {
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size())
      throw sources_.error(at, fmt::format("{} is no whole number", infra_quoted(text)));
    if (value < 0 || value > most_npus)
      throw sources_.error(at, fmt::format("{} is out of range (0 .. {})", value, most_npus));
    return value;
  }
  [[nodiscard]] long double number(const InfraValue& value) const {
    long double found = 0;
    const std::string& text = word(value);
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), found);
    if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(found))
      throw error(value, fmt::format("{} is no number", infra_quoted(text)));
    if (found < 0) throw error(value, fmt::format("{} is negative", infra_quoted(text)));
    return found;
  }

  [[nodiscard]] InfraFile file(const InfraValue& root) const {
    if (root.kind != InfraValue::Kind::keys) throw error(root, "expected keys");
    const auto has = [&](std::string_view key) {
      for (std::size_t i = 0; i < root.items.size(); i += 2)
        if (root.items[i].text == key) return true;
      return false;
    };
    InfraFile read;
    if (has("components")) {
      read.devices.push_back(device(root));
      return read;
    }
    const InfraValue& content =
        has("infrastructure") ? *fields(root, {"infrastructure"}).at("infrastructure") : root;
    const Fields keys = fields(
        content, {"name", "description", "devices", "instances", "links", "edges", "connections"});
    std::unordered_set<std::string> names;
    for (const InfraValue& value : list(keys, "devices")) {
      read.devices.push_back(device(value));
      if (!names.insert(read.devices.back().name).second)
        throw error(value,
                    fmt::format("a second device {}", infra_quoted(read.devices.back().name)));
    }
    InfraDevice whole;
    whole.at = content.at;
    add_links_and_edges(whole, keys, true);
    for (const InfraValue& value : list(keys, "instances")) add(whole, instance(value), value);
    if (!whole.links.empty() || !whole.edges.empty() || !whole.components.empty())
      read.whole = std::move(whole);
    return read;
  }

  [[nodiscard]] InfraDevice device(const InfraValue& value) const {
    const Fields keys =
        fields(value, {"name", "description", "components", "links", "edges", "connections"});
    InfraDevice read;
    read.at = value.at;
    read.name = name(keys, value);
    value.write(read.content);
    for (const InfraValue& item : list(keys, "components")) add(read, component(item), item);
    add_links_and_edges(read, keys, false);
    return read;
  }
  void add(InfraDevice& device, InfraComponent part, const InfraValue& value) const {
    if (!device.component_of.emplace(part.name, device.components.size()).second)
      throw error(value, fmt::format("a second {}", infra_quoted(part.name)));
    device.components.push_back(std::move(part));
  }
  void add_links_and_edges(InfraDevice& device, const Fields& keys, bool of_instances) const {
    for (const InfraValue& item : list(keys, "links")) {
      InfraLink read = link(item);
      if (!device.link_of.emplace(read.name, device.links.size()).second)
        throw error(item, fmt::format("a second link {}", infra_quoted(read.name)));
      device.links.push_back(std::move(read));
    }
    for (const InfraValue& item : list(keys, "connections"))
      device.edges.push_back(connection(item, of_instances));
    for (const InfraValue& item : list(keys, "edges"))
      device.edges.push_back(edge(item, of_instances));
  }

  [[nodiscard]] InfraComponent instance(const InfraValue& value) const {
    const Fields keys = fields(value, {"name", "description", "device", "count"});
    InfraComponent read;
    read.name = name(keys, value);
    const InfraValue& device = need(keys, value, "device");
    read.device = word(device);
    read.at = device.at;
    if (const InfraValue* count = find(keys, "count"))
      read.count = whole_number(word(*count), count->at);
    return read;
  }
  [[nodiscard]] InfraComponent component(const InfraValue& value) const {
    static const std::vector<std::string> kinds{"device", "cpu",  "xpu",   "nic",
                                                "memory", "port", "switch"};
    std::vector<std::string> known{"name", "description", "count", "choice",
                                   "type", "external",    "custom"};
    known.insert(known.end(), kinds.begin(), kinds.end());
    const Fields keys = fields(value, known);
    for (const std::string& kind : kinds) // empty in the schema: nothing is lost
      if (const InfraValue* more = find(keys, kind))
        if (more->kind != InfraValue::Kind::keys || !more->items.empty())
          throw error(*more, fmt::format("nothing more is known of a {}", kind));
    InfraComponent read;
    read.name = name(keys, value);
    read.at = value.at;
    if (const InfraValue* count = find(keys, "count"))
      read.count = whole_number(word(*count), count->at);
    const InfraValue* choice = find(keys, "choice");
    const InfraValue* type = find(keys, "type");
    if (choice != nullptr && type != nullptr)
      throw error(*type, "both \"choice\" and \"type\" of a component");
    if (choice == nullptr) choice = type;
    if (choice == nullptr) throw error(value, "no \"choice\" (or \"type\") of a component");
    std::string kind = lower_case(word(*choice));
    if (const InfraValue* custom = find(keys, "custom"); custom != nullptr && kind == "custom")
      if (const InfraValue* own = find(fields(*custom, {"type"}), "type"))
        kind = lower_case(word(*own));
    if (kind == "device") read.device = read.name;
    read.npu = kind == "xpu" || kind == "gpu" || kind == "npu";
    return read;
  }

  [[nodiscard]] InfraLink link(const InfraValue& value) const {
    const Fields keys = fields(value, {"name", "description", "physical", "bandwidth", "latency"});
    InfraLink read;
    read.name = name(keys, value);
    std::string words = read.name;
    if (const InfraValue* description = find(keys, "description")) words += " " + description->text;
    const InfraValue* rate = find(keys, "bandwidth");
    const InfraValue* latency = find(keys, "latency");
    if (const InfraValue* physical = find(keys, "physical")) {
      const Fields inner = fields(*physical, {"bandwidth", "latency"});
      for (auto [outside, key] : {std::pair{&rate, "bandwidth"}, std::pair{&latency, "latency"}})
        if (const InfraValue* inside = find(inner, key)) {
          if (*outside != nullptr) throw error(*inside, fmt::format("the {} stands twice", key));
          *outside = inside;
        }
    }
    if (rate != nullptr) set_rate(read, *rate, words);
    if (latency != nullptr) set_latency(read, *latency);
    return read;
  }
  /// The unit that a bandwidth or a latency is given in, as the schema has it now, and its value.
  /// None: both are empty.
  [[nodiscard]] std::pair<std::string, const InfraValue*>
  quantity(const InfraValue& value,
           const std::vector<std::pair<std::string, std::string>>& units) const {
    std::vector<std::string> known{"choice"};
    for (const auto& [now, before] : units) {
      known.push_back(now);
      if (before != now) known.push_back(before);
    }
    const Fields keys = fields(value, known);
    const InfraValue* choice = find(keys, "choice");
    std::pair<std::string, const InfraValue*> found{"", nullptr};
    for (const auto& [now, before] : units)
      for (const std::string& unit : {now, before}) {
        const InfraValue* given = find(keys, unit);
        if (given == nullptr || given == found.second) continue;
        if (choice != nullptr && word(*choice) != now && word(*choice) != before) continue;
        if (found.second != nullptr) throw error(*given, "a second value");
        found = {now, given};
      }
    if (found.second == nullptr && choice != nullptr) {
      known.erase(known.begin());
      if (std::ranges::find(known, word(*choice)) == known.end())
        throw error(*choice, unknown_name("unit", choice->text.substr(0, 64), known));
      throw error(*choice, fmt::format("no \"{}\"", choice->text));
    }
    return found;
  }
  void set_rate(InfraLink& link, const InfraValue& value, const std::string& words) const {
    const auto [unit, given] =
        quantity(value, {{"gigabits_per_second", "giga_bits_per_second"},
                         {"gigabytes_per_second", "giga_bytes_per_second"},
                         {"gigatransfers_per_second", "giga_transfers_per_second"}});
    if (given == nullptr) return;
    long double rate = number(*given);
    if (rate <= 0 || rate > 1e9L)
      throw error(*given, fmt::format("{} is out of range (more than 0, at most 1e9)",
                                      infra_quoted(given->text)));
    const auto transfers = static_cast<double>(rate);
    if (unit == "gigabits_per_second") rate /= 8;
    int lanes = 16;
    bool known_lanes = false;
    std::string_view code = "128b/130b";
    if (unit == "gigatransfers_per_second") {
      if (const int stated = stated_lanes(words); stated > 0) lanes = stated, known_lanes = true;
      const bool is_old = transfers < 8, has_flits = transfers >= 64;
      if (is_old) code = "8b/10b";
      if (has_flits) code = "flits of 242 in 256 bytes";
      rate *= static_cast<long double>(lanes) / 8 *
              (is_old      ? 8.0L / 10
               : has_flits ? 242.0L / 256
                           : 128.0L / 130);
    }
    link.rate = Bandwidth{static_cast<std::int64_t>(std::llround(rate * 1e9L))};
    if (link.rate->bytes_per_second <= 0) throw error(*given, "less than a byte a second");
    if (unit == "gigatransfers_per_second")
      link.lanes = fmt::format("{} GT/s, {} lanes{}, {}: {}", transfers, lanes,
                               known_lanes ? "" : " (it doesn't say how many)", code,
                               short_rate_text(static_cast<double>(link.rate->bytes_per_second)));
  }
  void set_latency(InfraLink& link, const InfraValue& value) const {
    const auto [unit, given] = quantity(value, {{"ms", "ms"}, {"us", "us"}, {"ns", "ns"}});
    if (given == nullptr) return;
    const long double ps = number(*given) * (unit == "ms" ? 1e9L : unit == "us" ? 1e6L : 1e3L);
    if (ps > 1e18L) throw error(*given, fmt::format("{} is too long", infra_quoted(given->text)));
    link.latency = Time{static_cast<std::int64_t>(std::llround(ps))};
    if (link.latency->ps == 0 && ps > 0) throw error(*given, "less than a picosecond");
  }
  /// Of "PCIe 3.0 x8"; 0: it says none.
  [[nodiscard]] static int stated_lanes(const std::string& words) {
    const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    int found = 0;
    for (std::size_t at = 0; at + 1 < words.size(); ++at) {
      if (words[at] != 'x' || (at > 0 && is_part(words[at - 1]))) continue;
      for (const int lanes : {1, 2, 4, 8, 16, 32}) {
        const std::string text = std::to_string(lanes);
        const std::size_t end = at + 1 + text.size();
        if (words.compare(at + 1, text.size(), text) != 0) continue;
        if (end < words.size() && is_part(words[end])) continue;
        if (found != 0 && found != lanes) return 0;
        found = lanes;
      }
    }
    return found;
  }

  [[nodiscard]] InfraEdge edge(const InfraValue& value, bool of_instances) const {
    const Fields keys = fields(value, {"ep1", "ep2", "scheme", "link"});
    InfraEdge read;
    read.at = value.at;
    read.ends = {end(need(keys, value, "ep1"), of_instances),
                 end(need(keys, value, "ep2"), of_instances)};
    const InfraValue& link = need(keys, value, "link");
    read.link = word(link);
    read.link_at = link.at;
    if (const InfraValue* scheme = find(keys, "scheme")) {
      const std::string& text = word(*scheme);
      if (text == "one2one")
        read.scheme = InfraEdge::Scheme::one2one;
      else if (text == "many2many")
        read.scheme = InfraEdge::Scheme::many2many;
      else if (text == "ring")
        read.scheme = InfraEdge::Scheme::ring;
      else
        throw error(*scheme,
                    unknown_name("scheme", text.substr(0, 64),
                                 std::vector<std::string>{"one2one", "many2many", "ring"}));
    }
    return read;
  }
  [[nodiscard]] InfraEnd end(const InfraValue& value, bool of_instances) const {
    const std::string outer = of_instances ? "instance" : "device";
    const Fields keys = fields(value, {outer, "component"});
    InfraEnd read;
    if (of_instances)
      add_parts(read, need(keys, value, outer));
    else if (const InfraValue* device = find(keys, outer))
      add_parts(read, *device);
    add_parts(read, need(keys, value, "component"));
    return read;
  }
  /// "cx5[0:8].port".
  void add_parts(InfraEnd& end, const InfraValue& value) const {
    std::string_view rest = word(value);
    InfraPlace at = value.at;
    while (true) {
      const std::string_view text = rest.substr(0, rest.find('.'));
      end.push_back(part(text, at));
      if (end.size() > most_nested_devices + std::size_t{2})
        throw sources_.error(
            at, fmt::format("more than {} devices within each other", most_nested_devices));
      if (text.size() == rest.size()) return;
      rest.remove_prefix(text.size() + 1);
      at.column += static_cast<int>(text.size()) + 1;
    }
  }
  /// "nic[0:4]".
  [[nodiscard]] InfraPart part(std::string_view text, const InfraPlace& at) const {
    InfraPart read;
    read.at = at;
    const std::size_t open = text.find('[');
    read.name = text.substr(0, open);
    if (read.name.empty()) throw sources_.error(at, "expected a name");
    if (open == std::string_view::npos) return read;
    if (!text.ends_with(']'))
      throw sources_.error(at, fmt::format("{} has no ']' at its end", infra_quoted(text)));
    std::string_view slice = text.substr(open + 1, text.size() - open - 2);
    read.is_slice = true;
    if (slice.find(':') == std::string_view::npos) {
      read.first = whole_number(slice, at);
      read.last = read.first + 1;
      return read;
    }
    std::array<std::int64_t*, 3> values{&read.first, &read.last, &read.step};
    for (std::size_t i = 0;; ++i) {
      const std::string_view one = slice.substr(0, slice.find(':'));
      if (i == values.size())
        throw sources_.error(at, fmt::format("{} has more than three numbers", infra_quoted(text)));
      if (!one.empty()) *values[i] = whole_number(one, at);
      if (one.size() == slice.size()) break;
      slice.remove_prefix(one.size() + 1);
    }
    if (read.step == 0)
      throw sources_.error(at, fmt::format("{} has a step of 0", infra_quoted(text)));
    if (read.last >= 0 && read.last <= read.first)
      throw sources_.error(at, fmt::format("{} names none", infra_quoted(text)));
    return read;
  }

  /// "server.0.nic.1.eth.leafsw.0.port.1": names with indexes, the link has none.
  [[nodiscard]] InfraEdge connection(const InfraValue& value, bool of_instances) const {
    InfraEdge read;
    read.at = value.at;
    std::string_view rest = word(value);
    std::vector<std::pair<std::string_view, InfraPlace>> words;
    InfraPlace at = value.at;
    while (true) {
      const std::string_view text = rest.substr(0, rest.find('.'));
      if (text.empty()) throw sources_.error(at, "expected a name");
      words.emplace_back(text, at);
      if (words.size() > 8U * most_nested_devices)
        throw sources_.error(at, "a connection of too many names");
      if (text.size() == rest.size()) break;
      rest.remove_prefix(text.size() + 1);
      at.column += static_cast<int>(text.size()) + 1;
    }
    const auto is_index = [&](std::size_t i) {
      return i < words.size() &&
             std::ranges::all_of(words[i].first, [](char c) { return c >= '0' && c <= '9'; });
    };
    std::size_t side = 0;
    for (std::size_t i = 0; i < words.size();) {
      if (is_index(i + 1)) {
        InfraPart part;
        part.name = words[i].first;
        part.at = words[i].second;
        part.first = whole_number(words[i + 1].first, words[i + 1].second);
        part.last = part.first + 1;
        part.is_slice = true;
        read.ends[side].push_back(std::move(part));
        i += 2;
      } else if (side == 0 && !read.ends[0].empty()) {
        read.link = words[i].first;
        read.link_at = words[i].second;
        side = 1;
        ++i;
      } else {
        throw sources_.error(words[i].second,
                             fmt::format("no index after {}", infra_quoted(words[i].first)));
      }
    }
    if (read.ends[1].empty())
      throw error(value, fmt::format("{} isn't of the form {}", infra_quoted(value.text),
                                     of_instances ? "\"server.0.nic.0.link.switch.0.port.0\""
                                                  : "\"nic.0.link.port.0\""));
    return read;
  }

  InfraSources& sources_;
  std::uint32_t file_ = 0;
};

/// Devices by their names, and what stands between.
class InfraReader {
public:
  InfraReader(const ForeignFile& file, Assumptions& assumed) : file_(file), assumed_(assumed) {}

  TopologyParts read() {
    InfraParser parser(sources_);
    take(parser.parse(file_.content, file_.source));
    for (const CompanionFile& companion : file_.companions)
      take(parser.parse(companion.content, companion.source));
    own_devices_ = devices_.size();
    const std::size_t root = whole_ ? add_whole() : lone_device();
    find_devices(root);
    find_counts(root);
    lay_out(root, 1);
    return build(root);
  }

private:
  void take(InfraFile read) {
    for (InfraDevice& device : read.devices) {
      const auto [found, is_new] = device_of_.emplace(device.name, devices_.size());
      if (is_new)
        devices_.push_back(std::move(device));
      else
        require_same(devices_[found->second], device);
    }
    if (!read.whole) return;
    if (whole_)
      throw sources_.error(read.whole->at, fmt::format("instances, links or connections, as in {}",
                                                       sources_.name(whole_->at.file)));
    whole_ = std::move(read.whole);
  }
  void require_same(const InfraDevice& one, const InfraDevice& other) const {
    if (one.content == other.content) return;
    throw sources_.error(other.at,
                         fmt::format("device {} is another one in {}:{}", infra_quoted(other.name),
                                     sources_.name(one.at.file), one.at.line));
  }
  /// Of those that the file and its companions define.
  [[nodiscard]] std::vector<std::string> device_names() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(own_devices_, devices_.size()); ++i)
      names.push_back(devices_[i].name);
    return names;
  }
  /// Those that are no part of another one.
  [[nodiscard]] std::vector<std::size_t> outer_devices() const {
    std::unordered_set<std::string> inner;
    for (const InfraDevice& device : devices_)
      for (const InfraComponent& component : device.components)
        if (!component.device.empty()) inner.insert(component.device);
    std::vector<std::size_t> outer;
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (!inner.contains(devices_[i].name)) outer.push_back(i);
    return outer;
  }

  [[nodiscard]] std::size_t lone_device() const {
    const std::vector<std::size_t> outer = outer_devices();
    if (outer.size() == 1) return outer.front();
    if (devices_.empty())
      throw sources_.error({0}, "neither instances nor devices: there is no network in it");
    throw sources_.error(devices_.front().at,
                         fmt::format("{} devices ({}) and no instances of them: which one is the "
                                     "network?",
                                     devices_.size(), infra_listed(device_names())));
  }
  std::size_t add_whole() {
    std::unordered_set<std::string> unknown;
    const InfraPart* first = nullptr;
    for (const InfraEdge& edge : whole_->edges)
      for (const InfraEnd& end : edge.ends)
        if (!whole_->component_of.contains(end.front().name)) {
          unknown.insert(end.front().name);
          if (first == nullptr) first = &end.front();
        }
    if (first != nullptr) add_unnamed_instance(*first, unknown.size() == 1);
    if (whole_->components.empty())
      throw sources_.error(whole_->at, "links, but neither instances nor connections");
    devices_.push_back(std::move(*whole_));
    return devices_.size() - 1;
  }
  /// The published DGX A100 connects "server", which is no instance: of the one device that has
  /// none.
  void add_unnamed_instance(const InfraPart& part, bool is_only) {
    std::vector<std::size_t> without = outer_devices();
    std::erase_if(without, [&](std::size_t i) {
      return std::ranges::any_of(whole_->components, [&](const InfraComponent& instance) {
        return instance.device == devices_[i].name;
      });
    });
    if (!is_only || without.size() != 1)
      throw sources_.error(part.at,
                           unknown_name("instance", part.name.substr(0, 64), names_of(*whole_)));
    InfraComponent instance;
    instance.name = part.name.substr(0, 128);
    instance.device = devices_[without.front()].name;
    instance.at = part.at;
    assumed_.add(fmt::format("{}, which is no instance", infra_quoted(instance.name)),
                 fmt::format("one of device {}, the only one without instances",
                             infra_quoted(instance.device)));
    whole_->component_of.emplace(part.name, whole_->components.size());
    whole_->components.push_back(std::move(instance));
  }
  [[nodiscard]] static std::vector<std::string> names_of(const InfraDevice& device) {
    constexpr std::size_t most = 20;
    std::vector<std::string> names;
    for (const InfraComponent& component : device.components)
      if (names.size() < most) names.push_back(component.name);
    return names;
  }

  /// Those that it is made of, where need be from files beside.
  void find_devices(std::size_t root) {
    std::vector<std::size_t> todo{root};
    std::set<std::size_t> seen{root};
    std::vector<std::string> from_beside;
    while (!todo.empty()) {
      const std::size_t now = todo.back();
      todo.pop_back();
      for (std::size_t c = 0; c < devices_[now].components.size(); ++c) {
        const InfraComponent component = devices_[now].components[c];
        if (component.device.empty()) continue;
        if (!device_of_.contains(component.device)) {
          const InfraDevice& found = beside(component);
          from_beside.push_back(fmt::format("{} ({})", found.name, sources_.name(found.at.file)));
          device_of_.emplace(found.name, devices_.size());
          devices_.push_back(found);
        }
        const std::size_t device = device_of_.at(component.device);
        if (seen.insert(device).second) todo.push_back(device);
      }
    }
    if (!from_beside.empty())
      assumed_.add("devices from files beside it", infra_listed(from_beside));
  }
  [[nodiscard]] const InfraDevice& beside(const InfraComponent& component) {
    if (!looked_beside_) look_beside();
    const InfraDevice* found = nullptr;
    for (const InfraDevice& device : beside_)
      if (device.name == component.device) {
        if (found != nullptr) require_same(*found, device);
        if (found == nullptr) found = &device;
      }
    if (found != nullptr) return *found;
    std::string looked =
        own_devices_ == 0 ? "here is none" : "here: " + infra_listed(device_names());
    if (!beside_names_.empty()) looked += "; beside: " + infra_listed(beside_names_);
    throw sources_.error(component.at, fmt::format("device {} is defined nowhere ({})",
                                                   infra_quoted(component.device), looked));
  }
  void look_beside() {
    looked_beside_ = true;
    if (!file_.beside) return;
    InfraParser parser(sources_);
    for (const CompanionFile& other : file_.beside()) {
      if (!is_infragraph(other.content)) continue;
      const auto is_known = [&](const std::string& source) { return source == other.source; };
      if (is_known(file_.source) ||
          std::ranges::any_of(file_.companions, is_known, &CompanionFile::source))
        continue;
      const std::string name = std::filesystem::path(other.source).filename().string();
      try {
        InfraFile read = parser.parse(other.content, other.source);
        for (InfraDevice& device : read.devices) beside_.push_back(std::move(device));
        beside_names_.push_back(name);
      } catch (const InputError&) {
        beside_names_.push_back(name + ", which can't be read");
      }
    }
  }

  struct Step {
    std::size_t device, component;
    const InfraPart* part;
  };
  using Path = std::vector<Step>;
  [[nodiscard]] Path path(std::size_t root, const InfraEnd& end) const {
    Path steps;
    std::size_t now = root;
    for (std::size_t i = 0; i < end.size(); ++i) {
      const InfraDevice& device = devices_[now];
      const auto found = device.component_of.find(end[i].name);
      if (found == device.component_of.end()) {
        // The schema has "dgx.cx5[0]" of an instance whose device is dgx.
        if (!end[i].is_slice && end[i].name == device.name && i + 1 < end.size()) continue;
        throw sources_.error(
            end[i].at, unknown_name("component", end[i].name.substr(0, 64), names_of(device)));
      }
      steps.push_back({now, found->second, &end[i]});
      const InfraComponent& component = device.components[found->second];
      if (component.device.empty() && i + 1 < end.size())
        throw sources_.error(end[i + 1].at, fmt::format("{} is no device that has components",
                                                        infra_quoted(end[i].name)));
      if (component.device.empty()) return steps;
      now = device_of_.at(component.device);
    }
    throw sources_.error(end.back().at, fmt::format("{} is a device: which component of it? "
                                                    "(known: {})",
                                                    infra_quoted(end.back().name),
                                                    infra_listed(names_of(devices_[now]))));
  }

  /// Where the file has none: from the indexes that occur.
  void find_counts(std::size_t root) {
    std::vector<std::size_t> used;
    std::set<std::size_t> seen{root};
    used.push_back(root);
    for (std::size_t i = 0; i < used.size(); ++i)
      for (const InfraComponent& component : devices_[used[i]].components)
        if (!component.device.empty())
          if (const std::size_t device = device_of_.at(component.device);
              seen.insert(device).second)
            used.push_back(device);
    for (const std::size_t d : used)
      for (const InfraEdge& edge : devices_[d].edges)
        for (const InfraEnd& end : edge.ends)
          for (const Step& step : path(d, end)) {
            InfraComponent& component = devices_[step.device].components[step.component];
            const std::int64_t last = std::max(step.part->last, step.part->first + 1);
            component.seen = std::max(component.seen, last);
            if (component.count >= 0 && step.part->is_slice && last > component.count)
              throw sources_.error(step.part->at,
                                   fmt::format("index {} of {} (its count is {})", last - 1,
                                               infra_quoted(component.name), component.count));
          }
    std::vector<std::string> counts;
    for (const std::size_t d : used)
      for (InfraComponent& component : devices_[d].components)
        if (component.count < 0) {
          component.count = std::max<std::int64_t>(1, component.seen);
          counts.push_back(fmt::format("{}{} {}",
                                       devices_[d].name.empty() ? "" : devices_[d].name + ".",
                                       component.name, component.count));
        }
    if (!counts.empty())
      assumed_.add("counts that the file lacks",
                   fmt::format("as its connections count: {}", infra_listed(counts)));
  }

  /// Nodes and links that it has, and where the nodes of each component begin.
  void lay_out(std::size_t number, int depth) {
    if (devices_[number].depth > 0) return;
    InfraDevice& device = devices_[number];
    if (device.open)
      throw sources_.error(device.at,
                           fmt::format("device {} is a part of itself", infra_quoted(device.name)));
    if (depth > most_nested_devices + 1)
      throw sources_.error(
          device.at, fmt::format("more than {} devices within each other", most_nested_devices));
    device.open = true;
    int inner = 0;
    for (InfraComponent& component : device.components) {
      component.offset = static_cast<std::size_t>(device.nodes);
      std::int64_t nodes = 1, links = 0;
      if (!component.device.empty()) {
        const std::size_t part = device_of_.at(component.device);
        lay_out(part, depth + 1);
        nodes = devices_[part].nodes;
        links = devices_[part].all_links;
        inner = std::max(inner, devices_[part].depth);
      }
      device.nodes += component.count * nodes;
      if (device.nodes > most_npus)
        throw sources_.error(component.at, fmt::format("more than {} components", most_npus));
      add_links(device, component.count * links, component.at);
    }
    device.depth = inner + 1;
    if (device.depth > most_nested_devices + 1)
      throw sources_.error(
          device.at, fmt::format("more than {} devices within each other", most_nested_devices));
    for (const InfraEdge& edge : device.edges) add_links(device, pair_count(number, edge), edge.at);
    device.open = false;
  }
  void add_links(InfraDevice& device, std::int64_t links, const InfraPlace& at) const {
    device.all_links += links;
    if (device.all_links > most_infra_links)
      throw sources_.error(at, fmt::format("more than {} links", most_infra_links));
  }

  [[nodiscard]] std::int64_t stride(const Step& step) const {
    const InfraComponent& component = devices_[step.device].components[step.component];
    return component.device.empty() ? 1 : devices_[device_of_.at(component.device)].nodes;
  }
  [[nodiscard]] std::int64_t length(const Step& step) const {
    const InfraComponent& component = devices_[step.device].components[step.component];
    const std::int64_t last = step.part->last < 0 ? component.count : step.part->last;
    return std::max<std::int64_t>(0, last - step.part->first + step.part->step - 1) /
           step.part->step;
  }
  /// At most the number of nodes of the device. Pre: it is laid out.
  [[nodiscard]] std::int64_t length(const Path& steps) const {
    std::int64_t product = 1;
    for (const Step& step : steps) product *= length(step);
    return product;
  }
  /// The first ones, the last step varying fastest.
  [[nodiscard]] std::vector<std::uint32_t> nodes_of(const Path& steps, std::int64_t most) const {
    std::vector<std::uint32_t> nodes{0};
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const Step& step = steps[s];
      const InfraComponent& component = devices_[step.device].components[step.component];
      std::vector<std::uint32_t> next;
      for (const std::uint32_t outer : nodes)
        for (std::int64_t i = 0; i < length(step) && static_cast<std::int64_t>(next.size()) < most;
             ++i)
          next.push_back(outer + static_cast<std::uint32_t>(
                                     component.offset +
                                     static_cast<std::size_t>(
                                         (step.part->first + i * step.part->step) * stride(step))));
      nodes = std::move(next);
    }
    return nodes;
  }
  [[nodiscard]] std::int64_t pair_count(std::size_t device, const InfraEdge& edge) const {
    const std::int64_t one = length(path(device, edge.ends[0]));
    const std::int64_t other = length(path(device, edge.ends[1]));
    switch (edge.scheme) {
    case InfraEdge::Scheme::single:
      if (one != 1 || other != 1)
        throw sources_.error(edge.at, fmt::format("{} and {} ends, and no scheme (known: one2one, "
                                                  "many2many, ring)",
                                                  one, other));
      return 1;
    case InfraEdge::Scheme::one2one: return std::min(one, other);
    case InfraEdge::Scheme::many2many: return one * other;
    case InfraEdge::Scheme::ring:
      if (one != other)
        throw sources_.error(edge.at, "the two ends of a ring differ, and the schema doesn't say "
                                      "what such a ring is");
      return one;
    }
    return 0;
  }
  void find_pairs(std::size_t number) {
    if (devices_[number].has_pairs) return;
    std::vector<InfraPair> pairs;
    for (const InfraEdge& edge : devices_[number].edges) {
      const Path one = path(number, edge.ends[0]), other = path(number, edge.ends[1]);
      const std::int64_t count = pair_count(number, edge);
      if (count == 0) continue;
      const std::uint32_t link = link_of(number, edge, one, other);
      const bool is_all = edge.scheme == InfraEdge::Scheme::many2many;
      const std::int64_t most = is_all ? most_infra_links : count;
      const std::vector<std::uint32_t> from = nodes_of(one, most), to = nodes_of(other, most);
      if (edge.scheme == InfraEdge::Scheme::single && from == to)
        throw sources_.error(edge.at, "a link from a component to itself");
      if (edge.scheme == InfraEdge::Scheme::ring) {
        if (from != to)
          throw sources_.error(edge.at, "the two ends of a ring differ, and the schema doesn't say "
                                        "what such a ring is");
        assumed_.add("rings", "from each component to the next, and from the last to the first");
      }
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (is_all)
          for (const std::uint32_t end : to) pairs.push_back({from[i], end, link});
        else if (edge.scheme == InfraEdge::Scheme::ring)
          pairs.push_back({from[i], to[(i + 1) % to.size()], link});
        else
          pairs.push_back({from[i], to[i], link});
      }
    }
    std::erase_if(pairs, [](const InfraPair& pair) { return pair.from == pair.to; });
    devices_[number].pairs = std::move(pairs);
    devices_[number].has_pairs = true;
  }

  /// Its number in link_values_.
  std::uint32_t link_of(std::size_t number, const InfraEdge& edge, const Path& one,
                        const Path& other) {
    const InfraDevice& device = devices_[number];
    if (const auto found = device.link_of.find(edge.link); found != device.link_of.end())
      return link_number(number, found->second);
    // The published DGX A100 connects instances by a link that only their devices have.
    std::optional<std::pair<std::size_t, std::size_t>> inner;
    for (const Path* steps : {&one, &other})
      for (const Step& step : *steps) {
        const auto found = devices_[step.device].link_of.find(edge.link);
        if (found == devices_[step.device].link_of.end()) continue;
        if (inner) {
          const InfraLink& a = devices_[inner->first].links[inner->second];
          const InfraLink& b = devices_[step.device].links[found->second];
          if (a.rate != b.rate || a.latency != b.latency)
            throw sources_.error(edge.link_at,
                                 fmt::format("link {} isn't defined here, and differs between the "
                                             "devices that it connects",
                                             infra_quoted(edge.link)));
        } else {
          inner = {step.device, found->second};
        }
      }
    if (!inner) {
      std::vector<std::string> known;
      std::set<std::size_t> scopes{number};
      for (const Path* steps : {&one, &other})
        for (const Step& step : *steps) scopes.insert(step.device);
      for (const std::size_t scope : scopes)
        for (const InfraLink& link : devices_[scope].links)
          if (known.size() < 20) known.push_back(link.name);
      throw sources_.error(edge.link_at, unknown_name("link", edge.link.substr(0, 64), known));
    }
    inner_links_.insert(infra_quoted(edge.link));
    return link_number(inner->first, inner->second);
  }
  std::uint32_t link_number(std::size_t device, std::size_t link) {
    const auto [found, is_new] = link_numbers_.emplace(
        std::pair(device, link), static_cast<std::uint32_t>(link_values_.size()));
    if (!is_new) return found->second;
    const InfraLink& given = devices_[device].links[link];
    const std::string name = infra_quoted(given.name) +
                             (devices_[device].name.empty() ? "" : " of " + devices_[device].name);
    if (!given.rate) without_rate_.push_back(name);
    if (!given.latency) without_latency_.push_back(name);
    if (!given.lanes.empty()) lanes_.push_back(fmt::format("{}: {}", name, given.lanes));
    Link values{};
    values.bandwidth = given.rate ? *given.rate : assumed_.rate("bandwidth of a link");
    values.latency = given.latency ? *given.latency : assumed_.time("latency of a link");
    link_values_.push_back(values);
    return found->second;
  }

  /// All nodes in their order, and all links.
  struct Whole {
    std::vector<std::string> names;
    std::vector<bool> is_npu;
    std::vector<InfraPair> links;
    std::size_t name_bytes = 0;
  };
  [[nodiscard]] static std::string indexed(const std::string& name, std::int64_t index) {
    std::string text = name;
    for (char& c : text)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != ':')
        c = '_';
    if (text.back() >= '0' && text.back() <= '9') text += '-';
    return text + std::to_string(index);
  }
  void add_nodes(Whole& whole, std::size_t number, const std::string& prefix) {
    const InfraDevice& device = devices_[number];
    for (const InfraComponent& component : device.components) {
      const bool is_device = !component.device.empty();
      const std::size_t part = is_device ? device_of_.at(component.device) : 0;
      if (is_device && devices_[part].nodes == 0) continue;
      for (std::int64_t i = 0; i < component.count; ++i) {
        std::string name = prefix + indexed(component.name, i);
        if (is_device) {
          add_nodes(whole, part, name + ".");
          continue;
        }
        whole.name_bytes += name.size();
        if (whole.name_bytes > most_infra_names)
          throw sources_.error(component.at, "the names of its nodes are too long");
        whole.names.push_back(std::move(name));
        whole.is_npu.push_back(component.npu);
      }
    }
  }
  void add_links(Whole& whole, std::size_t number, std::size_t first) {
    if (devices_[number].all_links == 0) return;
    find_pairs(number);
    if (!devices_[number].name.empty()) add_own_links(whole, number, first);
    for (const InfraComponent& component : devices_[number].components) {
      if (component.device.empty()) continue;
      const std::size_t part = device_of_.at(component.device);
      if (devices_[part].all_links == 0) continue;
      for (std::int64_t i = 0; i < component.count; ++i)
        add_links(whole, part,
                  first + component.offset + static_cast<std::size_t>(i * devices_[part].nodes));
    }
    // Between instances: last, as in a file.
    if (devices_[number].name.empty()) add_own_links(whole, number, first);
  }
  void add_own_links(Whole& whole, std::size_t number, std::size_t first) const {
    for (const InfraPair& pair : devices_[number].pairs)
      whole.links.push_back({pair.from + static_cast<std::uint32_t>(first),
                             pair.to + static_cast<std::uint32_t>(first), pair.link});
  }
  /// The same edge again, in whichever direction, goes.
  void drop_repeated(std::vector<InfraPair>& links) {
    const auto key = [&](std::uint32_t i) {
      return std::tuple(std::min(links[i].from, links[i].to), std::max(links[i].from, links[i].to),
                        links[i].link, i);
    };
    std::vector<std::uint32_t> order(links.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, key);
    std::vector<bool> is_again(links.size());
    std::size_t parallel = 0;
    for (std::size_t i = 1; i < order.size(); ++i) {
      const auto [a, b, link, at] = key(order[i]);
      const auto [before_a, before_b, before_link, before_at] = key(order[i - 1]);
      if (a != before_a || b != before_b) continue;
      if (link == before_link)
        is_again[at] = true;
      else
        ++parallel;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < links.size(); ++i)
      if (!is_again[i]) links[kept++] = links[i];
    if (kept < links.size())
      assumed_.add("the same link between the same components again",
                   "is the same one, as in InfraGraph's own graph");
    links.resize(kept);
    if (parallel > 0)
      assumed_.add("several links, by their names, between two components",
                   "each is there (InfraGraph's own graph keeps one)");
  }

  TopologyParts build(std::size_t root) {
    Whole whole;
    // "xpu0" where there is one device only, else "server0.xpu0".
    const InfraDevice& outer = devices_[root];
    if (outer.name.empty() && outer.components.size() == 1 && outer.components.front().count == 1)
      add_nodes(whole, device_of_.at(outer.components.front().device), "");
    else
      add_nodes(whole, root, "");
    if (whole.names.empty()) throw sources_.error(devices_[root].at, "no components");
    add_links(whole, root, 0);
    drop_repeated(whole.links);
    note_assumptions();

    TopologyParts parts;
    std::unordered_set<std::string> names;
    std::vector<NodeId> id_of(whole.names.size());
    for (const bool npus : {true, false})
      for (std::size_t i = 0; i < whole.names.size(); ++i) {
        if (whole.is_npu[i] != npus) continue;
        std::string name = whole.names[i];
        for (int copy = 2; !names.insert(name).second; ++copy)
          name = fmt::format("{}_{}", whole.names[i], copy);
        const Abilities can = npus ? Abilities{} : Abilities{false, false, false};
        id_of[i] =
            parts.add_node({std::move(name), npus ? NodeKind::npu : NodeKind::switching, can, {}});
      }
    parts.links.reserve(2 * whole.links.size());
    for (const InfraPair& pair : whole.links)
      parts.add_duplex(between(id_of[pair.from], id_of[pair.to], link_values_[pair.link]));
    return parts;
  }
  void note_assumptions() {
    if (!without_rate_.empty())
      assumed_.add("links that have no bandwidth", infra_listed(without_rate_));
    if (!without_latency_.empty())
      assumed_.add("links that have no latency", infra_listed(without_latency_));
    if (!lanes_.empty()) assumed_.add("transfers", infra_listed(lanes_));
    if (!inner_links_.empty())
      assumed_.add("links that are only defined within the devices they connect",
                   infra_listed({inner_links_.begin(), inner_links_.end()}));
    assumed_.add("links", "both ways at once, with their bandwidth each way");
    assumed_.add("components but xpus", "they forward, and neither copy nor reduce");
  }

  const ForeignFile& file_;
  Assumptions& assumed_;
  InfraSources sources_;
  std::vector<InfraDevice> devices_; ///< the whole and the one from beside last
  std::unordered_map<std::string, std::size_t> device_of_;
  std::size_t own_devices_ = 0;
  std::optional<InfraDevice> whole_;
  bool looked_beside_ = false;
  std::vector<InfraDevice> beside_;
  std::vector<std::string> beside_names_;
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> link_numbers_;
  std::vector<Link> link_values_;
  std::vector<std::string> without_rate_, without_latency_, lanes_;
  std::set<std::string> inner_links_;
};

/// As a key of YAML or JSON; lines that are comments don't count.
bool has_infra_key(std::string_view content, std::string_view key) {
  std::size_t at = 0;
  while ((at = content.find(key, at)) != std::string_view::npos) {
    std::size_t end = at + key.size(), begin = at;
    at = end;
    const bool is_quoted = begin > 0 && (content[begin - 1] == '"' || content[begin - 1] == '\'');
    if (is_quoted) {
      if (end >= content.size() || content[end] != content[begin - 1]) continue;
      --begin, ++end;
    }
    while (end < content.size() && content[end] == ' ') ++end;
    if (end >= content.size() || content[end] != ':') continue;
    if (begin > 0 &&
        std::string_view(" \t\r\n{,").find(content[begin - 1]) == std::string_view::npos)
      continue;
    const std::size_t line = begin == 0 ? 0 : content.rfind('\n', begin - 1) + 1;
    const std::size_t first = content.find_first_not_of(" \t", line);
    if (content[first] != '#') return true;
    at = std::min(content.size(), content.find('\n', end));
  }
  return false;
}

} // namespace

bool is_infragraph(std::string_view content) {
  content = content.substr(0, std::size_t{1} << 20);
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || content[first] == '<' || content[first] == '[')
    return false;
  const auto has = [&](std::string_view key) { return has_infra_key(content, key); };
  const bool has_edges = has("connections") || has("edges");
  const bool is_wrapped = has("infrastructure");
  if (has("components") && (has("choice") || has("type")) &&
      (has_edges || is_wrapped || has("devices")))
    return true;
  if (has("instances") && has("device") && (has_edges || is_wrapped)) return true;
  return has("ep1") && has("ep2") && has("instance");
}

TopologyParts read_infragraph(const ForeignFile& file, Assumptions& assumed) {
  return InfraReader(file, assumed).read();
}

} // namespace tutti::topologies
