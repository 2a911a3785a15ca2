// The store of a sweep: one SQLite file (WAL) with a row for each point. Killed at any instant it
// loses nothing that was finished, and several processes of one machine may work on it at once.
//
// Tables:
//   sweep(name TEXT PRIMARY KEY, value TEXT): format (3), name (of the sweep), toml (its text),
//     fingerprint, tutti (version), rows (tally of those with a position), checksum (of sweep and
//     columns)
//   columns(name TEXT PRIMARY KEY, role TEXT, unit TEXT, place INTEGER): members of the documents
//     that are the sweep's; role: parameter, derived, fact, result; unit: of its numbers ("" none)
//   owners(id INTEGER PRIMARY KEY, host TEXT, process INTEGER, began TEXT): who works or worked on
//     it; an owner that is alive locks the byte `id` of the file STORE-owners
//   points: id INTEGER PRIMARY KEY; position INTEGER (in the sweep; NULL: of an earlier form of the
//     sweep, kept); key TEXT UNIQUE (of all that decides the results); status TEXT; owner INTEGER
//     (of the claim, or who finished it); expected_work REAL; entered_sum, result_sum INTEGER
//     (checksums, see store_file.hpp; NULL where there is no position, or nothing is finished);
//     entered TEXT (its values) and results TEXT (what came of it; NULL: nothing yet), documents as
//     point_documents.hpp has them
// A store of an older format is refused.
#pragma once

#include "experiments/driver/sweep/space/point_results.hpp"
#include "experiments/driver/sweep/space/point_table.hpp"
#include "experiments/driver/sweep/space/points.hpp"
#include "experiments/driver/sweep/space/sweep.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::sweep {

/// A part of a sweep's points: those whose position modulo `count` is `index`.
struct Shard {
  std::size_t index = 0, count = 1;
};
/// "3/16", from 0/16 to 15/16. Errors: InputError.
[[nodiscard]] Shard parse_shard(std::string_view text);

struct FinishedPoint {
  std::size_t position = 0;
  PointResults results;
};

class Store {
public:
  /// Opens it for the sweep, or makes it. Errors: InputError for a store of another sweep or
  /// format, a file that is no store, a folder or file that can't be written.
  /// All members: InputError where the disk is full or SQLite reports an error; the file stays
  /// whole.
  static Store open(const std::string& file, const Sweep& sweep);
  /// For reading only what is there; never makes a file. Errors: InputError also for the store of
  /// another sweep than this one, if one is named.
  static Store open_to_read(const std::string& file, const std::string& sweep = "");
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// Makes rows for the points that have none, and numbers all: rows that the sweep doesn't have
  /// any more lose their position and stay. Finished rows with the same key stay finished.
  /// `retry`: rows that were timed out, out of memory, crashed or defects are pending again.
  /// Rows of owners that are gone are pending again, and so are damaged ones: damage() names them.
  /// In one transaction.
  void prepare(const PointSpace& space, std::optional<Shard> shard, bool retry);
  /// What prepare() and merge() found damaged, in words of a line each; else empty.
  [[nodiscard]] const std::string& damage() const;

  /// Records what is finished and claims up to `wanted` pending points, the longest expected first
  /// (of equals the first position): their positions. In one transaction, on disk when it returns.
  /// Pre: prepare(). Errors: also InputError where another process has prepared the store for
  /// another form of the sweep since; what is finished is recorded all the same.
  std::vector<std::size_t> record_and_claim(std::span<const FinishedPoint> finished,
                                            std::size_t wanted);
  /// Claims of owners that are gone become pending again; how many.
  std::size_t reclaim();
  /// What this process has claimed and not finished becomes pending.
  void give_back();

  /// Points of the sweep, by status.
  [[nodiscard]] std::map<PointStatus, std::size_t> counts() const;

  /// Takes the finished points of another store of the same sweep that aren't finished here; how
  /// many. Points that have no row here are of another form of the sweep and stay behind, so
  /// prepare() comes first. Damaged rows aren't taken: damage() names them.
  std::size_t merge(const std::string& other_file);

  /// Text of the sweep that made it.
  [[nodiscard]] std::string sweep_toml() const;
  /// Points of the sweep in order, with these columns (of `columns`, or status, message, key,
  /// cpu_seconds ...); empty: all of `columns`. Booleans are the numbers 1 and 0. Errors: also
  /// InputError where a row isn't as it was written, or one is missing.
  [[nodiscard]] PointTable table(std::span<const std::string> names = {}) const;

private:
  class Implementation;
  explicit Store(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

} // namespace tutti::sweep
