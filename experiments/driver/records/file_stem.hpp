// Names of files and titles of figures from labels.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

/// `prefix` and the words of the label, in small letters and joined by `_`: ("jobs", "Two on a
/// DragonFly") gives "jobs_two_on_a_dragonfly". Labels without letters or digits give the prefix.
[[nodiscard]] std::string file_stem(std::string_view prefix, std::string_view label);

/// The names of a folder's files, so that no file takes another's place: stems of labels that
/// differ may be equal.
class FileNames {
public:
  void take(std::string name) { used_.insert(std::move(name)); }
  [[nodiscard]] bool is_taken(const std::string& name) const { return used_.contains(name); }
  /// `stem`, or the first of stem_2, stem_3, ... that is free with all endings; takes these names.
  std::string stem(const std::string& stem, std::initializer_list<std::string_view> endings);

private:
  std::set<std::string> used_;
};

/// `text` under its label, without the parts of the label that it says already: ("RFS, restart",
/// "all_reduce on RFS-256") gives "restart: all_reduce on RFS-256".
[[nodiscard]] std::string labelled_title(std::string_view label, std::string_view text);

} // namespace tutti
