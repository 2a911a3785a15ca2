// The options of tutti-gpu's commands by the standard library: a bare machine has no CLI11.
#include "gpu/arguments.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <utility>

namespace tutti::gpu {

Arguments::Arguments(std::span<const std::string> words, std::span<const std::string_view> valued,
                     std::span<const std::string_view> flags) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with('-') || word == "-") {
      rest_.push_back(word);
      continue;
    }
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, equals);
    const bool has_value = std::ranges::find(valued, name) != valued.end();
    if (!has_value && std::ranges::find(flags, name) == flags.end()) {
      std::vector<std::string> known(valued.begin(), valued.end());
      known.insert(known.end(), flags.begin(), flags.end());
      throw InputError(unknown_name("option", name, known));
    }
    std::string value;
    if (equals < word.size()) {
      if (!has_value) throw InputError(name + " takes no value");
      value = word.substr(equals + 1);
    } else if (has_value) {
      if (i + 1 == words.size()) throw InputError(name + " needs a value");
      value = words[++i];
    }
    if (!options_.emplace(name, std::move(value)).second)
      throw InputError(name + " is given twice");
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
