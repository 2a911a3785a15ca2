// All that must survive a kill -9 happens in transactions that end on disk: claims and results of
// points, and what a changed sweep makes of the rows. What nobody finished is found by its owner's
// lock, which the kernel takes away with the process (store_owners), so that neither clocks nor
// heartbeats decide who is dead. Rows say by their own checksums whether they are whole
// (store_checks); damaged ones are dropped and simulated again rather than trusted.
#include "experiments/driver/sweep/store/store.hpp"

#include "experiments/driver/records/provenance.hpp"
#include "experiments/driver/sweep/store/database.hpp"
#include "experiments/driver/sweep/store/point_documents.hpp"
#include "experiments/driver/sweep/store/store_file.hpp"
#include "experiments/driver/sweep/store/store_owners.hpp"
#include "experiments/driver/sweep/store/stored_table.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>
#include <utility>

#include <unistd.h>

namespace tutti::sweep {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_shards = 1'000'000;

// A condition on positions; empty: all.
std::string condition(const std::optional<Shard>& shard) {
  return shard ? fmt::format(" AND position % {} = {}", shard->count, shard->index) : "";
}

bool is_of(const Point& point, const std::optional<Shard>& shard) {
  return !shard || point.position % shard->count == shard->index;
}

// Whose store it is. Errors: InputError where that is another sweep.
void require_sweep(Database& database, const std::string& name) {
  require_store(database);
  const std::string there = sweep_text(database, "name").value_or(name);
  if (there != name)
    throw InputError(fmt::format("{}: is the store of sweep \"{}\", not of \"{}\"", database.file(),
                                 there, name));
}

} // namespace

Shard parse_shard(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '/');
  if (parts.size() != 2)
    throw InputError(fmt::format("shard \"{}\": write 0/16 to 15/16 for one of 16", text));
  constexpr auto most = static_cast<std::int64_t>(most_shards);
  const std::int64_t count = parse_integer(parts[1], "number of shards", 1, most);
  const std::int64_t index = parse_integer(parts[0], "shard", 0, count - 1);
  return {static_cast<std::size_t>(index), static_cast<std::size_t>(count)};
}

class Store::Implementation {
public:
  Implementation(const std::string& file, const Sweep& sweep)
      : sweep_toml_(sweep.toml), results_(result_columns(sweep.experiment->kind())) {
    if (is_there(file)) { // before anything is made beside it
      Database database(file, Database::Mode::write);
      if (!is_empty(database)) require_sweep(database, sweep.name);
    }
    owners_.emplace(file);
    owners_->alone([&] {
      database_.emplace(file, Database::Mode::create);
      database_->run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
      Transaction transaction(*database_);
      if (is_empty(*database_)) {
        make_tables(*database_);
        describe(sweep);
      }
      require_sweep(*database_, sweep.name);
      enter_owner();
      transaction.commit();
    });
    const Provenance provenance = find_provenance();
    tutti_ = provenance.tutti;
    commit_ = provenance.commit;
  }

  Implementation(const std::string& file, const std::string& sweep) {
    if (!is_there(file)) throw InputError(file + ": there is no such store");
    database_.emplace(file, Database::Mode::read);
    require_store(*database_);
    if (!sweep.empty()) require_sweep(*database_, sweep);
  }

