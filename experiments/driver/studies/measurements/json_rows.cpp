// JSON: nccl-tests' report (-J, src/util.cu from 2.17 on, versions 1 and 2), the records of
// rccl-tests (-Z json: a list, or a record on each line), and those of NCCL's Inspector. Files of
// jobs that died end anywhere: what is complete counts.
#include "experiments/driver/studies/measurements/log_text.hpp"
#include "experiments/driver/studies/measurements/row_reader.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <tuple>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t most_bytes = std::int64_t{1} << 53;

/// A number, or a text that is one: rccl-tests writes "#wrong": "0", nccl-tests "root": "    -1".
std::optional<double> number_at(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  if (found->is_number()) return found->get<double>();
  if (found->is_string()) {
    const auto text = found->get<std::string>();
    return number_in(trimmed(text));
  }
  return std::nullopt;
}

std::int64_t whole_at(const Json& object, const char* key, std::int64_t most) {
  const Json& value = object.at(key);
  if (!value.is_number_integer() || value < 0 || value > most)
    throw InputError(fmt::format("{} {} isn't a whole number from 0", key, value.dump()));
  return value.get<std::int64_t>();
}

CollectiveKind kind_at(const Json& object, const char* key) {
  const auto kind = find_collective_kind(object.at(key).get<std::string>());
  if (!kind) throw InputError(fmt::format("unknown collective {}", object.at(key).dump()));
  return *kind;
}

/// The whole text, or what of it is complete, with whether it is cut.
std::pair<Json, bool> parsed_or_mended(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return {std::move(json), false};
  // Values end in "}": behind one of the last, what is open is closed.
  constexpr int tries = 4;
  std::size_t end = text.size();
  for (int i = 0; i < tries && end != std::string_view::npos && end > 0; ++i) {
    end = text.rfind('}', end - 1);
    if (end == std::string_view::npos) break;
    for (const std::string_view close : {"", "]", "]}", "}]}"}) {
      json = Json::parse(std::string(text.substr(0, end + 1)) + std::string(close), nullptr, false);
      if (!json.is_discarded()) return {std::move(json), true};
    }
  }
  return {Json(Json::value_t::discarded), true};
}

class JsonReader {
public:
  JsonReader(const std::string& file, const MeasurementRequest& request)
      : rows_(file), request_(request) {}

  Measurements read(std::string_view content) {
    const auto [json, is_cut] = parsed_or_mended(content);
    const bool is_report = json.is_object() && json.contains("results");
    if (is_report || json.is_array()) {
      find_lines(content);
      if (is_report)
        guarded(1, [this, &report = json] { take_report(report); });
      else
        for (const Json& one : json) guarded(next_line(one), [this, &one] { take_any(one); });
      if (is_cut && !rows_.rows().empty())
        rows_.note(rows_.rows().back().line, "the file ends behind this row, without its end");
    } else {
      take_lines(content);
    }
    for (auto& [what, rows] : records_) {
      const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
      std::ranges::nth_element(rows, middle, {}, &MeasuredRow::seconds);
      rows_.add(*middle);
    }
    return std::move(rows_).finished("no record of a collective");
  }

private:
  template <typename Work> void guarded(std::size_t line, const Work& work) {
    line_ = line;
    try {
      work();
    } catch (const Json::exception& error) {
      rows_.leave_out(line, error.what());
    } catch (const InputError& error) {
      rows_.leave_out(line, error.what());
    }
  }

  /// nlohmann-json doesn't tell places: rows begin with, or hold, a "size".
  void find_lines(std::string_view content) {
    std::size_t line = 1;
    for (std::size_t at = 0; at < content.size(); ++at) {
      if (content[at] == '\n') ++line;
      if (content[at] == '"' && content.substr(at).starts_with("\"size\"")) lines_.push_back(line);
    }
  }
  std::size_t next_line(const Json& row) {
    if (!row.is_object() || !row.contains("size") || used_lines_ >= lines_.size()) return line_;
    return lines_[used_lines_++];
  }

