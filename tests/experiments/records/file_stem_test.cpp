// Names of files and titles from labels.
#include "experiments/driver/records/file_stem.hpp"

#include "tests/catch.hpp"

namespace file_stem_test {

using namespace tutti;

TEST_CASE("labels become file names of small letters, digits and underscores") {
  CHECK(file_stem("frontier", "All-to-All, 2 boxes") == "frontier_all_to_all_2_boxes");
  CHECK(file_stem("frontier", "") == "frontier");
  CHECK(file_stem("", " - ").empty());
}

TEST_CASE("no file of a folder takes another's place") {
  FileNames names;
  names.take("network_data.csv");
  CHECK(names.stem("network", {".svg", ".csv"}) == "network");
  CHECK(names.stem("network", {".svg", ".csv"}) == "network_2");
  CHECK(names.stem("network_2", {".svg"}) == "network_2_2");
  CHECK(names.stem("network", {".json", "_data.csv"}) == "network_2");
  CHECK(names.is_taken("network_2_data.csv"));
  CHECK_FALSE(names.is_taken("network.json"));
}

TEST_CASE("a title has the parts of its label that it doesn't say already") {
  const std::string text = "all_reduce 1GiB on RFS-256";
  CHECK(labelled_title("RFS", text) == text);
  CHECK(labelled_title("All-Reduce, RFS, restart", text) == "restart: " + text);
  CHECK(labelled_title("A straggler,  later", text) == "A straggler, later: " + text);
  CHECK(labelled_title("", text) == text);
  CHECK(labelled_title(" , -", text) == text);
  CHECK(labelled_title("\u00e4", text) == "\u00e4: " + text);
}

} // namespace file_stem_test
