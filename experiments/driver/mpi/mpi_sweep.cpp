// Rank 0 runs the loop of coordinator.cpp with all ranks as its workers and speaks with each by MPI
// messages; the others run a point server and do what it asks. All messages are sent and probed
// without blocking, since a rank has its own processes to watch meanwhile; between two looks it
// sleeps for a millisecond rather than burn a core that simulates. Whatever happens, every rank
// says goodbye before MPI is finalised: a message that nobody receives could hang the job.
#include "experiments/driver/mpi/mpi_sweep.hpp"

#include "experiments/driver/pool/interrupts.hpp"
#include "experiments/driver/sweep/point_messages.hpp"
#include "experiments/driver/terminal/progress.hpp"
#include "sim/error.hpp"

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/mpi/request.hpp>
#include <boost/mpi/status.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>

namespace tutti::sweep {

namespace {

namespace mpi = boost::mpi;

// What a message says is its tag.
enum Tag : int {
  says_request, // from rank 0: a Point
  says_drop,    // points that wait are not to be begun
  says_stop,    // the end
  says_answers, // to rank 0: PointAnswers
  says_error,   // the message of an InputError
  says_goodbye, // nothing else comes from this rank
};

// A blocking receive of MPI's spins; this is the rest that ranks take between questions.
constexpr int rest_ms = 1;
constexpr double longest_wait = 1; // seconds

struct Message {
  int source = 0, tag = 0;
  std::string text;
};

// Messages without waiting, in either direction.
class RankMessages {
public:
  void send(int rank, Tag tag, std::string text) {
    PendingSend& pending = pending_.emplace_back(PendingSend{std::move(text), {}});
    pending.request = world_.isend(rank, tag, pending.text.data(), size_of(pending.text));
  }

  std::optional<Message> receive() {
    pending_.remove_if([](PendingSend& pending) { return pending.request.test().has_value(); });
    const auto status = world_.iprobe();
    if (!status) return std::nullopt;
    Message message{status->source(), status->tag(),
                    std::string(static_cast<std::size_t>(status->count<char>().value_or(0)), ' ')};
    world_.recv(message.source, message.tag, message.text.data(), size_of(message.text));
    return message;
  }

  void wait_until_sent() {
    for (PendingSend& pending : pending_) pending.request.wait();
    pending_.clear();
  }

  [[nodiscard]] int rank() const { return world_.rank(); }
  [[nodiscard]] int ranks() const { return world_.size(); }

private:
  struct PendingSend {
    std::string text; ///< stays where it is until it has arrived
    mpi::request request;
  };
  static int size_of(const std::string& text) { return static_cast<int>(text.size()); }

  mpi::communicator world_;
  std::list<PendingSend> pending_;
};

// All ranks as workers of rank 0, which is one of them.
class RankWorkers : public Workers {
public:
  RankWorkers(PointServer& server, RankMessages& messages)
      : server_(&server), messages_(&messages), loads_(static_cast<std::size_t>(messages.ranks())) {
  }

  [[nodiscard]] std::size_t capacity() const override {
    return loads_.size() * server_->capacity();
  }
  [[nodiscard]] std::size_t load() const override {
    std::size_t load = 0;
    for (std::size_t rank = 0; rank < loads_.size(); ++rank) load += load_of(rank);
    return load;
  }

  // By the rank that has the least to do.
  void start(const Point& point) override {
    std::size_t least = 0;
    for (std::size_t rank = 1; rank < loads_.size(); ++rank)
      if (load_of(rank) < load_of(least)) least = rank;
    if (least == 0) {
      server_->start(point);
      return;
    }
    ++loads_[least];
    messages_->send(static_cast<int>(least), says_request, message_of(point));
  }

  void drop_waiting() override {
    server_->drop_waiting();
    send_all(says_drop);
  }

  [[nodiscard]] PointAnswers wait(int interrupts) override {
    const double end = steady_seconds() + longest_wait;
    while (true) {
      std::array<pollfd, 2> waits{{{server_->file(), POLLIN, 0}, {interrupts, POLLIN, 0}}};
      (void)::poll(waits.data(), waits.size(), rest_ms);
      PointAnswers answers = server_->answers();
      while (const auto message = messages_->receive()) take(*message, answers);
      const bool any = !answers.finished.empty() || !answers.dropped.empty();
      if (any || waits[1].revents != 0 || steady_seconds() > end) return answers;
    }
  }

