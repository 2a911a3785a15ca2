// The manifest's digest covers everything but predictions, which may change: files of rows name it,
// so that rows of another pack are noticed.

#include "runtime/pack/pack.hpp"

#include "runtime/pack/csv_lines.hpp"
#include "runtime/pack/tar.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/hash.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tutti::runtime {

namespace {

const std::string manifest_name = "pack.csv";
constexpr std::string_view manifest_kind = "tutti-gpu pack";
constexpr std::uint64_t manifest_version = 2;

/// Small letters, digits and underscores, one for all that stands between.
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
  return word;
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

std::string PackBuilder::bytes() const {
  std::vector<TarFile> files{{manifest_name, manifest_of(experiment_, lines_)}};
  for (const auto& [path, bytes] : files_) files.push_back({path, bytes});
  std::ranges::sort(files, {}, &TarFile::path);
  std::string tar = tar_of(files);
  if (tar.size() > most_pack_bytes)
    throw InputError("a pack of " + std::to_string(tar.size()) + " bytes, more than " +
                     std::to_string(most_pack_bytes) +
                     ": take fewer sizes, instances or algorithms");
  return tar;
}

const Pack::File& Pack::at(const std::string& file) const {
  const auto found = files_.find(file);
  if (found == files_.end()) throw InputError(file_name_ + ": no run \"" + file + "\" is in it");
  return found->second;
}

std::uint64_t Pack::checksum(const std::string& file) const { return at(file).checksum; }

PackedRun Pack::load(const std::string& file) const {
  return read_run(at(file).bytes, file_name_ + ": " + file);
}

Pack read_pack(std::string_view tar, const std::string& file_name) {
  Pack pack;
  pack.file_name_ = file_name;
  std::map<std::string, std::string> files;
  for (TarFile& file : read_tar(tar, file_name)) files[file.path] = std::move(file.bytes);
  const auto manifest = files.find(manifest_name);
  if (manifest == files.end())
    throw InputError(file_name + ": no pack: there is no " + manifest_name + " in it");
  ManifestReader(manifest->second, file_name + ": " + manifest_name).read(pack.name_, pack.lines_);
  for (const PackLine& line : pack.lines_) {
    if (pack.files_.contains(line.file)) continue;
    const auto found = files.find(line.file);
    if (found == files.end())
      throw InputError(file_name + ": " + line.file + " is missing, which its " + manifest_name +
                       " names");
    if (checksum_of(found->second) != line.checksum)
      throw InputError(file_name + ": " + line.file + " was changed: its checksum doesn't match");
    pack.files_[line.file] = {std::move(found->second), line.checksum};
    pack.order_.push_back(line.file);
  }
  return pack;
}

Pack load_pack(const std::string& path) { return read_pack(read_file(path), path); }

} // namespace tutti::runtime
