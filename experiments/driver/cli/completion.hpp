// What a shell offers for the word that is being typed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace tutti {

/// What may stand in place of the last of these words, which are the arguments of `app` so far; the
/// last one has begun, or is empty. In a list with commas, with what stands before. Empty where a
/// file may stand, or anything. Never throws for what users type.
[[nodiscard]] std::vector<std::string> completions(const CLI::App& app,
                                                   std::span<const std::string> words);

/// What makes bash or zsh ask `tutti --complete`. Errors: InputError with the known shells.
[[nodiscard]] std::string completion_script(std::string_view shell);

} // namespace tutti
