// The written list of topology families, and the text form `name:shape,key=value,...`.
#pragma once

#include "sim/topology.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Per dimension; one value counts for all.
struct TopologySpec {
  std::string name;                           ///< of the topology: the text it was made from
  std::vector<int> shape;                     ///< 8x8
  std::vector<Bandwidth> bandwidth;           ///< `bandwidth=200GB/s+100GB/s`; default 50GB/s
  std::vector<Time> latency;                  ///< `latency=0.5us`; default 0.5us
  bool unidirectional = false;                ///< `directions=1`
  std::map<std::string, std::string> options; ///< the family's own, as given
};

/// An option that one family has of its own: `key=value`.
struct TopologyOption {
  std::string_view key;
  std::string_view help; ///< values, and the default
};

struct TopologyRow {
  std::string_view name;
  Topology (*build)(const TopologySpec&);
  std::string_view shape; ///< what the numbers mean: "columns x rows"
  std::string_view note;
  std::span<const TopologyOption> options = {};
};

[[nodiscard]] std::span<const TopologyRow> topology_families();

/// What people type: "p4d" for `hgx_a100,nics=4x12.5GB/s,nic=efa`.
struct TopologyAlias {
  std::string_view name;    ///< in lower case, with "_" where people also write "-"
  std::string_view head;    ///< the family or machine
  std::string_view options; ///< where none of these keys are given
};
[[nodiscard]] std::span<const TopologyAlias> topology_aliases();

/// Asked before a program is run. Errors: InputError where it may not.
using AdmitProgram = std::function<void(const std::string& program)>;

/// `HEAD:SHAPE,key=value,...`, where HEAD is a family (`mesh2d:32x32,bandwidth=50GiB/s`), a machine
/// (`dgx1`; topologies/machines), a file with a network, or a program that prints one
/// (network_program.hpp). The shape is the family's numbers, how many nodes there are where the
/// file is one, or the program's first argument; `HEAD:key=value` goes without one. Of the keys a
/// family, a file's [template], a format or a program takes its own; for all others `bandwidth` and
/// `latency` are the links' (one value, or one for each dimension), and then `without=npu3+npu9`,
/// `without-link=npu0>npu1`, `fail-npus=2,fail-links=5%,fail-seed=1` (failed_links.hpp) take
/// something away,
/// and `unwind=both` switches. The name of a topology made by a family is its text in normal form,
/// from which the same topology can be made again. Errors: InputError for unknown names, keys and
/// units, bad shapes, unreadable files, programs that fail or that `admit` refuses (null: all may
/// run).
[[nodiscard]] Topology make_topology(std::string_view text, const AdmitProgram& admit = {});

/// The same, or one without any NPU, which make_topology() refuses: a switch, to look at.
[[nodiscard]] Topology make_network(std::string_view text, const AdmitProgram& admit = {});

/// The file or program that such a text begins with, as it stands there; empty where it begins with
/// a family or a machine. `folder`: where files are looked for.
[[nodiscard]] std::string_view topology_file(std::string_view text, const std::string& folder = "");

/// Any graph from a TOML file; its keys stand at the head of topology_file.cpp.
[[nodiscard]] Topology read_topology(const std::string& file);
/// The same, from memory.
[[nodiscard]] Topology parse_topology(std::string_view toml, const std::string& source_name);

/// Named machines: file name without `.toml`, and the file's `note`.
struct Machine {
  std::string name, note;
};
[[nodiscard]] std::vector<Machine> machines();

} // namespace tutti
