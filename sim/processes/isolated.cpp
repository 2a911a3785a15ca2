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

/// The result in the child's answer; rethrows what it says instead.
std::string result_of(ChildProcess& child, const Watch& watch) {
  std::optional<std::string> message = MessageStream(child.socket()).receive(asking(watch));
  if (!message) child.kill(); // one that lives on with its socket closed; how one died stays known
  const ProcessEnd end = child.end();
  if (!message || message->empty())
    throw std::runtime_error(
        end.signal != 0 ? fmt::format("the work's process died of signal {} ({})", end.signal,
                                      ::strsignal(end.signal))
                        : fmt::format("the work's process ended with status {}", end.code));
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

std::string bytes_of_program(const std::string& program, std::span<const std::string> arguments,
                             const std::string& request, const Watch& watch) {
  std::optional<ChildProcess> child;
  try {
    child.emplace(program, arguments);
  } catch (const NoProcess& error) {
    throw std::runtime_error(fmt::format("{}: {}", program, error.what()));
  }
  // Where it has died, there is no answer.
  (void)MessageStream(child->socket()).send(request, asking(watch));
  return result_of(*child, watch);
}

bool answer_request(int socket, const std::function<std::string(const std::string&)>& work) {
  MessageStream stream(socket);
  const std::optional<std::string> request = stream.receive();
  return request && stream.send(answer_of([&] { return work(*request); }));
}

} // namespace tutti
