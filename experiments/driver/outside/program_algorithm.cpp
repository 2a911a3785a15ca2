// A question has all that an algorithm may know; an answer is read strictly, as whatever is taken
// for something else would show as a wrong schedule much later. A program that failed, or that was
// still at work when the limit came, is ended: nobody knows what it would say next.
#include "experiments/driver/outside/program_algorithm.hpp"

#include "experiments/driver/outside/answer.hpp"
#include "experiments/driver/requests/network_json.hpp"
#include "sim/processes/program_keeper.hpp"
#include "sim/text.hpp"
#include "sim/work_limit.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>

#include <unistd.h>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_answered = 256U << 20; // some 10 million transfers

std::string question_of(std::uint64_t id, const char* asks, const Topology& topology,
                        const Collective& collective, const SynthesisOptions& options) {
  const CollectivePart& part = collective.parts.front();
  Json members = Json::array();
  for (const NodeId member : part.group) members.push_back(member.value);
  Json network = network_json(topology);
  network["npus"] = topology.npu_count();
  network["shape"] = topology.shape();
  const Json question = {
      {"id", id},
      {"ask", asks},
      {"network", std::move(network)},
      {"collective",
       {{"kind", to_text(part.kind)},
        {"bytes", part.size.count},
        {"members", std::move(members)},
        {"root", has_root(part.kind) ? Json(part.root) : Json(nullptr)},
        {"chunks_per_shard", part.chunks_per_shard},
        {"blocks", part.chunk_count}}},
      {"options",
       {{"seed", options.seed},
        {"limit_s", options.limit_seconds > 0 ? Json(options.limit_seconds) : Json(nullptr)},
        {"settings", options.settings}}}};
  return question.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// "an array", for messages.
std::string described(const Json& value) {
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  constexpr std::size_t most = 60;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

/// Errors: BadAnswer where lists stand in one another deeper than in any answer, which would be too
/// deep for what walks through them.
void require_shallow(std::string_view line) {
  constexpr int most = 8;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') in_text = !in_text;
    if (c == '\\' && in_text) ++i;
    if (!in_text && (c == '[' || c == '{') && ++depth > most)
      throw BadAnswer("its answer has lists in lists in lists");
    if (!in_text && (c == ']' || c == '}')) --depth;
  }
}

/// Errors: BadAnswer where it isn't the answer to that question.
Json answer_to(std::uint64_t id, const std::string& line) {
  require_shallow(line);
  Json answer = Json::parse(line, nullptr, false);
  if (!answer.is_object())
    throw BadAnswer("its answer is no object of JSON: " + line.substr(0, 60));
  const auto found = answer.find("id");
  if (found == answer.end() || *found != id)
    throw BadAnswer(fmt::format("its answer has no \"id\" {}, that of the question", id));
  constexpr std::array known{"id", "transfers", "chunks", "unsupported", "error", "note"};
  for (const auto& [key, value] : answer.items())
    if (std::ranges::find(known, key) == known.end())
      throw BadAnswer(unknown_name("key of an answer", key,
                                   std::vector<std::string>(known.begin(), known.end())));
  for (const char* const words : {"unsupported", "error", "note"})
    if (answer.contains(words) && !answer[words].is_string())
      throw BadAnswer(fmt::format("\"{}\" of its answer isn't a text", words));
  return answer;
}

std::int64_t whole(const Json& value, std::size_t transfer) {
  if (!value.is_number_integer())
    throw BadAnswer(fmt::format("transfer {}: {} is no whole number", transfer, described(value)));
  return value.get<std::int64_t>();
}

Op op_of(const Json& value, std::size_t transfer) {
  if (value == "copy") return Op::copy;
  if (value == "reduce") return Op::reduce;
  throw BadAnswer(fmt::format("transfer {}: {} is neither \"copy\" nor \"reduce\"", transfer,
                              described(value)));
}

/// [source, destination, block, op(, after)] or [[link, ...], block, op(, after)].
void add(const Json& said, std::size_t number, AnsweredSchedule& schedule) {
  const bool by_links = said.is_array() && !said.empty() && said.front().is_array();
  const std::size_t op_at = by_links ? 2 : 3;
  if (!said.is_array() || said.size() < op_at + 1 || said.size() > op_at + 2)
    throw BadAnswer(fmt::format("transfer {} is {}, not [source, destination, block, op] or "
                                "[[link, ...], block, op], each with what it waits for or without",
                                number, described(said)));
  const std::int64_t block = whole(said[op_at - 1], number);
  const Op op = op_of(said[op_at], number);
  if (by_links) {
    std::vector<std::int64_t> links;
    for (const Json& link : said.front()) links.push_back(whole(link, number));
    schedule.cross(links, block, op);
  } else {
    schedule.send(whole(said[0], number), whole(said[1], number), block, op);
  }
  if (said.size() == op_at + 1) return;
  const Json& after = said.back();
  if (!after.is_array()) return schedule.wait_for(whole(after, number));
  for (const Json& each : after) schedule.wait_for(whole(each, number));
}

Outcome outcome_of(const Json& answer, const Topology& topology, const Collective& collective,
                   const SynthesisOptions& options) {
  if (answer.contains("error")) return failed_outcome(answer["error"].get<std::string>());
  if (answer.contains("unsupported")) return unsupported(answer["unsupported"].get<std::string>());
  const auto transfers = answer.find("transfers");
  if (transfers == answer.end() || !transfers->is_array())
    throw BadAnswer("its answer has no list of \"transfers\"");
  AnsweredSchedule schedule(topology, collective, options);
  std::size_t number = 0;
  for (const Json& said : *transfers) add(said, number++, schedule);
  Outcome outcome = std::move(schedule).outcome();
  if (answer.contains("note")) outcome.note = answer["note"].get<std::string>();
  return outcome;
}

} // namespace

