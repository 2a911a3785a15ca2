// The manifest's digest covers everything but predictions, which may change: files of rows name it,
// so that rows of another pack are noticed. A folder gets its name only when all files are in it.

#include "runtime/pack/pack.hpp"

#include "runtime/pack/csv_lines.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/hash.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace tutti::runtime {

namespace {

namespace fs = std::filesystem;

const std::string manifest_name = "pack.csv";
constexpr std::string_view manifest_kind = "tutti-gpu pack";
constexpr std::uint64_t manifest_version = 2;

/// Small letters, digits and underscores, one for all that stands between; never empty.
std::string plain_word(const std::string& text) {
  constexpr std::size_t most = 40;
  std::string word;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!word.empty() && word.back() != '_')
      word += '_';
    if (word.size() == most) break;
  }
  while (word.ends_with('_')) word.pop_back();
  return word.empty() ? "x" : word;
}

std::string experiment_text(const std::string& experiment) {
  return csv_line(std::array{std::string("experiment"), experiment});
}

/// A run's line without its prediction.
std::string run_text(const PackLine& line) {
  return csv_line(std::array{std::string("run"), line.file, hex_text(line.checksum),
                             line.case_label, line.algorithm, std::to_string(line.size.count)});
}

std::string line_text(const PackLine& line) {
  return run_text(line) + "," + (line.predicted ? std::to_string(line.predicted->ps) : "") + "\n";
}

/// The digest of the text that is written, so that it is the same for who writes and who reads.
/// Predictions aren't in it: they may change, as they aren't what was measured.
std::uint64_t digest_of(const std::string& experiment, const std::vector<PackLine>& lines) {
  Fingerprint fingerprint;
  fingerprint.add(std::string_view(experiment_text(experiment)));
  for (const PackLine& line : lines) fingerprint.add(std::string_view(run_text(line)));
  return fingerprint.value();
}

std::string manifest_of(const std::string& experiment, const std::vector<PackLine>& lines) {
  std::string text =
      csv_line(std::array{std::string(manifest_kind), std::to_string(manifest_version)}) + "\n" +
      experiment_text(experiment) + "\n";
  for (const PackLine& line : lines) text += line_text(line);
  return text +
         csv_line(std::array{std::string("end"), std::to_string(lines.size()),
                             hex_text(digest_of(experiment, lines)), hex_text(checksum_of(text))}) +
         "\n";
}

/// A manifest, line by line.
class ManifestReader {
public:
  ManifestReader(std::string_view text, const std::string& file) : all_(text), text_(text, file) {}

  void read(PackName& pack, std::vector<PackLine>& lines) {
    CsvLine head = next();
    if (head.text("the file's kind") != manifest_kind) head.fail("it isn't of a pack");
    if (const auto version = head.number("the version"); version != manifest_version)
      head.fail("version " + std::to_string(version) + ", but this program reads " +
                std::to_string(manifest_version));
    head.finish();
    CsvLine name = next();
    if (name.text("experiment") != "experiment") name.fail("the experiment is missing");
    pack.experiment = name.text("the experiment's name");
    name.finish();
    for (;;) {
      const std::size_t before = used_;
      CsvLine line = next();
      const std::size_t kind = line.choice("line", std::array<std::string_view, 2>{"run", "end"});
      if (kind == 1) {
        if (line.number("how many runs") != lines.size()) line.fail("there are more or fewer runs");
        pack.digest = line.hex("the digest");
        if (pack.digest != digest_of(pack.experiment, lines))
          line.fail("it doesn't match the lines above");
        if (line.hex("the checksum") != checksum_of(all_.substr(0, before)))
          line.fail("the lines before were changed");
        line.finish();
        break;
      }
      lines.push_back(read_line(line));
    }
    if (text_.next()) throw InputError(text_.place() + ":1: nothing belongs behind the end");
  }

private:
  CsvLine next() {
    const auto line = text_.next();
    if (!line) throw InputError(text_.place() + ": the file was cut off");
    used_ += line->size() + 1;
    return {*line, text_.place()};
  }

  static PackLine read_line(CsvLine& line) {
    PackLine read;
    read.file = line.text("the file");
    read.checksum = line.hex("the file's checksum");
    read.case_label = line.text("the case");
    read.algorithm = line.text("the algorithm");
    read.size.count = static_cast<std::int64_t>(line.number("the size", INT64_MAX));
    if (line.has_value())
      read.predicted =
          Time{static_cast<std::int64_t>(line.number("the predicted time", INT64_MAX))};
    else
      (void)line.text("the predicted time");
    line.finish();
    return read;
  }

  std::string_view all_;
  CsvText text_;
  std::size_t used_ = 0; // bytes
};

/// The folder that a name means: without a slash at the end, and where a link leads.
fs::path place_of(const std::string& folder) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(folder, error);
  const fs::path absolute = error ? fs::path(folder) : place;
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

/// A folder of the meantime.
struct PartFolder {
  std::string path;
  explicit PartFolder(std::string name) : path(std::move(name)) { remove(); }
  ~PartFolder() { remove(); }
  PartFolder(const PartFolder&) = delete;
  PartFolder& operator=(const PartFolder&) = delete;

private:
  void remove() const {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

/// Paths within the folder. Errors: InputError for what can't be read or is no file.
std::set<std::string> files_in(const std::string& folder) {
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  std::set<std::string> files;
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->is_directory(error)) continue;
    const std::string file = entry->path().lexically_relative(folder).generic_string();
    if (!entry->is_regular_file(error)) throw InputError(folder + ": " + file + " is no file");
    files.insert(file);
  }
  if (error) throw InputError(folder + ": cannot read: " + error.message());
  return files;
}

} // namespace

