// Event by event, so that a trace of any length takes no memory. The order of a file's events
// doesn't matter to viewers, but where several have the same time.
#include "experiments/driver/figures/trace_events.hpp"

#include "sim/files/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <istream>
#include <ostream>

namespace tutti {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result + '"';
}

std::string microseconds(Time time) {
  return fmt::format("{}.{:06}", time.ps / 1'000'000, time.ps % 1'000'000);
}

void TraceEvents::add(std::string_view object) {
  separate();
  out_ << object;
}

void TraceEvents::add_part(std::istream& part) {
  if (part.peek() == std::istream::traits_type::eof()) return;
  separate();
  out_ << part.rdbuf();
}

void TraceEvents::separate() {
  if (!is_first_) out_ << ",\n";
  is_first_ = false;
}

TraceProcess::TraceProcess(TraceEvents& events, std::uint32_t pid, std::string_view name)
    : events_(events), pid_(pid) {
  assert(pid >= 1);
  metadata("process_name", 0, "name", json_string(name));
  metadata("process_sort_index", 0, "sort_index", std::to_string(pid));
}

void TraceProcess::name_track(std::uint32_t track, std::string_view name, std::uint32_t position) {
  metadata("thread_name", track, "name", json_string(name));
  metadata("thread_sort_index", track, "sort_index", std::to_string(position));
}

void TraceProcess::metadata(std::string_view what, std::uint32_t track, std::string_view key,
                            const std::string& value) {
  const std::string tid = track == 0 ? "" : fmt::format("\"tid\":{},", track);
  events_.add(fmt::format(R"({{"name":"{}","ph":"M","pid":{},{}"args":{{"{}":{}}}}})", what, pid_,
                          tid, key, value));
}

void TraceProcess::slice(const TraceSlice& slice) {
  events_.add(fmt::format(R"({{"name":{},"cat":"{}","ph":"X","pid":{},"tid":{},"ts":{},"dur":{},)"
                          R"("args":{{{}}}}})",
                          slice.name, slice.category, pid_, slice.track, microseconds(slice.begin),
                          microseconds(slice.end - slice.begin), slice.arguments));
}

void TraceProcess::arrow(std::string_view name, const ArrowStart& from, std::uint32_t track,
                         Time at) {
  const Time leaves = std::max(from.begin, std::min(from.end, at) - viewer_resolution);
  const std::uint64_t id = std::uint64_t{pid_} << 32 | ++arrows_; // unique in a file of many parts
  const auto end = [&](char phase, const char* binding, std::uint32_t on, Time when) {
    events_.add(
        fmt::format(R"({{"name":"{}","cat":"flow","ph":"{}",{}"id":{},"pid":{},"tid":{},"ts":{}}})",
                    name, phase, binding, id, pid_, on, microseconds(when)));
  };
  end('s', "", from.track, leaves);
  end('f', R"("bp":"e",)", track, std::max(at, leaves));
}

void TraceProcess::counter(std::string_view name, std::string_view unit,
                           std::vector<LoadStep> steps,
                           const std::function<std::string(std::int64_t)>& value) {
  std::ranges::sort(steps, {}, &LoadStep::at);
  std::int64_t sum = 0, shown = -1;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    sum += steps[i].change;
    const bool goes_on = i + 1 < steps.size() && steps[i + 1].at == steps[i].at;
    if (goes_on || sum == shown) continue;
    shown = sum;
    events_.add(
        fmt::format(R"({{"name":{},"cat":"load","ph":"C","pid":{},"ts":{},"args":{{"{}":{}}}}})",
                    name, pid_, microseconds(steps[i].at), unit, value(sum)));
  }
}

void TraceProcess::mark(std::string_view name, Time at) {
  events_.add(fmt::format(R"({{"name":"{}","cat":"mark","ph":"i","s":"p","pid":{},"ts":{}}})", name,
                          pid_, microseconds(at)));
}

void write_trace(std::ostream& out, const std::vector<std::string>& left_out,
                 const std::function<void(TraceEvents&)>& write) {
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  TraceEvents events(out);
  write(events);
  // Behind the events: some versions of Perfetto skip whatever follows a key that they don't know.
  out << "\n],\"otherData\":{\"left_out\":[";
  for (std::size_t i = 0; i < left_out.size(); ++i)
    out << (i == 0 ? "" : ",") << json_string(left_out[i]);
  out << "]}}\n";
}

void save_trace(const std::string& file, const std::vector<std::string>& left_out,
                const std::function<void(TraceEvents&)>& write) {
  write_file(file, [&](std::ostream& out) { write_trace(out, left_out, write); });
}

} // namespace tutti
