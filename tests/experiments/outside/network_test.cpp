// Programs that print networks, where a file names them: they run below its folder, or not at all.
#include "experiments/driver/outside/outside.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/sweep/space/experiment_template.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <filesystem>
#include <string>

namespace network_test {

using namespace tutti;

namespace {

/// An experiment's file in a folder, and programs below and above that.
class Files {
public:
  Files() {
    for (const char* const name : {"inner/net", "above"}) {
      const std::string file = folder_.file(name);
      write_file(file, "#!/bin/sh\n#tutti: toml\necho npus = $1\necho '[[links]]\nbetween = [[0, "
                       "1]]\nbandwidth = \"1GB/s\"\nlatency = \"1us\"'\n");
      std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
  }
  [[nodiscard]] std::string experiment() const { return folder_.file("inner/e.toml"); }
  static std::string parts(const std::string& topology) {
    return "topologies = {net = \"" + topology +
           "\"}\n[[runs]]\ncollectives = \"all_gather\"\nsizes = \"1MB\"\nalgorithms = \"ring\"\n";
  }
  [[nodiscard]] std::string above() const { return folder_.file("above"); }

private:
  TemporaryFolder folder_;
};

} // namespace

TEST_CASE("an experiment's program runs below its folder, others where they are allowed") {
  const Files files;
  const auto npus = [&](const std::string& topology, bool all) {
    return parse_experiment("name = \"e\"\n" + Files::parts(topology), files.experiment(),
                            program_gate(all, false))
        .topologies.front()
        .topology.npu_count();
  };
  CHECK(npus("net:2", false) == 2);
  CHECK(npus("./net:3,without=npu2", false) == 2);
  for (const std::string& outside : {std::string("../above:2"), files.above() + ":2"}) {
    const std::string message = message_of([&] { (void)npus(outside, false); });
    INFO(message);
    CHECK(message.starts_with(files.experiment() + ":2:21: "));
    CHECK(message.find("--allow-programs") != std::string::npos);
    CHECK(npus(outside, true) == 2);
  }
}

TEST_CASE("a sweep's program runs below its folder, and is part of its points' keys") {
  const Files files;
  const auto made = [&](const std::string& topology) {
    return sweep::ExperimentTemplate(parse_config(Files::parts(topology), files.experiment()),
                                     files.experiment());
  };
  CHECK(made("net:${n}").topology("net:3").npu_count() == 3);
  CHECK(message_of([&] {
          (void)made("../above:${n}").topology("../above:3");
        }).find("--allow-programs") != std::string::npos);
  const auto two = [](const std::string&) { return number_value(2); };
  CHECK(made("net:${n}").file_fingerprints(two).starts_with("net "));
}

} // namespace network_test
