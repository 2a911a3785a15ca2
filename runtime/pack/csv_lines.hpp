// Lines of comma-separated fields (RFC 4180, but for line ends within a field), read with the place
// of each for messages.
#pragma once

#include "sim/files/csv.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::runtime {

/// Without the end of the line. A field's control characters become spaces.
[[nodiscard]] std::string csv_line(std::span<const std::string> fields);

/// 64 bits as 16 digits, 32 as 8.
[[nodiscard]] std::string hex_text(std::uint64_t value);
[[nodiscard]] std::string hex_text(std::uint32_t value);
/// Shortest text that reads back as the same value.
[[nodiscard]] std::string exact_text(double value);

/// One line, its fields taken one after another. Errors: InputError with file:line:column for a
/// field that is missing or isn't what is asked for.
class CsvLine {
public:
  /// Errors: InputError for quotes that aren't where they belong.
  CsvLine(std::string_view text, std::string place); ///< place: file:line

  [[nodiscard]] std::string text(const char* what);
  [[nodiscard]] std::uint64_t number(const char* what, std::uint64_t most = UINT64_MAX);
  [[nodiscard]] double real(const char* what); ///< finite, >= 0
  [[nodiscard]] std::uint64_t hex(const char* what);
  /// The index of a word of the list.
  [[nodiscard]] std::size_t choice(const char* what, std::span<const std::string_view> words);
  /// The next field is there and isn't empty.
  [[nodiscard]] bool has_value() const;
  /// That no field is left.
  void finish() const;
  /// Refuses the field that was taken last. Errors: InputError, always.
  [[noreturn]] void fail(const std::string& why) const;

private:
  const std::string& take(const char* what);
  [[noreturn]] void fail_at(std::size_t column, const std::string& why) const;

  std::string place_;
  std::vector<CsvField> fields_;
  std::size_t end_column_, taken_ = 0;
};

/// The lines of a text, one after another.
class CsvText {
public:
  CsvText(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) {}

  /// Nothing at the end. Errors: InputError for a last line without its end.
  [[nodiscard]] std::optional<std::string_view> next();
  [[nodiscard]] std::string place() const { return file_ + ":" + std::to_string(line_); }

private:
  std::string_view rest_;
  std::string file_;
  std::size_t line_ = 0;
};

} // namespace tutti::runtime
