// Collective: on a network, by name, from a file, or chunk by chunk. It is pickled as a schedule
// file without transfers, which says all of it.
#include "python/bindings/bindings.hpp"

#include "sim/collective_builder.hpp"
#include "sim/error.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <sstream>
#include <variant>

namespace tutti::python {

Collective BoundCollective::cut(std::uint32_t chunks_per_shard) const {
  return request.texts.empty() ? *made : make_collective(*topology, request, chunks_per_shard);
}

namespace {

using Names = std::variant<std::string, std::vector<std::string>>;

/// Row by row, from what NumPy makes an array of whole numbers of.
std::vector<std::int64_t> shares_of(const py::object& argument) {
  using Numbers = py::array_t<std::int64_t, py::array::c_style>;
  const py::array array = py::array::ensure(argument);
  if (!array || array.dtype().kind() == 'f' || !py::isinstance<py::array>(array))
    throw InputError("shares: an array of whole numbers of bytes is expected");
  const Numbers numbers = Numbers::ensure(array);
  if (!numbers) throw InputError("shares: an array of whole numbers of bytes is expected");
  return {numbers.data(), numbers.data() + numbers.size()};
}

std::shared_ptr<BoundCollective>
made_by_name(std::shared_ptr<Topology> topology, const py::object& kind_argument,
             const py::object& size, const py::object& chunks_argument,
             const py::object& root_argument, const py::object& group_argument,
             const py::object& shares_argument) {
  using Number = std::optional<std::uint32_t>;
  const auto kind = argument_of<Names>(kind_argument, "kind", "a str, or a list of them,");
  const auto chunks = argument_of<Number>(chunks_argument, "chunks", "an int or None");
  const auto root = argument_of<Number>(root_argument, "root", "a node's id or None");
  const auto group = argument_of<std::optional<std::vector<std::uint32_t>>>(
      group_argument, "group", "a list of nodes' ids or None");
  if (chunks && (*chunks < 1 || *chunks > most_chunks))
    throw InputError(fmt::format("chunks {} isn't from 1 to {}", *chunks, most_chunks));
  BoundCollective made;
  made.topology = std::move(topology);
  made.chunks = chunks;
  if (const auto* const several = std::get_if<std::vector<std::string>>(&kind))
    made.request.texts = *several;
  else
    made.request.texts = {std::get<std::string>(kind)};
  if (made.request.texts.empty()) throw InputError("kind: a collective needs a name");
  if (!shares_argument.is_none()) made.request.shares = shares_of(shares_argument);
  if (!size.is_none())
    made.request.size = bytes_of(size, "size");
  else
    made.request.size = made.request.shares.empty() ? usual_size(made.request.texts) : Bytes{0};
  for (std::string& text : made.request.texts) {
    if (root) text += fmt::format(",root={}", *root);
    if (group) text += fmt::format(",group={}", fmt::join(*group, "+"));
  }
  made.made = std::make_shared<Collective>(made.cut(chunks.value_or(1)));
  return std::make_shared<BoundCollective>(std::move(made));
}

std::vector<NodeId> ids_of(const std::vector<std::uint32_t>& nodes) {
  std::vector<NodeId> ids;
  for (const std::uint32_t node : nodes) ids.emplace_back(node);
  return ids;
}

std::vector<std::uint32_t> numbers_of(std::span<const NodeId> nodes) {
  std::vector<std::uint32_t> numbers;
  for (const NodeId node : nodes) numbers.push_back(node.value);
  return numbers;
}

using CustomChunk =
    std::tuple<py::object, std::vector<std::uint32_t>, std::vector<std::uint32_t>, bool>;

std::shared_ptr<BoundCollective> custom(std::shared_ptr<Topology> topology,
                                        const std::vector<CustomChunk>& chunks) {
  CustomCollectiveBuilder builder(*topology);
  for (const auto& [size, sources, destinations, reduces] : chunks)
    builder.add_chunk({bytes_of(size, "size of a chunk"), builder.add_set(ids_of(sources)),
                       builder.add_set(ids_of(destinations)), reduces});
  return std::make_shared<BoundCollective>(
      BoundCollective{std::move(topology), {}, 1, std::make_shared<Collective>(builder.build())});
}

py::list parts_of(const Collective& collective) {
  py::list parts;
  for (const CollectivePart& part : collective.parts)
    parts.append(
        py::dict(py::arg("kind") = to_text(part.kind), py::arg("size_bytes") = part.size.count,
                 py::arg("group") = numbers_of(part.group), py::arg("root") = part.root,
                 py::arg("chunks_per_shard") = part.chunks_per_shard,
                 py::arg("first") = part.first.value, py::arg("chunk_count") = part.chunk_count));
  return parts;
}

ChunkId chunk_of(const Collective& collective, std::uint32_t chunk) {
  if (chunk >= collective.chunks.size())
    throw py::index_error(fmt::format("chunk {} of {}", chunk, collective.chunks.size()));
  return ChunkId{chunk};
}

py::tuple state_of(const BoundCollective& c) {
  std::ostringstream bytes;
  const Schedule none(c.topology->link_count());
  write_schedule(bytes, *c.topology, {c.topology->name(), "", {}, c.made.get(), &none, nullptr});
  return py::make_tuple(c.topology, c.request.texts, c.request.size.count, c.chunks,
                        py::bytes(bytes.str()), c.request.shares);
}

std::shared_ptr<BoundCollective> from_state(const py::tuple& state) {
  const auto topology = state[0].cast<std::shared_ptr<Topology>>();
  return std::make_shared<BoundCollective>(BoundCollective{
      topology,
      {state[1].cast<std::vector<std::string>>(), Bytes{state[2].cast<std::int64_t>()},
       state[5].cast<std::vector<std::int64_t>>()},
      state[3].cast<std::optional<std::uint32_t>>(),
      std::make_shared<Collective>(
          parse_schedule(state[4].cast<std::string>(), "pickle", *topology).collective)});
}

} // namespace

void bind_collective(py::module_& module) {
  const py::dtype chunk_type = row_type({{"size_bytes", "<i8", offsetof(Chunk, size)},
                                         {"sources", "<u4", offsetof(Chunk, sources)},
                                         {"destinations", "<u4", offsetof(Chunk, destinations)},
                                         {"reduces", "?", offsetof(Chunk, reduces)}},
                                        sizeof(Chunk));
  using C = BoundCollective;
  py::class_<C, std::shared_ptr<C>>(module, "Collective")
      .def(py::init(&made_by_name), py::arg("topology").none(false), py::arg("kind"),
           py::arg("size") = py::none(), py::kw_only(), py::arg("chunks") = py::none(),
           py::arg("root") = py::none(), py::arg("group") = py::none(),
           py::arg("shares") = py::none())
      .def_static("custom", &custom, py::arg("topology").none(false), py::arg("chunks"))
      .def_readonly("topology", &C::topology)
      .def_readonly("chunks_asked", &C::chunks)
      .def_property_readonly("text",
                             [](const C& c) { return collective_text(*c.topology, *c.made); })
      .def_property_readonly("request", [](const C& c) { return c.request.texts; })
      .def_property_readonly("size_bytes", [](const C& c) { return c.made->size().count; })
      .def_property_readonly("chunk_count", [](const C& c) { return c.made->chunks.size(); })
      .def_property_readonly("parts", [](const C& c) { return parts_of(*c.made); })
      .def_property_readonly("chunks",
                             [chunk_type](const py::object& self) {
                               return array_of<Chunk>(chunk_type,
                                                      self.cast<const C&>().made->chunks, self);
                             })
      .def(
          "sources",
          [](const C& c, std::uint32_t chunk) {
            return numbers_of(c.made->sources(chunk_of(*c.made, chunk)));
          },
          py::arg("chunk"))
      .def(
          "destinations",
          [](const C& c, std::uint32_t chunk) {
            return numbers_of(c.made->destinations(chunk_of(*c.made, chunk)));
          },
          py::arg("chunk"))
      .def(
          "with_chunks",
          [](const C& c, std::uint32_t chunks) {
            if (c.request.texts.empty())
              throw InputError("what is made chunk by chunk can't be cut otherwise");
            C cut = c;
            cut.chunks = chunks;
            cut.made = std::make_shared<Collective>(c.cut(chunks));
            return std::make_shared<C>(std::move(cut));
          },
          py::arg("chunks"))
      .def("__eq__",
           [](const C& a, const py::object& b) {
             if (!py::isinstance<C>(b)) return false;
             const auto& other = b.cast<const C&>();
             return a.made->fingerprint() == other.made->fingerprint() &&
                    a.topology->fingerprint() == other.topology->fingerprint();
           })
      .def("__hash__",
           [](const C& c) { return static_cast<py::ssize_t>(c.made->fingerprint() >> 1); })
      .def("__repr__",
           [](const C& c) {
             return fmt::format("<tutti.Collective {} of {} on {}: {} chunks>",
                                collective_text(*c.topology, *c.made), to_text(c.made->size()),
                                c.topology->name(), c.made->chunks.size());
           })
      .def(py::pickle(&state_of, &from_state));
}

} // namespace tutti::python
