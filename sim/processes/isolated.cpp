// The child's answer is one message, whose first byte says whether a result or an exception
// follows; a child that dies first is known by the end of its socket, and by how it ended.
#include "sim/processes/isolated.hpp"

#include "sim/error.hpp"
#include "sim/processes/child_process.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

namespace tutti {

namespace {

constexpr char result_follows = 'r', input_error_follows = 'i', failure_follows = 'f',
               no_memory = 'm';

std::string answer_of(const std::function<std::string()>& work) {
  try {
    return result_follows + work();
  } catch (const InputError& e) {
    return input_error_follows + std::string(e.what());
  } catch (const std::bad_alloc&) {
    return {no_memory};
  } catch (const std::exception& e) {
    return failure_follows + std::string(e.what());
  }
}

/// Asks the watch while one waits; nothing where there is none. Errors of it: Stopped.
MessageStream::WhileWaiting asking(const Watch& watch) {
  if (!watch) return {};
  return [&watch] {
    if (watch({})) throw Stopped();
  };
}

/// The result in the child's answer; rethrows what it says instead. The child may live on.
std::string result_of(ChildProcess& child, const Watch& watch) {
  std::optional<std::string> message = MessageStream(child.socket()).receive(asking(watch));
  if (!message || message->empty()) {
    child.kill(); // one that lives on with its socket closed; how one died stays known
    const ProcessEnd end = child.end();
    throw std::runtime_error(
        end.signal != 0 ? fmt::format("the work's process died of signal {} ({})", end.signal,
                                      ::strsignal(end.signal))
                        : fmt::format("the work's process ended with status {}", end.code));
  }
  const char kind = message->front();
  message->erase(0, 1);
  if (kind == input_error_follows) throw InputError(*message);
  if (kind == no_memory) throw std::bad_alloc();
  if (kind == failure_follows) throw std::runtime_error(*message);
  return std::move(*message);
}

} // namespace

std::string bytes_of_child(const std::function<std::string()>& work, const Watch& watch) {
  const auto body = [&](int socket) {
    for (const int fatal : {SIGABRT, SIGSEGV, SIGFPE, SIGTERM, SIGINT})
      if (std::signal(fatal, SIG_DFL) == SIG_IGN) std::signal(fatal, SIG_IGN);
    (void)MessageStream(socket).send(answer_of(work));
  };
  std::optional<ChildProcess> child;
  try {
    child.emplace(body);
  } catch (const NoProcess& error) { // nobody's bad input
    throw std::runtime_error(error.what());
  }
  return result_of(*child, watch);
}

AnsweringProgram::AnsweringProgram(std::string program, std::vector<std::string> arguments)
    : program_(std::move(program)), arguments_(std::move(arguments)) {}

AnsweringProgram::~AnsweringProgram() = default;

std::string AnsweringProgram::ask(const std::string& request, const Watch& watch) {
  std::unique_ptr<ChildProcess> asked = [&] {
    if (child_) return std::move(child_);
    try {
      return std::make_unique<ChildProcess>(program_, arguments_);
    } catch (const NoProcess& error) {
      throw std::runtime_error(fmt::format("{}: {}", program_, error.what()));
    }
  }();
  // Where it has died, there is no answer.
  (void)MessageStream(asked->socket()).send(request, asking(watch));
  std::string bytes = result_of(*asked, watch);
  child_ = std::move(asked);
  return bytes;
}

std::size_t answer_requests(int socket,
                            const std::function<std::string(const std::string&)>& work) {
  MessageStream stream(socket);
  for (std::size_t answered = 0;; ++answered) {
    const std::optional<std::string> request = stream.receive();
    if (!request || !stream.send(answer_of([&] { return work(*request); }))) return answered;
  }
}

} // namespace tutti
