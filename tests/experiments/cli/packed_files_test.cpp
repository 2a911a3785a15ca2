// A file that a command names may be packed by gzip: the answer is that of the file itself, under
// whatever name, and what is damaged is refused by its name before anything is written.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/paths.hpp"

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

namespace packed_files_test {

using namespace tutti;

namespace {

struct NamedFile {
  std::string content;
  std::string command; ///< that names it as FILE
};

const std::string network = "npus = 4\n[defaults]\nbandwidth = \"50GB/s\"\nlatency = \"1us\"\n"
                            "[[links]]\nbetween = [[\"npu0\", \"npu1\"], [\"npu1\", \"npu2\"], "
                            "[\"npu2\", \"npu3\"], [\"npu3\", \"npu0\"]]\n";
const std::string columns = " --columns algorithm,status,time";

/// One of every kind that commands read.
std::vector<NamedFile> named_files(const TemporaryFolder& folder) {
  REQUIRE(run_tutti("synth -t ring:4 -c all_gather -a ring --size 4kB -o s.json", folder).code ==
          0);
  return {
      {network, "synth -t FILE -c all_gather -a ring --size 4kB" + columns},
      {"[collective]\nname = \"custom\"\n[[collective.chunks]]\nsize = \"4kB\"\nsources = "
       "[0]\ndestinations = [1, 2]\n",
       "synth -t ring:4 -c FILE -a tacos" + columns},
      {read_file(folder.file("s.json")), "verify -t ring:4 FILE"},
      {"[[events]]\nat = \"50%\"\nlink_down = \"npu1-npu2\"\n",
       "failures -t ring:4 -c all_reduce -a ring --size 1MB --events FILE --columns "
       "algorithm,policy,time"},
      {"npu3 = \"20us\"\n",
       "synth -t ring:4 -c all_gather -a ring --size 4kB --start-file FILE" + columns},
      {"name = \"one\"\n",
       "synth -t ring:4 -c all_gather -a taccl --size 4kB --set sketch=FILE" + columns},
      {read_file(TUTTI_SOURCE_DIR "/sim/transport/transports/nccl.toml"),
       "synth -t dgx_h100 -c all_gather -a ring --size 4kB --transport FILE" + columns},
      {"name = \"e\"\n[topologies]\nR = \"ring:4\"\n[[runs]]\nalgorithms = [\"ring\"]\n"
       "collectives = [\"all_gather\"]\nsizes = [\"4kB\"]\n",
       "run FILE --columns algorithm,status,time"},
  };
}

std::string with(std::string command, const std::string& file) {
  return command.replace(command.find("FILE"), 4, file);
}

void pack(const TemporaryFolder& folder, const std::string& from, const std::string& to) {
  REQUIRE(std::system(
              ("gzip -c '" + folder.file(from) + "' > '" + folder.file(to) + "'").c_str()) == 0);
}

/// What files are called, and how long planning took, is no part of what an answer says.
std::string comparable(std::string text, const std::string& name) {
  text = std::regex_replace(text, std::regex("planned in [0-9.]+ s"), "planned");
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name))
    text.replace(at, name.size(), "FILE");
  return text;
}

} // namespace

TEST_CASE("a packed file gives the answer of the file, and a damaged one is refused by its name") {
  const TemporaryFolder folder;
  for (const NamedFile& file : named_files(folder)) {
    INFO(file.command);
    const bool is_json = file.content.starts_with("{");
    const std::string plain = is_json ? "plain.json" : "plain.toml", packed = plain + ".gz",
                      bad = "bad." + packed;
    write_file(folder.file(plain), file.content);
    pack(folder, plain, packed);
    const CommandResult expected = run_tutti(with(file.command, plain), folder);
    INFO(expected.err);
    REQUIRE(expected.code == 0);
    std::filesystem::remove_all(folder.file("out"));
    const CommandResult answer = run_tutti(with(file.command, packed), folder);
    CHECK(answer.code == 0);
    CHECK(comparable(answer.out, packed) == comparable(expected.out, plain));
    std::filesystem::remove_all(folder.file("out"));

    const std::string bytes = read_file(folder.file(packed));
    std::string flipped = bytes;
    flipped[bytes.size() - 6] ^= 1; // of the check sum
    for (const std::string& damaged : {bytes.substr(0, bytes.size() / 2), flipped}) {
      write_file(folder.file(bad), damaged);
      const CommandResult refused = run_tutti(with(file.command, bad), folder);
      CHECK(refused.code == 2);
      CHECK_THAT(refused.err, ContainsSubstring(bad + ": its gzip is "));
      CHECK(refused.out.empty());
      CHECK_FALSE(std::filesystem::exists(folder.file("out")));
    }
  }
}

} // namespace packed_files_test
