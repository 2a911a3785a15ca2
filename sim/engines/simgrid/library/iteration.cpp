// Workloads on SimGrid: NPUs are its hosts and compute for as long as it says, and communication
// follows the rules of FIFO on its network. What a training program does next is decided as for the
// native engine (sim/iteration/). Every communication is simulated.
#include "sim/iteration.hpp"
#include "sim/engines/simgrid/library/changing_fifo.hpp"
#include "sim/engines/simgrid/library/network.hpp"
#include "sim/engines/simgrid/library/precedence.hpp"
#include "sim/engines/simgrid/library/replay.hpp"
#include "sim/iteration/iteration_run.hpp"
#include "sim/iteration/placed_shapes.hpp"
#include "sim/iteration/plan_instances.hpp"
#include "sim/iteration/training_execution.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// The rules with the network's events, as IterationRun wants them.
class PlansOnSimGrid {
public:
  using Instances = PlanInstances<Precedence>;

  PlansOnSimGrid(const Topology& topology, Instances instances, const IterationOptions& options,
                 SimGridNetwork& network)
      : events_(options.events),
        fifo_(topology, std::move(instances), options.model, false, network) {}

  [[nodiscard]] Instances& transfers() { return fifo_.transfers(); }
  [[nodiscard]] const Instances& transfers() const { return fifo_.transfers(); }
  void begin_instant() { fifo_.begin_instant(); }
  void begin() { change(0); }
  void change(std::int64_t now) {
    std::size_t due = 0;
    while (due < events_.size() && events_[due].at.ps <= now) ++due;
    fifo_.apply(events_.first(due));
    events_ = events_.subspan(due);
  }
  [[nodiscard]] std::int64_t next_network_change() const {
    return events_.empty() ? EventQueue::never : events_.front().at.ps;
  }
  void handle(const Event& event) { fifo_.happened({event.kind, event.subject}); }
  void serve(std::int64_t) { fifo_.serve(); }
  void start_part(std::size_t slot, std::int64_t) { transfers().start_part(slot, fifo_); }
  void start_member(std::size_t slot, std::uint32_t member, std::int64_t) {
    for (const std::uint32_t transfer : transfers().start_member(slot, member, fifo_))
      fifo_.take_in_late(transfer);
  }
  [[nodiscard]] const Report& report() { return fifo_.finish(); }
  [[nodiscard]] std::string blocked_text() const { return fifo_.blocked_text(); }

private:
  std::span<const NetworkEvent> events_; // to come
  ChangingFifo<Instances> fifo_;
};

/// The hosts.
struct SimGridNpus {
  SimGridNetwork& network;
  void start_at(std::uint32_t npu, std::int64_t start) const {
    network.at(Time{start}, {static_cast<std::uint32_t>(RunEvent::started), npu});
  }
  void launch_at(std::int64_t, std::uint32_t launch, std::int64_t at) const {
    network.at(Time{at}, {static_cast<std::uint32_t>(RunEvent::launched), launch});
  }
  void compute(std::int64_t, const TrainingExecution::Computation& computation) const {
    network.compute(computation.npu, computation.work,
                    {static_cast<std::uint32_t>(RunEvent::computed), computation.npu});
  }
};

/// In picoseconds of its work a second, of an NPU that has its whole speed.
constexpr double whole_speed = 1e12;

std::vector<double> speeds_of(const Workload& workload, const IterationOptions& options) {
  std::vector<double> speeds(workload.places.size(), whole_speed);
  for (std::size_t npu = 0; npu < options.compute_shares.size(); ++npu)
    speeds[npu] *= options.compute_shares[npu].millionths / 1e6;
  return speeds;
}

class IterationOnSimGrid : NetworkUser {
public:
  IterationOnSimGrid(const Topology& topology, const Workload& workload, const WorkloadPlans& plans,
                     const IterationOptions& options)
      : shapes_(topology, workload, plans, options), waiting_(waiting_of<Precedence>(shapes_)),
        network_(topology, *this, speeds_of(workload, options)),
        plans_(topology,
               PlansOnSimGrid::Instances(shapes_, waiting_, PriorityLevels(workload).count()),
               options, network_),
        run_(workload, plans, shapes_, options, plans_, folding_, npus_) {
    network_.at(Time{}, {static_cast<std::uint32_t>(FifoKind::begin), 0});
    for (const NetworkEvent& event : options.events)
      if (event.at > Time{})
        network_.at(event.at, {static_cast<std::uint32_t>(FifoKind::change), 0});
  }

  IterationReport run() {
    network_.run();
    return run_.finish();
  }

private:
  void begin_instant() override {
    if (!run_.is_over()) network_.check_clock();
    plans_.begin_instant();
  }
  void happened(const Happening& happening) override {
    const std::int64_t now = network_.now().ps;
    switch (static_cast<FifoKind>(happening.kind)) {
    case FifoKind::begin: (void)run_.begin(); break;
    case FifoKind::change:
      if (run_.next_change() <= now) run_.change(now);
      break;
    default: run_.handle({now, happening.subject, happening.kind});
    }
  }
  void serve() override { run_.serve(network_.now().ps); }

  PlacedShapes shapes_;
  std::vector<Precedence> waiting_; // per shape
  SimGridNetwork network_;
  PlansOnSimGrid plans_;
  NoFolding folding_;
  SimGridNpus npus_{network_};
  IterationRun<PlansOnSimGrid, NoFolding, SimGridNpus> run_;
};

} // namespace

IterationReport simulate_iteration_on_simgrid(const Topology& topology, const Workload& workload,
                                              const WorkloadPlans& plans,
                                              const IterationOptions& options) {
  return IterationOnSimGrid(topology, workload, plans, options).run();
}

} // namespace tutti
