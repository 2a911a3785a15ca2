// Files of earlier versions: what `tutti update` makes of them, and that the rest stays as it is.
#include "experiments/driver/studies/renames.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"

#include <string>

using namespace tutti;

namespace {

/// Once, and once more: what is up to date stays so.
std::string updated(const std::string& toml) {
  const std::string text = updated_toml(toml, "e.toml");
  CHECK(updated_toml(text, "e.toml") == text);
  return text;
}

} // namespace

TEST_CASE("a paper's value, limits, means and metrics have their new names") {
  CHECK(updated(R"(name = "e" # paper = 1
[[expect]]
label = "a = [b]" # a comment
of = {run = "x", topology = "Mesh"}
over = {algorithm = "ring", run="y"}
metric = "time"
mean = "geometric"
discipline = "fluid"
paper   = 1.98 # from Fig. 2
tolerance = "2%"
at_most = false
explanation = """
two lines = both
paper = 3"""

[[expect]]
label = "b"
of.run = "x"
metric = "planned"
paper = "3us"
at_most = true
tolerance = "1%"
[[figures]]
kind = "bars"
metric = "time"
[[training.expect]]
label = "c"
metric = "time"
paper = 2
tolerance = "1%"
[[training.expect]]
label = "d"
metric = "exposed_fraction:data"
paper = 2
tolerance = "1%"
)") == R"(name = "e" # paper = 1
[[expect]]
label = "a = [b]" # a comment
of = {label = "x", topology = "Mesh", discipline = "fluid"}
over = {algorithm = "ring", label="y", discipline = "fluid"}
metric = "collective_time"
summary = "geometric_mean"
value   = 1.98 # from Fig. 2
tolerance = "2%"
explanation = """
two lines = both
paper = 3"""

[[expect]]
label = "b"
of.label = "x"
metric = "planned_time"
at_most = "3us"
tolerance = "1%"
[[figures]]
kind = "bars"
metric = "collective_time"
[[training.expect]]
label = "c"
metric = "iteration_time"
value = 2
tolerance = "1%"
[[training.expect]]
label = "d"
metric = "exposed_data_fraction"
value = 2
tolerance = "1%"
)");
}

TEST_CASE("expectations of failures and executions select rows as all others do") {
  CHECK(updated(R"([[failures.expect]]
label = "x"
algorithm = "tacos"
policy = "resynthesize"
over = "restart"
failed_links = [1,
  2]
at_most = 1.0
[[failures.expect]]
policy = "report"
failed_links = 0
value = 2
[[executions.expect]]
label = "y"
error_at_most = 0.25
from = "1MB"
algorithms = ["ring"]
[[executions.expect]]
label = "z"
copy_rate_at_least = 0.7
to = "4MB")") == R"([[failures.expect]]
label = "x"
of = {policy = "resynthesize", algorithm = "tacos", failed_links = [1,
  2]}
over = {policy = "restart"}
summary = "largest"
at_most = 1.0
[[failures.expect]]
label = "report / undisturbed"
of = {policy = "report", failed_links = 0}
value = 2
tolerance = "0%"
[[executions.expect]]
label = "y"
of = {algorithm = ["ring"], size = "1MB.."}
summary = "error"
at_most = 0.25
[[executions.expect]]
label = "z"
of = {size = "..4MB"}
metric = "copy_rate_fraction"
summary = "largest"
at_least = 0.7)");
}

TEST_CASE("a brace in a text or a comment ends no table") {
  CHECK(updated("[[expect]]\nof = {topology = \"{A}\"} # {}\ndiscipline = \"fluid\"\n") ==
        "[[expect]]\nof = {topology = \"{A}\", discipline = \"fluid\"} # {}\n");
}

TEST_CASE("collectives in files have the field's words") {
  CHECK(updated("[[collective]]\nname = \"all_gather\"\npieces=2\n[[collective.chunks]]\n"
                "held_by = [0]\nwanted_by = [1]\n") ==
        "[[collective]]\nname = \"all_gather\"\nchunks_per_shard=2\n[[collective.chunks]]\n"
        "sources = [0]\ndestinations = [1]\n");
}

TEST_CASE("what has no old name is left as it is, and what isn't TOML is refused") {
  const std::string toml = "# nothing here\n\n\t[a]\n  b = [ # items\n 1, # paper = 2\n ]\n";
  CHECK(updated(toml) == toml);
  CHECK(updated("") == "");
  CHECK_THAT(message_of([] { (void)updated_toml("a = \n", "e.toml"); }),
             ContainsSubstring("e.toml:1:5: "));
  CHECK_THAT(message_of([] {
               (void)updated_toml("[[training.expect]]\nmetric = \"exposed:data\"\n", "e.toml");
             }),
             ContainsSubstring("exposed_data_fraction is its part of the iteration"));
}
