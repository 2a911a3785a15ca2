// Why: nobody but SimGrid knows for sure what a platform file means (its clusters alone have four
// kinds of routing), but its parser gives up by an exception, by abort(), or not at all: a Dijkstra
// zone without a way between two hosts is searched forever. So a child process loads the file and
// asks for every route, under limits; what it prints goes to a file in memory, from which its last
// words are repeated. Measured with SimGrid 3.32.
#include "sim/engines/simgrid/platform.hpp"

#include "sim/engines/simgrid/library/process.hpp"
#include "sim/engines/simgrid/library/versions.hpp"
#include "sim/engines/simgrid/requests.hpp"
#include "sim/error.hpp"
#include "sim/processes/isolated.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <simgrid/Exception.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tutti {

namespace {

namespace sg4 = simgrid::s4u;

constexpr std::uint64_t most_memory = std::uint64_t{2} << 30; // beyond what this process has
constexpr std::size_t most_said = std::size_t{1} << 16;       // bytes of its last words

/// A file that has no name, and no bytes on any disk.
class MemoryFile {
public:
  explicit MemoryFile(const char* name) : file_(::memfd_create(name, MFD_CLOEXEC)) {
    if (file_ < 0)
      throw std::runtime_error(fmt::format("no file in memory: {}", std::strerror(errno)));
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] int number() const { return file_; }
  [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", file_); }

  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0)
        throw std::runtime_error(fmt::format("no file in memory: {}", std::strerror(errno)));
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  /// No more than `most` bytes.
  [[nodiscard]] std::string last(std::size_t most) const {
    const off_t size = ::lseek(file_, 0, SEEK_END);
    std::string text(std::min(most, static_cast<std::size_t>(std::max<off_t>(size, 0))), '\0');
    const ssize_t count = ::pread(file_, text.data(), text.size(),
                                  std::max<off_t>(size, 0) - static_cast<off_t>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
  }

private:
  int file_;
};

void lower_limit(decltype(RLIMIT_AS) what, std::uint64_t most) {
  rlimit limit{};
  if (::getrlimit(what, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, most);
  ::setrlimit(what, &limit);
}

/// Limits the child process; its output goes to `said`.
void confine(const MemoryFile& said, double most_seconds) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  lower_limit(RLIMIT_AS, pages * page + most_memory);
  lower_limit(RLIMIT_CPU, static_cast<std::uint64_t>(most_seconds) + 1);
  lower_limit(RLIMIT_CORE, 0);
  lower_limit(RLIMIT_FSIZE, std::uint64_t{16} << 20); // of what it says
  std::signal(SIGXFSZ, SIG_IGN);
  ::dup2(said.number(), STDOUT_FILENO);
  ::dup2(said.number(), STDERR_FILENO);
}

SimGridProperties sorted(const std::unordered_map<std::string, std::string>* properties) {
  SimGridProperties all;
  if (properties != nullptr) all.assign(properties->begin(), properties->end());
  std::ranges::sort(all);
  return all;
}

SimGridLink::Sharing sharing_of(const sg4::Link& link) {
  switch (link.get_sharing_policy()) {
  case sg4::Link::SharingPolicy::SHARED: return SimGridLink::Sharing::shared;
  case sg4::Link::SharingPolicy::FATPIPE: return SimGridLink::Sharing::fat_pipe;
  default: return SimGridLink::Sharing::other;
  }
}

/// What is created, in order: SimGrid tells of some several times, and sorts its own lists by name.
template <typename Thing> struct Created {
  std::vector<Thing*> list;
  std::unordered_map<const Thing*, std::uint32_t> index;

  void add(Thing& thing) {
    if (index.emplace(&thing, static_cast<std::uint32_t>(list.size())).second)
      list.push_back(&thing);
  }
};

void add_properties(const sg4::NetZone* root, SimGridProperties& into) {
  std::vector<const sg4::NetZone*> open{root};
  while (!open.empty()) {
    const sg4::NetZone* const zone = open.back();
    open.pop_back();
    const SimGridProperties own = sorted(zone->get_properties());
    into.insert(into.end(), own.begin(), own.end());
    for (const sg4::NetZone* child : zone->get_children()) open.push_back(child);
  }
  std::ranges::sort(into);
}

void add_routes(const Created<sg4::Host>& hosts, const Created<sg4::Link>& links,
                const std::string& source, SimGridPlatform& platform) {
  std::vector<sg4::Link*> route;
  platform.route_begin.push_back(0);
  for (const sg4::Host* from : hosts.list)
    for (const sg4::Host* to : hosts.list) {
      route.clear();
      double latency = from == to ? 0 : -1;
      if (from != to) {
        try {
          double found = 0;
          from->route_to(to, route, &found);
          latency = found;
        } catch (const std::invalid_argument&) { // a zone that knows that it has none
          route.clear();
        } catch (const simgrid::Exception&) {
          route.clear();
        }
      }
      for (const sg4::Link* link : route) platform.route_links.push_back(links.index.at(link));
      platform.route_begin.push_back(platform.route_links.size());
      platform.route_latency.push_back(latency);
      if (platform.route_links.size() > most_simgrid_route_links)
        throw InputError(fmt::format("{}: the routes between its {} hosts have more than {} links",
                                     source, hosts.list.size(), most_simgrid_route_links));
    }
}

SimGridPlatform loaded(const std::string& path, const std::string& source, bool routes) {
  Created<sg4::Host> hosts;
  Created<sg4::Link> links;
  SimGridArguments& arguments = simgrid_arguments();
  auto* const engine = new sg4::Engine(&arguments.count, arguments.values.data()); // never deleted:
  // the process ends without, as a platform that fails can't be taken down
  for (const int signal : {SIGINT, SIGTERM, SIGSEGV}) std::signal(signal, SIG_DFL);
  sg4::Host::on_creation_cb([&](sg4::Host& host) {
    hosts.add(host);
    if (routes && hosts.list.size() > most_simgrid_hosts)
      throw InputError(fmt::format("{}: more than {} hosts, between all of which there are routes",
                                   source, most_simgrid_hosts));
  });
  sg4::Link::on_creation_cb([&](sg4::Link& link) { links.add(link); });
  engine->load_platform(path);
  engine->seal_platform();
  SimGridPlatform platform;
  for (const sg4::Host* host : hosts.list)
    platform.hosts.push_back({host->get_name(), sorted(host->get_properties())});
  for (const sg4::Link* link : links.list)
    platform.links.push_back({link->get_name(), link->get_bandwidth(), link->get_latency(),
                              sharing_of(*link), sorted(link->get_properties())});
  if (engine->get_netzone_root() != nullptr)
    add_properties(engine->get_netzone_root(), platform.properties);
  if (routes) add_routes(hosts, links, source, platform);
  return platform;
}

/// "SOURCE:LINE:1: SimGrid: ..." of what it says about "PATH:LINE: ...".
InputError simgrid_error(const std::string& source, const std::string& path,
                         std::string_view said) {
  std::size_t line = 0;
  if (const std::size_t at = said.find(path + ":"); at != std::string_view::npos) {
    std::string_view rest = said.substr(at + path.size() + 1);
    while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9' && line < 100'000'000) {
      line = 10 * line + static_cast<std::size_t>(rest[0] - '0');
      rest.remove_prefix(1);
    }
    if (line > 0) said = rest.starts_with(':') ? rest.substr(1) : rest;
  }
  std::string words(trimmed(said));
  for (std::size_t at = words.find(path); at != std::string::npos; at = words.find(path))
    words.replace(at, path.size(), "the file");
  std::ranges::replace_if(
      words, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  constexpr std::size_t longest = 500;
  if (words.size() > longest) words = words.substr(0, longest) + " ...";
  if (words.empty()) words = "no reason given";
  if (words.starts_with("sto") && words.find(' ') == std::string::npos) // of std::stoi(), ...
    words = fmt::format("a number in it can't be read ({})", words);
  const std::string place = line > 0 ? fmt::format("{}:{}:1", source, line) : source;
  return InputError(fmt::format("{}: SimGrid: {}", place, words));
}

/// The last line that its log calls critical or an error, without what stands before the words.
std::string last_words(const std::string& said) {
  std::string words;
  for (const std::string_view line : split(said, '\n'))
    for (const std::string_view kind : {"/CRITICAL] ", "/ERROR] "})
      if (const std::size_t at = line.find(kind); at != std::string_view::npos)
        words = line.substr(at + kind.size());
  return words;
}

} // namespace

std::string simgrid_platform_bytes(const std::string& content, const std::string& source,
                                   bool routes, double most_seconds) {
  const MemoryFile file("platform"), said("said");
  file.write(content);
  const auto begin = std::chrono::steady_clock::now();
  const auto is_late = [&](const WorkProgress&) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >
           most_seconds;
  };
  const auto load = [&] {
    confine(said, most_seconds);
    ByteWriter out;
    try {
      SimGridPlatform platform = loaded(file.path(), source, routes);
      exchange_platform(out, platform);
    } catch (const InputError&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw InputError(fmt::format("{}: SimGrid needs more than {} GiB of memory for it", source,
                                   most_memory >> 30));
    } catch (const std::exception& e) {
      throw simgrid_error(source, file.path(), e.what());
    }
    return std::move(out.bytes);
  };
  try {
    return bytes_of_child(load, is_late);
  } catch (const InputError&) {
    throw;
  } catch (const Stopped&) {
    throw InputError(fmt::format("{}: SimGrid took more than {} s for it (a zone with routing by "
                                 "Dijkstra has to have a way between all its hosts)",
                                 source, most_seconds));
  } catch (const std::runtime_error& e) {
    const std::string words = last_words(said.last(most_said));
    throw simgrid_error(source, file.path(), words.empty() ? e.what() : words);
  }
}

} // namespace tutti
