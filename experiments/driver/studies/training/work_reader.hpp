// What is trained, from the keys of [[training]] (format at the head of reader.hpp), where
// a variant's own keys come before those that all have in common.
#pragma once

#include "experiments/driver/studies/training/work_source.hpp"
#include "sim/files/config.hpp"
#include "sim/topology.hpp"

#include <optional>
#include <span>
#include <string>

namespace tutti {

/// Two tables as one.
class WorkKeys {
public:
  /// `own`: a variant's, or null. Both must outlive this.
  WorkKeys(ConfigTable& common, ConfigTable* own) : common_(&common), own_(own) {}

  std::optional<ConfigValue> find(const std::string& key);
  /// The value of one of two keys that stand for each other, with its key: of the variant, else of
  /// all. Errors: InputError where one table has both.
  struct Choice {
    std::string key;
    ConfigValue value;
  };
  std::optional<Choice> find_one_of(std::span<const std::string> keys);
  [[nodiscard]] bool has_variant() const { return own_ != nullptr; }
  /// At the variant, where there is one.
  [[nodiscard]] InputError error(const std::string& message) const;

private:
  ConfigTable* common_;
  ConfigTable* own_;
};

/// Files are looked for beside `source_name`. Errors: InputError with the place of what is wrong.
[[nodiscard]] WorkSource read_work(WorkKeys keys, const std::string& source_name);

/// Errors: InputError at the table where the degrees of parallelism or the batch don't fit the
/// network.
void require_fitting(const WorkKeys& keys, const WorkSource& work, const Topology& topology);

/// "ns" is 1 ns; or a time with a number. Errors: InputError.
[[nodiscard]] Time parse_time_unit(const std::string& text);

constexpr std::int64_t most_samples = 1 << 30; ///< in a batch; more is a slip
constexpr std::int64_t most_degree = 1 << 20;  ///< of parallelism
constexpr std::int64_t most_passes = 1 << 16;  ///< iterations

} // namespace tutti
