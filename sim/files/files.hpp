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
/// Creates missing parent folders. Errors: InputError "FILE: cannot write: ...".
void write_file(const std::string& path, std::string_view content);
/// The same for content that a function streams; what the function throws passes through.
void write_file(const std::string& path, const std::function<void(std::ostream&)>& writer);

/// Where a process writes what it will rename to `path`, for those who clean up after one that was
/// killed.
[[nodiscard]] std::string temporary_of(const std::string& path, int process);

} // namespace tutti
