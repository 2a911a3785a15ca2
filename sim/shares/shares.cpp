// Why: shares that differ are a matrix, which nobody types: it comes from a file, from a law, or
// from what experts get sent. Idea: words stay words until the number of members is known; from
// then on shares are bytes. Sums are rounded where a row is cut, not each entry, so that scaled
// shares add up to the size, and a second scaling changes nothing; to four bytes where the size is
// a multiple of these, so that runtimes can send them.
// Sources: counts by pairs as rccl-tests' alltoallv.cu has them; shares by Zipf's law, on pairs in
// a random order, as FAST draws them (Lei et al. 2025, arXiv 2505.09764).

#include "sim/shares/shares.hpp"

#include "sim/error.hpp"
#include "sim/files/csv.hpp"
#include "sim/files/gzip.hpp"
#include "sim/files/tree_value.hpp"
#include "sim/random.hpp"
#include "sim/shares/expert_traffic.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

__extension__ typedef __int128 int128;

constexpr std::int64_t of_float = 4; // bytes of what most tests and runtimes send
constexpr std::int64_t most_bytes = std::int64_t{1} << 50; // sums of 2^13 are no overflow

/// What the words say.
struct Law {
  std::string file;
  std::optional<double> zipf;
  std::uint64_t seed = 1;
  std::optional<ExpertTraffic> experts;
};

bool is_of_experts(std::string_view name) { return name == "dispatch" || name == "combine"; }

/// "key=value" after the name, each key once.
std::vector<std::pair<std::string_view, std::string_view>> pairs_of(std::string_view words) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  const std::vector<std::string_view> all = split(words, ',');
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::size_t equals = all[i].find('=');
    const std::string_view key = trimmed(all[i].substr(0, equals));
    if (std::ranges::find(pairs, key, [](const auto& pair) { return pair.first; }) != pairs.end())
      throw InputError(fmt::format("key \"{}\" of {} is given twice", key, all.front()));
    pairs.emplace_back(key,
                       equals == std::string_view::npos ? "" : trimmed(all[i].substr(equals + 1)));
  }
  return pairs;
}

std::uint32_t count(std::string_view text, std::string_view key) {
  return static_cast<std::uint32_t>(parse_integer(text, key, 1, 1 << 20));
}

Law law_of(std::string_view words) {
  const std::string name(trimmed(words.substr(0, words.find(','))));
  Law law;
  if (is_of_experts(name)) law.experts.emplace().combines = name == "combine";
  ExpertTraffic* const experts = law.experts ? &*law.experts : nullptr;
  const auto pairs = pairs_of(words);
  const auto has = [&](std::string_view key) {
    return std::ranges::find(pairs, key, [](const auto& pair) { return pair.first; }) !=
           pairs.end();
  };
  for (const auto& [key, value] : pairs) {
    if (key == "zipf")
      (experts != nullptr ? experts->zipf : law.zipf.emplace()) =
          parse_decimal(value, "zipf", 0, 10);
    else if (key == "seed")
      (experts != nullptr ? experts->seed : law.seed) =
          static_cast<std::uint64_t>(parse_integer(value, "seed", 0, INT64_MAX));
    else if (experts != nullptr && key == "iteration")
      experts->iteration = static_cast<std::uint64_t>(parse_integer(value, key, 0, INT64_MAX));
    else if (key == "file" && !value.empty())
      (experts != nullptr ? experts->trace : law.file) = value;
    else if (experts != nullptr && key == "tokens")
      experts->tokens = count(value, key);
    else if (experts != nullptr && key == "top")
      experts->top = count(value, key);
    else if (experts != nullptr && key == "experts")
      experts->experts = count(value, key);
    else if (experts != nullptr && key == "hidden")
      experts->hidden = count(value, key);
    else if (experts != nullptr && key == "bytes")
      experts->element_bytes = parse_integer(value, key, 1, 16);
    else if (experts != nullptr && key == "replicas")
      experts->replicas = static_cast<std::uint32_t>(parse_integer(value, key, 0, 1 << 16));
    else if (experts != nullptr && key == "capacity")
      experts->capacity = parse_decimal(value, key, 1e-3, 1e6);
    else if (experts != nullptr && key == "placement" && !value.empty())
      experts->placement = value;
    else if (key == "file" || key == "placement")
      throw InputError(fmt::format("key \"{}\" of {} names no file", key, name));
    else
      throw InputError(
          unknown_name(fmt::format("key of {}", name), key,
                       experts != nullptr
                           ? std::vector<std::string>{"group", "tokens", "top", "experts", "hidden",
                                                      "bytes", "zipf", "seed", "iteration", "file",
                                                      "capacity", "replicas", "placement"}
                           : std::vector<std::string>{"group", "file", "zipf", "seed"}));
  }
  const bool is_traced = experts != nullptr && !experts->trace.empty();
  if (experts != nullptr)
    for (const std::string_view key : {"tokens", "top", "experts", "hidden"})
      if (!has(key) && (!is_traced || key == "hidden"))
        throw InputError(fmt::format("{} needs the key \"{}\"", name, key));
  if (is_traced)
    for (const std::string_view key : {"tokens", "top", "experts", "zipf", "seed", "iteration"})
      if (has(key))
        throw InputError(fmt::format(
            "the tokens of {} come from a file, so that \"{}\" says nothing", name, key));
  if (!law.file.empty() && law.zipf)
    throw InputError(
        fmt::format("shares of {} come from a file or from zipf, not from both", name));
  if (experts == nullptr && has("seed") && !law.zipf)
    throw InputError(fmt::format("the seed of {} is of a draw by zipf, which is missing", name));
  return law;
}

