// A parser and an evaluator of our own, so that errors say where and what is known, and that an
// expression can do nothing but compute: whoever runs a sweep of somebody else's trusts no SQL in
// it. Operators and functions are rows of two tables; how closely an operator binds is its level
// (Pratt, "Top down operator precedence", POPL 1973).
#include "sim/expressions/expression.hpp"

#include "sim/error.hpp"
#include "sim/expressions/placeholders.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

namespace tutti {

namespace {

using Known = std::optional<Value>; ///< nothing: unknown
using Truth = std::optional<bool>;

constexpr std::size_t longest_text = 10'000;
constexpr int greatest_height = 200; ///< of values within each other
constexpr std::string_view decimal_digits = "0123456789";
constexpr std::string_view letters_and_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
constexpr double unknown_number = std::numeric_limits<double>::quiet_NaN();

bool is_in(std::string_view set, char letter) { return set.find(letter) != std::string_view::npos; }

InputError error_at(std::string_view text, std::size_t at, const std::string& what) {
  return InputError(fmt::format("column {} of \"{}\": {}", at + 1, text, what));
}

bool is_text(const Value& value) { return value.kind == Value::Kind::text; }

/// Errors: InputError.
double number_in(std::string_view text) {
  constexpr double most = std::numeric_limits<double>::max();
  return parse_decimal(text, "number", -most, most);
}

} // namespace

struct Expression::Term {
  struct Row;
  class Operands;

  std::size_t at = 0;              ///< its place in the text
  const Row* row = nullptr;        ///< none: a constant, or a name
  std::vector<Term> operands = {}; ///< of the row
  Value constant = {};
  std::size_t name = no_name; ///< its place in names()
  int height = 0;

  static constexpr std::size_t no_name = std::numeric_limits<std::size_t>::max();
};

/// An operator or a function.
struct Expression::Term::Row {
  std::string_view name;
  Known (*value)(const Operands&);
  std::size_t fewest = 1, most = 1; ///< operands of a function
};

/// Operands of a term that is evaluated; each is evaluated when it is asked for.
class Expression::Term::Operands {
public:
  Operands(std::string_view text, std::span<const Value* const> values,
           const std::vector<Term>& terms)
      : text_(text), values_(values), terms_(terms) {}

  static Known value_of(const Term& term, std::string_view text,
                        std::span<const Value* const> values) {
    if (term.row != nullptr) return term.row->value(Operands(text, values, term.operands));
    if (term.name == Term::no_name) return term.constant;
    const Value* given = values[term.name];
    return given == nullptr ? Known() : Known(*given);
  }

