// Reading and writing whole files. Output is written to a temporary beside the target and renamed,
// so that nothing half-written is ever left under the name that was asked for. Links are followed;
// devices and pipes are written in place.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace tutti {

/// Up to 16 GiB, and 256 MiB of pipes and devices. Errors: InputError "FILE: cannot read: ...".
[[nodiscard]] std::string read_file(const std::string& path);
/// Creates missing parent folders; a file that is there keeps its mode. Errors: InputError "FILE:
/// cannot write: ...".
void write_file(const std::string& path, std::string_view content);
/// The same for content that a function streams; what the function throws passes through.
void write_file(const std::string& path, const std::function<void(std::ostream&)>& writer);

/// The file of this name in the folder of `source`, which names it, if it is there, else as it is.
[[nodiscard]] std::string beside(const std::string& file, const std::string& source);

/// Where a process writes what it will rename to `path`, for those who clean up after one that was
/// killed.
[[nodiscard]] std::string temporary_of(const std::string& path, int process);

/// A new folder for files of the meantime; it goes away with all that is in it.
class ScratchFolder {
public:
  /// Errors: InputError "PATH: cannot write: ...".
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace tutti
