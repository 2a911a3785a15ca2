// Plain tar archives (POSIX ustar): what the system's `tar` lists, extracts and makes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::runtime {

struct TarFile {
  std::string path; ///< with `/`
  std::string bytes;
};

/// In this order, without times or owners: the same files are the same bytes. Errors: InputError
/// for a path that ustar can't hold (100 bytes, and 155 of folders before them), or 8 GiB of bytes.
[[nodiscard]] std::string tar_of(std::span<const TarFile> files);

/// The regular files; folders are left out, as is "./" before a path. Errors: InputError "FILE: at
/// byte N: ..." for what isn't ustar (or GNU's for short paths), an entry twice, a damaged header,
/// or an archive that was cut off.
[[nodiscard]] std::vector<TarFile> read_tar(std::string_view tar, const std::string& file_name);

} // namespace tutti::runtime
