#include "runtime/cuda/loaded_plan.cuh"

#include "sim/error.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace tutti::runtime {

namespace {

/// A float, double or int32 of these is none that small whole numbers add up to.
constexpr int poison_byte = 0xA5;

void check_memory(int device, std::uint64_t needed) {
  std::size_t free = 0, all = 0;
  check_cuda(cudaMemGetInfo(&free, &all), "asking for the GPU's free memory");
  if (needed > free)
    throw InputError("the ranks on GPU " + std::to_string(device) + " need " +
                     std::to_string(needed) + " bytes, of which " + std::to_string(free) +
                     " are free");
}

/// One for each message, and one that is never raised, for who receives more than is sent.
std::size_t flags_of(const Connection& connection) { return connection.messages + std::size_t{1}; }

} // namespace

LoadedPlan::LoadedPlan(const Plan& plan, const Devices& devices) : plan_(plan), devices_(devices) {
  make_arenas();
  load_arrays();
  connect();
}

void LoadedPlan::make_arenas() {
  arenas_.resize(plan_.arenas.size());
  for (const int device : devices_.distinct) {
    const OnDevice current(device);
    std::uint64_t needed = 0;
    for (std::size_t rank = 0; rank < arenas_.size(); ++rank)
      if (devices_.of_rank[rank] == device) needed += plan_.arenas[rank].size;
    check_memory(device, needed);
    for (std::size_t rank = 0; rank < arenas_.size(); ++rank)
      if (devices_.of_rank[rank] == device)
        arenas_[rank] = DeviceArray<std::byte>(plan_.arenas[rank].size);
  }
}

void LoadedPlan::load_arrays() {
  std::vector<std::byte*> arenas;
  for (const auto& arena : arenas_) arenas.push_back(arena.data());
  for (const int device : devices_.distinct) {
    const OnDevice current(device);
    OnOne& on = on_.emplace_back();
    on.blocks = DeviceArray<PlannedBlock>(plan_.blocks);
    on.steps = DeviceArray<PlannedStep>(plan_.steps);
    on.connections = DeviceArray<Connection>(plan_.connections);
    on.path_links = DeviceArray<std::uint32_t>(plan_.path_links);
    on.links = DeviceArray<EmulatedLink>(plan_.links);
    on.groups = DeviceArray<EmulatedGroup>(plan_.groups);
    on.link_groups = DeviceArray<std::uint32_t>(plan_.link_groups);
    on.arenas = DeviceArray<std::byte*>(arenas);
    on.steps_over = DeviceArray<std::uint32_t>(plan_.blocks.size());
    on.link_free = DeviceArray<std::uint64_t>(plan_.links.size());
    on.group_free = DeviceArray<std::uint64_t>(plan_.groups.size());
    on.stopped = DeviceArray<Stopped>(plan_.blocks.size());
  }
}

void LoadedPlan::connect() {
  std::vector<std::size_t> arrivals(on_.size()), senders(on_.size());
  for (const Connection& connection : plan_.connections) {
    arrivals[index_of(connection.to)] += flags_of(connection);
    ++senders[index_of(connection.from)];
  }
  for (std::size_t d = 0; d < on_.size(); ++d) {
    const OnDevice current(devices_.distinct[d]);
    on_[d].arrived = DeviceArray<std::uint64_t>(arrivals[d]);
    on_[d].emptied = DeviceArray<std::uint32_t>(senders[d]);
  }
  std::vector<ConnectionFlags> flags;
  for (const Connection& connection : plan_.connections) {
    const std::size_t to = index_of(connection.to), from = index_of(connection.from);
    arrivals[to] -= flags_of(connection);
    --senders[from];
    flags.push_back(
        {on_[to].arrived.data() + arrivals[to], on_[from].emptied.data() + senders[from]});
  }
  for (std::size_t d = 0; d < on_.size(); ++d) {
    const OnDevice current(devices_.distinct[d]);
    on_[d].flags = DeviceArray<ConnectionFlags>(flags);
  }
}

std::size_t LoadedPlan::index_of(std::uint32_t rank) const {
  const auto at = std::ranges::lower_bound(devices_.distinct, devices_.of_rank[rank]);
  return static_cast<std::size_t>(at - devices_.distinct.begin());
}

RunView LoadedPlan::view(std::size_t device) const {
  const OnOne& on = on_[device];
  RunView run;
  run.blocks = on.blocks.data();
  run.steps = on.steps.data();
  run.connections = on.connections.data();
  run.path_links = on.path_links.data();
  run.links = on.links.data();
  run.groups = on.groups.data();
  run.link_groups = on.link_groups.data();
  run.arenas = on.arenas.data();
  run.flags = on.flags.data();
  run.steps_over = on.steps_over.data();
  run.link_free = on.link_free.data();
  run.group_free = on.group_free.data();
  run.stopped = on.stopped.data();
  return run;
}

void LoadedPlan::poison() {
  for (std::size_t rank = 0; rank < arenas_.size(); ++rank) {
    const OnDevice current(devices_.of_rank[rank]);
    arenas_[rank].set_bytes(poison_byte);
  }
}

void LoadedPlan::reset() {
  for (std::size_t d = 0; d < on_.size(); ++d) {
    const OnDevice current(devices_.distinct[d]);
    on_[d].arrived.set_bytes(0);
    on_[d].emptied.set_bytes(0);
    on_[d].steps_over.set_bytes(0);
    on_[d].link_free.set_bytes(0);
    on_[d].group_free.set_bytes(0);
    on_[d].stopped.set_bytes(0);
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

std::vector<Stopped> LoadedPlan::stopped() const {
  std::vector<Stopped> all(plan_.blocks.size());
  for (std::size_t d = 0; d < on_.size(); ++d) {
    std::vector<Stopped> here(all.size());
    on_[d].stopped.read(here, 0);
    for (std::size_t block = 0; block < all.size(); ++block)
      if (devices_.of_rank[plan_.blocks[block].rank] == devices_.distinct[d])
        all[block] = here[block];
  }
  return all;
}

} // namespace tutti::runtime