  // Until the others have heard it, and all that they had sent is received.
  void stop() {
    send_all(says_stop);
    for (int left = messages_->ranks() - 1; left > 0;) {
      const auto message = messages_->receive();
      if (!message) (void)::poll(nullptr, 0, rest_ms);
      if (message && message->tag == says_goodbye) --left;
    }
    messages_->wait_until_sent();
  }

private:
  void send_all(Tag tag) {
    for (int rank = 1; rank < messages_->ranks(); ++rank) messages_->send(rank, tag, {});
  }

  [[nodiscard]] std::size_t load_of(std::size_t rank) const {
    return rank == 0 ? server_->load() : loads_[rank];
  }

  void take(const Message& message, PointAnswers& answers) {
    if (message.tag == says_error) throw InputError(message.text);
    PointAnswers arrived = parse_answers(message.text);
    loads_[static_cast<std::size_t>(message.source)] -=
        arrived.finished.size() + arrived.dropped.size();
    std::move(arrived.finished.begin(), arrived.finished.end(),
              std::back_inserter(answers.finished));
    answers.dropped.insert(answers.dropped.end(), arrived.dropped.begin(), arrived.dropped.end());
  }

  PointServer* server_;
  RankMessages* messages_;
  std::vector<std::size_t> loads_; // by rank; that of rank 0 is its server's
};

// Does what rank 0 says, until it says stop.
class Helper {
public:
  Helper(PointServer& server, RankMessages& messages) : server_(server), messages_(messages) {}

  void serve() {
    while (!stopped_) {
      pollfd wait{failed_ ? -1 : server_.file(), POLLIN, 0};
      (void)::poll(&wait, 1, rest_ms);
      while (const auto message = messages_.receive()) hear(*message);
      if (failed_) continue;
      try {
        const PointAnswers answers = server_.answers();
        if (!answers.finished.empty() || !answers.dropped.empty())
          messages_.send(0, says_answers, message_of(answers));
      } catch (const std::exception& error) { // no process to be had; rank 0 ends all
        failed_ = true;
        messages_.send(0, says_error, error.what());
      }
    }
    messages_.send(0, says_goodbye, {});
    messages_.wait_until_sent();
  }

private:
  void hear(const Message& message) {
    if (message.tag == says_stop)
      stopped_ = true;
    else if (message.tag == says_drop)
      server_.drop_waiting();
    else if (!failed_)
      server_.start(parse_point(message.text));
  }

  PointServer& server_;
  RankMessages& messages_;
  bool stopped_ = false, failed_ = false;
};

SweepOutcome coordinate(PointServer& server, RankMessages& messages, const Sweep& sweep,
                        const SweepOptions& options, const SweepParts& parts,
                        Interrupts& interrupts) {
  RankWorkers workers(server, messages);
  try {
    SweepOutcome outcome = sweep_with(workers, sweep, options, parts.points(), interrupts);
    workers.stop();
    return outcome;
  } catch (...) { // all end in good order; then this rank says why
    workers.stop();
    throw;
  }
}

} // namespace

std::optional<SweepOutcome> sweep_with_mpi(const Sweep& sweep, const SweepOptions& options,
                                           const SweepParts& parts) {
  PointServer server(parts.evaluate, sweep.limits, options.jobs);
  // Before MPI starts threads, which would get the signals; those of other ranks rank 0 gets, too.
  Interrupts interrupts;
  const mpi::environment environment(false); // exceptions are dealt with
  RankMessages messages;
  if (messages.rank() == 0) return coordinate(server, messages, sweep, options, parts, interrupts);
  Helper(server, messages).serve();
  return std::nullopt;
}

std::optional<SweepOutcome> sweep_with_mpi(const Sweep& sweep, const SweepOptions& options) {
  return sweep_with_mpi(sweep, options, parts_of(sweep, options));
}

} // namespace tutti::sweep
