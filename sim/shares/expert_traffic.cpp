// Why: layers with experts send unequal shares, anew in every iteration. Idea: what counts is how
// many tokens of each rank go to each other rank, so tokens are followed one by one: drawn by the
// popularity of experts or read from a trace, kept while their expert has room, and sent to the
// rank of a copy of it. The hottest experts get copies as DeepSeek's EPLB gives them: one after
// another to the expert with the most tokens for each copy; "balanced" places copies by falling
// load, each on the rank with least that has room. Source: Fedus et al. 2022 (Switch Transformers,
// capacity), Liu et al. 2024 (DeepSeek-V3, sec. 3.4, and github.com/deepseek-ai/EPLB).

#include "sim/shares/expert_traffic.hpp"

#include "sim/error.hpp"
#include "sim/files/csv.hpp"
#include "sim/files/gzip.hpp"
#include "sim/files/tree_value.hpp"
#include "sim/random.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

// A minute or so of work: a choice takes a search among experts, and one among those before it.
constexpr std::uint64_t most_choices = std::uint64_t{1} << 27;
constexpr std::uint64_t most_places = std::uint64_t{1} << 27; ///< slots times ranks
constexpr std::uint64_t usual_top = 8;

/// The experts that the tokens of each rank chose, `top` for each token.
struct Choices {
  std::uint32_t experts = 0, top = 0;
  std::vector<std::vector<std::uint32_t>> of_rank;
};

/// Experts by how popular they are, of which some are drawn without repeats.
class Popularity {
public:
  Popularity(std::uint32_t experts, double zipf, Random& random) : expert_(experts) {
    std::iota(expert_.begin(), expert_.end(), 0U);
    random.shuffle(expert_);
    std::uint64_t sum = 0;
    for (std::uint32_t k = 1; k <= experts; ++k) { // rounded, so that all machines draw the same
      constexpr double unit = 1 << 30;
      sum += 1 + static_cast<std::uint64_t>(std::llround(unit * std::pow(k, -zipf)));
      sum_to_.push_back(sum);
    }
  }

  void draw(std::uint32_t count, Random& random, std::vector<std::uint32_t>& drawn) const {
    const auto first = static_cast<std::ptrdiff_t>(drawn.size());
    const auto is_taken = [&](std::uint32_t expert) {
      return std::find(drawn.begin() + first, drawn.end(), expert) != drawn.end();
    };
    for (std::uint32_t i = 0; i < count; ++i) {
      constexpr int most_tries = 32; // then the next in popularity that is free
      std::size_t at = 0;
      for (int tries = 0; tries < most_tries; ++tries) {
        const auto found = std::ranges::upper_bound(sum_to_, random.below(sum_to_.back()));
        at = static_cast<std::size_t>(found - sum_to_.begin());
        if (!is_taken(expert_[at])) break;
      }
      while (is_taken(expert_[at])) at = (at + 1) % expert_.size();
      drawn.push_back(expert_[at]);
    }
  }

private:
  std::vector<std::uint32_t> expert_; // by popularity
  std::vector<std::uint64_t> sum_to_;
};

Choices drawn_choices(const ExpertTraffic& traffic, std::uint32_t ranks) {
  if (traffic.top > traffic.experts)
    throw InputError(
        fmt::format("a token can't choose {} of {} experts", traffic.top, traffic.experts));
  const std::uint64_t per_token = traffic.top * std::max<std::uint64_t>(1, traffic.top / usual_top);
  if (std::uint64_t{ranks} * traffic.tokens > most_choices / per_token)
    throw InputError(fmt::format("{} ranks with {} tokens that choose {} experts are too much work",
                                 ranks, traffic.tokens, traffic.top));
  Random random(traffic.seed);
  const Popularity popularity(traffic.experts, traffic.zipf, random);
  Choices choices{traffic.experts, traffic.top, {}};
  choices.of_rank.resize(ranks);
  random = Random(random.next() + traffic.iteration);
  for (std::vector<std::uint32_t>& chosen : choices.of_rank)
    for (std::uint32_t t = 0; t < traffic.tokens; ++t) popularity.draw(traffic.top, random, chosen);
  return choices;
}

