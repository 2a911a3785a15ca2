// One list of fields for both directions. The ranks of an MPI job exchange the same bytes: they are
// the same program on machines of one kind.
#include "experiments/driver/sweep/point_messages.hpp"

#include "sim/processes/message_stream.hpp"

#include <cmath>
#include <map>
#include <utility>

namespace tutti::sweep {

namespace {

constexpr auto exchange_number = [](auto& stream, auto& number) { stream.value(number); };

constexpr auto exchange_results = [](auto& stream, auto& results) {
  stream.value(results.status);
  stream.text(results.message);
  exchange_map(stream, results.numbers, exchange_number);
  stream.value(results.cpu_seconds);
  stream.value(results.synthesis_seconds);
  stream.value(results.peak_bytes);
};

constexpr auto exchange_request = [](auto& stream, auto& request) {
  stream.value(request.position);
  stream.value(request.seed);
  exchange_map(stream, request.values, [](auto& of_map, auto& value) {
    of_map.value(value.kind);
    of_map.value(value.unit);
    of_map.value(value.number);
    of_map.text(value.text);
  });
};

constexpr auto exchange_answers = [](auto& stream, auto& answers) {
  exchange_items(stream, answers.finished, [](auto& of_list, auto& each) {
    of_list.value(each.position);
    exchange_results(of_list, each.results);
  });
  stream.vector(answers.dropped);
};

template <typename Exchange, typename T>
std::string written(const Exchange& exchange, const T& content) {
  ByteWriter out;
  exchange(out, content);
  return std::move(out.bytes);
}

template <typename T, typename Exchange>
T read(const Exchange& exchange, const std::string& message) {
  ByteReader in(message);
  T content;
  exchange(in, content);
  return content;
}

} // namespace

std::string message_of(PointResults results) {
  std::erase_if(results.numbers, [](const auto& named) { return !std::isfinite(named.second); });
  return written(exchange_results, results);
}
std::string message_of(const PointRequest& request) { return written(exchange_request, request); }
std::string message_of(const PointAnswers& answers) { return written(exchange_answers, answers); }

PointResults parse_results(const std::string& message) {
  return read<PointResults>(exchange_results, message);
}
PointRequest parse_request(const std::string& message) {
  return read<PointRequest>(exchange_request, message);
}
PointAnswers parse_answers(const std::string& message) {
  return read<PointAnswers>(exchange_answers, message);
}

} // namespace tutti::sweep
