// Runs a simulation, or what a solver does, in a child process and brings its answer back.
#pragma once

#include "sim/processes/message_stream.hpp"
#include "sim/watch.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

class ChildProcess;

/// Calls `work` in a forked child; what it returns comes back as a message. An InputError thrown
/// there is thrown here again. Meanwhile this process asks the watch, some twenty times a second;
/// where that says so the child is killed, and Stopped is thrown. Errors: also std::bad_alloc, and
/// std::runtime_error where the child dies or can't be made. Pre: no other thread is needed by
/// `work`, nor holds a lock that it takes (ChildProcess).
/// Cost: a fork (about 1 ms) plus copying what is returned.
[[nodiscard]] std::string bytes_of_child(const std::function<std::string()>& work,
                                         const Watch& watch = {});

/// The same by a program that is executed with these arguments, whatever threads there are: it is
/// sent requests and answers by answer_requests(). It is started when it is first asked, and anew
/// after an error; it ends with this object.
class AnsweringProgram {
public:
  AnsweringProgram(std::string program, std::vector<std::string> arguments);
  ~AnsweringProgram();

  /// Errors: as bytes_of_child(). Cost: the first time the program's start.
  [[nodiscard]] std::string ask(const std::string& request, const Watch& watch = {});

private:
  std::string program_;
  std::vector<std::string> arguments_;
  std::unique_ptr<ChildProcess> child_; // null: not started
};

/// What such a program does, until nobody is there: receives a request on the socket and sends what
/// `work` makes of it, or what it throws. How many it has answered.
std::size_t answer_requests(int socket, const std::function<std::string(const std::string&)>& work);

/// bytes_of_child() for a report, whose fields exchange(stream, report) hands to either stream, in
/// one order.
template <typename Simulate, typename Exchange>
[[nodiscard]] auto run_isolated(const Simulate& simulate, const Exchange& exchange,
                                const Watch& watch) {
  const std::string bytes = bytes_of_child(
      [&] {
        auto report = simulate();
        ByteWriter writer;
        exchange(writer, report);
        return std::move(writer.bytes);
      },
      watch);
  decltype(simulate()) report;
  ByteReader reader(bytes);
  exchange(reader, report);
  return report;
}

} // namespace tutti
