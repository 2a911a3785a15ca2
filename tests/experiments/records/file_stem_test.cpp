// Names of files from labels.
#include "experiments/driver/records/file_stem.hpp"

#include "tests/catch.hpp"

using namespace tutti;

TEST_CASE("labels become file names of small letters, digits and underscores") {
  CHECK(file_stem("frontier", "All-to-All, 2 boxes") == "frontier_all_to_all_2_boxes");
  CHECK(file_stem("frontier", "") == "frontier");
  CHECK(file_stem("", " - ").empty());
}
