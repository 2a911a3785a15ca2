// A decoder of equal blocks, as GPT's, in one line: `gpt:layers=96,hidden=12288,heads=96,...`.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// Whether a model is given so, and not by a name or a file.
[[nodiscard]] bool is_gpt_text(std::string_view text);
/// The same model as a model file. Keys: layers, hidden, heads, vocabulary, sequence; feed_forward
/// (default 4 * hidden), kv_heads (default heads); positions (learned), tied (output and
/// embedding), gated, flash, bias, each on or off (default on, on, off, off, on).
/// Errors: InputError for a key that isn't there, is there twice, is unknown or has no such value.
[[nodiscard]] std::string gpt_file(std::string_view text);

} // namespace tutti
