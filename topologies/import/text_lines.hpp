// Text files of lines and words, whose words know where they stand.
#pragma once

#include "sim/error.hpp"
#include "sim/files/csv.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topologies {

[[nodiscard]] bool same_but_for_case(std::string_view a, std::string_view b);

/// Quoted, and cut where it is long.
[[nodiscard]] std::string short_quote(std::string_view text);

/// The first character but spaces and ends of lines; 0: there is none.
[[nodiscard]] char first_character(std::string_view content);

/// The first byte that is no text: a control character but for tabs, ends of lines and the escape
/// that colours what terminals show, or what isn't UTF-8. None: npos.
[[nodiscard]] std::size_t first_no_text(std::string_view content);

/// The first lines that say something: without empty ones and comments; fewer where there are none.
[[nodiscard]] std::vector<std::string_view> first_lines(std::string_view content, std::size_t most);

/// Where bytes of a text stand; the last place of all for what is beyond it.
class TextPlaces {
public:
  /// Both must outlive this.
  TextPlaces(std::string_view content, std::string_view source)
      : content_(content), source_(source) {}

  /// "SOURCE:LINE:COLUMN: message".
  [[nodiscard]] InputError error(std::size_t at, std::string_view message) const;
  [[nodiscard]] std::string place(std::size_t at) const; ///< "SOURCE:LINE"

private:
  std::string_view content_, source_;
};

struct Word {
  std::string_view text;
  std::size_t line = 1, column = 1;
};

/// The words of a file, line by line.
class TextLines {
public:
  /// Between spaces; lines without words, and what follows a '#', are left out. `content` must
  /// outlive this. Errors: InputError for a line of more than 1 MiB.
  TextLines(std::string_view content, std::string source);
  /// The cells of a table (csv_rows). Errors: InputError with the place.
  TextLines(std::string_view content, std::string source, char separator);
  TextLines(const TextLines&) = delete; ///< words are views of cells
  TextLines& operator=(const TextLines&) = delete;

  using Line = std::vector<Word>;
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }

  /// "SOURCE:LINE:COLUMN: message".
  [[nodiscard]] InputError error(const Word& word, const std::string& message) const;
  /// An error of the whole file: "SOURCE: message".
  [[nodiscard]] InputError error(const std::string& message) const;
  /// A rate as programs write it: "400Gbps" are bits, "50GBps" bytes. Errors: InputError with the
  /// word's place; so of the others.
  [[nodiscard]] Bandwidth rate(const Word& word, std::string_view unit = "") const;
  [[nodiscard]] Time time(const Word& word, std::string_view unit = "") const;
  [[nodiscard]] std::int64_t integer(const Word& word, std::int64_t low, std::int64_t high) const;
  [[nodiscard]] double number(const Word& word, double low, double high) const;

private:
  std::string source_;
  std::vector<CsvRow> rows_; ///< of a table
  std::vector<Line> lines_;
};

} // namespace tutti::topologies
