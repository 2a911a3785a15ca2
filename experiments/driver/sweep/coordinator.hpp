// Who simulates the points of a sweep, and who hands them out.
#pragma once

#include "experiments/driver/pool/interrupts.hpp"
#include "experiments/driver/sweep/point_server.hpp"
#include "experiments/driver/sweep/space/points.hpp"
#include "experiments/driver/sweep/sweep_run.hpp"

#include <cstddef>
#include <functional>
#include <utility>

namespace tutti::sweep {

/// What simulates points, here or elsewhere.
class Workers {
public:
  Workers() = default;
  virtual ~Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  [[nodiscard]] virtual std::size_t capacity() const = 0; ///< points that they take at once
  [[nodiscard]] virtual std::size_t load() const = 0;     ///< not answered yet
  /// Pre: load() < capacity().
  virtual void start(const PointRequest& request) = 0;
  virtual void drop_waiting() = 0;
  /// What has arrived, after waiting for something, for `interrupts` to be readable, or a second.
  [[nodiscard]] virtual PointAnswers wait(int interrupts) = 0;
};

class LocalWorkers : public Workers {
public:
  explicit LocalWorkers(PointServer& server) : server_(&server) {}
  [[nodiscard]] std::size_t capacity() const override { return server_->capacity(); }
  [[nodiscard]] std::size_t load() const override { return server_->load(); }
  void start(const PointRequest& request) override { server_->start(request); }
  void drop_waiting() override { server_->drop_waiting(); }
  [[nodiscard]] PointAnswers wait(int interrupts) override;

private:
  PointServer* server_;
};

/// What a sweep does, apart from its order.
struct SweepParts {
  PointFunction evaluate;
  std::function<PointSpace()> points;
};
/// Parts for a sweep, which must outlive them.
[[nodiscard]] SweepParts parts_of(const Sweep& sweep, const SweepOptions& options);

/// The points that the store lacks, by these workers. As sweep_locally() otherwise.
[[nodiscard]] SweepOutcome sweep_with(Workers& workers, const Sweep& sweep,
                                      const SweepOptions& options, const PointSpace& space,
                                      Interrupts& interrupts);

/// sweep_locally() with other parts.
[[nodiscard]] SweepOutcome sweep_locally(const Sweep& sweep, const SweepOptions& options,
                                         const SweepParts& parts);

} // namespace tutti::sweep