  void take_lines(std::string_view content) {
    std::size_t number = 0;
    for (const std::string_view whole : split(content, '\n')) {
      ++number;
      const std::string line = without_prefix(whole);
      std::string_view text = trimmed(line);
      if (text.empty() || text == "[" || text == "]") continue;
      if (text.ends_with(',')) text.remove_suffix(1);
      const Json json = Json::parse(text, nullptr, false);
      if (json.is_discarded() || !json.is_object()) {
        rows_.leave_out(number, "no JSON record on one line");
        continue;
      }
      guarded(number, [&] { take_any(json); });
    }
  }
  void take_any(const Json& json) {
    if (json.contains("coll_perf")) return take_inspector(json);
    if (json.contains("results")) return take_report(json);
    if (json.contains("size") && (json.contains("name") || json.contains("collective")))
      return take_rccl(json);
    if (json.contains("header")) return; // a send of the Inspector's
    throw InputError("no record of nccl-tests, rccl-tests or the Inspector");
  }

  [[nodiscard]] bool is_asked(CollectiveKind kind) const {
    return !request_.kind || *request_.kind == kind;
  }

  void add(MeasuredRow row, std::optional<double> algbw, std::optional<double> busbw,
           std::optional<double> wrong) {
    if (row.size.count == 0) return;
    if (wrong && *wrong > 0) throw InputError(fmt::format("{} elements are wrong", *wrong));
    if (row.seconds <= 0) throw InputError("a time that isn't above 0");
    if (const std::string what = take_speeds(row, algbw, busbw); !what.empty())
      throw InputError(what);
    rows_.add(std::move(row));
  }

  void take_rccl(const Json& json) {
    const CollectiveKind kind = kind_at(json, json.contains("name") ? "name" : "collective");
    if (!is_asked(kind)) return;
    MeasuredRow row{.file = rows_.file(), .line = line_, .kind = kind};
    row.size = Bytes{whole_at(json, "size", most_bytes)};
    const double per_rank = number_at(json, "gpusPerRank").value_or(1);
    const double ranks = json.contains("ranks") ? *number_at(json, "ranks") * per_rank
                                                : number_at(json, "gpus").value_or(0);
    if (ranks < 0 || ranks > double(most_ranks)) throw InputError("ranks are out of range");
    row.npus = static_cast<std::uint32_t>(ranks);
    row.is_in_place = number_at(json, "inPlace").value_or(0) != 0;
    const auto time = number_at(json, "time");
    if (!time) throw InputError("no time");
    row.seconds = *time / us_per_s;
    if (const auto root = number_at(json, "root"); root && *root > 0 && has_root(kind))
      row.root = static_cast<std::uint32_t>(*root);
    add(std::move(row), number_at(json, "algBw"), number_at(json, "busBw"),
        number_at(json, json.contains("wrong") ? "wrong" : "#wrong"));
  }

