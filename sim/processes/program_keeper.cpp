// A process that has started the programs and knows how they end. Who borrows one gets its ends as
// files in a message, and so speaks to it as to one of its own; a connection of its own to the
// keeper says by its state whether the program is at work, and by its end that it comes back,
// however the borrower ended.
#include "sim/processes/program_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti {

namespace {

constexpr std::size_t most_files = 3;
constexpr std::size_t most_text = 65536;

/// One message and files with it; false where the peer is gone.
bool send_files(int socket, std::string_view text, std::span<const int> files) {
  iovec content{const_cast<char*>(text.data()), text.size()}; // which sendmsg() only reads
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_files * sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  if (!files.empty()) {
    message.msg_control = space.data();
    message.msg_controllen = CMSG_SPACE(files.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(files.size_bytes());
    std::memcpy(CMSG_DATA(header), files.data(), files.size_bytes());
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0;
}

/// The same received; nothing where the peer is gone.
std::optional<std::pair<std::string, std::vector<int>>> receive_files(int socket) {
  std::string text(most_text, '\0');
  iovec content{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_files * sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  ssize_t size = 0;
  do size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (size < 0 && errno == EINTR);
  if (size <= 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(size));
  std::vector<int> files;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr) {
    files.resize((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(files.data(), CMSG_DATA(header), files.size() * sizeof(int));
  }
  return std::pair(std::move(text), std::move(files));
}

/// The keeper's process.
class Kept {
public:
  /// Until nobody can ask any more.
  void serve(int requests) {
    while (true) {
      std::vector<pollfd> waits{{requests, POLLIN, 0}};
      for (const Program& program : programs_) waits.push_back({program.session, POLLIN, 0});
      constexpr int milliseconds_between = 50; // in which a program may end
      (void)::poll(waits.data(), waits.size(), milliseconds_between);
      for (std::size_t i = 1; i < waits.size(); ++i)
        if (waits[i].revents != 0) hear(programs_[i - 1]);
      for (Program& program : programs_) look_at(program);
      std::erase_if(programs_, [](const Program& program) { return program.is.process == 0; });
      if (waits[0].revents == 0) continue;
      const auto request = receive_files(requests);
      if (!request || request->second.empty()) break;
      if (request->second.size() == 1) lend(request->first, request->second.front());
    }
    for (const Program& program : programs_) kill_program(program.is);
  }

private:
  struct Program {
    std::string words;   ///< that started it
    RunningProgram is{}; ///< no process: it has ended
    int session = -1;    ///< of its borrower
    bool at_work = false;
  };

  static void drop(Program& program) {
    close_ends(program.is);
    if (program.session >= 0) ::close(program.session);
    program.is = {};
  }

  /// Everything that its borrower has said, to the end: who gives a program back and goes says both
  /// at once, and whoever asks next is to find it free.
  static void hear(Program& program) {
    char state = 0;
    ssize_t size = 0;
    while ((size = ::recv(program.session, &state, 1, MSG_DONTWAIT)) == 1)
      program.at_work = state == 'b';
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (program.at_work) {
      kill_program(program.is);
      drop(program);
      return;
    }
    ::close(std::exchange(program.session, -1));
  }

  static void look_at(Program& program) {
    if (program.is.process == 0) return;
    const std::optional<ProgramEnd> end = end_of(program.is);
    if (!end) return;
    if (program.session >= 0)
      (void)::send(program.session, &*end, sizeof *end, MSG_NOSIGNAL | MSG_DONTWAIT);
    kill_program(program.is); // what it has started, too
    drop(program);
  }

  void lend(const std::string& words, int session) {
    auto found = std::ranges::find_if(programs_, [&](const Program& program) {
      return program.session < 0 && program.words == words;
    });
    try {
      if (found == programs_.end()) {
        programs_.push_back({words, started(words)});
        found = programs_.end() - 1;
      }
      found->session = session;
      const RunningProgram& is = found->is;
      (void)send_files(session, "p" + std::to_string(is.process),
                       std::array{is.in, is.out, is.errors});
    } catch (const ProgramFailure& failure) {
      (void)send_files(session, std::string("f") + failure.what(), {});
      ::close(session);
    }
  }

  /// From the limit, the file and the arguments, each ended by a null character.
  static RunningProgram started(const std::string& words) {
    std::vector<std::string> texts;
    for (std::size_t begin = 0; begin < words.size();) {
      const std::size_t end = words.find('\0', begin);
      texts.push_back(words.substr(begin, end - begin));
      begin = end + 1;
    }
    return start_program(texts.at(1), std::span(texts).subspan(2), std::stoll(texts.at(0)));
  }

  std::vector<Program> programs_;
};

} // namespace

void ProgramKeeper::start() {
  if (requests_ >= 0) return;
  const std::array<int, 2> ends = socket_ends(SOCK_SEQPACKET);
  requests_ = ends[0];
  process_ = std::make_unique<ChildProcess>([ends](int) {
    ::close(ends[0]);
    ::setpgid(0, 0); // a terminal's Ctrl-C is for those who borrow
    Kept().serve(ends[1]);
  });
  ::close(ends[1]);
}

ProgramKeeper::~ProgramKeeper() {
  if (requests_ < 0) return;
  (void)send_files(requests_, "end", {}); // with all that the programs have started
  (void)process_->end();
  ::close(requests_);
}

std::unique_ptr<OutsideProgram> ProgramKeeper::lend(const std::string& file,
                                                    std::span<const std::string> arguments,
                                                    std::int64_t limit_bytes) {
  if (requests_ < 0) return nullptr;
  std::string words = std::to_string(limit_bytes) + '\0' + file + '\0';
  for (const std::string& argument : arguments) words += argument + '\0';
  const std::array<int, 2> session = socket_ends(SOCK_SEQPACKET);
  const bool is_asked = words.size() < most_text && send_files(requests_, words, {&session[1], 1});
  ::close(session[1]);
  const auto answer = is_asked ? receive_files(session[0]) : std::nullopt;
  if (answer && answer->first.front() == 'p' && answer->second.size() == most_files) {
    const std::vector<int>& files = answer->second;
    return std::make_unique<OutsideProgram>(
        file, RunningProgram{std::stoi(answer->first.substr(1)), files[0], files[1], files[2]},
        session[0]);
  }
  ::close(session[0]);
  throw ProgramFailure(answer ? answer->first.substr(1)
                              : fmt::format("{} can't be started: its keeper is gone", file));
}

} // namespace tutti
