// Files of earlier versions: what `tutti update` makes of them, and that the rest stays as it is.
#include "experiments/driver/studies/renames.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"

#include <string>

namespace renames_test {

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

TEST_CASE("keys of collectives are renamed where collectives have them, and nowhere else") {
  const std::string others = "[topologies]\npieces = \"ring:4\"\nheld_by = \"ring:8\"\n"
                             "[[runs]]\nsettings = {pieces = 2, wanted_by = 3}\n"
                             "[[collective.chunks]]\npieces = 1\n";
  CHECK(updated(others) == others);
  CHECK(updated("[collective]\nname = \"custom\"\n[[collective.chunks]]\n\"held_by\" = [0]\n"
                "[[collective.chunks]]\nwanted_by = [1] # who\n") ==
        "[collective]\nname = \"custom\"\n[[collective.chunks]]\nsources = [0]\n"
        "[[collective.chunks]]\ndestinations = [1] # who\n");
}

TEST_CASE("texts stay as they are, whatever stands in them") {
  const std::string toml = "[[expect]]\nof = {label = \"a, run = b\", note = \"{run = 2\"}\n"
                           "over = {label = \"{run = \"}\n";
  CHECK(updated(toml) == toml);
  CHECK(updated("[[expect]]\nof = {run = \"a, run = b\"}\nover = {note = \"{run = 2\", "
                "run = \"q\"}\n") ==
        "[[expect]]\nof = {label = \"a, run = b\"}\nover = {note = \"{run = 2\", label = \"q\"}\n");
}

TEST_CASE("keys and values have their new names however they are written") {
  CHECK(updated("[[expect]]\n\"paper\" = 1\n'mean' = 'geometric'\nmetric = 'time'\n") ==
        "[[expect]]\nvalue = 1\nsummary = \"geometric_mean\"\nmetric = \"collective_time\"\n");
  CHECK(updated("[[expect]]\nmetric = \"\"\"time\"\"\" # t\nmean = '''arithmetic'''\n") ==
        "[[expect]]\nmetric = \"collective_time\" # t\nsummary = \"arithmetic_mean\"\n");
  CHECK(updated("expect = [{label = \"\u00e9\", paper = 1, metric = \"time\"}, { paper=2 }]\n") ==
        "expect = [{label = \"\u00e9\", value = 1, metric = \"collective_time\"}, { value=2 }]\n");
  CHECK(updated("[[expect]]\nof = {algorithm=\"ring\",run=\"p\"}\n") ==
        "[[expect]]\nof = {algorithm=\"ring\",label=\"p\"}\n");
  CHECK(updated("[[expect]]\nof . run = \"p\"\nover.\"run\" = \"q\"\n") ==
        "[[expect]]\nof . label = \"p\"\nover.label = \"q\"\n");
  CHECK(updated("[[expect]]\npaper = 1\n[expect.of]\nrun = \"p\"\n[[expect]]\n[expect.over]\n"
                "  run = \"q\" # old\n") ==
        "[[expect]]\nvalue = 1\n[expect.of]\nlabel = \"p\"\n[[expect]]\n[expect.over]\n"
        "  label = \"q\" # old\n");
  CHECK(updated("[expect]\nvalue = 2\nat_most = true\n") == "[expect]\nat_most = 2\n");
  CHECK(updated("\xEF\xBB\xBFtitle = \"t\"\r\n[[ expect ]]\r\npaper = 1\r\nat_most = true\r\n") ==
        "\xEF\xBB\xBFtitle = \"t\"\r\n[[ expect ]]\r\nat_most = 1\r\n");
}

TEST_CASE("what moves into a selector finds it in every form") {
  CHECK(updated("[[expect]]\n  of . topology = \"A\" # mesh\n  discipline = \"fifo\"\n") ==
        "[[expect]]\n  of . discipline = \"fifo\"\n  of . topology = \"A\" # mesh\n");
  CHECK(updated("[[expect]]\r\ndiscipline = 'fifo'\r\n[expect.of]\r\nrun = \"p\"\r\n") ==
        "[[expect]]\r\n[expect.of]\r\ndiscipline = 'fifo'\r\nlabel = \"p\"\r\n");
  CHECK(updated("[[expect]]\nof = { }\nover = {topology = \"A\" }\ndiscipline = \"fifo\"\n") ==
        "[[expect]]\nof = {discipline = \"fifo\" }\n"
        "over = {topology = \"A\", discipline = \"fifo\" }\n");
}

TEST_CASE("comments stay, also behind what goes away") {
  CHECK(updated("[[executions.expect]]\nfrom = \"1MB\" # from here\n  to=\"4MB\" # to there\n"
                "error_at_most = 0.25 # a quarter\n") ==
        "[[executions.expect]]\nof = {size = \"1MB..4MB\"}\n# from here\n  # to there\n"
        "summary = \"error\"\nat_most = 0.25 # a quarter\n");
  CHECK(updated("[[expect]]\nlabel = \"x\"\nof = {} # all\ndiscipline = \"fluid\" # exact\n"
                "paper = 1 # Fig. 3\nat_most = true # as they say\n") ==
        "[[expect]]\nlabel = \"x\"\nof = {discipline = \"fluid\"} # all\n# exact\n"
        "at_most = 1 # Fig. 3\n# as they say\n");
  CHECK(updated("[[failures.expect]]\npolicy = \"report\" # it stops\nover = 'restart' # b\n"
                "failed_links = [ # some\n  1] # one\nat_most = 2\n") ==
        "[[failures.expect]]\nlabel = \"report / restart\"\nof = {policy = \"report\", "
        "failed_links = [ # some\n  1]}\nover = {policy = 'restart'}\nsummary = \"largest\"\n"
        "# it stops\n# b\n# one\nat_most = 2\n");
}

TEST_CASE("keys of one kind's earlier versions are told from another's") {
  CHECK(updated("[[failures.expect]]\npaper = 3\nalgorithm = \"ring\"\npolicy = \"report\"\n") ==
        "[[failures.expect]]\nlabel = \"ring: report / undisturbed\"\nof = {policy = \"report\", "
        "algorithm = \"ring\"}\nsummary = \"largest\"\nvalue = 3\ntolerance = \"0%\"\n");
  CHECK_THAT(message_of([] {
               (void)updated_toml("[[executions.expect]]\npaper = 3\nat_most = true\n"
                                  "error_at_most = 1\n",
                                  "e.toml");
             }),
             ContainsSubstring("e.toml:2:9: ") && ContainsSubstring("makes a \"at_most\""));
}

TEST_CASE("what can't be updated is refused at its place in the file") {
  const auto error = [](const std::string& toml) {
    return message_of([&] { (void)updated_toml(toml, "e.toml"); });
  };
  CHECK_THAT(error("[[executions.expect]]\nfrom = \"1MB\"\nerror_at_most = 0.2\n"
                   "copy_rate_at_least = 0.7\n"),
             ContainsSubstring("e.toml:4:22: ") && ContainsSubstring("two expectations"));
  CHECK_THAT(error("[[executions.expect]]\nfrom = \"soon\"\nerror_at_most = 0.2\n"),
             ContainsSubstring("e.toml:2:8: "));
  CHECK_THAT(error("[[expect]]\npaper = 1\nvalue = 2\n"),
             ContainsSubstring("e.toml:3:9: \"paper\" of an earlier version makes a \"value\""));
  CHECK_THAT(error("[[expect]]\nlabel = \"x\"\nat_most = true\n"),
             ContainsSubstring("e.toml:3:11: ") && ContainsSubstring("there is no number"));
  CHECK_THAT(error("[[expect]]\nof = {discipline = \"fifo\"}\ndiscipline = \"fluid\"\n"),
             ContainsSubstring("e.toml:2:20: ") &&
                 ContainsSubstring("is here, and in an older form, too"));
  CHECK_THAT(error("expect = [{paper = 1, at_most = true}]\n"),
             ContainsSubstring("e.toml:1:33: ") && ContainsSubstring("below a [header]"));
  CHECK_THAT(error("[[training.expect]]\nmetric = 'exposed:data'\n"),
             ContainsSubstring("e.toml:2:10: metric \"exposed:data\" is no more"));
  for (const char* key : {"from = \"1MB\"", "policy = \"report\"", "error_at_most = 1"})
    CHECK_THAT(error(std::string("[[expect]]\n") + key + "\n"),
               ContainsSubstring("e.toml:2:") && ContainsSubstring("only its author can say"));
}

TEST_CASE("a line ends where it ends, whatever ends the others") {
  CHECK(updated("[[failures.expect]]\nlabel = \"a\"\npolicy = \"report\"\nat_most = 2.0\n[other]\n"
                "explanation = \"\"\"\nline one\r\nline two\"\"\"\n") ==
        "[[failures.expect]]\nlabel = \"a\"\nof = {policy = \"report\"}\nsummary = \"largest\"\n"
        "at_most = 2.0\n[other]\nexplanation = \"\"\"\nline one\r\nline two\"\"\"\n");
  // Added lines end like the one that they are put before.
  CHECK(updated("[[failures.expect]]\r\npolicy = \"report\"\r\nvalue = 2.0\n[other]\nb = 1\r\n") ==
        "[[failures.expect]]\r\nlabel = \"report / undisturbed\"\r\nof = {policy = \"report\"}\r\n"
        "summary = \"largest\"\r\nvalue = 2.0\ntolerance = \"0%\"\n[other]\nb = 1\r\n");
}

TEST_CASE(
    "an empty list selected all, and an expectation without a label was called after its study") {
  CHECK(updated(R"([[failures]]
label = "RFS \"256\""
algorithms = ["ring"]
[[failures.expect]]
policy = "report"
failed_links = []
at_most = 2.0
)") == R"([[failures]]
label = "RFS \"256\""
algorithms = ["ring"]
[[failures.expect]]
label = "RFS \"256\", ring: report / undisturbed"
of = {policy = "report"}
summary = "largest"
at_most = 2.0
)");
  CHECK(
      updated("[[executions]]\n[[executions.expect]]\nlabel = \"e\"\nalgorithms = []\n"
              "error_at_most = 0.1\n") ==
      "[[executions]]\n[[executions.expect]]\nlabel = \"e\"\nsummary = \"error\"\nat_most = 0.1\n");
  CHECK_THAT(message_of([] {
               (void)updated_toml("[[failures.expect]]\npolicy = \"report\"\nof = {size = 1}\n",
                                  "e");
             }),
             ContainsSubstring("\"policy\" is now a key of \"of\""));
}

TEST_CASE("a sweep's objectives have the results' new names, but for its own") {
  CHECK(updated(R"([parameters]
bound_s = [1, 2]
[experiment]
[[experiment.runs]]
[objectives]
time = "time_s" # time_s
rate = {expression = "size / time_s + bound_s * fact:time_s", unit = "bytes_per_second"}
)") == R"([parameters]
bound_s = [1, 2]
[experiment]
[[experiment.runs]]
[objectives]
time = "collective_time_s" # time_s
rate = {expression = "size / collective_time_s + bound_s * fact:time_s", unit = "bytes_per_second"}
)");
  CHECK(updated("[experiment]\n[[experiment.training]]\n[objectives]\na = 'time_s'\n"
                "b = \"utilisation\"\n") ==
        "[experiment]\n[[experiment.training]]\n[objectives]\na = 'iteration_time_s'\n"
        "b = \"flops_utilisation\"\n");
}

} // namespace renames_test
