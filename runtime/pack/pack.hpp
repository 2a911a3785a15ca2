// What a machine with GPUs is asked to measure: planned runs, and what they are for, in one folder,
// which travels by `scp -r` or as a tar.
//
// The file pack.csv says what is in it, each other file is a run (run_file.cpp):
//   tutti-gpu pack,2
//   experiment,gpu_day
//   run,FILE,CHECKSUM,CASE,ALGORITHM,BYTES,PREDICTED          in ps; empty where nobody knows yet
//   end,how many runs,the pack's digest,a checksum of all above
// Two lines may name one file: what two cases ask for is measured once.
#pragma once

#include "runtime/executor.hpp"
#include "runtime/pack/pack_name.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::runtime {

/// What a machine that has only an executor is asked to do. The settings have no watch.
struct PackedRun {
  PlannedRun run;
  RunSettings settings;
};

/// The same for the same run, on every machine.
[[nodiscard]] std::string to_bytes(const PackedRun& packed);

/// What tells such files apart.
[[nodiscard]] std::uint64_t checksum_of(std::string_view bytes);

/// Errors: InputError "NAME: ..." for what isn't such a file or of another version, for one that
/// was cut off or damaged, and for a run that isn't sound.
[[nodiscard]] PackedRun read_run(std::string_view bytes, const std::string& name);

struct PackLine {
  std::string file;
  std::uint64_t checksum = 0; ///< of the file
  std::string case_label, algorithm;
  Bytes size; ///< of the collective; of a chunk where the algorithm is profile_algorithm
  std::optional<Time> predicted;
};

/// The algorithm of lines whose programs measure links.
inline constexpr std::string_view profile_algorithm = "profile";

inline constexpr std::size_t most_pack_bytes = 20'000'000;

/// Puts a pack together.
class PackBuilder {
public:
  explicit PackBuilder(std::string experiment) : experiment_(std::move(experiment)) {}

  /// A line of a case, for this run. The file's name follows from the line; the same run again gets
  /// no file of its own.
  void add(const std::string& case_label, const std::string& algorithm, Bytes size,
           const PackedRun& run);
  /// Writes the folder, whole or not at all; a pack that is there is replaced. Errors: InputError
  /// where it would have more than most_pack_bytes, as require_pack_place(), or where nothing can
  /// be written.
  void write(const std::string& folder) const;
  [[nodiscard]] std::size_t bytes() const; ///< of all files
  /// Sets the prediction of the line that was added last.
  void predict(Time time) { lines_.back().predicted = time; }
  [[nodiscard]] PackName name() const; ///< as Pack::name()
  [[nodiscard]] std::size_t files() const { return files_.size(); }
  [[nodiscard]] const std::vector<PackLine>& lines() const { return lines_; }

private:
  std::string experiment_;
  std::vector<PackLine> lines_;
  std::map<std::string, std::string> files_;         ///< by path: bytes
  std::map<std::uint64_t, std::string> by_checksum_; ///< path
};

class Pack {
public:
  /// Its digest follows from the experiment's name and from all lines, in order, less what they
  /// predict: from what is run, and from what rows of it are taken for.
  [[nodiscard]] const PackName& name() const { return name_; }
  [[nodiscard]] const std::vector<PackLine>& lines() const { return lines_; }
  /// Each once, in the order of the lines that name them first.
  [[nodiscard]] const std::vector<std::string>& files() const { return order_; }
  /// Errors: InputError where it isn't in the pack.
  [[nodiscard]] std::uint64_t checksum(const std::string& file) const;
  /// Errors: InputError, as read_run().
  [[nodiscard]] PackedRun load(const std::string& file) const;

private:
  friend Pack load_pack(const std::string& folder);
  struct File {
    std::string bytes;
    std::uint64_t checksum = 0;
  };
  [[nodiscard]] const File& at(const std::string& file) const;

  std::string folder_;
  PackName name_;
  std::vector<PackLine> lines_;
  std::vector<std::string> order_;
  std::map<std::string, File> files_;
};

/// Errors: InputError for what is no pack, of another version, damaged or cut off, and for a file
/// that is missing or doesn't belong to it. Runs are looked into when they are loaded.
[[nodiscard]] Pack load_pack(const std::string& folder);

/// Errors: InputError where no pack may be written: over anything but a pack or an empty folder,
/// and by the name of a tar.
void require_pack_place(const std::string& folder);

} // namespace tutti::runtime