Choices traced_choices(const std::string& file, std::uint32_t ranks) {
  const TreeValue root = parse_json(read_input_file(file), file);
  root.allow_only({"experts", "tokens"});
  Choices choices;
  choices.experts = static_cast<std::uint32_t>(root.at("experts").integer(1, 1 << 20));
  const TreeValue tokens = root.at("tokens");
  for (const TreeValue& rank : tokens.list()) {
    std::vector<std::uint32_t>& chosen = choices.of_rank.emplace_back();
    for (const TreeValue& token : rank.list()) {
      const std::vector<TreeValue> experts = token.list();
      if (experts.empty()) throw token.error("a token without experts");
      if (choices.top == 0) choices.top = static_cast<std::uint32_t>(experts.size());
      if (experts.size() != choices.top)
        throw token.error(fmt::format("a token with {} experts, where the first has {}",
                                      experts.size(), choices.top));
      for (const TreeValue& expert : experts)
        chosen.push_back(static_cast<std::uint32_t>(expert.integer(0, choices.experts - 1)));
    }
  }
  if (choices.of_rank.size() != ranks)
    throw tokens.error(
        fmt::format("tokens of {} ranks, but the group has {}", choices.of_rank.size(), ranks));
  return choices;
}

constexpr std::uint32_t dropped = UINT32_MAX;

/// Experts that are full take no more: tokens come one after another, those of all ranks in turn.
void drop_beyond(double capacity, Choices& choices) {
  std::size_t most = 0, all = 0;
  for (const auto& chosen : choices.of_rank) {
    most = std::max(most, chosen.size());
    all += chosen.size();
  }
  const auto room =
      static_cast<std::uint64_t>(std::ceil(capacity * static_cast<double>(all) / choices.experts));
  std::vector<std::uint64_t> taken(choices.experts);
  for (std::size_t c = 0; c < most; ++c)
    for (auto& chosen : choices.of_rank)
      if (c < chosen.size() && ++taken[chosen[c]] > room) chosen[c] = dropped;
}

/// How often each expert is there: the spare slots go where most tokens share one.
std::vector<std::uint32_t> copies_of(const std::vector<std::uint64_t>& load, std::uint32_t spare) {
  std::vector<std::uint32_t> copies(load.size(), 1);
  const auto cooler = [&](std::uint32_t a, std::uint32_t b) { // by load / copies, exactly
    const std::uint64_t of_a = load[a] * copies[b], of_b = load[b] * copies[a];
    return of_a != of_b ? of_a < of_b : a > b;
  };
  std::vector<std::uint32_t> heap(load.size());
  std::iota(heap.begin(), heap.end(), 0U);
  std::ranges::make_heap(heap, cooler);
  for (std::uint32_t s = 0; s < spare; ++s) {
    std::ranges::pop_heap(heap, cooler);
    ++copies[heap.back()];
    std::ranges::push_heap(heap, cooler);
  }
  return copies;
}

using RanksOfExperts = std::vector<std::vector<std::uint32_t>>; ///< [expert]

RanksOfExperts placed_evenly(const std::vector<std::uint32_t>& copies, std::uint32_t ranks) {
  const std::uint64_t slots = std::accumulate(copies.begin(), copies.end(), std::uint64_t{0});
  RanksOfExperts placed(copies.size());
  std::uint64_t slot = 0;
  for (std::size_t e = 0; e < copies.size(); ++e)
    for (std::uint32_t c = 0; c < copies[e]; ++c)
      placed[e].push_back(static_cast<std::uint32_t>(slot++ * ranks / slots));
  return placed;
}

RanksOfExperts placed_by_load(const std::vector<std::uint32_t>& copies,
                              const std::vector<std::uint64_t>& load, std::uint32_t ranks) {
  const std::uint64_t slots = std::accumulate(copies.begin(), copies.end(), std::uint64_t{0});
  std::vector<std::uint64_t> room(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) room[r] = slots * (r + 1) / ranks - slots * r / ranks;
  std::vector<std::uint32_t> order(copies.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return load[a] * copies[b] > load[b] * copies[a];
  });
  std::vector<double> busy(ranks);
  std::vector<std::uint32_t> last_on(ranks, UINT32_MAX); // expert
  RanksOfExperts placed(copies.size());
  for (const std::uint32_t e : order)
    for (std::uint32_t c = 0; c < copies[e]; ++c) {
      const auto worse = [&](std::uint32_t r) { // a second copy on one rank helps nobody
        return std::tuple(room[r] == 0, last_on[r] == e, busy[r]);
      };
      std::uint32_t best = 0;
      for (std::uint32_t r = 1; r < ranks; ++r)
        if (worse(r) < worse(best)) best = r;
      --room[best];
      busy[best] += static_cast<double>(load[e]) / copies[e];
      last_on[best] = e;
      placed[e].push_back(best);
    }
  return placed;
}

