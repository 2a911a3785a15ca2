// Networks that programs print: what they are asked, what becomes of their text, and of programs
// that do anything but print a network.
#include "topologies/network_program.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/topologies/same_links.hpp"
#include "topologies/list.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace network_program_test {

using namespace tutti;
using topologies::printed_by;
using topologies::printed_format;

namespace {

/// A program of the shell's with these lines; its path.
std::string program(const TemporaryFolder& folder, const std::string& lines,
                    const std::string& format = "csv") {
  const std::string file = folder.file("net");
  write_file(file, "#!/bin/sh\n#tutti: " + format + "\n" + lines + "\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

const std::string hyperx = TUTTI_SOURCE_DIR "/experiments/outside/hyperx.py";

} // namespace

TEST_CASE("a program says in its first or second line what it prints") {
  CHECK(printed_format("#!/usr/bin/env python3\n#tutti: csv\nimport sys\n") == "csv");
  CHECK(printed_format("# tutti:  nvidia-smi \r\n") == "nvidia-smi");
  CHECK(printed_format("#!/bin/sh\n#tutti:dot") == "dot");
  CHECK(printed_format("#!/bin/sh\n\n#tutti: csv\n") == std::nullopt);
  CHECK(printed_format("#!/bin/sh\n# one\n#tutti: csv\n") == std::nullopt);
  CHECK(printed_format("npus = 2\n#tutti: csv\n") == std::nullopt);
  CHECK(printed_format("") == std::nullopt);
}

TEST_CASE(
    "a program has the shape as its first argument, then the keys, and Tutti takes the rest") {
  const TemporaryFolder folder;
  const std::string file =
      program(folder, "echo from,to,bandwidth\necho a,b,1GB/s\nfor word in \"$@\"; do\n"
                      "echo b,$(echo $word | tr -c 'a-z0-9\\n' _),1GB/s; done");
  CHECK(make_topology(file).name() == "net");
  const Topology whole = make_topology(file + ":2 x 3,bandwidth=4GB/s,no-nics=1,latency=1us");
  CHECK(whole.name() == "net:2 x 3,bandwidth=4GB/s,no-nics=1,latency=1us");
  for (const char* const name : {"2_x_3", "bandwidth_4gb_s", "no_nics_1", "latency_1us"}) {
    INFO(name);
    std::string there = name;
    if (there == "bandwidth_4gb_s") there = "bandwidth_4___s"; // its tr knows no capital letters
    CHECK_NOTHROW(whole.find_node(there));
  }
  CHECK(whole.link(LinkId{0}).bandwidth == Bandwidth{1'000'000'000}); // it is the program's key
  const Topology less = make_topology(file + ":nics=1,without=a,fail-links=0");
  CHECK(less.name() == "net:nics=1,without=a,fail-links=0");
  CHECK(less.npu_count() == 2);
}

TEST_CASE("what a program prints is read like a file of its format, with its lines") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& lines, const std::string& format = "csv") {
    const std::string file = program(folder, lines, format);
    const std::string message = message_of([&] { (void)make_topology(file + ":8"); });
    return message.starts_with(file) ? message.substr(file.size()) : message;
  };
  CHECK(refusal("echo from,to,bandwidth\necho a,b,1GB/s\necho b,c,fast") ==
        ":3:5: bandwidth \"fast\" is not a number with a unit");
  CHECK(refusal("echo 'npus = 2'\necho 'npsu = 3'", "toml")
            .starts_with(":2:1: unknown key "
                         "\"npsu\""));
  CHECK(refusal("head -c 4096 /dev/urandom | tr '\\n\\0' '\\377\\377'").starts_with(":1:"));
  CHECK(refusal("echo 'graph {a -- }'", "dot").starts_with(":1:"));
  CHECK(refusal("echo x", "cvs") ==
        ": unknown format \"cvs\" (known: toml, astra, csv, dot, graphml, htsim, infragraph, nccl, "
        "ns3, nvidia-smi, simgrid, taccl, teccl, hwloc, nvidia-list, p2p, rocm-smi; did you mean "
        "\"csv\"?)");
}

TEST_CASE("whatever else a program does is told in words") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& lines, const topologies::ProgramLimits& limits = {}) {
    const std::string file = program(folder, lines);
    const std::string message = message_of([&] { (void)printed_by(file, {}, limits); });
    REQUIRE(message.starts_with(file));
    return message.substr(file.size());
  };
  CHECK(refusal("echo a; echo one >&2; echo two >&2; exit 3") == " ended with code 3: two");
  CHECK(refusal("echo a; kill -SEGV $$") == " was killed by signal 11 (Segmentation fault)");
  CHECK(refusal("exit 0") == " says nothing");
  CHECK(refusal("yes", {60, 100'000}) == " said more than 100000 bytes");
  CHECK(refusal("echo a; sleep 60", {0.1}) == " isn't done after 0.1 s");
  CHECK(refusal("echo a; exec >&-; sleep 60", {0.1}) == " isn't done after 0.1 s");
  std::filesystem::permissions(folder.file("net"), std::filesystem::perms::owner_read);
  CHECK(message_of([&] {
          (void)printed_by(folder.file("net"), {});
        }).ends_with(" can't be started: Permission denied"));
}

TEST_CASE("what a program that takes too long has started ends with it") {
  const TemporaryFolder folder;
  const std::string file =
      program(folder, "sleep 60 & echo $! >&2; echo $! > " + folder.file("child") + "; wait");
  CHECK_THROWS_AS(printed_by(file, {}, {0.2}), InputError);
  const std::string status = "/proc/" + read_file(folder.file("child"));
  const std::string path = status.substr(0, status.find('\n')) + "/stat";
  std::string state = "Z";
  for (int tries = 0; tries < 200 && state != "gone"; ++tries) {
    try {
      const std::string stat = read_file(path);
      state = stat.substr(stat.rfind(')') + 2, 1);
    } catch (const InputError&) {
      state = "gone";
    }
    if (state == "Z") break; // dead, and nobody has asked for how
    (void)message_of([&] { (void)printed_by(file, {}, {0}); });
  }
  CHECK((state == "gone" || state == "Z"));
}

TEST_CASE("nothing runs that isn't admitted, nor what doesn't say that it is a program") {
  const TemporaryFolder folder;
  const std::string file =
      program(folder, "touch " + folder.file("ran") + "; echo from,to; echo a,b");
  const auto refuse = [](const std::string& program) { throw InputError("not " + program); };
  CHECK(message_of([&] { (void)make_topology(file, refuse); }) == "not " + file);
  CHECK_FALSE(std::filesystem::exists(folder.file("ran")));
  std::string asked;
  CHECK(make_topology(file, [&](const std::string& program) { asked = program; }).npu_count() == 2);
  CHECK(asked == file);
  CHECK(std::filesystem::exists(folder.file("ran")));
  write_file(file, "#!/bin/sh\ntouch " + folder.file("again") + "\n");
  CHECK(message_of([&] {
          (void)make_topology(file + ":3");
        }).starts_with(file + ": a program that prints a network says in its second line"));
  CHECK_FALSE(std::filesystem::exists(folder.file("again")));
}

TEST_CASE("hyperx.py links all with all along each dimension") {
  const Topology grid = make_topology(hyperx + ":4x3x2,bandwidth=4GB/s+2GB/s+1GB/s");
  CHECK(grid.npu_count() == 24);
  CHECK(grid.link_count() == 24 * (3 + 2 + 1));
  for (const Link& link : grid.links()) {
    int differing = 0;
    for (std::size_t d = 0; d < 3; ++d)
      if (grid.coordinate(link.from)[d] != grid.coordinate(link.to)[d]) {
        ++differing;
        CHECK(link.dimension == static_cast<int>(d));
        CHECK(link.bandwidth == Bandwidth{std::vector{4, 2, 1}[d] * 1'000'000'000LL});
      }
    CHECK(differing == 1);
  }
  CHECK(have_same_links(make_topology(hyperx + ":5,latency=1us"),
                        make_topology("fully_connected:5,latency=1us")));
  CHECK(have_same_links(make_topology(hyperx + ":2x2x2"), make_topology("hypercube:3")));
  CHECK(message_of([] { (void)make_topology(hyperx + ":4x4,nics=3"); }) ==
        hyperx + " ended with code 1: unknown key nics (known: bandwidth, latency)");
}

} // namespace network_program_test
