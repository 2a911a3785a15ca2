// Code of somebody else's in a process of ours could do anything to it. So it is loaded, its
// constructors included, in a fork that only sends back what was said: a crash costs the answer, a
// loop ends with the limit.
#include "experiments/driver/outside/shared_object.hpp"

#include "experiments/driver/outside/answer.hpp"
#include "experiments/driver/outside/tutti_algorithm.h"
#include "sim/processes/isolated.hpp"
#include "sim/work_limit.hpp"
#include "synth/chunk_choice.hpp"

#include <fmt/format.h>

#include <exception>
#include <span>
#include <stdexcept>
#include <utility>

#include <dlfcn.h>

namespace tutti {

namespace {

/// The question in C, and what its pointers point to.
class QuestionInC {
public:
  QuestionInC(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options)
      : kind_(to_text(collective.parts.front().kind)) {
    const CollectivePart& part = collective.parts.front();
    for (const NodeId member : part.group) nodes_.push_back(member.value);
    for (const Link& link : topology.links())
      links_.push_back(
          {link.from.value, link.to.value, link.latency.ps, link.bandwidth.bytes_per_second});
    extents_.assign(topology.shape().begin(), topology.shape().end());
    for (const auto& [key, value] : options.settings) texts_.push_back(key + "=" + value);
    for (const std::string& text : texts_) settings_.push_back(text.c_str());
    const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    is_ = {kind_.c_str(),         part.size.count,  count(nodes_),    part.root,
           part.chunks_per_shard, part.chunk_count, nodes_.data(),    topology.node_count(),
           count(links_),         count(extents_),  count(settings_), links_.data(),
           extents_.data(),       settings_.data(), options.seed};
  }
  [[nodiscard]] const tutti_question* get() const { return &is_; }

private:
  std::string kind_;
  std::vector<std::uint32_t> nodes_;
  std::vector<tutti_link> links_;
  std::vector<std::int32_t> extents_;
  std::vector<std::string> texts_;
  std::vector<const char*> settings_;
  tutti_question is_{};
};

/// What was said, call by call: 0, source, destination, block, reduces; 1, number of links, links,
/// block, reduces; 2, transfer.
using Said = std::vector<std::uint32_t>;
enum Call : std::uint32_t { sent, crossed, waits };

void say_sent(void* self, std::uint32_t source, std::uint32_t destination, std::uint32_t block,
              int reduces) {
  static_cast<Said*>(self)->insert(static_cast<Said*>(self)->end(),
                                   {sent, source, destination, block, reduces != 0 ? 1U : 0U});
}

void say_crossed(void* self, const std::uint32_t* links, std::uint32_t count, std::uint32_t block,
                 int reduces) {
  Said& said = *static_cast<Said*>(self);
  said.insert(said.end(), {crossed, count});
  said.insert(said.end(), links, links + count);
  said.insert(said.end(), {block, reduces != 0 ? 1U : 0U});
}

void say_waits(void* self, std::uint32_t transfer) {
  static_cast<Said*>(self)->insert(static_cast<Said*>(self)->end(), {waits, transfer});
}

/// A function of the shared object; null where there is none. Errors: std::runtime_error where it
/// can't be loaded.
template <typename Function> Function* loaded(const std::string& file, const char* name) {
  void* const object = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) throw std::runtime_error(::dlerror());
  return reinterpret_cast<Function*>(::dlsym(object, name));
}

/// What `work` makes in a child. Errors: LimitReached; std::runtime_error for a crash.
std::string made_apart(const std::function<std::string()>& work, const SynthesisOptions& options) {
  const WorkLimit limit(options);
  try {
    return bytes_of_child(work, [&limit](const WorkProgress&) { return limit.reached(); });
  } catch (const Stopped&) {
    throw LimitReached();
  }
}

/// Says it all again. Errors: BadAnswer.
Outcome said_again(std::span<const std::uint32_t> said, const Topology& topology,
                   const Collective& collective, const SynthesisOptions& options) {
  AnsweredSchedule schedule(topology, collective, options);
  const auto take = [&said] {
    if (said.empty()) throw BadAnswer("its answer is cut off");
    const std::uint32_t first = said.front();
    said = said.subspan(1);
    return first;
  };
  const auto op = [&take] { return take() != 0 ? Op::reduce : Op::copy; };
  while (!said.empty()) {
    switch (take()) {
    case sent: {
      const std::uint32_t source = take(), destination = take(), block = take();
      schedule.send(source, destination, block, op());
      break;
    }
    case crossed: {
      const std::size_t count = take();
      if (count > said.size()) throw BadAnswer("its answer is cut off");
      const std::vector<std::int64_t> links(said.data(), said.data() + count);
      said = said.subspan(count);
      const std::uint32_t block = take();
      schedule.cross(links, block, op());
      break;
    }
    default: schedule.wait_for(take());
    }
  }
  return std::move(schedule).outcome();
}

} // namespace

Outcome run_shared_object(const std::string& file, const Topology& topology,
                          const Collective& collective, const SynthesisOptions& options) {
  const auto work = [&] {
    auto* const function = loaded<decltype(tutti_algorithm)>(file, "tutti_algorithm");
    if (function == nullptr) throw std::runtime_error("it has no function tutti_algorithm");
    Said said;
    tutti_answer answer{&said, say_sent, say_crossed, say_waits};
    const QuestionInC question(topology, collective, options);
    const char* const why = function(TUTTI_ALGORITHM_VERSION, question.get(), &answer);
    ByteWriter writer;
    writer.text(why == nullptr ? "" : *why == '\0' ? "no reason is given" : why);
    writer.vector(said);
    return std::move(writer.bytes);
  };
  try {
    const std::string bytes = made_apart(work, options);
    ByteReader reader(bytes);
    std::string why;
    Said said;
    reader.text(why);
    reader.vector(said);
    return why.empty() ? said_again(said, topology, collective, options) : unsupported(why);
  } catch (const std::runtime_error& error) { // BadAnswer included; bad input is another's
    if (dynamic_cast<const InputError*>(&error) != nullptr) throw;
    return failed_outcome(fmt::format("{}: {}", file, error.what()));
  }
}

std::vector<std::uint32_t> chunk_candidates_of(const std::string& file, const Topology& topology,
                                               const Collective& collective,
                                               const SynthesisOptions& options) {
  const auto work = [&] {
    auto* const function = loaded<decltype(tutti_chunk_multiple)>(file, "tutti_chunk_multiple");
    const QuestionInC question(topology, collective, options);
    ByteWriter writer;
    writer.value(function == nullptr ? 0U : function(TUTTI_ALGORITHM_VERSION, question.get()));
    return std::move(writer.bytes);
  };
  std::uint32_t multiple = 0;
  try {
    const std::string bytes = made_apart(work, options);
    ByteReader(bytes).value(multiple);
  } catch (const LimitReached&) { // as run_shared_object() will find, too
  } catch (const std::runtime_error&) {
  }
  std::vector<std::uint32_t> candidates;
  for (std::uint64_t chunks = multiple; chunks > 0 && chunks <= most_chosen_chunks; chunks *= 2)
    candidates.push_back(static_cast<std::uint32_t>(chunks));
  constexpr std::uint32_t most = 4096;
  if (candidates.empty() && multiple > 0 && multiple <= most) candidates = {multiple};
  return candidates;
}

} // namespace tutti