/// A row of experts for each rank; every expert is on some.
RanksOfExperts placed_by_file(const std::string& file, std::uint32_t experts, std::uint32_t ranks) {
  const std::vector<CsvRow> rows = csv_rows(read_input_file(file), file);
  if (rows.size() != ranks)
    throw InputError(
        fmt::format("{}: experts of {} ranks, but the group has {}", file, rows.size(), ranks));
  RanksOfExperts placed(experts);
  for (std::uint32_t r = 0; r < ranks; ++r)
    for (const CsvField& field : rows[r].fields) try {
        placed[static_cast<std::size_t>(parse_integer(field.text, "expert", 0, experts - 1))]
            .push_back(r);
      } catch (const InputError& e) {
        throw InputError(fmt::format("{}:{}:{}: {}", file, rows[r].line, field.column, e.what()));
      }
  for (std::uint32_t e = 0; e < experts; ++e)
    if (placed[e].empty()) throw InputError(fmt::format("{}: expert {} is nowhere", file, e));
  return placed;
}

RanksOfExperts placed(const ExpertTraffic& traffic, const Choices& choices, std::uint32_t ranks) {
  if (traffic.placement != "linear" && traffic.placement != "balanced")
    return placed_by_file(traffic.placement, choices.experts, ranks);
  if (std::uint64_t{choices.experts} + traffic.replicas < ranks)
    throw InputError(fmt::format("{} experts and {} replicas don't fill {} ranks", choices.experts,
                                 traffic.replicas, ranks));
  if ((std::uint64_t{choices.experts} + traffic.replicas) * ranks > most_places)
    throw InputError(fmt::format("{} experts and {} replicas on {} ranks are too much work",
                                 choices.experts, traffic.replicas, ranks));
  std::vector<std::uint64_t> load(choices.experts);
  for (const auto& chosen : choices.of_rank)
    for (const std::uint32_t expert : chosen)
      if (expert != dropped) ++load[expert];
  const std::vector<std::uint32_t> copies = copies_of(load, traffic.replicas);
  return traffic.placement == "linear" ? placed_evenly(copies, ranks)
                                       : placed_by_load(copies, load, ranks);
}

} // namespace

std::vector<std::int64_t> expert_bytes(const ExpertTraffic& traffic, std::uint32_t ranks) {
  Choices choices =
      traffic.trace.empty() ? drawn_choices(traffic, ranks) : traced_choices(traffic.trace, ranks);
  if (traffic.capacity) drop_beyond(*traffic.capacity, choices);
  const RanksOfExperts ranks_of = placed(traffic, choices, ranks);
  const std::int64_t bytes_of_token = traffic.hidden * traffic.element_bytes;
  std::vector<std::int64_t> bytes(std::size_t{ranks} * ranks);
  std::vector<std::uint32_t> goes_to;
  std::vector<bool> is_here(ranks_of.size());
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::size_t e = 0; e < ranks_of.size(); ++e)
      is_here[e] = std::ranges::find(ranks_of[e], from) != ranks_of[e].end();
    const std::vector<std::uint32_t>& chosen = choices.of_rank[from];
    for (std::size_t c = 0; c < chosen.size(); c += choices.top) {
      goes_to.clear();
      for (std::size_t k = c; k < c + choices.top; ++k) {
        if (chosen[k] == dropped) continue;
        const std::vector<std::uint32_t>& copies = ranks_of[chosen[k]];
        const std::uint32_t to =
            is_here[chosen[k]] ? from : copies[(from + c / choices.top) % copies.size()];
        if (std::ranges::find(goes_to, to) == goes_to.end()) goes_to.push_back(to);
      }
      for (const std::uint32_t to : goes_to)
        bytes[traffic.combines ? std::size_t{to} * ranks + from : std::size_t{from} * ranks + to] +=
            bytes_of_token;
    }
  }
  return bytes;
}

} // namespace tutti