std::string to_text(const PackName& name) {
  return name.experiment + " (" + hex_text(name.digest) + ")";
}

void PackBuilder::add(const std::string& case_label, const std::string& algorithm, Bytes size,
                      const PackedRun& run) {
  std::string bytes = to_bytes(run);
  const std::uint64_t checksum = checksum_of(bytes);
  auto [known, is_new] = by_checksum_.try_emplace(checksum);
  if (is_new) {
    const std::string stem =
        plain_word(case_label) + "/" + plain_word(algorithm) + "_" + std::to_string(size.count);
    std::string path = stem + ".run";
    for (int other = 2; files_.contains(path); ++other)
      path = stem + "_" + std::to_string(other) + ".run";
    files_.emplace(path, std::move(bytes));
    known->second = std::move(path);
  }
  lines_.push_back({known->second, checksum, case_label, algorithm, size, {}});
}

PackName PackBuilder::name() const { return {experiment_, digest_of(experiment_, lines_)}; }

std::size_t PackBuilder::bytes() const {
  std::size_t bytes = manifest_of(experiment_, lines_).size();
  for (const auto& [path, run] : files_) bytes += run.size();
  return bytes;
}

void PackBuilder::write(const std::string& folder) const {
  if (bytes() > most_pack_bytes)
    throw InputError("a pack of " + std::to_string(bytes()) + " bytes, more than " +
                     std::to_string(most_pack_bytes) +
                     ": take fewer sizes, instances or algorithms");
  require_pack_place(folder);
  const fs::path place = place_of(folder);
  const PartFolder part(temporary_of(place.string(), ::getpid()));
  for (const auto& [path, run] : files_) write_file(part.path + "/" + path, run);
  write_file(part.path + "/" + manifest_name, manifest_of(experiment_, lines_));
  const PartFolder before(part.path + ".before");
  std::error_code error;
  fs::rename(place, before.path, error); // a folder with files in it can't be renamed over
  error.clear();
  fs::rename(part.path, place, error);
  if (!error) return;
  std::error_code ignored;
  fs::rename(before.path, place, ignored);
  throw InputError(folder + ": cannot write: " + error.message());
}

const Pack::File& Pack::at(const std::string& file) const {
  const auto found = files_.find(file);
  if (found == files_.end()) throw InputError(folder_ + ": no run \"" + file + "\" is in it");
  return found->second;
}

std::uint64_t Pack::checksum(const std::string& file) const { return at(file).checksum; }

PackedRun Pack::load(const std::string& file) const {
  return read_run(at(file).bytes, folder_ + ": " + file);
}

Pack load_pack(const std::string& folder) {
  const std::string manifest = folder + "/" + manifest_name;
  std::error_code ignored;
  if (!fs::exists(manifest, ignored))
    throw InputError(folder + (fs::is_regular_file(folder, ignored)
                                   ? ": a pack is a folder: extract a tar of one first"
                                   : ": no pack: there is no " + manifest_name + " in it"));
  Pack pack;
  pack.folder_ = folder;
  ManifestReader(read_file(manifest), folder + ": " + manifest_name).read(pack.name_, pack.lines_);
  std::set<std::string> found = files_in(folder);
  found.erase(manifest_name);
  for (const PackLine& line : pack.lines_) {
    if (pack.files_.contains(line.file)) continue;
    if (found.erase(line.file) == 0)
      throw InputError(folder + ": " + line.file + " is missing, which its " + manifest_name +
                       " names");
    std::string bytes = read_file(folder + "/" + line.file);
    if (checksum_of(bytes) != line.checksum)
      throw InputError(folder + ": " + line.file + " was changed: its checksum doesn't match");
    pack.files_[line.file] = {std::move(bytes), line.checksum};
    pack.order_.push_back(line.file);
  }
  if (!found.empty())
    throw InputError(folder + ": " + *found.begin() + " doesn't belong to this pack: its " +
                     manifest_name + " doesn't name it");
  return pack;
}

void require_pack_place(const std::string& folder) {
  const fs::path place = place_of(folder);
  if (place.empty()) throw InputError("a pack needs the name of a folder");
  const std::string name = place.filename().string(), stem = place.stem().string();
  if (place.extension() == ".tar")
    throw InputError(folder + ": a pack is a folder: name it \"" + stem + "\"; `tar cf " + name +
                     " " + stem + "` then makes one file of it");
  std::error_code error;
  if (fs::exists(place, error) && (!fs::is_directory(place, error) || !fs::is_empty(place, error)))
    try {
      (void)load_pack(folder);
    } catch (const InputError& why) {
      throw InputError(folder + ": cannot write: what is there is no pack and stays (" +
                       why.what() + ")");
    }
  const PartFolder part(temporary_of(place.string(), ::getpid()));
  fs::create_directories(part.path, error);
  if (error) throw InputError(folder + ": cannot write: " + error.message());
}

} // namespace tutti::runtime