  [[nodiscard]] std::size_t size() const { return terms_.size(); }
  [[nodiscard]] Known value(std::size_t i) const { return value_of(terms_[i], text_, values_); }
  /// Not a number: unknown. Errors: InputError for a text that is none.
  [[nodiscard]] double number(std::size_t i) const {
    const Known found = value(i);
    if (!found || !is_text(*found)) return found ? found->number : unknown_number;
    try {
      return number_in(trimmed(found->text));
    } catch (const InputError&) {
      throw error_at(text_, terms_[i].at,
                     fmt::format("\"{}\" is a text, and a number is needed here", found->text));
    }
  }
  [[nodiscard]] Truth holds(std::size_t i) const {
    const double found = number(i);
    return std::isnan(found) ? Truth() : Truth(found != 0);
  }

private:
  std::string_view text_;
  std::span<const Value* const> values_;
  const std::vector<Term>& terms_;
};

namespace {

using Term = Expression::Term;
using Row = Term::Row;
using Operands = Term::Operands;

Known known(double number) { return std::isnan(number) ? Known() : Known(number_value(number)); }
Known known(Truth holds) { return holds ? Known(number_value(*holds ? 1 : 0)) : Known(); }

/// A number stands without its unit, as in results.
std::string text_of(const Value& value) {
  return is_text(value) ? value.text : to_text(number_value(value.number));
}

/// Less than 0, 0 or more, as SQL orders values: numbers before texts.
int compare(const Value& a, const Value& b) {
  if (is_text(a) && is_text(b)) return a.text.compare(b.text);
  if (is_text(a) || is_text(b)) return is_text(a) ? 1 : -1;
  return a.number < b.number ? -1 : a.number > b.number ? 1 : 0;
}

template <bool (*holds)(int)> Known compared(const Operands& of) {
  const Known a = of.value(0), b = of.value(1);
  return a && b ? known(holds(compare(*a, *b))) : Known();
}
bool is_equal(int order) { return order == 0; }
bool is_other(int order) { return order != 0; }
bool is_less(int order) { return order < 0; }
bool is_at_most(int order) { return order <= 0; }
bool is_more(int order) { return order > 0; }
bool is_at_least(int order) { return order >= 0; }

template <bool which> Known both_or_either(const Operands& of) {
  const Truth first = of.holds(0);
  if (first == which) return known(first);
  const Truth second = of.holds(1);
  return known(second == which || first ? second : first);
}

Known between(const Operands& of) {
  const Known each = of.value(0), low = of.value(1), high = of.value(2);
  if (!each) return each;
  if ((low && compare(*each, *low) < 0) || (high && compare(*each, *high) > 0)) return known(false);
  return low && high ? known(true) : Known();
}

Known one_of(const Operands& of) {
  const Known each = of.value(0);
  bool all_known = each.has_value();
  for (std::size_t i = 1; i < of.size() && each; ++i) {
    const Known other = of.value(i);
    if (other && compare(*each, *other) == 0) return known(true);
    all_known = all_known && other;
  }
  return all_known ? known(false) : Known();
}

/// The first of the largest (1) or least (-1).
template <int sign> Known extreme(const Operands& of) {
  Known best = of.value(0);
  for (std::size_t i = 1; i < of.size() && best; ++i) {
    const Known other = of.value(i);
    if (!other || sign * compare(*other, *best) > 0) best = other;
  }
  return best;
}

/// From operand `i` on: condition, value, condition, value, ..., perhaps the value of all else.
template <typename Holds> Known branch(const Operands& of, std::size_t i, const Holds& holds) {
  for (; i + 1 < of.size(); i += 2)
    if (holds(i)) return of.value(i + 1);
  return i < of.size() ? of.value(i) : Known();
}

Known choice(const Operands& of) {
  return branch(of, 0, [&of](std::size_t i) { return of.holds(i) == true; });
}

Known choice_by_value(const Operands& of) {
  const Known chosen = of.value(0);
  return branch(of, 1, [&of, &chosen](std::size_t i) {
    const Known other = of.value(i);
    return chosen && other && compare(*chosen, *other) == 0;
  });
}

/// Where the next letter of UTF-8 begins.
std::size_t after_letter(std::string_view text, std::size_t at) {
  do {
    ++at;
  } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U);
  return at;
}

/// Where a letter doesn't match, the last % takes one more.
bool is_like(std::string_view text, std::string_view pattern) {
  std::size_t at = 0, in_pattern = 0, taken = 0, after_percent = std::string_view::npos;
  while (at < text.size()) {
    const char wanted = in_pattern < pattern.size() ? pattern[in_pattern] : '\0';
    if (wanted == '%') {
      after_percent = ++in_pattern;
      taken = at;
    } else if (wanted == '_' || (in_pattern < pattern.size() && wanted == text[at])) {
      at = wanted == '_' ? after_letter(text, at) : at + 1;
      ++in_pattern;
    } else {
      if (after_percent == std::string_view::npos) return false;
      at = taken = after_letter(text, taken);
      in_pattern = after_percent;
    }
  }
  return pattern.find_first_not_of('%', in_pattern) == std::string_view::npos;
}

Known like(const Operands& of) {
  const Known text = of.value(0), pattern = of.value(1);
  if (!text || !pattern) return {};
  return known(is_like(lower_case(text_of(*text)), lower_case(text_of(*pattern))));
}

Known joined_texts(const Operands& of) {
  const Known a = of.value(0), b = of.value(1);
  if (!a || !b) return {};
  return Value{Value::Kind::text, Unit::none, 0, text_of(*a) + text_of(*b)};
}

/// A quantity stands with its unit, as wherever names are filled in.
Known filled(const Operands& of) {
  std::string text;
  for (std::size_t i = 0; i < of.size(); ++i) {
    const Known part = of.value(i);
    if (!part) return part;
    text += to_text(*part);
  }
  Value value = text_value(text);
  value.unit = Unit::none;
  return value;
}

Known length(const Operands& of) {
  const Known value = of.value(0);
  if (!value) return value;
  const std::string text = text_of(*value);
  double letters = 0;
  for (std::size_t at = 0; at < text.size(); at = after_letter(text, at)) ++letters;
  return known(letters);
}

Known rounded(const Operands& of) {
  const double number = of.number(0), places = of.size() > 1 ? of.number(1) : 0;
  if (std::isnan(places)) return {};
  if (places < 1 || !std::isfinite(number)) return known(std::round(number));
  return known(number_in(fmt::format("{:.{}f}", number, static_cast<int>(std::min(places, 30.0)))));
}

Known power(const Operands& of) { // pow(1, NaN) is 1
  const double base = of.number(0), exponent = of.number(1);
  return known(std::isnan(base) || std::isnan(exponent) ? unknown_number
                                                        : std::pow(base, exponent));
}

double logarithm(double x, double (*of)(double)) { return x > 0 ? of(x) : unknown_number; }

constexpr std::array functions{
    Row{"abs", [](const Operands& of) { return known(std::abs(of.number(0))); }},
    Row{"ceil", [](const Operands& of) { return known(std::ceil(of.number(0))); }},
    Row{"exp", [](const Operands& of) { return known(std::exp(of.number(0))); }},
    Row{"floor", [](const Operands& of) { return known(std::floor(of.number(0))); }},
    Row{"ifnull",
        [](const Operands& of) {
          const Known first = of.value(0);
          return first ? first : of.value(1);
        },
        2, 2},
    Row{"iif", &choice, 3, 3},
    Row{"length", &length},
    Row{"ln", [](const Operands& of) { return known(logarithm(of.number(0), &std::log)); }},
    Row{"log10", [](const Operands& of) { return known(logarithm(of.number(0), &std::log10)); }},
    Row{"log2", [](const Operands& of) { return known(logarithm(of.number(0), &std::log2)); }},
    Row{"max", &extreme<1>, 2, longest_text},
    Row{"min", &extreme<-1>, 2, longest_text},
    Row{"mod", [](const Operands& of) { return known(std::fmod(of.number(0), of.number(1))); }, 2,
        2},
    Row{"pow", &power, 2, 2},
    Row{"round", &rounded, 1, 2},
    Row{"sign",
        [](const Operands& of) {
          const double x = of.number(0);
          return known(x > 0 ? 1 : x < 0 ? -1 : x);
        }},
    Row{"sqrt", [](const Operands& of) { return known(std::sqrt(of.number(0))); }}};

struct Operator {
  int level;
  Row row;
};
constexpr int level_of_not = 2, level_of_equal = 3, highest_level = 7;

constexpr std::array operators{
    Operator{0, {"or", &both_or_either<true>}},
    Operator{1, {"and", &both_or_either<false>}},
    Operator{level_of_equal, {"=", &compared<is_equal>}},
    Operator{level_of_equal, {"==", &compared<is_equal>}},
    Operator{level_of_equal, {"<>", &compared<is_other>}},
    Operator{level_of_equal, {"!=", &compared<is_other>}},
    Operator{level_of_equal, {"in", &one_of}},
    Operator{level_of_equal, {"between", &between}},
    Operator{level_of_equal, {"like", &like}},
    Operator{4, {"<", &compared<is_less>}},
    Operator{4, {"<=", &compared<is_at_most>}},
    Operator{4, {">", &compared<is_more>}},
    Operator{4, {">=", &compared<is_at_least>}},
    Operator{5, {"+", [](const Operands& of) { return known(of.number(0) + of.number(1)); }}},
    Operator{5, {"-", [](const Operands& of) { return known(of.number(0) - of.number(1)); }}},
    Operator{6, {"*", [](const Operands& of) { return known(of.number(0) * of.number(1)); }}},
    Operator{6,
             {"/",
              [](const Operands& of) {
                const double divisor = of.number(1);
                return known(divisor == 0 ? unknown_number : of.number(0) / divisor);
              }}},
    Operator{highest_level, {"||", &joined_texts}}};

constexpr Row negative{"-", [](const Operands&of) { return known(-of.number(0)); }},
    opposite{"not",
             [](const Operands&of) {
               const Truth holds = of.holds(0);
               return known(holds ? Truth(!*holds) : holds);
             }},
    filled_row{"${}", &filled}, choice_row{"case", &choice},
    choice_by_value_row{"case", &choice_by_value};

// Words that can't be names without quotes.
constexpr std::array reserved_words{"and",  "between", "case", "else", "end",  "false", "in",
                                    "like", "not",     "or",   "then", "true", "when"};

class Parser {
public:
  Parser(std::string_view text, std::span<const std::string> known, UnknownName unknown)
      : text_(text), known_(known), unknown_(unknown) {
    if (text.size() > longest_text)
      throw InputError(fmt::format("an expression of more than {} letters", longest_text));
    next();
  }