/// [[0, 3], [1, 0]] as JSON or CSV, row by row.
std::vector<std::int64_t> shares_of_file(const std::string& file, CollectiveKind kind,
                                         std::uint32_t members) {
  std::vector<std::int64_t> shares;
  std::size_t rows = 0;
  const std::string text = read_input_file(file);
  const auto start_row = [&](std::size_t columns, const auto& error) {
    if (++rows > members || columns > members || (is_by_pairs(kind) && columns != members))
      throw error(fmt::format("row {} has {} entries, but the group has {} members", rows, columns,
                              members));
  };
  if (unpacked_name(file).ends_with(".json")) {
    const std::vector<TreeValue> items = parse_json(text, file).list();
    const auto add_row = [&](const std::vector<TreeValue>& row, const TreeValue& at) {
      start_row(row.size(), [&](const std::string& message) { return at.error(message); });
      for (const TreeValue& entry : row) shares.push_back(entry.integer(0, most_bytes));
    };
    if (!items.empty() && items.front().is_list())
      for (const TreeValue& row : items) add_row(row.list(), row);
    else if (!items.empty())
      add_row(items, items.front());
  } else {
    for (const CsvRow& row : csv_rows(text, file)) {
      const auto error = [&](const std::string& message) {
        return InputError(fmt::format("{}:{}:1: {}", file, row.line, message));
      };
      start_row(row.fields.size(), error);
      for (const CsvField& field : row.fields) try {
          shares.push_back(is_digits(field.text) ? parse_integer(field.text, "share", 0, most_bytes)
                                                 : parse_bytes(field.text).count);
          if (shares.back() > most_bytes)
            throw InputError(
                fmt::format("share {} is more than {}", field.text, to_text(Bytes{most_bytes})));
        } catch (const InputError& e) {
          throw InputError(fmt::format("{}:{}:{}: {}", file, row.line, field.column, e.what()));
        }
    }
  }
  if (shares.size() != block_count(kind, members))
    throw InputError(fmt::format("{}: {} shares, but {} among {} members has {}", file,
                                 shares.size(), to_text(kind), members,
                                 block_count(kind, members)));
  return shares;
}

/// In proportion to 1, 2^-s, 3^-s, ..., in a random order; nothing stays.
std::vector<std::int64_t> shares_by_zipf(double s, std::uint64_t seed, CollectiveKind kind,
                                         std::uint32_t members) {
  std::vector<std::int64_t> shares(block_count(kind, members));
  std::vector<std::size_t> blocks;
  for (std::size_t b = 0; b < shares.size(); ++b)
    if (!is_by_pairs(kind) || b / members != b % members) blocks.push_back(b);
  Random(seed).shuffle(blocks);
  constexpr double unit = static_cast<double>(std::int64_t{1} << 40);
  for (std::size_t k = 0; k < blocks.size(); ++k)
    shares[blocks[k]] = std::llround(unit * std::pow(static_cast<double>(k + 1), -s));
  return shares;
}

/// Calls body(first, end) for the blocks of each row; those that aren't of pairs are one row.
template <typename Body>
void for_rows(CollectiveKind kind, std::size_t blocks, std::uint32_t members, const Body& body) {
  const std::size_t row = is_by_pairs(kind) ? members : blocks;
  for (std::size_t first = 0; first < blocks; first += row) body(first, first + row);
}

} // namespace