  void take_report(const Json& json) {
    std::optional<CollectiveKind> kind = request_.kind;
    for (const Json& argument : json.value("args", Json::array())) {
      const auto word = argument.is_string() ? argument.get<std::string>() : std::string();
      const std::string_view program = std::string_view(word).substr(word.rfind('/') + 1);
      const auto found = program.find("_perf") != std::string_view::npos
                             ? find_collective_kind(program)
                             : std::nullopt;
      if (!found) continue;
      if (request_.kind && *request_.kind != *found)
        throw InputError(
            fmt::format("{}, and {} was asked for", to_text(*found), to_text(*request_.kind)));
      kind = found;
      break;
    }
    if (!kind) throw InputError("the file doesn't say of which collective: give it with -c");
    std::uint32_t ranks = 0, groups = 1;
    if (const auto config = json.find("config"); config != json.end())
      for (const Json& device : config->value("devices", Json::array())) {
        const auto rank = static_cast<std::uint32_t>(whole_at(device, "rank", most_ranks));
        ranks = std::max(ranks, rank + 1);
        if (device.contains("group"))
          groups = std::max(groups,
                            static_cast<std::uint32_t>(whole_at(device, "group", most_ranks)) + 1);
        rows_.facts().devices.push_back({rank, device.value("hostname", ""),
                                         device.value("device_hex", ""),
                                         device.value("device_info", ""), line_});
      }
    if (const auto version = number_at(json, "nccl_version"); version && *version > 0)
      rows_.facts().nccl_version =
          LogFact<std::string>{nccl_version_text(static_cast<std::uint32_t>(*version)), line_};
    for (const Json& entry : json.value("env", Json::array())) {
      const auto text = entry.is_string() ? entry.get<std::string>() : std::string();
      if (text.starts_with("NCCL_") && text.find('=') != std::string::npos)
        rows_.facts().environment.try_emplace(
            text.substr(0, text.find('=')),
            LogFact<std::string>{text.substr(text.find('=') + 1), line_});
    }
    for (const Json& result : json.at("results"))
      for (const bool in_place : {false, true})
        guarded(in_place ? line_ : next_line(result),
                [&] { take_result(result, *kind, ranks / groups, in_place); });
  }
  void take_result(const Json& result, CollectiveKind kind, std::uint32_t npus, bool in_place) {
    const std::string place = in_place ? "in_place" : "out_of_place";
    const auto found = result.find(place);
    if (found == result.end() || found->is_null()) return;
    if (found->contains("cpu_time"))
      throw InputError("cpu_time is the processor's (-C 1), not the collective's");
    MeasuredRow row{.file = rows_.file(), .line = line_, .kind = kind};
    row.size = Bytes{whole_at(result, "size", most_bytes)};
    row.npus = npus;
    row.is_in_place = in_place;
    const auto time = number_at(*found, "time");
    if (!time) throw InputError(fmt::format("{} has no time", place));
    row.seconds = *time / us_per_s;
    if (const auto root = number_at(result, "root"); root && *root > 0 && has_root(kind))
      row.root = static_cast<std::uint32_t>(*root);
    if (const auto each = result.find(place + "_per_iter"); each != result.end())
      for (const Json& us : each->value("times_us", Json::array()))
        row.iteration_seconds.push_back(us.get<double>() / us_per_s);
    add(std::move(row), number_at(*found, "alg_bw"), number_at(*found, "bus_bw"),
        number_at(*found, "nwrong"));
  }

  void take_inspector(const Json& json) {
    const Json &perf = json.at("coll_perf"), &header = json.at("header");
    const CollectiveKind kind = kind_at(perf, "coll");
    if (!is_asked(kind)) return;
    const std::int64_t ranks = whole_at(header, "n_ranks", most_ranks);
    // For these collectives the Inspector counts a rank's share, nccl-tests all shares.
    const bool is_share =
        kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
    MeasuredRow row{
        .file = rows_.file(),
        .line = line_,
        .kind = kind,
        .size =
            Bytes{whole_at(perf, "coll_msg_size_bytes", most_bytes / (is_share ? ranks + 1 : 1)) *
                  (is_share ? ranks : 1)},
        .npus = static_cast<std::uint32_t>(ranks),
        .seconds = perf.at("coll_exec_time_us").get<double>() / us_per_s,
    };
    if (row.seconds <= 0 || row.size.count <= 0) return;
    if (const std::string what =
            take_speeds(row, number_at(perf, "coll_algobw_gbs"), number_at(perf, "coll_busbw_gbs"));
        !what.empty())
      throw InputError(what);
    records_[{row.kind, row.size.count, row.npus}].push_back(std::move(row));
  }

  RowCollector rows_;
  const MeasurementRequest& request_;
  std::size_t line_ = 1;
  std::vector<std::size_t> lines_; ///< where rows stand
  std::size_t used_lines_ = 0;
  std::map<std::tuple<CollectiveKind, std::int64_t, std::uint32_t>, std::vector<MeasuredRow>>
      records_;
};

} // namespace

Measurements read_json_rows(const std::string& file, std::string_view content,
                            const MeasurementRequest& request) {
  return JsonReader(file, request).read(content);
}

} // namespace tutti
