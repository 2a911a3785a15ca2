// The least recently used files go first by their times of modification, which touch() sets, and
// the size of all of them is estimated by the length of one more file, so that writing doesn't look
// at the others. A single SQLite database with its own order of use would need neither the estimate
// nor the look, but it was measured to be slower: a small schedule is found in 0.03 ms here and in
// 0.17 ms there, one of 20 MB in 51 ms and in 101 ms. SQLite's write-ahead log, without which
// several processes would wait for each other, also needs memory that they share: it can't be used
// where several machines share the folder (NFS).
#include "experiments/driver/cache/cache_folder.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tutti {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t block = 4096;
constexpr std::size_t digits = 16;
constexpr std::string_view ending = ".schedule";
constexpr auto oldest_leftover = std::chrono::hours(1);

std::int64_t blocks_of(std::int64_t bytes) { return (bytes + block - 1) / block; }

bool is_ours(std::string_view name) { // or a temporary of ours
  return name.size() >= digits + ending.size() && name.substr(digits, ending.size()) == ending &&
         name.find_first_not_of("0123456789abcdef") >= digits;
}

bool is_temporary(std::string_view name) { return name.ends_with(".part"); }

/// For temporaries: processes of two machines may have one number.
std::uint64_t machine() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  Fingerprint hash;
  hash.add(std::string_view(name.data()));
  return hash.value();
}

/// The file whose length is the estimate. While it is open, this process may be the only one that
/// cleans.
class Estimate {
public:
  explicit Estimate(const std::string& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    if (file_ < 0)
      throw InputError(
          fmt::format("{}: cannot write: {}", path, std::generic_category().message(errno)));
  }
  Estimate(const Estimate&) = delete;
  Estimate& operator=(const Estimate&) = delete;
  ~Estimate() { ::close(file_); }

  [[nodiscard]] std::int64_t blocks() const {
    struct stat found {};
    return ::fstat(file_, &found) == 0 ? std::int64_t{found.st_size} : 0;
  }
  /// Others add at the same time: written at the end, whole. What can't be added isn't counted.
  void add(std::int64_t blocks) const {
    const std::string more(static_cast<std::size_t>(blocks), '.');
    [[maybe_unused]] const ssize_t written = ::write(file_, more.data(), more.size());
  }
  void set(std::int64_t blocks) const {
    [[maybe_unused]] const int set = ::ftruncate(file_, blocks);
  }
  [[nodiscard]] bool lock() const { return ::flock(file_, LOCK_EX | LOCK_NB) == 0; }

private:
  int file_;
};

struct KeptFile {
  std::int64_t used_s = 0, used_ns = 0; ///< when last
  std::string path;
  std::int64_t blocks = 0;
};

bool is_longer_unused(const KeptFile& a, const KeptFile& b) {
  return std::tie(a.used_s, a.used_ns, a.path) < std::tie(b.used_s, b.used_ns, b.path);
}

void remove_file(const std::string& path) {
  std::error_code ignored; // another process may have been first
  fs::remove(path, ignored);
}

/// Adds the files of one folder, and removes old temporaries.
void look_into(const std::string& folder, bool is_outdated, std::vector<KeptFile>& files) {
  const std::int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    struct stat found {};
    if (!is_ours(name) || ::lstat(it->path().c_str(), &found) != 0 || !S_ISREG(found.st_mode))
      continue;
    if (name.size() == digits + ending.size()) {
      KeptFile& file = files.emplace_back();
      if (!is_outdated) {
        file.used_s = found.st_mtim.tv_sec;
        file.used_ns = found.st_mtim.tv_nsec;
      }
      file.path = it->path().string();
      file.blocks = blocks_of(found.st_size);
    } else if (is_temporary(name) &&
               now - found.st_mtim.tv_sec > std::chrono::seconds(oldest_leftover).count()) {
      remove_file(it->path().string());
    }
  }
}

/// Looks at all files, and removes those that are too many: the blocks that are left.
std::int64_t cleaned(const std::string& folder, std::int64_t limit) {
  std::vector<KeptFile> files;
  look_into(folder, true, files);
  for (int first = 0; first < 256; ++first)
    look_into(fmt::format("{}/{:02x}", folder, first), false, files);
  std::int64_t left = 0;
  for (const KeptFile& file : files) left += file.blocks;
  if (left <= limit * 7 / 8) return left;
  std::sort(files.begin(), files.end(), is_longer_unused);
  for (const KeptFile& file : files) {
    if (left <= limit * 3 / 4) break;
    remove_file(file.path);
    left -= file.blocks;
  }
  return left;
}

} // namespace

std::string CacheFolder::path_of(std::uint64_t number) const {
  return fmt::format("{}/{:02x}/{:016x}{}", folder_, number >> 56U, number, ending);
}

std::optional<std::string> CacheFolder::read(std::uint64_t number) const {
  const std::string path = path_of(number);
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  try {
    return read_file(path);
  } catch (const InputError&) {
    return std::nullopt; // gone by now, or not ours to read
  }
}

void CacheFolder::touch(std::uint64_t number) const {
  std::error_code ignored;
  fs::last_write_time(path_of(number), fs::file_time_type::clock::now(), ignored);
}

void CacheFolder::write(std::uint64_t number, std::string_view content) const {
  if (content.size() > most_in_a_file()) return;
  const fs::path path = path_of(number);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const Estimate estimate(folder_ + "/blocks");
  const bool is_first = estimate.blocks() == 0;
  // Counted before it is there: a process that is killed in between has counted too much.
  estimate.add(blocks_of(static_cast<std::int64_t>(content.size())));

  const std::string temporary =
      fmt::format("{}.{:08x}-{}.part", path.string(), machine() & 0xffff'ffff, getpid());
  write_file(temporary, content);
  fs::rename(temporary, path, error);
  if (error) {
    remove_file(temporary);
    throw InputError(fmt::format("{}: cannot write: {}", path.string(), error.message()));
  }

  const std::int64_t limit = limit_.count / block, before = estimate.blocks();
  if (!is_first && before <= limit * 15 / 16) return;
  if (!estimate.lock()) return; // another process is at it
  const std::int64_t left = cleaned(folder_, limit);
  estimate.set(left + estimate.blocks() - before); // others may have written meanwhile
}

} // namespace tutti