  Term expression() {
    Term all = operation(0);
    if (!word_.empty()) refuse("an operator or the end");
    return all;
  }

  [[nodiscard]] std::vector<std::string> names() const { return names_; }

private:
  /// A term of operators of this level and higher ones.
  Term operation(int level) {
    if (++depth_ > greatest_height) throw too_high();
    Term left = operand(level);
    while (true) {
      const std::size_t at = at_;
      const bool is_denied = level <= level_of_equal && take("not");
      if (is_denied && !is("in") && !is("between") && !is("like"))
        refuse("in, between or like after not");
      const Operator* found = take_operator(level);
      if (found == nullptr) break;
      std::vector<Term> operands;
      operands.push_back(std::move(left));
      if (found->row.name == "in")
        add_list(operands);
      else
        operands.push_back(operation(found->level + 1));
      if (found->row.name == "between") {
        need("and", "\"and\" and the upper end");
        operands.push_back(operation(found->level + 1));
      }
      left = made(at, found->row, std::move(operands));
      if (is_denied) left = made(at, opposite, {left});
    }
    --depth_;
    return left;
  }

  Term operand(int level) {
    const std::size_t at = at_;
    if (level <= level_of_not && take("not")) return made(at, opposite, {operation(level_of_not)});
    if (take("-")) return made(at, negative, {operation(highest_level + 1)});
    if (take("+")) return operation(highest_level + 1);
    if (take("true")) return constant(at, number_value(1));
    if (take("false")) return constant(at, number_value(0));
    if (take("case")) return branches(at);
    if (take("(")) {
      Term inner = operation(0);
      need(")", "an operator or \")\"");
      return inner;
    }
    const std::string_view word = word_;
    const char first = word.empty() ? '\0' : word.front();
    const bool is_reserved =
        std::ranges::find(reserved_words, lower_case(word)) != reserved_words.end();
    if (is_reserved || word.empty() || is_in("()+-*/=<>!|,", first))
      refuse("a value: a name, a number, a text in single quotes, a function, \"(\", not or case");
    next();
    if (first == '\'') return text(at, unquoted(word));
    if (first == '$') return name(at, word.substr(2, word.size() - 3));
    if (first == '"') return name(at, unquoted(word));
    if (is_in(decimal_digits, first) || first == '.')
      return constant(at, number_value(number_in(word)));
    return is("(") ? function(at, word) : name(at, word);
  }

