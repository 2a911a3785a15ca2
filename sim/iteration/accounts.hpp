// Where every NPU's time goes (TimeAccount).
//
// An NPU that has computed nothing since `idle` waits for the operation that gates what comes next:
// the one that is over last among all that it depends on. Back from there, along the gates, lies
// what the time went into: while communication was under way it was exposed, while it was reached
// and hadn't begun another NPU was waited for. Before its start an NPU waits, too.
#pragma once

#include "sim/iteration.hpp"
#include "sim/iteration/npu_programs.hpp"
#include "sim/units.hpp"
#include "sim/workload.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

class Accounts {
public:
  explicit Accounts(const NpuPrograms& programs);

  /// A computation begins, and the time since the last one is accounted for.
  void begin_computing(std::uint32_t npu, std::uint32_t operation, std::int64_t now);
  void end_computing(std::uint32_t npu, std::int64_t now);

  /// Communication comes under way at an NPU, and is over there.
  void begin_communicating(std::uint32_t npu, Purpose purpose, std::int64_t now);
  void end_communicating(std::uint32_t npu, Purpose purpose, std::int64_t now);

  /// Accounts for the time after each NPU's last computation. Pre: all operations are over.
  void close(Time duration, IterationReport& report);

private:
  struct UnderWay {
    std::uint32_t count = 0;
    std::int64_t since = 0;
    Time total;
  };
  struct Npu {
    TimeAccount account;
    std::int64_t idle = 0; ///< since when nothing is computed; of a computation: its begin
    std::array<UnderWay, purpose_count> under_way;
  };

  void explain(std::uint32_t npu, std::uint32_t gate, std::int64_t until);

  const NpuPrograms& programs_;
  std::vector<Npu> npus_;
};

} // namespace tutti
