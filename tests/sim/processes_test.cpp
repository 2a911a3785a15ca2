// Child processes and the messages between them: whatever arrives in parts, of any length, and
// however a child ends.
#include "sim/error.hpp"
#include "sim/processes/child_process.hpp"
#include "sim/processes/isolated.hpp"
#include "sim/processes/message_stream.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

namespace processes_test {

using namespace tutti;

namespace {

/// Two connected ends.
class Connection {
public:
  Connection() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()) == 0); }
  ~Connection() {
    close_first();
    (void)close(ends_[1]);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  [[nodiscard]] int first() const { return ends_[0]; }
  [[nodiscard]] int second() const { return ends_[1]; }
  void close_first() {
    if (ends_[0] >= 0) (void)close(ends_[0]);
    ends_[0] = -1;
  }

private:
  std::array<int, 2> ends_{-1, -1};
};

void send_bytes(int socket, std::string_view bytes) {
  REQUIRE(send(socket, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
}

} // namespace

TEST_CASE("messages arrive whole, in order, whatever their length") {
  const std::vector<std::size_t> lengths{0, 1, 7, 8, 65535, 65536, 65537, 3'000'000};
  ChildProcess child([&](int socket) {
    MessageStream stream(socket);
    for (const std::size_t length : lengths) (void)stream.send(std::string(length, 'x'));
    while (const auto message = stream.receive()) (void)stream.send("heard " + *message);
  });
  MessageStream stream(child.socket());
  for (const std::size_t length : lengths) {
    const std::optional<std::string> message = stream.receive();
    REQUIRE(message);
    CHECK(*message == std::string(length, 'x'));
  }
  for (const std::string word : {"one", "two"}) {
    CHECK(stream.send(word));
    CHECK(stream.receive() == "heard " + word);
  }
}

TEST_CASE("a message may arrive in any parts, and not at all") {
  const Connection sent;
  CHECK(MessageStream(sent.first()).send("first"));
  CHECK(MessageStream(sent.first()).send(""));
  std::string bytes(64, ' ');
  bytes.resize(static_cast<std::size_t>(read(sent.second(), bytes.data(), bytes.size())));
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    Connection other;
    MessageStream stream(other.second());
    if (cut > 0) {
      send_bytes(other.first(), std::string_view(bytes).substr(0, cut));
      CHECK(stream.read_some());
    }
    const bool has_first = cut >= 8 + 5, has_both = cut == bytes.size();
    CHECK(stream.take() == (has_first ? std::optional<std::string>("first") : std::nullopt));
    CHECK(stream.take() == (has_both ? std::optional<std::string>("") : std::nullopt));
    other.close_first();
    CHECK(stream.receive() == std::nullopt);
    CHECK(!stream.send("nobody is there"));
  }
}

TEST_CASE("values come back from their bytes, and no more than was written") {
  ByteWriter out;
  out.value(7);
  out.vector(std::vector<double>{1.5, -2});
  out.text("seven");
  int number = 0;
  std::vector<double> numbers;
  std::string text;
  ByteReader in(out.bytes);
  in.value(number);
  in.vector(numbers);
  in.text(text);
  CHECK(number == 7);
  CHECK(numbers == std::vector<double>{1.5, -2});
  CHECK(text == "seven");
  CHECK_THROWS_AS(in.value(number), std::runtime_error);
  ByteWriter large; // a length that nothing can have
  large.value(~std::size_t{0});
  CHECK_THROWS_AS(ByteReader(large.bytes).vector(numbers), std::runtime_error);
}

TEST_CASE("how a child ended is said in words") {
  const auto death_of = [](const auto& body) { return ChildProcess(body).end().death(); };
  CHECK(death_of([](int) {}).empty());
  CHECK(death_of([](int) { std::_Exit(3); }) == "the process ended with code 3");
  CHECK_THAT(death_of([](int) { (void)std::raise(SIGKILL); }),
             ContainsSubstring("the process was killed by signal 9 ("));
}

TEST_CASE("programs are executed with arguments and their socket") {
  const std::vector<std::string> arguments{"-c", "cat <&3 >/dev/null; exit 4"};
  ChildProcess child("/bin/sh", arguments);
  CHECK(child.process() > 0);
  CHECK(shutdown(child.socket(), SHUT_WR) == 0);
  CHECK(child.end().code == 4);
  CHECK_THROWS_AS(ChildProcess("/nonexistent/program", arguments), NoProcess);
}

TEST_CASE("a program that doesn't read, or closes its socket and lives on, ends with the request") {
  const auto script = [](const char* text) { return std::vector<std::string>{"-c", text}; };
  int asked = 0;
  const Watch thrice = [&](const auto&) { return ++asked > 3; };
  const std::string request(5'000'000, 'x'); // more than a socket holds
  CHECK_THROWS_AS(AnsweringProgram("/bin/sh", script("exec sleep 100")).ask(request, thrice),
                  Stopped);
  CHECK(asked == 4);
  CHECK_THROWS_WITH(AnsweringProgram("/bin/sh", script("exec 3>&-; exec sleep 100")).ask("short"),
                    ContainsSubstring("the work's process died of signal 9"));
}

TEST_CASE("a signal that this process ignores is ignored by its children") {
  const auto before = std::signal(SIGINT, SIG_IGN);
  const std::vector<std::string> arguments{"-c", "kill -INT $$; exit 7"};
  CHECK(ChildProcess("/bin/sh", arguments).end().code == 7);
  CHECK(bytes_of_child([] {
          (void)std::raise(SIGINT);
          return std::string("alive");
        }) == "alive");
  (void)std::signal(SIGINT, before);
}

TEST_CASE("what isolated work returns or throws comes back") {
  CHECK(bytes_of_child([] { return std::string(1'000'000, 'y'); }) == std::string(1'000'000, 'y'));
  CHECK(bytes_of_child([] { return std::string(); }).empty());
  CHECK(message_of([] {
          (void)bytes_of_child([]() -> std::string { throw InputError("bad"); });
        }) == "bad");
  CHECK_THROWS_AS(bytes_of_child([]() -> std::string { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK_THROWS_WITH(bytes_of_child([]() -> std::string { throw std::logic_error("wrong"); }),
                    "wrong");
  CHECK_THROWS_WITH(bytes_of_child([]() -> std::string { std::_Exit(9); }),
                    "the work's process ended with status 9");
  CHECK_THROWS_AS(bytes_of_child(
                      []() -> std::string {
                        while (true) (void)pause();
                      },
                      [](const WorkProgress&) { return true; }),
                  Stopped);
}

} // namespace processes_test
