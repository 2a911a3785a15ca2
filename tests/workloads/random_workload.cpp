#include "tests/workloads/random_workload.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace tutti::samples {

namespace {

class Maker {
public:
  Maker(Random& random, std::uint32_t npus) : random_(random), npus_(npus) {
    made_.name = "random";
    made_.iterations = 1 + below(3);
    made_.items = below(100);
    made_.flops = 1e18 / 3;
    made_.item = "token";
    for (std::uint32_t n = 0; n < npus; ++n) made_.places.push_back({n, {}});
    made_.programs.resize(npus);
  }

  Workload make(std::uint32_t events) {
    for (std::uint32_t event = 0; event < events; ++event) {
      switch (below(3)) {
      case 0: compute(); break;
      case 1: collective(); break;
      default: send(); break;
      }
    }
    return std::move(made_);
  }

private:
  std::uint32_t below(std::uint64_t bound) {
    return static_cast<std::uint32_t>(random_.below(bound));
  }

  std::uint32_t new_name() {
    made_.names.push_back("operation " + std::to_string(made_.names.size()));
    return static_cast<std::uint32_t>(made_.names.size() - 1);
  }

  void add(std::uint32_t npu, const Operation& operation) {
    std::vector<std::uint32_t> after;
    for (std::uint32_t i = 0; i < made_.programs[npu].size(); ++i)
      if (below(3) == 0) after.push_back(i);
    made_.programs[npu].add(operation, after);
  }

  void compute() {
    Operation operation;
    operation.name = new_name();
    operation.amount = below(2) == 0 ? below(5'000'000) : 1'000'000 * below(5);
    add(below(npus_), operation);
  }

  /// One that is there, or a new one of `size` members in random order.
  std::uint32_t group(std::uint32_t size) {
    for (std::uint32_t g = 0; g < made_.groups.size(); ++g)
      if (made_.groups[g].size() == size && below(2) == 0) return g;
    std::vector<NodeId> members;
    for (std::uint32_t n = 0; n < npus_; ++n) members.emplace_back(n);
    random_.shuffle(members);
    members.resize(size);
    const auto index = static_cast<std::uint32_t>(made_.groups.size());
    for (const NodeId member : members) made_.places[member.value].groups.push_back(index);
    made_.groups.push_back(std::move(members));
    tags_.push_back(below(1000));
    return index;
  }

  std::uint32_t role(std::uint32_t npu, std::uint32_t group) const {
    const std::vector<std::uint32_t>& groups = made_.places[npu].groups;
    return static_cast<std::uint32_t>(std::find(groups.begin(), groups.end(), group) -
                                      groups.begin());
  }

  Operation communication(std::uint32_t group) {
    Operation operation;
    operation.name = new_name();
    operation.purpose = static_cast<Purpose>(below(purpose_count));
    operation.priority = static_cast<std::uint8_t>(below(8));
    operation.amount = 1 + below(std::uint64_t{1} << (1 + below(30)));
    tags_[group] += 1 + below(3);
    operation.tag = tags_[group];
    return operation;
  }

  void collective() {
    const std::uint32_t g = group(1 + below(npus_));
    Operation operation = communication(g);
    operation.kind = Operation::Kind::collective;
    operation.collective = basic_collectives()[below(basic_collectives().size())];
    if (has_root(operation.collective)) operation.root = below(made_.groups[g].size());
    for (const NodeId member : made_.groups[g]) {
      operation.role = role(member.value, g);
      add(member.value, operation);
    }
  }

  void send() {
    const std::uint32_t g = group(2);
    Operation operation = communication(g);
    const std::uint32_t from = below(2);
    for (std::uint32_t end = 0; end < 2; ++end) {
      const std::uint32_t npu = made_.groups[g][end].value;
      operation.kind = end == from ? Operation::Kind::send : Operation::Kind::receive;
      operation.role = role(npu, g);
      add(npu, operation);
    }
  }

  Random& random_;
  std::uint32_t npus_;
  Workload made_;
  std::vector<std::uint32_t> tags_; // [group]: the last
};

} // namespace

Workload random_workload(Random& random, std::uint32_t npus, std::uint32_t events) {
  return Maker(random, npus).make(events);
}

} // namespace tutti::samples