std::optional<CollectiveKind> find_collective_name(std::string_view text) {
  return is_of_experts(text) ? CollectiveKind::all_to_all_v : find_collective_kind(text);
}

void require_share_words(CollectiveKind kind, const Shares& shares) {
  const Law law = law_of(shares.words);
  if (kind != CollectiveKind::all_to_all_v && !law.zipf && law.file.empty() && shares.bytes.empty())
    throw InputError(fmt::format("{} needs shares: file=FILE or zipf=S", to_text(kind)));
}

bool say_their_size(std::string_view words) {
  const auto name = find_collective_name(trimmed(words.substr(0, words.find(','))));
  if (!name || !has_shares(*name)) return false;
  const std::vector<std::string_view> all = split(words, ',');
  return is_of_experts(trimmed(all.front())) ||
         std::ranges::any_of(all, [](auto word) { return trimmed(word).starts_with("file"); });
}

std::string with_files(std::string_view words,
                       const std::function<std::string(const std::string&)>& place) {
  std::vector<std::string> all;
  for (const std::string_view word : split(words, ',')) {
    const std::size_t equals = word.find('=');
    const std::string_view key = trimmed(word.substr(0, equals));
    const std::string value(equals == std::string_view::npos ? ""
                                                             : trimmed(word.substr(equals + 1)));
    const bool is_file =
        key == "file" || (key == "placement" && value != "linear" && value != "balanced");
    all.push_back(is_file && !value.empty() ? fmt::format("{}={}", key, place(value))
                                            : std::string(word));
  }
  return joined(all, ",");
}

std::vector<std::int64_t> drawn_shares(CollectiveKind kind, const Shares& shares,
                                       std::uint32_t members) {
  if (!shares.bytes.empty()) {
    if (shares.bytes.size() != block_count(kind, members))
      throw InputError(fmt::format("{} shares, but {} among {} members has {}", shares.bytes.size(),
                                   to_text(kind), members, block_count(kind, members)));
    return shares.bytes;
  }
  const Law law = law_of(shares.words);
  if (law.experts) return expert_bytes(*law.experts, members);
  if (!law.file.empty()) return shares_of_file(law.file, kind, members);
  return shares_by_zipf(*law.zipf, law.seed, kind, members);
}

Bytes size_of_shares(CollectiveKind kind, const std::vector<std::int64_t>& shares,
                     std::uint32_t members) {
  Bytes largest;
  for_rows(kind, shares.size(), members, [&](std::size_t first, std::size_t end) {
    std::int64_t sum = 0;
    for (std::size_t b = first; b < end; ++b) {
      if (shares[b] < 0 || shares[b] > INT64_MAX - sum)
        throw InputError("shares are no sizes, or add up to more than 2^63 - 1 bytes");
      sum += shares[b];
    }
    largest = std::max(largest, Bytes{sum});
  });
  return largest;
}

std::vector<std::int64_t> scaled_shares(CollectiveKind kind, std::vector<std::int64_t> shares,
                                        std::uint32_t members, Bytes size) {
  const Bytes whole = size_of_shares(kind, shares, members);
  const std::int64_t unit = size != whole && size.count % of_float == 0 ? of_float : 1;
  for_rows(kind, shares.size(), members, [&](std::size_t first, std::size_t end) {
    int128 sum = 0, edge = 0;
    for (std::size_t b = first; b < end; ++b) {
      sum += shares[b];
      const int128 next = sum * (size.count / unit) / whole.count * unit;
      shares[b] = static_cast<std::int64_t>(next - std::exchange(edge, next));
    }
  });
  return shares;
}

std::vector<std::int64_t> shares_of_rccl_tests(std::uint32_t n, Bytes size) {
  // In elements of its default type, float, where the buffer has whole ones.
  const std::int64_t unit =
      size.count % of_float == 0 && size.count / n / of_float * 2 >= n ? of_float : 1;
  const std::int64_t step = size.count / n / unit * 2 / n * unit;
  const std::int64_t rest = size.count - step * n * (n - 1) / 2;
  if (step == 0)
    throw InputError(
        fmt::format("{} can't be cut into the shares of alltoallv over {} NPUs", to_text(size), n));
  std::vector<std::int64_t> shares;
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = 0; j < n; ++j)
      shares.push_back((i + j) % n == 0 ? rest : step * ((i + j) % n));
  return shares;
}

} // namespace tutti
