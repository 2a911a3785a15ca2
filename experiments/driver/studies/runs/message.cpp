// One list of fields for both directions: a new field of an evaluation is a line.
#include "experiments/driver/studies/runs/message.hpp"

#include "sim/processes/message_stream.hpp"

#include <utility>

namespace tutti {

namespace {

constexpr auto exchange_model = [](auto& stream, auto& model) {
  stream.value(model.link_busy);
  stream.value(model.forwarding);
  stream.value(model.discipline);
  stream.value(model.reduce_rate);
  stream.value(model.network);
};

constexpr auto exchange_agreement = [](auto& stream, auto& agreement) {
  stream.value(agreement.largest);
  stream.value(agreement.allowed);
  stream.text(agreement.what);
  stream.value(agreement.holds);
  stream.value(agreement.depends_on_rounding);
};

constexpr auto exchange_bound = [](auto& stream, auto& bound) {
  stream.value(bound.time);
  stream.text(bound.kind);
  stream.text(bound.certificate);
};

constexpr auto exchange_draw = [](auto& stream, auto& draw) {
  stream.value(draw.time);
  stream.value(draw.last_start);
  stream.text(draw.critical_cause);
  stream.text(draw.problem);
};

constexpr auto exchange_noise = [](auto& stream, auto& noise) {
  stream.text(noise.skew);
  stream.text(noise.jitter);
  stream.value(noise.seed);
  stream.value(noise.quiet);
  exchange_items(stream, noise.draws, exchange_draw);
};

constexpr auto exchange_sensitivity = [](auto& stream, auto& sensitivity) {
  stream.text(sensitivity.to);
  stream.value(sensitivity.moves);
};

constexpr auto exchange_value = [](auto& stream, auto& value) { stream.value(value); };

constexpr auto exchange_replay = [](auto& stream, auto& replay) {
  auto& report = replay.report;
  stream.text(report.engine);
  exchange_model(stream, report.model);
  stream.text(report.network_parameters);
  stream.value(report.completion);
  stream.vector(report.links);
  stream.value(report.link_transfers);
  exchange_optional(stream, report.agreement, exchange_agreement);
  exchange_bound(stream, replay.bound);
  exchange_bound(stream, replay.bound_at_chunks);
  stream.value(replay.algbw);
  stream.value(replay.busbw);
  stream.value(replay.replay_seconds);
  stream.value(replay.bound_seconds);
  stream.value(replay.rounding);
  exchange_items(stream, replay.noises, exchange_noise);
  stream.text(replay.transport);
  exchange_optional(stream, replay.interval, exchange_value);
  exchange_items(stream, replay.sensitivities, exchange_sensitivity);
  exchange_optional(stream, replay.over_nccl, exchange_value);
};

constexpr auto exchange_evaluation = [](auto& stream, auto& e) {
  stream.text(e.run);
  stream.text(e.topology);
  stream.text(e.algorithm);
  stream.text(e.collective);
  stream.value(e.size);
  stream.value(e.npus);
  stream.value(e.chunks_per_shard);
  stream.value(e.chose_chunks);
  stream.value(e.chunks);
  stream.value(e.transfers);
  stream.value(e.redundant);
  stream.value(e.status);
  stream.text(e.note);
  stream.text(e.routing);
  exchange_optional(stream, e.planned, exchange_value);
  stream.text(e.planned_on);
  exchange_optional(stream, e.attempts, exchange_value);
  exchange_map(stream, e.facts, exchange_value);
  stream.value(e.synthesis_seconds);
  stream.value(e.verify_seconds);
  stream.value(e.replay_seconds);
  stream.value(e.bound_seconds);
  stream.value(e.peak_rss_bytes);
  stream.value(e.verified);
  stream.text(e.no_runtime);
  exchange_items(stream, e.replays, exchange_replay);
  stream.text(e.hottest_link);
  stream.text(e.bottleneck);
  stream.text(e.problem);
};

} // namespace

std::string evaluation_message(const Evaluation& evaluation) {
  ByteWriter out;
  exchange_evaluation(out, evaluation);
  return std::move(out.bytes);
}

Evaluation parse_evaluation(std::string_view message) {
  ByteReader in(message);
  Evaluation evaluation;
  exchange_evaluation(in, evaluation);
  return evaluation;
}

} // namespace tutti
