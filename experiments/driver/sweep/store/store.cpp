// All that must survive a kill -9 happens in transactions that end on disk: claims and results of
// points, and what a changed study makes of the rows. What nobody finished is found by its owner's
// lock, which the kernel takes away with the process (store_owners), so that neither clocks nor
// heartbeats decide who is dead. Rows say by their own checksums whether they are whole
// (store_checks); damaged ones are dropped and simulated again rather than trusted.
#include "experiments/driver/sweep/store/store.hpp"

#include "experiments/driver/records/provenance.hpp"
#include "experiments/driver/sweep/store/database.hpp"
#include "experiments/driver/sweep/store/store_checks.hpp"
#include "experiments/driver/sweep/store/store_owners.hpp"
#include "experiments/driver/sweep/store/store_tables.hpp"
#include "experiments/driver/sweep/store/stored_table.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace tutti::sweep {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_shards = 1'000'000;

// What it takes to finish a row, without the results.
constexpr const char* finish_columns = "status = ?2, message = ?3, tutti = ?4, commit_id = ?5, "
                                       "cpu_seconds = ?6, synthesis_seconds = ?7, peak_bytes = ?8";
constexpr int first_result_parameter = 10; // behind ?9, the owner

// A condition on positions; empty: all.
std::string condition(const std::optional<Shard>& shard) {
  return shard ? fmt::format(" AND position % {} = {}", shard->count, shard->index) : "";
}