  Term branches(std::size_t at) {
    std::vector<Term> parts;
    const bool by_value = !is("when");
    if (by_value) parts.push_back(operation(0));
    do {
      need("when", "\"when\" and a value");
      parts.push_back(operation(0));
      need("then", "\"then\" and a value");
      parts.push_back(operation(0));
    } while (is("when"));
    if (take("else")) parts.push_back(operation(0));
    need("end", "\"when\", \"else\" or \"end\"");
    return made(at, by_value ? choice_by_value_row : choice_row, std::move(parts));
  }

  Term function(std::size_t at, std::string_view written) {
    const auto row = std::ranges::find(functions, lower_case(written), &Row::name);
    if (row == functions.end()) {
      std::vector<std::string> known_functions;
      for (const Row& each : functions) known_functions.emplace_back(each.name);
      throw error_at(text_, at, unknown_name("function", written, known_functions));
    }
    std::vector<Term> operands;
    add_list(operands);
    if (operands.size() >= row->fewest && operands.size() <= row->most)
      return made(at, *row, std::move(operands));
    std::string wanted = fmt::to_string(row->fewest);
    if (row->most > row->fewest) wanted += row->most == 2 ? " or 2" : " or more";
    throw error_at(text_, at,
                   fmt::format("{}() of {}: it takes {}", row->name, operands.size(), wanted));
  }

