// What stands behind a command's name.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::gpu {

class Arguments {
public:
  /// `valued`: options with a value behind them (`--out DIR` or `--out=DIR`), `flags`: those
  /// without. Errors: InputError for others, a missing value or one too many, and for an option
  /// that is given twice.
  Arguments(std::span<const std::string> words, std::span<const std::string_view> valued,
            std::span<const std::string_view> flags = {});

  [[nodiscard]] std::optional<std::string> option(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  /// Errors: InputError where it isn't given.
  [[nodiscard]] std::string required(std::string_view name) const;
  /// All that are no options, in order.
  [[nodiscard]] const std::vector<std::string>& rest() const { return rest_; }
  /// The first of those. Errors: InputError where there is none.
  [[nodiscard]] const std::string& first(const char* what) const;

private:
  std::map<std::string, std::string, std::less<>> options_;
  std::vector<std::string> rest_;
};

} // namespace tutti::gpu
