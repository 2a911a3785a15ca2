// Topology: made from a text, a file or TOML; its links are an array over its own memory. It is
// pickled as TOML, which says all of it.
#include "python/bindings/bindings.hpp"

#include "experiments/driver/figures/network_figure.hpp"
#include "sim/error.hpp"
#include "topologies/export/list.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

namespace tutti::python {

namespace {

const char* word_of(NodeKind kind) {
  return kind == NodeKind::npu ? "npu" : kind == NodeKind::switching ? "switch" : "memory";
}

py::list nodes_of(const Topology& topology) {
  py::list nodes;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    const Node& node = topology.node(NodeId{i});
    const auto at = topology.coordinate(NodeId{i});
    nodes.append(py::dict(py::arg("name") = node.name, py::arg("kind") = word_of(node.kind),
                          py::arg("store") = node.can.store, py::arg("copy") = node.can.copy,
                          py::arg("reduce") = node.can.reduce,
                          py::arg("reduce_rate_bytes_per_s") = node.reduce_rate.bytes_per_second,
                          py::arg("coordinate") = std::vector<int>(at.begin(), at.end())));
  }
  return nodes;
}

py::list groups_of(const Topology& topology) {
  py::list groups;
  for (const SharedGroup& group : topology.groups()) {
    std::vector<std::uint32_t> links;
    for (const LinkId link : group.links) links.push_back(link.value);
    groups.append(py::dict(py::arg("name") = group.name,
                           py::arg("bandwidth_bytes_per_s") = group.bandwidth.bytes_per_second,
                           py::arg("links") = links));
  }
  return groups;
}

// From which the command makes the same network; none where only its file says what it is.
std::optional<std::string> text_of(const Topology& topology) {
  try {
    if (look_alike(make_topology(topology.name()), topology, true)) return topology.name();
  } catch (const InputError&) { // the name is no text of a network
  }
  return std::nullopt;
}

} // namespace

void bind_topology(py::module_& module) {
  const py::dtype link_type = row_type({{"source", "<u4", offsetof(Link, from)},
                                        {"destination", "<u4", offsetof(Link, to)},
                                        {"latency_ps", "<i8", offsetof(Link, latency)},
                                        {"bandwidth_bytes_per_s", "<i8", offsetof(Link, bandwidth)},
                                        {"dimension", "i1", offsetof(Link, dimension)}},
                                       sizeof(Link));
  const auto from_toml = [](const std::string& toml, const std::string& source) {
    return std::make_shared<Topology>(parse_topology(toml, source));
  };
  py::class_<Topology, std::shared_ptr<Topology>>(module, "Topology")
      .def(py::init([](const py::str& text) { // and no bytes
             return std::make_shared<Topology>(make_topology(text.cast<std::string>()));
           }),
           py::arg("text"))
      .def_static("from_toml", from_toml, py::arg("toml"), py::arg("source") = "network")
      .def("to_toml", &topology_toml)
      .def_property_readonly("name", &Topology::name)
      .def_property_readonly("text", &text_of)
      .def_property_readonly("note", [](const Topology& t) { return t.parts().note; })
      .def_property_readonly("assumed", [](const Topology& t) { return t.parts().assumed; })
      .def_property_readonly("npu_count", &Topology::npu_count)
      .def_property_readonly("node_count", &Topology::node_count)
      .def_property_readonly("link_count", &Topology::link_count)
      .def_property_readonly("fingerprint", &Topology::fingerprint)
      .def_property_readonly("shape", [](const Topology& t) { return t.parts().shape; })
      .def_property_readonly("nodes", &nodes_of)
      .def_property_readonly("groups", &groups_of)
      .def_property_readonly("links",
                             [link_type](const py::object& self) {
                               return array_of(link_type, self.cast<const Topology&>().links(),
                                               self);
                             })
      .def(
          "node_id",
          [](const Topology& t, const std::string& name) { return t.find_node(name).value; },
          py::arg("name"))
      .def("__eq__",
           [](const Topology& a, const py::object& b) {
             return py::isinstance<Topology>(b) && look_alike(a, b.cast<const Topology&>(), true);
           })
      .def("__hash__",
           [](const Topology& t) { return static_cast<py::ssize_t>(t.fingerprint() >> 1); })
      .def("__repr__",
           [](const Topology& t) {
             return fmt::format("<tutti.Topology {}: {} NPUs, {} links>", t.name(), t.npu_count(),
                                t.link_count());
           })
      .def("_repr_svg_",
           [](const Topology& t) { return svg_of(network_figure(t.name(), t, layout_of(t))); })
      .def(py::pickle([](const Topology& t) { return py::make_tuple(topology_toml(t)); },
                      [from_toml](const py::tuple& t) {
                        return from_toml(t[0].cast<std::string>(), "pickle");
                      }));
  module.def(
      "network_svg",
      [](const Topology& topology, const std::string& title, const py::array& uses,
         std::int64_t duration_ps) {
        if (uses.size() != topology.link_count() || uses.itemsize() != sizeof(LinkUse))
          throw py::value_error(fmt::format("links: the {} rows of a report on this network are "
                                            "expected",
                                            topology.link_count()));
        Report report;
        report.completion = Time{duration_ps};
        const auto* const first = static_cast<const LinkUse*>(uses.data());
        report.links.assign(first, first + uses.size());
        return svg_of(network_figure(title, topology, report));
      },
      py::arg("topology"), py::arg("title"), py::arg("links"), py::arg("duration_ps"));
}

} // namespace tutti::python