/// A question and its answer. The program is ended unless the answer made sense.
class ProgramAlgorithm::Asked {
public:
  Asked(ProgramAlgorithm& algorithm, const SynthesisOptions& options)
      : algorithm_(algorithm), options_(options) {}
  ~Asked() {
    if (!made_sense_) algorithm_.program_.reset();
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  /// Errors: ProgramFailure, BadAnswer, LimitReached.
  Json operator()(const char* what, const Topology& topology, const Collective& collective) {
    const std::uint64_t id = algorithm_.next_id();
    const WorkLimit limit(options_);
    const auto ask = [&limit] { limit.require(); };
    OutsideProgram& program = algorithm_.program(options_);
    before_ = program.cpu_seconds();
    program.send(question_of(id, what, topology, collective, options_), ask);
    return answer_to(id, program.line(most_answered, ask));
  }
  void made_sense() {
    made_sense_ = true;
    algorithm_.program_->set_free();
  }
  [[nodiscard]] double seconds() const {
    return std::max(algorithm_.program_->cpu_seconds() - before_, 0.0);
  }

private:
  ProgramAlgorithm& algorithm_;
  const SynthesisOptions& options_;
  double before_ = 0;
  bool made_sense_ = false;
};

ProgramAlgorithm::ProgramAlgorithm(std::string name, std::string file,
                                   std::vector<std::string> arguments,
                                   std::shared_ptr<ProgramKeeper> keeper)
    : name_(std::move(name)), file_(std::move(file)), arguments_(std::move(arguments)),
      keeper_(std::move(keeper)) {}

ProgramAlgorithm::~ProgramAlgorithm() = default;

OutsideProgram& ProgramAlgorithm::program(const SynthesisOptions& options) {
  if (program_ && program_->owner() != ::getpid()) program_.reset();
  if (!program_ && keeper_) program_ = keeper_->lend(file_, arguments_, options.limit_bytes);
  if (!program_)
    program_ = std::make_unique<OutsideProgram>(file_, arguments_, options.limit_bytes);
  return *program_;
}

std::uint64_t ProgramAlgorithm::next_id() {
  constexpr int bits = 24;
  return (static_cast<std::uint64_t>(::getpid()) << bits) + ++questions_;
}

Outcome ProgramAlgorithm::run(const Topology& topology, const Collective& collective,
                              const SynthesisOptions& options) {
  if (!failure_.empty()) return failed_outcome(std::exchange(failure_, {}));
  Asked asked{*this, options};
  try {
    const Json answer = asked("schedule", topology, collective);
    Outcome outcome = outcome_of(answer, topology, collective, options);
    asked.made_sense();
    outcome.outside_seconds = asked.seconds() + std::exchange(chunk_seconds_, 0);
    return outcome;
  } catch (const ProgramFailure& failure) {
    return failed_outcome(failure.what());
  } catch (const BadAnswer& bad) {
    return failed_outcome(fmt::format("{}: {}", name_, bad.what()));
  }
}

std::vector<std::uint32_t> ProgramAlgorithm::chunk_candidates(const Topology& topology,
                                                              const Collective& collective,
                                                              const SynthesisOptions& options) {
  Asked asked{*this, options};
  try {
    const Json answer = asked("chunks", topology, collective);
    std::vector<std::uint32_t> candidates;
    for (const Json& count : answer.value("chunks", Json::array())) {
      constexpr std::int64_t most = 4096;
      if (!count.is_number_integer() || count < 1 || count > most)
        throw BadAnswer(fmt::format("{} is no number of chunks", described(count)));
      candidates.push_back(count.get<std::uint32_t>());
    }
    asked.made_sense();
    chunk_seconds_ = asked.seconds();
    std::ranges::sort(candidates);
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    return candidates;
  } catch (const LimitReached&) { // what is left of it, run() has
  } catch (const ProgramFailure& failure) {
    failure_ = failure.what();
  } catch (const BadAnswer& bad) {
    failure_ = fmt::format("{}: {}", name_, bad.what());
  }
  return {};
}

} // namespace tutti