  /// "(", values and ")".
  void add_list(std::vector<Term>& terms) {
    need("(", "\"(\"");
    do {
      terms.push_back(operation(0));
    } while (take(","));
    need(")", "an operator, \",\" or \")\"");
  }

  /// What stands in single quotes, whose ${names} are filled in.
  Term text(std::size_t at, const std::string& written) {
    std::vector<Term> parts;
    std::string all;
    const auto split = [&] { // with the place
      try {
        return parts_of_text(written);
      } catch (const InputError& error) {
        throw error_at(text_, at, error.what());
      }
    };
    for (const TextPart& part : split()) {
      all += part.before;
      if (!part.before.empty())
        parts.push_back({.at = at, .constant = {.text = std::string(part.before)}});
      if (!part.name.empty()) parts.push_back(name(at, part.name));
    }
    const auto is_name = [](const Term& part) { return part.name != Term::no_name; };
    if (std::ranges::none_of(parts, is_name)) return constant(at, text_value(all));
    if (parts.size() == 1) return parts.front();
    return made(at, filled_row, std::move(parts));
  }

  Term name(std::size_t at, std::string_view written) {
    const std::string small = lower_case(written);
    const auto found = std::ranges::find(known_, small, &lower_case);
    if (found == known_.end()) throw error_at(text_, at, unknown_("name", written, known_));
    auto place = std::ranges::find(names_, *found);
    if (place == names_.end()) place = names_.insert(names_.end(), *found);
    return {.at = at, .name = static_cast<std::size_t>(place - names_.begin())};
  }

  static Term constant(std::size_t at, Value value) {
    value.unit = Unit::none;
    return {.at = at, .constant = std::move(value)};
  }

  [[nodiscard]] Term made(std::size_t at, const Row& row, std::vector<Term> operands) const {
    Term term{.at = at, .row = &row, .operands = std::move(operands)};
    for (const Term& each : term.operands) term.height = std::max(term.height, each.height + 1);
    if (term.height > greatest_height) throw too_high();
    return term;
  }

  [[nodiscard]] InputError too_high() const {
    return error_at(text_, at_,
                    fmt::format("more than {} values within each other", greatest_height));
  }

  /// Two quotes within are one.
  static std::string unquoted(std::string_view quoted) {
    std::string text;
    for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
      text += quoted[i];
      if (quoted[i] == quoted.front()) ++i;
    }
    return text;
  }

  /// Whether this word or symbol comes next.
  [[nodiscard]] bool is(std::string_view word) const { return lower_case(word_) == word; }

