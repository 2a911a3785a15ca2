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
