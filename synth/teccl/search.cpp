// Bisection, since a plan in K epochs is one in K + 1 too: nothing has to be sent in the last. A
// plan's own length is a better upper end than the K that was asked for.
#include "synth/teccl/search.hpp"

#include "synth/teccl/bounds/fewest_epochs.hpp"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

namespace tutti {

namespace {

// Larger programs won't be decided where so many smaller ones weren't.
constexpr std::uint32_t most_undecided = 4;

// The search's state: the best plan so far, what is proven, and what the solver couldn't decide.
class FewestEpochs {
public:
  FewestEpochs(const EpochProblem& problem, const EpochQuestion& question, const WorkLimit& limit,
               std::uint32_t at_least)
      : problem_(&problem), question_(&question), limit_(&limit), next_(at_least) {
    search_.at_least = at_least;
  }

  void start_from(const EpochPlan& plan) {
    found_ = epochs_of(*problem_, plan);
    assert(!found_ || *found_ >= search_.at_least);
    if (!found_) return;
    search_.answer.plan = plan;
    search_.answer.method = "the plan given";
  }

  // In steps that double, until there is a plan; `enough`: beyond it there is none.
  void rise(std::uint64_t enough) {
    std::uint64_t epochs = next_;
    for (std::uint64_t step = 1; !found_ && !limit_->reached(); step *= 2) {
      ask(static_cast<std::uint32_t>(epochs));
      if (epochs >= enough || undecided_ == most_undecided) return;
      epochs = std::min(epochs + step, enough);
    }
  }

  void bisect() {
    while (found_ && next_ < *found_ && !limit_->reached()) ask(next_ + (*found_ - next_) / 2);
  }

  [[nodiscard]] EpochSearch result(std::uint64_t enough) && {
    search_.answer.seconds = seconds_;
    search_.epochs = found_.value_or(0);
    if (found_)
      search_.answer.status =
          *found_ == search_.at_least ? EpochStatus::optimal : EpochStatus::feasible;
    else if (search_.at_least > enough)
      search_.answer.status = EpochStatus::infeasible;
    return std::move(search_);
  }

private:
  void ask(std::uint32_t epochs) {
    EpochAnswer answer = (*question_)(epochs);
    ++search_.questions;
    seconds_ += answer.seconds;
    if (answer.status == EpochStatus::optimal || answer.status == EpochStatus::feasible) {
      found_ = epochs_of(*problem_, answer.plan);
      assert(found_ && *found_ <= epochs && *found_ >= search_.at_least);
      search_.answer = std::move(answer);
      return;
    }
    if (answer.status == EpochStatus::infeasible)
      search_.at_least = std::max(search_.at_least, epochs + 1);
    undecided_ = answer.status == EpochStatus::timed_out ? undecided_ + 1 : 0;
    if (!found_) search_.answer.method = std::move(answer.method);
    next_ = std::max(next_, epochs + 1);
  }

  const EpochProblem* problem_;
  const EpochQuestion* question_;
  const WorkLimit* limit_;
  EpochSearch search_;
  std::optional<std::uint32_t> found_; // K of the best plan
  std::uint32_t next_;                 // the least K that is worth a question
  std::uint32_t undecided_ = 0;        // one after another
  double seconds_ = 0;
};

// All deliveries one after another, each undisturbed, take no more.
std::uint64_t enough_epochs(const EpochProblem& problem) {
  const std::uint64_t reach = problem.network.reach();
  std::uint64_t sum = 0;
  for (const TimedChunk& chunk : problem.chunks) {
    if (chunk.destinations.empty()) continue;
    const std::vector<std::uint32_t> away = problem.network.distances_from(chunk.sources);
    for (const std::uint32_t destination : chunk.destinations) sum += away[destination] + reach;
  }
  return std::min<std::uint64_t>(sum, unreachable - 1);
}

} // namespace

EpochSearch fewest_epochs_search(const EpochProblem& problem, const std::optional<EpochPlan>& start,
                                 const EpochQuestion& question, const WorkLimit& limit) {
  const std::optional<std::uint32_t> at_least = fewest_epochs(problem);
  if (!at_least) {
    EpochSearch search;
    search.answer.status = EpochStatus::infeasible;
    search.answer.method = "distances";
    return search;
  }
  const std::uint64_t enough = std::max<std::uint64_t>(enough_epochs(problem), *at_least);
  FewestEpochs search(problem, question, limit, *at_least);
  if (start) search.start_from(*start);
  if (*at_least == 0) search.start_from({}); // nobody needs anything
  search.rise(enough);
  search.bisect();
  return std::move(search).result(enough);
}

} // namespace tutti
