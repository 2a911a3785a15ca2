// One list of fields for both directions. The ranks of an MPI job exchange the same bytes: they are
// the same program on machines of one kind.
#include "experiments/driver/sweep/point_messages.hpp"

#include "sim/processes/message_stream.hpp"

#include <cmath>
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

constexpr auto exchange_point = [](auto& stream, auto& point) {
  stream.value(point.position);
  exchange_items(stream, point.values, [](auto& of_list, auto& value) {
    of_list.value(value.kind);
    of_list.value(value.unit);
    of_list.value(value.number);
    of_list.text(value.text);
  });
  stream.text(point.key);
  stream.value(point.seed);
  stream.value(point.expected_work);
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
std::string message_of(const Point& point) { return written(exchange_point, point); }
std::string message_of(const PointAnswers& answers) { return written(exchange_answers, answers); }

PointResults parse_results(const std::string& message) {
  return read<PointResults>(exchange_results, message);
}
Point parse_point(const std::string& message) { return read<Point>(exchange_point, message); }
PointAnswers parse_answers(const std::string& message) {
  return read<PointAnswers>(exchange_answers, message);
}

} // namespace tutti::sweep
