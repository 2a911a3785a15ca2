// Schedule: arrays over its own memory, files, and schedules from a list of sends. It is pickled as
// its file.
#include "python/bindings/bindings.hpp"

#include "algorithms/routed_schedule.hpp"
#include "sim/error.hpp"
#include "sim/files/schedule_file.hpp"

#include <fmt/format.h>

#include <sstream>

namespace tutti::python {

namespace {

using S = BoundSchedule;

/// One that can be asked for by its name can be cut otherwise, too.
std::shared_ptr<BoundCollective> bound(const std::shared_ptr<Topology>& topology,
                                       Collective collective) {
  BoundCollective of{topology, {}, 1, nullptr};
  if (const CollectivePart& part = collective.parts.front();
      collective.parts.size() == 1 && part.kind != CollectiveKind::custom) {
    const CollectiveRequest request{{collective_text(*topology, collective)}, part.size};
    if (make_collective(*topology, request, part.chunks_per_shard).fingerprint() ==
        collective.fingerprint())
      of.request = request, of.chunks = part.chunks_per_shard;
  }
  of.made = std::make_shared<Collective>(std::move(collective));
  return std::make_shared<BoundCollective>(std::move(of));
}

std::shared_ptr<S> from_file(const std::shared_ptr<Topology>& topology, ScheduleFile file) {
  S schedule;
  schedule.collective = bound(topology, std::move(file.collective));
  schedule.algorithm = std::move(file.algorithm);
  schedule.model = file.time_model;
  schedule.compact = std::move(file.compact);
  if (!schedule.compact) schedule.list = std::move(file.schedule);
  return std::make_shared<S>(std::move(schedule));
}

ScheduleContent content_of(const S& s) {
  return {s.topology().name(),
          s.algorithm,
          s.model,
          s.collective->made.get(),
          s.list ? &*s.list : nullptr,
          s.compact ? &*s.compact : nullptr};
}

std::string bytes_of(const S& s) {
  std::ostringstream bytes;
  write_schedule(bytes, s.topology(), content_of(s));
  return bytes.str();
}

void save(const S& s, const std::string& file) {
  ScheduleFile content{.topology_name = s.topology().name(),
                       .algorithm = s.algorithm,
                       .time_model = s.model,
                       .collective = *s.collective->made,
                       .schedule = s.list ? *s.list : Schedule(s.topology().link_count()),
                       .compact = s.compact};
  write_schedule(file, s.topology(), content);
}

/// A number of a send. Errors: TypeError and InputError with its place.
std::uint32_t number_in(const py::tuple& send, std::size_t field, std::size_t position,
                        std::size_t below, const char* what) {
  const py::object value = send[field];
  if (PyIndex_Check(value.ptr()) == 0)
    throw py::type_error(fmt::format("sends[{}]: its {} is no int", position, what));
  const auto number = value.cast<std::int64_t>();
  if (number < 0 || static_cast<std::size_t>(number) >= below)
    throw InputError(fmt::format("sends[{}]: {} {} isn't from 0 to {}", position, what, number,
                                 static_cast<std::int64_t>(below) - 1));
  return static_cast<std::uint32_t>(number);
}

Op op_in(const py::tuple& send, std::size_t position) {
  const py::object value = send[3];
  const std::string word = py::isinstance<py::str>(value) ? value.cast<std::string>()
                                                          : py::repr(value).cast<std::string>();
  if (word == "copy") return Op::copy;
  if (word == "reduce") return Op::reduce;
  throw InputError(
      fmt::format("sends[{}]: unknown operation {} (known: copy, reduce)", position, word));
}

// (source rank, destination rank, chunk, "copy" | "reduce"[, after]): each is one transfer, along
// the path that routing has between the ranks, and may wait for an earlier one to arrive.
std::shared_ptr<S> from_sends(const std::shared_ptr<BoundCollective>& collective,
                              const py::iterable& sends, const std::string& name) {
  const Collective& made = *collective->made;
  if (made.parts.size() != 1)
    throw InputError("sends speak of the ranks of one collective, not several");
  const CollectivePart& part = made.parts.front();
  RoutedSchedule routed(*collective->topology, made, SynthesisOptions{});
  std::size_t i = 0;
  for (const py::handle item : sends) {
    if (!py::isinstance<py::sequence>(item) || py::isinstance<py::str>(item) ||
        (py::len(item) != 4 && py::len(item) != 5))
      throw py::type_error(fmt::format("sends[{}]: (source, destination, chunk, \"copy\" or "
                                       "\"reduce\"[, after]) is expected, not {}",
                                       i, py::repr(item).cast<std::string>()));
    const py::tuple send{py::reinterpret_borrow<py::object>(item)};
    const Rank from = number_in(send, 0, i, part.group.size(), "source");
    const Rank to = number_in(send, 1, i, part.group.size(), "destination");
    const std::uint32_t chunk = number_in(send, 2, i, part.chunk_count, "chunk");
    if (from == to) throw InputError(fmt::format("sends[{}]: rank {} sends to itself", i, from));
    routed.send_chunk(from, to, ChunkId{part.first.value + chunk}, op_in(send, i));
    if (py::len(send) == 5 && !py::object(send[4]).is_none())
      routed.wait_for(number_in(send, 4, i, i, "after"));
    ++i;
    if (i % 4096 == 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  Outcome outcome = std::move(routed).outcome();
  S schedule;
  schedule.collective = collective;
  schedule.list = std::move(outcome.schedule);
  schedule.algorithm = name;
  return std::make_shared<S>(std::move(schedule));
}

const Schedule& list_of(const S& s) {
  if (!s.list) throw InputError("a compact schedule has blocks; expanded() gives its transfers");
  return *s.list;
}

// The chunks that cross a link, in order.
py::array block_of(const py::object& self, std::uint32_t link, bool reductions) {
  const auto& s = self.cast<const S&>();
  if (!s.compact) throw InputError("only a compact schedule has blocks; this one has transfers");
  const ChunkLists& lists = reductions ? s.compact->reductions : s.compact->copies;
  if (link >= lists.link_count())
    throw py::index_error(fmt::format("link {} of {}", link, lists.link_count()));
  return std::visit(
      [&]<typename Id>(const std::vector<Id>& chunks) {
        return array_of<Id>(py::dtype::of<Id>(),
                            std::span(chunks).subspan(lists.begin[link], lists.on(LinkId{link})),
                            self);
      },
      lists.chunks);
}

} // namespace

void bind_schedule(py::module_& module) {
  const py::dtype transfer_type =
      row_type({{"chunk", "<u4", 0}, {"code", "<u4", 4}}, sizeof(Schedule::Packed));
  const py::dtype dependency_type = row_type({{"transfer", "<u4", offsetof(Dependency, transfer)},
                                              {"milestone", "u1", offsetof(Dependency, milestone)}},
                                             sizeof(Dependency));
  const py::dtype number = py::dtype::of<std::uint32_t>();
  module.attr("REDUCE") = Schedule::reduce_bit;
  module.attr("TOGETHER") = Schedule::together_bit;
  module.attr("CONTIGUOUS") = Schedule::contiguous_bit;
  module.attr("PATH") = Schedule::path_mask;
  py::class_<S, std::shared_ptr<S>>(module, "Schedule")
      .def_static("from_sends", &from_sends, py::arg("collective").none(false), py::arg("sends"),
                  py::arg("name") = "sends")
      .def_static(
          "load",
          [](const std::string& file, const std::shared_ptr<Topology>& topology) {
            return from_file(topology, read_schedule(file, *topology));
          },
          py::arg("file"), py::arg("topology").none(false))
      .def("save", &save, py::arg("file"), py::call_guard<py::gil_scoped_release>())
      .def_readonly("collective", &S::collective)
      .def_property_readonly("topology", [](const S& s) { return s.collective->topology; })
      .def_readonly("algorithm", &S::algorithm)
      .def_property_readonly("is_compact", [](const S& s) { return s.compact.has_value(); })
      .def("__len__", &S::size)
      .def("compacted",
           [](const std::shared_ptr<S>& s) -> std::shared_ptr<S> {
             if (s->compact) return s;
             S short_form{s->collective, {}, {}, s->algorithm, s->model};
             short_form.compact = compacted(s->topology(), *s->collective->made, *s->list);
             return short_form.compact ? std::make_shared<S>(std::move(short_form)) : nullptr;
           })
      .def("expanded",
           [](const std::shared_ptr<S>& s) {
             if (s->list) return s;
             S listed{s->collective, {}, {}, s->algorithm, s->model};
             {
               const py::gil_scoped_release others_may;
               listed.list = expanded(s->topology(), *s->collective->made, *s->compact);
             }
             return std::make_shared<S>(std::move(listed));
           })
      .def_property_readonly("transfers",
                             [transfer_type](const py::object& self) {
                               return array_of(transfer_type,
                                               list_of(self.cast<const S&>()).packed(), self);
                             })
      .def_property_readonly("path_offsets",
                             [](const py::object& self) {
                               return array_of(py::dtype::of<std::int64_t>(),
                                               list_of(self.cast<const S&>()).paths().offsets(),
                                               self);
                             })
      .def_property_readonly(
          "path_links",
          [number](const py::object& self) {
            return array_of(number, list_of(self.cast<const S&>()).paths().all_links(), self);
          })
      .def_property_readonly("waiting",
                             [number](const py::object& self) {
                               return array_of(number, list_of(self.cast<const S&>()).waiting(),
                                               self);
                             })
      .def_property_readonly("awaited",
                             [dependency_type](const py::object& self) {
                               return array_of(dependency_type,
                                               list_of(self.cast<const S&>()).all_dependencies(),
                                               self);
                             })
      .def("block", &block_of, py::arg("link"), py::arg("reductions") = false)
      .def("__eq__",
           [](const S& a, const py::object& b) {
             return py::isinstance<S>(b) && bytes_of(a) == bytes_of(b.cast<const S&>());
           })
      .def("__hash__", [](const S& s) { return py::hash(py::bytes(bytes_of(s))); })
      .def("__repr__",
           [](const S& s) {
             return fmt::format("<tutti.Schedule of {} {} by {} on {}: {} transfers>",
                                collective_text(s.topology(), *s.collective->made),
                                to_text(s.collective->made->size()), s.algorithm,
                                s.topology().name(), s.size());
           })
      .def(py::pickle(
          [](const S& s) {
            return py::make_tuple(s.collective, py::bytes(bytes_of(s)), s.compact.has_value());
          },
          [](const py::tuple& state) {
            const auto collective = state[0].cast<std::shared_ptr<BoundCollective>>();
            std::shared_ptr<S> read = from_file(
                collective->topology,
                parse_schedule(state[1].cast<std::string>(), "pickle", *collective->topology,
                               state[2].cast<bool>() ? 0 : most_listed));
            read->collective = collective;
            return read;
          }));
}

} // namespace tutti::python
