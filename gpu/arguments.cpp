// The options of tutti-gpu's commands by the standard library: a bare machine has no CLI11.
#include "gpu/arguments.hpp"

#include "sim/error.hpp"

#include <algorithm>

namespace tutti::gpu {

Arguments::Arguments(std::span<const std::string> words, std::span<const std::string_view> valued,
                     std::span<const std::string_view> flags) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with('-') || word == "-") {
      rest_.push_back(word);
      continue;
    }
    const bool has_value = std::ranges::find(valued, word) != valued.end();
    if (!has_value && std::ranges::find(flags, word) == flags.end()) {
      std::vector<std::string> known(valued.begin(), valued.end());
      known.insert(known.end(), flags.begin(), flags.end());
      throw InputError(unknown_name("option", word, known));
    }
    if (has_value && i + 1 == words.size()) throw InputError(word + " needs a value");
    if (!options_.emplace(word, has_value ? words[++i] : "").second)
      throw InputError(word + " is given twice");
  }
}

std::optional<std::string> Arguments::option(std::string_view name) const {
  const auto at = options_.find(name);
  return at == options_.end() ? std::nullopt : std::optional(at->second);
}

bool Arguments::flag(std::string_view name) const { return options_.contains(name); }

std::string Arguments::required(std::string_view name) const {
  const auto value = option(name);
  if (!value) throw InputError(std::string(name) + " is missing");
  return *value;
}

const std::string& Arguments::first(const char* what) const {
  if (rest_.empty()) throw InputError(std::string(what) + " is missing");
  return rest_.front();
}

} // namespace tutti::gpu