  /// Whether it came next, and goes beyond it.
  bool take(std::string_view word) {
    const bool comes = is(word);
    if (comes) next();
    return comes;
  }

  void need(std::string_view word, std::string_view what) {
    if (!take(word)) refuse(what);
  }

  const Operator* take_operator(int least_level) {
    for (const Operator& each : operators)
      if (each.level >= least_level && take(each.row.name)) return &each;
    return nullptr;
  }

  [[noreturn]] void refuse(std::string_view wanted) const {
    const std::string found = word_.empty() ? "the end" : fmt::format("\"{}\"", word_);
    throw error_at(text_, at_, fmt::format("found {}, expected {}", found, wanted));
  }

  void next() {
    const std::size_t end = at_ + word_.size();
    at_ = std::min(text_.find_first_not_of(" \t\r\n", end), text_.size());
    word_ = text_.substr(at_);
    word_ = word_.substr(0, word_length());
  }

  /// Letters of the word, number, text or symbol that `word_` begins with.
  [[nodiscard]] std::size_t word_length() const {
    if (word_.empty()) return 0;
    const char first = word_.front();
    if (is_in(decimal_digits, first) ||
        (first == '.' && word_.size() > 1 && is_in(decimal_digits, word_[1]))) {
      double number = 0;
      const char* const begin = word_.data();
      return static_cast<std::size_t>(std::from_chars(begin, begin + word_.size(), number).ptr -
                                      begin);
    }
    if (is_in(letters_and_digits, first))
      return std::min(word_.find_first_not_of(letters_and_digits), word_.size());
    if (first == '\'' || first == '"') {
      std::size_t end = word_.find(first, 1);
      while (end != std::string_view::npos && word_.substr(end + 1).starts_with(first))
        end = word_.find(first, end + 2);
      if (end == std::string_view::npos) throw error_at(text_, at_, "a quote without an end");
      return end + 1;
    }
    if (word_.starts_with("${")) {
      if (const std::size_t end = word_.find('}'); end != std::string_view::npos) return end + 1;
      throw error_at(text_, at_, "a name stands in ${...}");
    }
    for (const std::string_view symbol : {"==", "<>", "!=", "<=", ">=", "||"})
      if (word_.starts_with(symbol)) return 2;
    if (is_in("()+-*/=<>,", first)) return 1;
    throw error_at(text_, at_,
                   fmt::format("found \"{}\", which is no operator (known: + - * / || = <> < <= > "
                               ">=; the rest of a division is mod(x, y))",
                               word_.substr(0, after_letter(word_, 0))));
  }

  std::string_view text_;
  std::span<const std::string> known_;
  UnknownName unknown_;
  std::vector<std::string> names_;
  std::string_view word_; ///< that comes next; empty: the end
  std::size_t at_ = 0;    ///< its place
  int depth_ = 0;
};

} // namespace

Expression::Expression(std::string text, std::span<const std::string> known, UnknownName unknown)
    : text_(std::move(text)) {
  Parser parser(text_, known, unknown);
  root_ = std::make_shared<const Term>(parser.expression());
  names_ = parser.names();
}

std::optional<Value> Expression::evaluate(std::span<const Value* const> values) const {
  const Known result = Operands::value_of(*root_, text_, values);
  if (!result) {
    if (std::ranges::find(values, nullptr) != values.end()) return std::nullopt;
    throw InputError(fmt::format("\"{}\" has no value: a division by 0, or a function of what it "
                                 "isn't defined for",
                                 text_));
  }
  if (is_text(*result)) return result;
  if (!std::isfinite(result->number)) throw InputError(fmt::format("\"{}\" is infinite", text_));
  return number_value(result->number);
}

bool Expression::holds(std::span<const Value* const> values) const {
  const std::optional<Value> result = evaluate(values);
  if (result && is_text(*result))
    throw InputError(
        fmt::format("\"{}\" is the text \"{}\", neither true nor false", text_, result->text));
  return result && result->number != 0;
}

} // namespace tutti
