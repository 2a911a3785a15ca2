// A folder of files that can be made anew, of limited size: those that nobody has used for longest
// go first. Any number of processes, on several machines too, may use it at once: files are only
// ever replaced as a whole, and one that vanishes is one that isn't there.
//
//   FOLDER/ab/ab01...           a file; its name is 16 hexadecimal digits and ".schedule"
//   FOLDER/ab/ab01....*.part    what a writer is at, or has left behind
//   FOLDER/blocks               as long as all files together are estimated to have blocks of 4 KiB
// An earlier version had files in FOLDER itself; they count as unused. Nothing else is ever
// removed.
#pragma once

#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

class CacheFolder {
public:
  /// The folder is made when first needed. `limit`: of what files take, in whole blocks.
  CacheFolder(std::string folder, Bytes limit) : folder_(std::move(folder)), limit_(limit) {}

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// The largest file that is kept: a quarter of the limit.
  [[nodiscard]] std::size_t most_in_a_file() const {
    return static_cast<std::size_t>(limit_.count / 4);
  }

  /// Where the file of a number lies.
  [[nodiscard]] std::string path_of(std::uint64_t number) const;
  /// Nothing where there is none, or it can't be read.
  [[nodiscard]] std::optional<std::string> read(std::uint64_t number) const;
  /// It was used. Nothing happens where it isn't there, or is somebody else's.
  void touch(std::uint64_t number) const;

  /// Where the folder may have come to 15/16 of its limit, and for the first file, all files are
  /// looked at: leftovers of writers older than an hour go, and where there are more than 7/8 of
  /// the limit, the least recently used until 3/4 are left. What is too large isn't written.
  /// Errors: InputError where it can't be written. Cost of a look: 256 folders, and a stat of every
  /// file; at most one in 1/16 of the limit that is written.
  void write(std::uint64_t number, std::string_view content) const;

private:
  std::string folder_;
  Bytes limit_;
};

} // namespace tutti
