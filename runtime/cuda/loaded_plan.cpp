// Where on its GPUs everything of a plan lies: what a block waits for is in its own GPU's memory,
// what it tells others in theirs.
#include "runtime/cuda/loaded_plan.cuh"

#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <type_traits>

namespace tutti::runtime {

namespace {

/// A float, double or int32 of these is none that small whole numbers add up to.
constexpr int poison_byte = 0xA5;

/// What an allocation takes is a multiple of this.
constexpr std::uint64_t allocation_step = 512;

std::uint64_t allocated(std::uint64_t bytes) {
  return (bytes + allocation_step - 1) / allocation_step * allocation_step;
}

/// One for each message, and one that is never raised, for who receives more than is sent.
std::size_t flags_of(const Connection& connection) { return connection.messages + std::size_t{1}; }

template <typename T> std::size_t count_of(const std::vector<T>& values) { return values.size(); }
std::size_t count_of(std::size_t count) { return count; }

/// ns: of the path with the most.
std::uint64_t longest_latency(const Plan& plan) {
  double longest = 0;
  for (const Connection& connection : plan.connections) {
    double seconds = 0;
    for (std::uint32_t i = 0; i < connection.links; ++i)
      seconds += plan.links[plan.path_links[connection.first_link + i]].latency_seconds;
    longest = std::max(longest, seconds);
  }
  return static_cast<std::uint64_t>(std::ceil(longest * 1e9));
}

} // namespace

LoadedPlan::LoadedPlan(const Plan& plan, const Devices& devices, std::uint64_t beside)
    : plan_(plan), devices_(devices), arenas_(plan.arenas.size()), on_(devices.distinct.size()),
      stopped_(plan.blocks.size()) {
  share_blocks();
  const std::vector<FlagCounts> flags = count_flags();
  for (std::size_t d = 0; d < on_.size(); ++d) check_memory(d, flags[d], beside);
  for (std::size_t d = 0; d < on_.size(); ++d) load(d, flags[d]);
  link_devices(flags);
}

void LoadedPlan::share_blocks() {
  for (std::uint32_t b = 0; b < plan_.blocks.size(); ++b) {
    const std::size_t gpu = index_of(plan_.blocks[b].rank);
    if (shares_.empty() || shares_.back().gpu != gpu) shares_.push_back({gpu, b, 0});
    ++shares_.back().count;
  }
}

std::vector<LoadedPlan::FlagCounts> LoadedPlan::count_flags() const {
  std::vector<FlagCounts> flags(on_.size());
  for (const Connection& connection : plan_.connections) {
    flags[index_of(connection.to)].arrived += flags_of(connection);
    ++flags[index_of(connection.from)].emptied;
  }
  return flags;
}

/// For all but arenas: visit(array, its values or how many there are, and where its address belongs
/// in a RunView if it does).
template <typename Visit>
void LoadedPlan::visit_arrays(std::size_t device, const FlagCounts& flags, const Visit& visit) {
  OnOne& on = on_[device];
  visit(on.blocks, plan_.blocks, &RunView::blocks);
  visit(on.steps, plan_.steps, &RunView::steps);
  visit(on.connections, plan_.connections, &RunView::connections);
  visit(on.path_links, plan_.path_links, &RunView::path_links);
  visit(on.links, plan_.links, &RunView::links);
  visit(on.groups, plan_.groups, &RunView::groups);
  visit(on.link_groups, plan_.link_groups, &RunView::link_groups);
  visit(on.arenas, arenas_.size(), &RunView::arenas);
  visit(on.flags, plan_.connections.size(), &RunView::flags);
  visit(on.arrived, flags.arrived);
  visit(on.emptied, flags.emptied);
  visit(on.steps_over, plan_.blocks.size(), &RunView::steps_over);
  visit(on.link_free, plan_.links.size(), &RunView::link_free);
  visit(on.group_free, plan_.groups.size(), &RunView::group_free);
  visit(on.ready_at, plan_.links.empty() ? 0 : plan_.steps.size(), &RunView::ready_at);
  visit(on.came, std::size_t{1});
  visit(on.ready, shares_.size());
  visit(on.all_ready, shares_.size());
  visit(on.times, plan_.blocks.size());
}

void LoadedPlan::check_memory(std::size_t device, const FlagCounts& flags, std::uint64_t beside) {
  std::uint64_t arenas = 0, ranks = 0, arrays = beside;
  for (std::uint32_t rank = 0; rank < arenas_.size(); ++rank) {
    if (index_of(rank) != device) continue;
    arenas += allocated(plan_.arenas[rank].size);
    ++ranks;
  }
  visit_arrays(device, flags, [&](const auto& array, const auto& values, auto...) {
    arrays += allocated(count_of(values) * sizeof(*array.data()));
  });
  const OnDevice current(devices_.distinct[device]);
  const DeviceMemory memory = device_memory();
  if (arenas + arrays <= memory.free) return;
  throw InputError("too little memory on GPU " + std::to_string(devices_.distinct[device]) +
                   ": the buffers of " + std::to_string(ranks) + " ranks need " +
                   std::to_string(arenas) + " bytes, steps and flags " + std::to_string(arrays) +
                   ", together " + std::to_string(arenas + arrays) + "; of " +
                   std::to_string(memory.all) + " are " + std::to_string(memory.free) + " free");
}

void LoadedPlan::load(std::size_t device, const FlagCounts& flags) {
  const OnDevice current(devices_.distinct[device]);
  for (std::uint32_t rank = 0; rank < arenas_.size(); ++rank)
    if (index_of(rank) == device) arenas_[rank] = DeviceArray<std::byte>(plan_.arenas[rank].size);
  RunView& view = on_[device].view;
  visit_arrays(device, flags, [&](auto& array, const auto& values, auto... member) {
    array = std::remove_reference_t<decltype(array)>(values);
    ((view.*member = array.data()), ...);
  });
  view.crosses_devices = on_.size() > 1;
  view.stopped = stopped_.data();
}

/// Cuts each device's flags into those of its connections.
std::vector<ConnectionFlags> LoadedPlan::connect(std::vector<FlagCounts> flags) const {
  std::vector<ConnectionFlags> all;
  for (const Connection& connection : plan_.connections) {
    const std::size_t to = index_of(connection.to), from = index_of(connection.from);
    flags[to].arrived -= flags_of(connection);
    --flags[from].emptied;
    all.push_back({on_[to].arrived.data() + flags[to].arrived,
                   on_[from].emptied.data() + flags[from].emptied});
  }
  return all;
}

/// Tells each device where the others have what it reaches for.
void LoadedPlan::link_devices(const std::vector<FlagCounts>& flags) {
  const std::vector<ConnectionFlags> connections = connect(flags);
  std::vector<std::byte*> arenas;
  for (const auto& arena : arenas_) arenas.push_back(arena.data());
  std::vector<std::uint32_t*> ready;
  for (const BlocksOfGpu& share : shares_) ready.push_back(on_[share.gpu].ready.data());
  for (std::size_t d = 0; d < on_.size(); ++d) {
    const OnDevice current(devices_.distinct[d]);
    on_[d].flags.write(connections, 0);
    on_[d].arenas.write(arenas, 0);
    on_[d].all_ready.write(ready, 0);
  }
}

std::size_t LoadedPlan::index_of(std::uint32_t rank) const {
  const auto at = std::ranges::lower_bound(devices_.distinct, devices_.of_rank[rank]);
  return static_cast<std::size_t>(at - devices_.distinct.begin());
}

StartBarrier LoadedPlan::start_barrier(std::size_t share) const {
  const OnOne& on = on_[shares_[share].gpu];
  StartBarrier start;
  start.gpu = static_cast<std::uint32_t>(share);
  start.gpus = static_cast<std::uint32_t>(shares_.size());
  start.blocks = shares_[share].count;
  start.came = on.came.data();
  start.ready = on.all_ready.data();
  start.times = on.times.data();
  return start;
}

void LoadedPlan::poison() {
  for (std::size_t rank = 0; rank < arenas_.size(); ++rank) {
    const OnDevice current(devices_.of_rank[rank]);
    arenas_[rank].set_bytes(poison_byte);
  }
}

void LoadedPlan::reset() {
  stopped_.clear();
  for (std::size_t d = 0; d < on_.size(); ++d) {
    const OnDevice current(devices_.distinct[d]);
    const auto clear = [](auto&... arrays) { (arrays.set_bytes(0), ...); };
    OnOne& on = on_[d];
    clear(on.arrived, on.emptied, on.steps_over, on.link_free, on.group_free, on.came, on.ready,
          on.times);
  }
}

std::uint64_t LoadedPlan::steps_over() const {
  std::uint64_t sum = 0;
  for (const OnOne& on : on_) {
    std::vector<std::uint32_t> steps(plan_.blocks.size());
    on.steps_over.read(steps, 0);
    sum = std::accumulate(steps.begin(), steps.end(), sum);
  }
  return sum;
}

std::uint32_t LoadedPlan::came(std::size_t share) const {
  std::uint32_t came = 0;
  on_[shares_[share].gpu].came.read({&came, 1}, 0);
  return came;
}

std::vector<BlockTime> LoadedPlan::times(std::size_t share) const {
  std::vector<BlockTime> times(shares_[share].count);
  on_[shares_[share].gpu].times.read(times, shares_[share].first);
  return times;
}

std::uint64_t LoadedPlan::last_due() const {
  std::uint64_t taken = 0;
  for (const auto* clocks : {&on_.front().link_free, &on_.front().group_free}) {
    std::vector<std::uint64_t> free(clocks->size());
    clocks->read(free, 0);
    for (const std::uint64_t clock : free) taken = std::max(taken, clock);
  }
  return taken == 0 ? 0 : taken + longest_latency(plan_);
}

} // namespace tutti::runtime