constexpr const char* unfinished = "('pending', 'running')";

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
  Implementation(const std::string& file, const Study& study)
      : study_toml_(study.toml), results_(result_columns(study.experiment->kind())) {
    if (is_there(file)) { // before anything is made beside it
      Database database(file, Database::Mode::write);
      if (!is_empty(database)) require_study(database, study.name);
    }
    owners_.emplace(file);
    owners_->alone([&] {
      database_.emplace(file, Database::Mode::create);
      if (is_empty(*database_)) make_schema(*database_);
      database_->run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
      Transaction transaction(*database_);
      if (!study_text(*database_, "name")) describe(study);
      if (require_study(*database_, study.name) < first_with_sums) add_sums();
      enter_owner();
      transaction.commit();
    });
    has_sums_ = true;
    const Provenance provenance = find_provenance();
    tutti_ = provenance.tutti;
    commit_ = provenance.commit;
  }

  explicit Implementation(const std::string& file) {
    if (!is_there(file)) throw InputError(file + ": there is no such store");
    database_.emplace(file, Database::Mode::read);
    has_sums_ = require_store(*database_) >= first_with_sums;
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

  // The order matters: damage is looked for before columns change, since sums are of columns.
  void prepare(const PointSpace& space, std::optional<Shard> shard, bool retry) {
    shard_ = shard;
    fingerprint_ = fingerprint_of(space);
    Transaction transaction(*database_);
    require_whole_structure(*database_);
    require_whole_description(*database_);
    const CheckedColumns before = checked_columns(*database_);
    drop_damaged(before);
    set_columns(*database_, columns_of(space, results_));
    const CheckedColumns now = checked_columns(*database_);
    if (now.results != before.results) sum_results(now);
    enter_points(*database_, space, shard_, study_text(*database_, "fingerprint") != fingerprint_);
    set_study_text(*database_, "toml", study_toml_);
    set_study_text(*database_, "fingerprint", fingerprint_);
    set_study_text(*database_, "tutti", tutti_version());
    if (retry)
      database_->run(
          fmt::format("UPDATE points SET status = 'pending', {} WHERE position IS NOT NULL AND "
                      "status IN ('timed_out', 'out_of_memory', 'crashed', 'defect')",
                      no_results(now)) +
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
    const bool same_study = study_text(*database_, "fingerprint") == fingerprint_;
    const std::vector<std::pair<std::size_t, std::int64_t>> claimed =
        same_study ? claim(wanted) : std::vector<std::pair<std::size_t, std::int64_t>>{};
    transaction.commit();
    for (const FinishedPoint& each : finished) claims_.erase(each.position);
    if (!same_study)
      throw InputError(database_->file() + ": another sweep has changed the study meanwhile; what "
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
    std::vector<std::string> columns{"status",      "message",           "tutti",      "commit_id",
                                     "cpu_seconds", "synthesis_seconds", "peak_bytes", "owner"};
    std::string found_whole = "TRUE";
    {
      if (!is_there(other_file)) throw InputError(other_file + ": there is no such store");
      if (fs::equivalent(other_file, database_->file()))
        throw InputError(other_file + ": is the store itself");
      Database other(other_file, Database::Mode::read);
      if (require_study(other, *study_text(*database_, "name")) >= first_with_sums)
        found_whole = whole_rows_of(other);
      Statement names(other, "SELECT name FROM columns WHERE role = 'result'");
      while (names.step())
        if (is_result(names.text(0))) columns.emplace_back(names.text(0));
    }
    std::string assignments;
    for (const std::string& column : columns)
      assignments += (assignments.empty() ? "" : ", ") + quoted_name(column) + " = " +
                     (column == "owner" ? "NULL" : "other." + quoted_name(column));
    Statement attach(*database_, "ATTACH ?1 AS merged");
    attach.bind(1, std::string_view(other_file));
    attach.run();
    const auto detach = [&] { database_->run("DETACH merged"); };
    try {
      const std::size_t taken = take_merged(assignments, found_whole);
      detach();
      return taken;
    } catch (...) {
      detach();
      throw;
    }
  }

  [[nodiscard]] std::string study_toml() {
    return study_text(*database_, "toml").value_or(std::string{});
  }

  [[nodiscard]] PointTable table(std::span<const std::string> names) {
    return stored_table(*database_, names, has_sums_);
  }

private:
  // The store's format.
  static std::int64_t require_study(Database& database, const std::string& name) {
    const std::int64_t found = require_store(database);
    const std::string there = study_text(database, "name").value_or(name);
    if (there != name)
      throw InputError(fmt::format("{}: is the store of study \"{}\", not of \"{}\"",
                                   database.file(), there, name));
    return found;
  }

  // To a store of before there were checksums: of what is there.
  void add_sums() {
    const CheckedColumns columns = checked_columns(*database_);
    database_->run("ALTER TABLE points ADD COLUMN entered_sum INTEGER;"
                   "ALTER TABLE points ADD COLUMN result_sum INTEGER");
    database_->run(fmt::format("UPDATE points SET entered_sum = {} WHERE position IS NOT NULL;"
                               "UPDATE points SET {} WHERE status IN {}",
                               entered_sum(columns), no_results(columns), unfinished));
    sum_results(columns);
    set_study_text(*database_, "format", std::to_string(store_format));
    database_->run(fmt::format("PRAGMA user_version = {}", store_format));
    seal(*database_);
  }

  void sum_results(const CheckedColumns& columns) {
    database_->run(fmt::format("UPDATE points SET result_sum = {} WHERE status NOT IN {}",
                               result_sum(columns), unfinished));
  }

  // Rows that aren't as they were written go: those of points are then made anew.
  void drop_damaged(const CheckedColumns& columns) {
    std::vector<std::string> named;
    std::vector<std::int64_t> rows;
    {
      Statement damaged(*database_, "SELECT id, position, key FROM points NOT INDEXED WHERE NOT " +
                                        is_whole(columns));
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
    damage_ = damage_text(database_->file(), named) + ": what is of the study is simulated again";
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

  // The condition of rows of another store to be taken over.
  std::string whole_rows_of(Database& other) {
    require_whole_description(other);
    const CheckedColumns columns = checked_columns(other);
    std::vector<std::string> named;
    Statement damaged(other, "SELECT position, key FROM points WHERE NOT " + is_whole(columns));
    while (damaged.step()) named.push_back(row_text(damaged, 0, 1));
    if (!named.empty())
      damage_ +=
          (damage_.empty() ? "" : "\n") + damage_text(other.file(), named) + ": not taken over";
    return is_whole(columns, "other.");
  }

  void describe(const Study& study) {
    set_study_text(*database_, "format", std::to_string(store_format));
    set_study_text(*database_, "name", study.name);
    set_study_text(*database_, "toml", study.toml);
    set_study_text(*database_, "tutti", tutti_version());
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
    std::string results;
    std::vector<std::string> summed{"key", "?2", "?3", "?4", "?5", "?6", "?7", "?8"};
    for (std::size_t i = 0; i < results_.size(); ++i) { // as result_sum() has them
      summed.push_back(fmt::format("?{}", i + static_cast<std::size_t>(first_result_parameter)));
      results += fmt::format(", {} = {}", quoted_name(results_[i].name), summed.back());
    }
    results += ", result_sum = " + checksum_of(summed);
    finish_.emplace(*database_, fmt::format("UPDATE points SET {}{} WHERE id = ?1 AND owner = ?9 "
                                            "AND status = 'running'",
                                            finish_columns, results));
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
    const PointResults& results = finished.results;
    finish_->bind(1, claim->second);
    finish_->bind(2, to_text(results.status));
    finish_->bind(3, std::string_view(results.message));
    finish_->bind(4, std::string_view(tutti_));
    finish_->bind(5, std::string_view(commit_));
    finish_->bind(6, results.cpu_seconds);
    finish_->bind(7, results.synthesis_seconds);
    finish_->bind(8, results.peak_bytes);
    finish_->bind(9, owner_);
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const int parameter = static_cast<int>(i) + first_result_parameter;
      const auto number = results.numbers.find(results_[i].name);
      if (number == results.numbers.end())
        finish_->bind_nothing(parameter);
      else
        finish_->bind(parameter, number->second);
    }
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

  [[nodiscard]] bool is_result(std::string_view name) const {
    return std::any_of(results_.begin(), results_.end(),
                       [name](const ResultColumn& each) { return each.name == name; });
  }

  std::size_t take_merged(const std::string& assignments, const std::string& condition) {
    Transaction transaction(*database_);
    database_->run(fmt::format("UPDATE main.points SET {} FROM merged.points AS other "
                               "WHERE other.key = points.key AND points.status IN {} "
                               "AND other.status NOT IN {} AND {}",
                               assignments, unfinished, unfinished, condition));
    const auto taken = static_cast<std::size_t>(database_->changes());
    // Columns that only one of the stores has are sums of nothing there.
    database_->run(fmt::format("UPDATE points SET result_sum = {} WHERE result_sum IS NULL AND "
                               "status NOT IN {}",
                               result_sum(checked_columns(*database_)), unfinished));
    transaction.commit();
    return taken;
  }

  std::string study_toml_, fingerprint_, tutti_, commit_, damage_;
  bool has_sums_ = false;
  std::vector<ResultColumn> results_;
  std::optional<Shard> shard_;
  std::int64_t owner_ = 0;
  std::map<std::size_t, std::int64_t> claims_; // rows, by position
  std::optional<StoreOwners> owners_;          // unlocked after the last claim was given back
  std::optional<Database> database_;
  std::optional<Statement> finish_, next_, claim_; // finalized before the connection closes
};

Store Store::open(const std::string& file, const Study& study) {
  return Store(std::make_unique<Implementation>(file, study));
}

Store Store::open_to_read(const std::string& file) {
  return Store(std::make_unique<Implementation>(file));
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

std::string Store::study_toml() const { return implementation_->study_toml(); }

PointTable Store::table(std::span<const std::string> names) const {
  return implementation_->table(names);
}

} // namespace tutti::sweep