  ~Implementation() {
    if (!owners_) return;
    try {
      give_back();
    } catch (const InputError&) { // whoever comes next finds the owner gone
      return;
    }
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  void prepare(const PointSpace& space, std::optional<Shard> shard, bool retry) {
    shard_ = shard;
    fingerprint_ = fingerprint_of(space);
    Transaction transaction(*database_);
    require_whole_structure(*database_);
    require_whole_description(*database_);
    drop_damaged();
    set_columns(*database_, space, results_);
    enter_points(space, sweep_text(*database_, "fingerprint") != fingerprint_);
    set_sweep_text(*database_, "toml", sweep_toml_);
    set_sweep_text(*database_, "fingerprint", fingerprint_);
    set_sweep_text(*database_, "tutti", tutti_version());
    if (retry)
      database_->run("UPDATE points SET status = 'pending', results = NULL, result_sum = NULL "
                     "WHERE position IS NOT NULL AND "
                     "status IN ('timed_out', 'out_of_memory', 'crashed', 'defect')" +
                     condition(shard_));
    free_abandoned();
    seal(*database_);
    transaction.commit();
    make_statements();
  }

  [[nodiscard]] const std::string& damage() const { return damage_; }

  std::vector<std::size_t> record_and_claim(std::span<const FinishedPoint> finished,
                                            std::size_t wanted) {
    if (finished.empty() && wanted == 0) return {};
    Transaction transaction(*database_);
    for (const FinishedPoint& each : finished) record(each);
    const bool same_sweep = sweep_text(*database_, "fingerprint") == fingerprint_;
    const std::vector<std::pair<std::size_t, std::int64_t>> claimed =
        same_sweep ? claim(wanted) : std::vector<std::pair<std::size_t, std::int64_t>>{};
    transaction.commit();
    for (const FinishedPoint& each : finished) claims_.erase(each.position);
    if (!same_sweep)
      throw InputError(database_->file() +
                       ": another process has changed the sweep meanwhile; what "
                       "was finished is kept, the same command goes on");
    std::vector<std::size_t> positions;
    for (const auto& [position, row] : claimed) {
      claims_[position] = row;
      positions.push_back(position);
    }
    return positions;
  }

  std::size_t reclaim() {
    Transaction transaction(*database_);
    const std::size_t freed = free_abandoned();
    transaction.commit();
    return freed;
  }

  void give_back() {
    if (claims_.empty()) return;
    Transaction transaction(*database_);
    (void)free_claims_of(owner_);
    transaction.commit();
    claims_.clear();
  }

  [[nodiscard]] std::map<PointStatus, std::size_t> counts() {
    std::map<PointStatus, std::size_t> counts;
    // Not grouped by SQLite, which would sort them.
    Statement statement(*database_,
                        "SELECT status FROM points WHERE position IS NOT NULL" + condition(shard_));
    std::string last;
    std::size_t* count = nullptr;
    while (statement.step()) {
      if (count == nullptr || statement.text(0) != last) {
        last = statement.text(0);
        count = &counts[status_words.parse(last)];
      }
      ++*count;
    }
    return counts;
  }

  std::size_t merge(const std::string& other_file) {
    if (!is_there(other_file)) throw InputError(other_file + ": there is no such store");
    if (fs::equivalent(other_file, database_->file()))
      throw InputError(other_file + ": is the store itself");
    Database other(other_file, Database::Mode::read);
    require_sweep(other, *sweep_text(*database_, "name"));
    require_whole_description(other);
    Transaction transaction(*database_);
    Statement rows(other, fmt::format("SELECT {}, {}, position, key, status, results, result_sum "
                                      "FROM points",
                                      is_whole(), is_unfinished));
    Statement take(*database_,
                   fmt::format("UPDATE points SET status = ?2, results = ?3, result_sum = ?4, "
                               "owner = NULL WHERE key = ?1 AND {}",
                               is_unfinished));
    std::vector<std::string> damaged;
    std::size_t taken = 0;
    while (rows.step()) {
      if (rows.integer(0) == 0) damaged.push_back(row_text(rows, 2, 3));
      if (rows.integer(0) == 0 || rows.integer(1) != 0) continue;
      for (const int text : {1, 2, 3}) take.bind(text, rows.text(text + 2));
      take.bind(4, rows.integer(6));
      take.run();
      taken += static_cast<std::size_t>(database_->changes());
    }
    transaction.commit();
    if (!damaged.empty())
      damage_ +=
          (damage_.empty() ? "" : "\n") + damage_text(other_file, damaged) + ": not taken over";
    return taken;
  }

  [[nodiscard]] std::string sweep_toml() {
    return sweep_text(*database_, "toml").value_or(std::string{});
  }

  [[nodiscard]] PointTable table(std::span<const std::string> names) {
    return stored_table(*database_, names);
  }

private:
  // Rows that aren't as they were written go: those of points are then made anew.
  void drop_damaged() {
    std::vector<std::string> named;
    std::vector<std::int64_t> rows;
    {
      Statement damaged(*database_,
                        "SELECT id, position, key FROM points NOT INDEXED WHERE NOT " + is_whole());
      while (damaged.step()) {
        rows.push_back(damaged.integer(0));
        named.push_back(row_text(damaged, 1, 2));
      }
    }
    if (!rows.empty() || !lists_all("pending") || !lists_all("running"))
      database_->run("REINDEX"); // from what the rows say
    if (rows.empty()) return;
    Statement drop(*database_, "DELETE FROM points WHERE id = ?1");
    for (const std::int64_t row : rows) {
      drop.bind(1, row);
      drop.run();
    }
    damage_ = damage_text(database_->file(), named) + ": what is of the sweep is simulated again";
  }

  // Whether the index of unfinished rows has those that there are.
  bool lists_all(const std::string& status) {
    const auto tally = [&](const std::string& index) {
      RowTally rows;
      Statement statement(
          *database_, fmt::format("SELECT id FROM points {} WHERE status = '{}'", index, status));
      while (statement.step()) rows.add(statement.integer(0));
      return rows.text();
    };
    return tally("NOT INDEXED") == tally("INDEXED BY points_" + status);
  }

  // Makes rows for the points of this shard that have none. Where the sweep has `changed`, all rows
  // are numbered anew: those that it doesn't have any more lose their position.
  void enter_points(const PointSpace& space, bool changed) {
    std::unordered_map<std::string, std::int64_t> rows; // by key; what is left isn't of the sweep
    Statement known(*database_, "SELECT key, id FROM points NOT INDEXED");
    while (known.step()) rows[std::string(known.text(0))] = known.integer(1);
    Statement insert(*database_,
                     "INSERT INTO points(position, key, expected_work, entered, status, "
                     "entered_sum) VALUES(?1, ?2, ?3, ?4, 'pending', "
                     "checksum(?1, ?2, ?3, ?4))");
    Statement update(*database_,
                     "UPDATE points SET position = ?1, expected_work = ?3, entered = ?4, "
                     "entered_sum = checksum(?1, ?2, ?3, ?4) WHERE id = ?5");
    for (const Point& point : space.points) {
      const auto row = rows.find(point.key);
      const bool is_new = row == rows.end();
      if (is_new ? is_of(point, shard_) : changed) {
        Statement& statement = is_new ? insert : update;
        statement.bind(1, static_cast<std::int64_t>(point.position));
        statement.bind(2, std::string_view(point.key));
        statement.bind(3, point.expected_work);
        statement.bind(4, std::string_view(entered_document(space, point)));
        if (!is_new) statement.bind(5, row->second);
        statement.run();
      }
      if (!is_new) rows.erase(row);
    }
    if (!changed) return;
    Statement drop(*database_,
                   "UPDATE points SET position = NULL, entered_sum = NULL WHERE id = ?1");
    for (const auto& [key, row] : rows) { // in any order: the effect is the same
      drop.bind(1, row);
      drop.run();
    }
  }

  void describe(const Sweep& sweep) {
    set_sweep_text(*database_, "format", std::to_string(store_format));
    set_sweep_text(*database_, "name", sweep.name);
    set_sweep_text(*database_, "toml", sweep.toml);
    set_sweep_text(*database_, "tutti", tutti_version());
    seal(*database_);
  }

  void enter_owner() {
    char host[256] = "";
    (void)::gethostname(host, sizeof host - 1);
    Statement enter(*database_, "INSERT INTO owners(host, process, began) "
                                "VALUES(?1, ?2, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))");
    enter.bind(1, std::string_view(host));
    enter.bind(2, std::int64_t{::getpid()});
    enter.run();
    owner_ = database_->single_integer("SELECT last_insert_rowid()").value();
    owners_->hold(owner_);
  }

  // Statements of a run, which are prepared once.
  void make_statements() {
    finish_.emplace(*database_, "UPDATE points SET status = ?2, results = ?3, result_sum = "
                                "checksum(key, ?2, ?3) WHERE id = ?1 AND owner = ?4 AND "
                                "status = 'running'");
    next_.emplace(*database_, "SELECT id FROM points WHERE status = 'pending' "
                              "AND position IS NOT NULL" +
                                  condition(shard_) +
                                  " ORDER BY expected_work DESC, position LIMIT ?1");
    // What the row itself says counts, not the index that it was found by.
    claim_.emplace(*database_, "UPDATE points NOT INDEXED SET status = 'running', owner = ?2 "
                               "WHERE id = ?1 AND status = 'pending' RETURNING position");
  }

  void record(const FinishedPoint& finished) {
    const auto claim = claims_.find(finished.position);
    if (claim == claims_.end()) return; // not ours
    finish_->bind(1, claim->second);
    finish_->bind(2, to_text(finished.results.status));
    finish_->bind(3, std::string_view(results_document(finished.results, tutti_, commit_)));
    finish_->bind(4, owner_);
    finish_->run();
  }

  // Positions and rows.
  std::vector<std::pair<std::size_t, std::int64_t>> claim(std::size_t wanted) {
    std::vector<std::pair<std::size_t, std::int64_t>> claimed;
    if (wanted == 0) return claimed;
    next_->bind(1, static_cast<std::int64_t>(wanted));
    std::vector<std::int64_t> rows;
    while (next_->step()) rows.push_back(next_->integer(0));
    for (const std::int64_t row : rows) {
      claim_->bind(1, row);
      claim_->bind(2, owner_);
      while (claim_->step())
        claimed.emplace_back(static_cast<std::size_t>(claim_->integer(0)), row);
    }
    return claimed;
  }

  std::size_t free_claims_of(std::int64_t owner) {
    Statement free(*database_, "UPDATE points SET status = 'pending', owner = NULL "
                               "WHERE status = 'running' AND owner = ?1");
    free.bind(1, owner);
    free.run();
    return static_cast<std::size_t>(database_->changes());
  }

  // Not those of a process that lives, however long it has been silent: a point may take hours.
  std::size_t free_abandoned() {
    std::vector<std::int64_t> owners;
    Statement claiming(*database_, "SELECT DISTINCT owner FROM points WHERE status = 'running'");
    while (claiming.step()) owners.push_back(claiming.integer(0));
    std::size_t freed = 0;
    for (const std::int64_t owner : owners)
      if (owner != owner_ && !owners_->is_alive(owner)) freed += free_claims_of(owner);
    return freed;
  }

  std::string sweep_toml_, fingerprint_, tutti_, commit_, damage_;
  std::vector<ResultColumn> results_;
  std::optional<Shard> shard_;
  std::int64_t owner_ = 0;
  std::map<std::size_t, std::int64_t> claims_; // rows, by position
  std::optional<StoreOwners> owners_;          // unlocked after the last claim was given back
  std::optional<Database> database_;
  std::optional<Statement> finish_, next_, claim_; // finalized before the connection closes
};

Store Store::open(const std::string& file, const Sweep& sweep) {
  return Store(std::make_unique<Implementation>(file, sweep));
}

Store Store::open_to_read(const std::string& file, const std::string& sweep) {
  return Store(std::make_unique<Implementation>(file, sweep));
}

Store::Store(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

void Store::prepare(const PointSpace& space, std::optional<Shard> shard, bool retry) {
  implementation_->prepare(space, shard, retry);
}

std::vector<std::size_t> Store::record_and_claim(std::span<const FinishedPoint> finished,
                                                 std::size_t wanted) {
  return implementation_->record_and_claim(finished, wanted);
}

const std::string& Store::damage() const { return implementation_->damage(); }

std::size_t Store::reclaim() { return implementation_->reclaim(); }
void Store::give_back() { implementation_->give_back(); }

std::map<PointStatus, std::size_t> Store::counts() const { return implementation_->counts(); }

std::size_t Store::merge(const std::string& other_file) {
  return implementation_->merge(other_file);
}

std::string Store::sweep_toml() const { return implementation_->sweep_toml(); }

PointTable Store::table(std::span<const std::string> names) const {
  return implementation_->table(names);
}

} // namespace tutti::sweep
