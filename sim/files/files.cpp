// A file appears under its name only when it is whole: a temporary in the same folder, then
// rename(), which is atomic on one file system.

#include "sim/files/files.hpp"

#include "sim/error.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace tutti {

namespace {

constexpr std::size_t most_of_file = std::size_t{1} << 34;   // as much as a schedule file holds
constexpr std::size_t most_of_stream = std::size_t{1} << 28; // a pipe, a device: may have no end

[[noreturn]] void fail(const std::string& path, std::string_view verb, int error) {
  throw InputError(path + ": cannot " + std::string(verb) + ": " +
                   std::generic_category().message(error));
}

void write_in_place(const std::string& path, const std::function<void(std::ostream&)>& writer) {
  if (std::filesystem::is_directory(path)) fail(path, "write", EISDIR);
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  if (!out) fail(path, "write", errno);
  writer(out);
  out.close();
  if (!out) fail(path, "write", errno != 0 ? errno : EIO);
}

} // namespace

std::string read_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) fail(path, "read", EISDIR);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, "read", errno);
  const bool is_regular = std::filesystem::is_regular_file(path, error);
  const std::size_t most = is_regular ? most_of_file : most_of_stream;
  constexpr std::size_t block = 1 << 20;
  std::string content;
  while (in) {
    const std::size_t before = content.size();
    content.resize(before + block);
    in.read(content.data() + before, block);
    content.resize(before + static_cast<std::size_t>(in.gcount()));
    if (content.size() > most)
      throw InputError(path + ": cannot read: it is longer than " + std::to_string(most >> 20U) +
                       " MiB, the most that is read from " +
                       (is_regular ? "a file" : "what isn't a regular file"));
  }
  if (in.bad()) fail(path, "read", errno != 0 ? errno : EIO);
  return content;
}

std::string beside(const std::string& file, const std::string& source) {
  const auto path = std::filesystem::path(source).parent_path() / file;
  return std::filesystem::exists(path) ? path.string() : file;
}

std::string temporary_of(const std::string& path, int process) {
  return path + "." + std::to_string(process) + ".part";
}

void write_file(const std::string& path, std::string_view content) {
  write_file(path, [content](std::ostream& out) {
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
  });
}

void write_file(const std::string& path, const std::function<void(std::ostream&)>& writer) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path target(path);
  if (fs::is_symlink(target, error)) target = fs::weakly_canonical(target, error);
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    write_in_place(path, writer); // a device or a pipe: nothing to rename over
    return;
  }
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), error);
  if (error) fail(path, "write", error.value());

  const std::string temporary = temporary_of(target.string(), getpid());
  errno = 0;
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  if (!out) fail(path, "write", errno);
  if (struct stat old{}; stat(target.c_str(), &old) == 0) {
    // Before there is content, which may be for few eyes. Who may not give files away keeps them.
    static_cast<void>(!chown(temporary.c_str(), old.st_uid, old.st_gid));
    fs::permissions(temporary, fs::status(target, error).permissions(), error);
  }
  try {
    writer(out);
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
  out.close();
  const int failed = out ? 0 : (errno != 0 ? errno : EIO);
  if (failed == 0) fs::rename(temporary, target, error);
  if (failed != 0 || error) {
    std::remove(temporary.c_str());
    fail(path, "write", failed != 0 ? failed : error.value());
  }
}

ScratchFolder::ScratchFolder() {
  path_ = (std::filesystem::temp_directory_path() / "tutti-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) fail(path_, "write", errno);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

} // namespace tutti
