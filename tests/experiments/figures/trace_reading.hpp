// What a viewer makes of a file in the Trace Event Format: slices, arrows, counters and names, in
// whole picoseconds. Fails where the format is broken: an arrow without its other end, an event of
// a process without name.
#pragma once

#include "tests/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tutti::trace_reading {

struct Slice {
  int pid = 0, tid = 0;
  std::string name, category;
  std::int64_t begin = 0, end = 0;
  nlohmann::json arguments;
};

struct Arrow {
  std::string name;
  int pid = 0, from_tid = 0, to_tid = 0;
  std::int64_t leaves = -1, lands = -1;
};

inline std::int64_t picoseconds(const nlohmann::json& microseconds) {
  return std::llround(microseconds.get<double>() * 1e6);
}

struct Trace {
  std::map<int, std::string> processes;
  std::map<int, int> process_positions;
  std::map<std::pair<int, int>, std::string> tracks; ///< by process and track
  std::map<std::pair<int, int>, int> track_positions;
  std::vector<Slice> slices; ///< by begin
  std::vector<Arrow> arrows;
  /// By process and name: the value from each time on.
  std::map<int, std::map<std::string, std::map<std::int64_t, double>>> counters;
  std::map<std::pair<int, std::string>, std::int64_t> marks; ///< by process and name
  std::vector<std::string> left_out;

  explicit Trace(const nlohmann::json& document) {
    std::map<std::uint64_t, Arrow> by_id;
    for (const nlohmann::json& event : document.at("traceEvents")) read(event, by_id);
    for (const nlohmann::json& what : document.at("otherData").at("left_out"))
      left_out.push_back(what);
    for (const auto& [id, arrow] : by_id) {
      CHECK(arrow.leaves >= 0);
      CHECK(arrow.lands >= 0);
      arrows.push_back(arrow);
    }
    std::ranges::stable_sort(slices, {}, &Slice::begin);
    for (const Slice& slice : slices) {
      CHECK(processes.contains(slice.pid));
      CHECK(tracks.contains({slice.pid, slice.tid}));
    }
    for (const auto& [pid, values] : counters) CHECK(processes.contains(pid));
  }

  [[nodiscard]] std::vector<Slice> slices_of(int pid) const {
    std::vector<Slice> own;
    std::ranges::copy_if(slices, std::back_inserter(own),
                         [&](const Slice& slice) { return slice.pid == pid; });
    return own;
  }

  [[nodiscard]] std::vector<Arrow> arrows_of(int pid) const {
    std::vector<Arrow> own;
    std::ranges::copy_if(arrows, std::back_inserter(own),
                         [&](const Arrow& arrow) { return arrow.pid == pid; });
    return own;
  }

  /// As a viewer binds arrows: at the end of one slice is the next.
  [[nodiscard]] Slice slice_at(int pid, int tid, std::int64_t time) const {
    for (const Slice& slice : slices)
      if (slice.pid == pid && slice.tid == tid && slice.begin <= time && time < slice.end)
        return slice;
    FAIL("no slice of track " << tid << " of process " << pid << " at " << time << " ps");
    return {};
  }

  /// 0 where it hasn't begun.
  [[nodiscard]] double counter_at(int pid, const std::string& name, std::int64_t time) const {
    const auto& values = counters.at(pid).at(name);
    const auto after = values.upper_bound(time);
    return after == values.begin() ? 0 : std::prev(after)->second;
  }

private:
  void read(const nlohmann::json& event, std::map<std::uint64_t, Arrow>& by_id) {
    const std::string phase = event.at("ph"), name = event.at("name");
    const int pid = event.at("pid");
    CHECK(pid >= 1);
    if (phase == "M") {
      const nlohmann::json& arguments = event.at("args");
      if (name == "process_name") CHECK(processes.emplace(pid, arguments.at("name")).second);
      if (name == "process_sort_index") process_positions[pid] = arguments.at("sort_index");
      if (name == "thread_name")
        CHECK(tracks.emplace(std::pair(pid, event.at("tid").get<int>()), arguments.at("name"))
                  .second);
      if (name == "thread_sort_index")
        track_positions[{pid, event.at("tid")}] = arguments.at("sort_index");
      return;
    }
    const std::string category = event.at("cat");
    const std::int64_t time = picoseconds(event.at("ts"));
    if (phase == "X") {
      slices.push_back({pid, event.at("tid"), name, category, time,
                        time + picoseconds(event.at("dur")), event.at("args")});
    } else if (phase == "s" || phase == "f") {
      CHECK(category == "flow");
      const bool begins = phase == "s";
      Arrow& arrow = by_id[event.at("id")];
      CHECK((arrow.name.empty() || (arrow.name == name && arrow.pid == pid)));
      arrow.name = name;
      arrow.pid = pid;
      if (!begins) CHECK(event.at("bp") == "e");
      std::int64_t& end = begins ? arrow.leaves : arrow.lands;
      CHECK(end == -1);
      end = time;
      (begins ? arrow.from_tid : arrow.to_tid) = event.at("tid");
    } else if (phase == "C") {
      CHECK(category == "load");
      for (const auto& [unit, value] : event.at("args").items())
        CHECK(counters[pid][name + " " + unit].emplace(time, value.get<double>()).second);
    } else if (phase == "i") {
      CHECK(event.at("s") == "p");
      marks[{pid, name}] = time;
    } else {
      FAIL("an event of an unknown kind: " << event.dump());
    }
  }
};

} // namespace tutti::trace_reading
