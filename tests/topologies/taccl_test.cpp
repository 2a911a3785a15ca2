// TACCL's machines, and its own topology files against what their text says.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>

namespace taccl_test {

using namespace tutti;

namespace {

/// Links from one kind of node to another by latency and bandwidth.
std::size_t links_with(const Topology& t, Time latency, std::int64_t bandwidth) {
  std::size_t count = 0;
  for (const Link& link : t.links())
    if (link.latency == latency && std::abs(link.bandwidth.bytes_per_second - bandwidth) <= 1)
      ++count;
  return count;
}

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

std::int64_t rate(double bytes, double microseconds) {
  return std::llround(bytes / microseconds * 1e6);
}

constexpr const char* small = R"({
  "name": "four_32KB", "gpus_per_node": 4, "nics_per_node": 2, "alpha": 3,
  "node_betas_list": [2.5], "node_invbws_list": [5.5],
  "remote_alpha": 26, "remote_beta": 32.8, "remote_invbw": 59
})";

Topology read(const std::string& text, const std::string& source, std::int64_t nodes = 1) {
  return topologies::read_foreign(*topologies::foreign_format(text), {text, source, nodes});
}

std::string refusal(std::string text, const std::string& before, const std::string& after) {
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  text.replace(at, before.size(), after);
  return message_of([&] { (void)read(text, "t.json"); });
}

} // namespace

