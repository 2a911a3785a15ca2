// TOML files as a tree that knows where each value stands and which keys were asked for, so that a
// misspelt key is an error with file:line:column, never a silent default. A command line is such a
// tree, too, in which a value stands at its option.
#pragma once

#include "sim/error.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tutti {

class ConfigTable;

/// What may stand where a text stood.
using ConfigScalar = std::variant<std::string, std::int64_t, double, bool>;
/// What replaces a text or a key; nothing where it stays. `path`: the keys that lead to it, as in
/// "training.parallel.tensor". Its InputErrors get the text's place.
using TextReplacement =
    std::function<std::optional<ConfigScalar>(const std::string& text, const std::string& path)>;

/// A value that stands in no file.
struct GivenValue {
  struct Pair;
  using List = std::vector<GivenValue>;
  using Pairs = std::vector<Pair>; ///< each name once
  std::variant<ConfigScalar, List, Pairs> is;
};
struct GivenValue::Pair {
  std::string name;
  GivenValue value;
};

/// What an option of a command says, as a key of a table.
struct GivenOption {
  std::string name;                ///< "--tensor": the place of its value
  std::string key;                 ///< "training.parallel.tensor": in tables below the root
  std::optional<GivenValue> value; ///< none: it isn't given, but messages may name it
};

class ProgramKeeper;

/// Those below the file's folder may run. Errors: InputError for any other.
void admit_below(const std::string& program, const std::string& file);

/// What a file's programs have to do with.
struct ProgramGate {
  /// Asked before one is run, with the file that names it. Errors: InputError where it may not.
  std::function<void(const std::string& program, const std::string& file)> admit = admit_below;
  std::shared_ptr<ProgramKeeper> keeper = nullptr; ///< lends them; null: nobody does
};

/// One value of a TOML file with its place. Cheap to copy.
class ConfigValue {
public:
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_integer() const;
  [[nodiscard]] bool is_boolean() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_table() const;

  /// Each throws InputError (place, what was found, what was expected) on another type; the units
  /// also on text that units.hpp refuses.
  [[nodiscard]] std::string string() const; ///< also of what replaced a text
  [[nodiscard]] std::int64_t integer(std::int64_t low = INT64_MIN,
                                     std::int64_t high = INT64_MAX) const;
  [[nodiscard]] double number() const; ///< integer or float, finite
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] Time time() const;
  [[nodiscard]] Bandwidth bandwidth() const;
  [[nodiscard]] std::vector<ConfigValue> array() const;
  [[nodiscard]] ConfigTable table() const;

  /// The file that it stands in; empty on a command line.
  [[nodiscard]] const std::string& source() const;
  /// Before the program that it names is run: asks the gate of its file. What an option names may
  /// run. Errors: InputError at its place.
  void admit(const std::string& program) const;
  [[nodiscard]] const std::shared_ptr<ProgramKeeper>& program_keeper() const;
  /// An InputError whose message starts with this value's place.
  [[nodiscard]] InputError error(const std::string& message) const;
  /// Runs `body` and puts this value's place in front of an InputError that it throws.
  template <typename Body> auto located(Body&& body) const {
    try {
      return body();
    } catch (const InputError& e) {
      throw error(e.what());
    }
  }

private:
  friend class ConfigTable;
  friend ConfigTable parse_config(std::string_view, const std::string&, ProgramGate);
  friend ConfigTable config_of(std::span<const GivenOption>);
  struct Node;
  explicit ConfigValue(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

/// A TOML table. Keys that nobody asked for are reported by finish().
class ConfigTable {
public:
  [[nodiscard]] bool has(const std::string& key) const; ///< does not count as asking
  /// The value, if the key is there.
  std::optional<ConfigValue> find(const std::string& key);
  /// Errors: InputError "... needs a key "x"" at the table's place.
  ConfigValue at(const std::string& key);
  [[nodiscard]] std::vector<std::string> keys() const; ///< in the order of the file
  /// The values of an array of tables (or of one table), empty if the key isn't there.
  std::vector<ConfigTable> tables(const std::string& key);
  /// Refuses all keys but these, before anything is read: a misspelt key is then named itself, not
  /// what is missing because of it.
  void allow_only(std::vector<std::string> keys);
  /// Errors: InputError at the first key that was never asked for; all that were are listed as
  /// known.
  void finish() const;
  [[nodiscard]] InputError error(const std::string& message) const;
  /// As messages call a key of this table: "x" in its quotes, or the option that stands for it.
  [[nodiscard]] std::string name_of(const std::string& key) const;
  /// The same where it is missing: a key "x", or the option.
  [[nodiscard]] std::string wanted(const std::string& key) const;

  /// A copy with other values for some of its texts and other keys, wherever in it they stand, each
  /// at the place of the text that it replaces. Nothing of the copy was asked for yet. Errors:
  /// InputError for a key that is there twice then; what `replacement` throws, with its place.
  [[nodiscard]] ConfigTable replaced(const TextReplacement& replacement) const;
  /// A copy that has the values of `over` for its keys, table by table, and stands where `over`
  /// does. Nothing of the copy was asked for yet.
  [[nodiscard]] ConfigTable overlaid(const ConfigTable& over) const;
  /// A copy in which each table at this key has `over` over it, as overlaid() has it, and that has
  /// no key `without`. Nothing of the copy was asked for yet.
  [[nodiscard]] ConfigTable overlaid_in(const std::string& key, const ConfigTable& over,
                                        const std::string& without) const;
  /// The same for every text of the same content, whatever the order of keys, blanks and comments.
  [[nodiscard]] std::string canonical_text() const;

private:
  friend class ConfigValue;
  friend ConfigTable parse_config(std::string_view, const std::string&, ProgramGate);
  friend ConfigTable config_of(std::span<const GivenOption>);
  [[nodiscard]] const std::string* option_of(const std::string& key) const;
  explicit ConfigTable(std::shared_ptr<const ConfigValue::Node> node);
  std::shared_ptr<const ConfigValue::Node> node_;
  std::shared_ptr<std::vector<std::string>> asked_;
};

/// Errors: InputError for an unreadable file or malformed TOML, with file:line:column.
[[nodiscard]] ConfigTable read_config(const std::string& file);
[[nodiscard]] ConfigTable parse_config(std::string_view text, const std::string& source_name,
                                       ProgramGate gate = {});
/// The root of what these options say. Of several for one key one at most is given; the first is
/// its name.
[[nodiscard]] ConfigTable config_of(std::span<const GivenOption> options);

} // namespace tutti