TEST_CASE("TACCL's machines have Table 1's alpha and beta") {
  const Topology ndv2 = make_topology("taccl_ndv2:2");
  CHECK(ndv2.npu_count() == 16);
  CHECK(links_with(ndv2, Time{700'000}, mebibyte * 1'000'000 / 46) == 2 * 2 * 8);
  CHECK(links_with(ndv2, Time{700'000}, 2 * (mebibyte * 1'000'000 / 46)) == 2 * 2 * 8);
  CHECK(links_with(ndv2, Time{1'700'000}, mebibyte * 1'000'000 / 106) == 2);
  const Topology dgx2 = make_topology("taccl_dgx2:3");
  CHECK(dgx2.npu_count() == 48);
  CHECK(links_with(dgx2, Time{350'000}, mebibyte * 1'000'000 / 8) == 2 * 48);
  CHECK(links_with(dgx2, Time{1'700'000}, mebibyte * 1'000'000 / 106) == 3 * 8);
  CHECK(make_topology("taccl_dgx2").link_count() == 32); // one machine has no NICs
  CHECK(make_topology("taccl_ndv2:2,bandwidth=20GB/s+10GB/s,latency=1us+2us")
            .link(LinkId{0})
            .bandwidth == Bandwidth{40'000'000'000});
}

TEST_CASE("TACCL's topology files: a switch") {
  const Topology one = read(small, "folder/four.json");
  CHECK(one.name() == "four.json");
  CHECK(one.npu_count() == 4);
  CHECK(one.link_count() == 8);
  // Times ten times as long as in microseconds, chunks of 32 KiB.
  CHECK(links_with(one, Time{150'000}, rate(32 * 1024, 0.25)) == 8);
  const Topology three = read(small, "folder/four.json", 3);
  CHECK(three.name() == "four.json:3");
  CHECK(three.npu_count() == 12);
  CHECK(links_with(three, Time{2'600'000}, rate(32 * 1024, 3.28)) == 3 * 2);
  CHECK(three.parts().note == "TACCL's profile four_32KB: 4 GPUs at a switch.");
  CHECK(three.parts().assumed ==
        std::vector<std::string>{"chunks: times are for 32KiB, as its name says",
                                 "times: in us times 10, which brings alpha below 1 us",
                                 "nodes: one switch joins their NICs"});
}

TEST_CASE("TACCL's topology files: matrices, rows are destinations") {
  const Topology t = read(R"({
    "name": "pair", "gpus_per_node": 2, "alpha": 0.5,
    "links": [[0, 2], [1, 0]], "betas": [[0, 20], [10, 0]], "invbws": [[0, 20.5], [10.5, 0]]
  })",
                          "pair.json");
  REQUIRE(t.link_count() == 3);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> count;
  for (const Link& link : t.links()) ++count[{link.from.value, link.to.value}];
  CHECK(count[{1, 0}] == 2);
  CHECK(count[{0, 1}] == 1);
  CHECK(links_with(t, Time{500'000}, rate(mebibyte, 20)) == 2);
}

TEST_CASE("TACCL's topology files: no way from GPU to GPU of a node by its NIC") {
  const Topology two = read(small, "four.json", 2);
  for (const Link& in : two.links()) {
    const std::string& nic = two.node(in.to).name;
    if (!nic.starts_with("nic") || two.node(in.from).kind != NodeKind::npu) continue;
    for (const LinkId out : two.out_links(in.to))
      CHECK(two.node(two.link(out).to).kind != NodeKind::npu);
  }
}

TEST_CASE("TACCL's topology files: chunk sizes in names, and networks too large") {
  const auto beta = [](const std::string& name) {
    std::string text = small;
    text.replace(text.find("four_32KB"), 9, name);
    return read(text, "t.json").link(LinkId{0}).bandwidth.bytes_per_second;
  };
  CHECK(beta("four_4096KB") == 128 * beta("four_32KB"));
  CHECK(beta("four_32kb") == beta("four_32KB"));
  CHECK(beta("V100_32KB_x") == beta("any"));
  CHECK(refusal(small, "four_32KB", "four_0.5MB").find(": name: it ends as with") !=
        std::string::npos);
  CHECK(refusal(small, "four_32KB", "v100_32GB").find(": name: it ends as with") !=
        std::string::npos);
  CHECK(message_of([] { (void)read(small, "t.json", 4096 * 64); }).starts_with("t.json: "));
}

TEST_CASE("TACCL's topology files: what is wrong is named with its place") {
  CHECK(refusal(small, "\"alpha\": 3", "\"alpha\": -3").find(": alpha: -3") != std::string::npos);
  CHECK(refusal(small, "[5.5]", "[55]") ==
        "t.json:3:50: node_invbws_list[0]: 55 isn't alpha + beta = 5.5");
  CHECK(refusal(small, "[2.5]", "[2.5, 5]") ==
        "t.json:3:22: node_betas_list: 2 betas, but 1 in node_invbws_list");
  CHECK(refusal(small, "\"alpha\"", "\"alfa\"").find(": unknown key \"alfa\"") !=
        std::string::npos);
  CHECK(refusal(small, "[2.5]", "[-1]").find(": node_betas_list[0]: -1 is out of") !=
        std::string::npos);
  CHECK(refusal(small, "\"gpus_per_node\": 4", "\"gpus_per_node\": \"4\"") ==
        "t.json:2:41: gpus_per_node: expected a whole number, found string");
  CHECK(refusal(small, "4,", "4,,").starts_with("t.json:2:"));
}

TEST_CASE("TACCL's published topology files say what their text says") {
  const std::filesystem::path folder =
      std::filesystem::path(TUTTI_SOURCE_DIR).parent_path() / "shared/data/taccl";
  if (!std::filesystem::exists(folder)) {
    WARN("no published topologies beside the repository");
    return;
  }
  struct Published {
    const char* file;
    double bytes, scale;
  };
  for (const Published& p :
       {Published{"topo-ndv2-1MB.json", 1 << 20, 1}, Published{"topo-ndv2-32KB.json", 32 << 10, 10},
        Published{"topo-ndv2-1KB.json", 1 << 10, 100}, Published{"topo-dgx2-1MB.json", 1 << 20, 1},
        Published{"topo-dgx2-1KB.json", 1 << 10, 100}}) {
    INFO(p.file);
    const std::string path = (folder / p.file).string();
    const auto said = nlohmann::json::parse(read_file(path));
    const Topology t = make_topology(path + ":2");
    const auto gpus = said.at("gpus_per_node").get<std::uint32_t>();
    CHECK(t.npu_count() == 2 * gpus);
    const auto time = [&](double us) { return Time{std::llround(us / p.scale * 1e6)}; };
    const Time alpha = time(said.at("alpha").get<double>());
    const auto betas = said.at("node_betas_list").get<std::vector<double>>();
    if (betas.size() == 2) {
      for (const double beta : betas)
        CHECK(links_with(t, alpha, rate(p.bytes, beta / p.scale)) == 2 * 2 * 8);
    } else {
      CHECK(links_with(t, Time{alpha.ps / 2}, rate(p.bytes, betas[0] / p.scale)) ==
            std::size_t{4} * gpus);
    }
    CHECK(links_with(t, time(said.at("remote_alpha").get<double>()),
                     rate(p.bytes, said.at("remote_beta").get<double>() / p.scale)) ==
          2 * said.at("nics_per_node").get<std::size_t>());
  }
}

} // namespace taccl_test
