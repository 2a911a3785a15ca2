// Sweeps over real ranks, by mpirun on this machine. Without MPI there is nothing to test.
#include "experiments/driver/sweep/store/store.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"
#include "tests/sweep/sweep_samples.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>

#ifdef TUTTI_MPI_TRIAL

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

using namespace tutti;
using namespace tutti::sweep;

namespace {

using std::chrono::milliseconds;

struct Ended {
  int code = -1;
  std::string out, err;
};

// mpirun of four ranks with a program and its arguments.
class Launch {
public:
  Launch(const TemporaryFolder& folder, std::vector<std::string> words) : folder_(&folder) {
    std::vector<std::string> all{TUTTI_MPI_LAUNCHER, "--oversubscribe", "-n", "4"};
    all.insert(all.end(), words.begin(), words.end());
    process_ = ::fork();
    if (process_ != 0) return;
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    (void)!::freopen("/dev/null", "r", stdin);
    (void)!::freopen(folder.file("out").c_str(), "w", stdout);
    (void)!::freopen(folder.file("err").c_str(), "w", stderr);
    std::vector<char*> arguments;
    for (std::string& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ~Launch() {
    if (process_ > 0) (void)end();
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  [[nodiscard]] pid_t process() const { return process_; }

  // Kills it where it hangs.
  Ended end() {
    int status = 0;
    for (int i = 0; i < 3000 && ::waitpid(process_, &status, WNOHANG) == 0; ++i) {
      if (i == 2999) ::kill(process_, SIGKILL);
      std::this_thread::sleep_for(milliseconds(20));
    }
    process_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder_->file("out")),
            read_file(folder_->file("err"))};
  }

private:
  const TemporaryFolder* folder_;
  pid_t process_ = 0;
};

Ended run_trial(const TemporaryFolder& folder, int points, const std::string& what) {
  return Launch(folder, {TUTTI_MPI_TRIAL, folder.file("s"), std::to_string(points), what}).end();
}

std::vector<pid_t> children_of(const std::vector<pid_t>& parents) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string stat;
    if (!std::getline(file, stat) || stat.find(')') == std::string::npos) continue;
    std::istringstream words(stat.substr(stat.rfind(')') + 1));
    char state = 0;
    pid_t parent = 0;
    words >> state >> parent;
    if (std::find(parents.begin(), parents.end(), parent) != parents.end())
      children.push_back(std::atoi(entry.path().filename().c_str()));
  }
  return children;
}

std::map<PointStatus, std::size_t> counts(const TemporaryFolder& folder) {
  return Store::open_to_read(folder.file("s")).counts();
}

void wait_until_running(const TemporaryFolder& folder) {
  for (int i = 0; i < 1000; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    try {
      if (counts(folder).contains(PointStatus::running)) return;
    } catch (const InputError&) { // not there yet
    }
  }
}

std::size_t appearances(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at) ++count;
  return count;
}

} // namespace

TEST_CASE("four ranks simulate a sweep") {
  const TemporaryFolder folder;
  const Ended ended = run_trial(folder, 40, "quick");
  CHECK(ended.code == 0);
  CHECK(ended.out == "evaluated 40\n");
  const PointTable table = Store::open_to_read(folder.file("s")).table();
  REQUIRE(table.rows == 40);
  for (std::size_t k = 0; k < 40; ++k)
    CHECK(samples::column(table, "collective_time_s").numbers[k] ==
          std::sqrt(static_cast<double>(k)));
  CHECK(run_trial(folder, 40, "quick").out == "evaluated 0\n");
}

TEST_CASE("points that crash, or kill what starts them, are rows of a sweep over MPI") {
  const TemporaryFolder folder;
  CHECK(run_trial(folder, 40, "crash").out == "evaluated 40\n");
  CHECK(counts(folder) ==
        std::map<PointStatus, std::size_t>{{PointStatus::done, 38}, {PointStatus::crashed, 2}});
}

TEST_CASE("a point of a rank that is killed mid-way is a row, and the sweep goes on") {
  const TemporaryFolder folder;
  Launch launch(folder, {TUTTI_MPI_TRIAL, folder.file("s"), "12", "slow"});
  wait_until_running(folder);
  std::vector<pid_t> points;
  for (int i = 0; i < 1000 && points.empty(); ++i) { // mpirun, ranks, their servers, points
    std::this_thread::sleep_for(milliseconds(10));
    points = children_of(children_of(children_of({launch.process()})));
  }
  REQUIRE_FALSE(points.empty());
  ::kill(points.back(), SIGKILL);
  const Ended ended = launch.end();
  CHECK(ended.code == 0);
  CHECK(ended.out == "evaluated 12\n");
  CHECK(counts(folder) ==
        std::map<PointStatus, std::size_t>{{PointStatus::done, 11}, {PointStatus::crashed, 1}});
}

TEST_CASE("ranks that are ended mid-way leave a store that goes on") {
  const TemporaryFolder folder;
  {
    Launch launch(folder, {TUTTI_MPI_TRIAL, folder.file("s"), "40", "slow"});
    wait_until_running(folder);
    ::kill(launch.process(), SIGTERM);
    CHECK(launch.end().code != 0);
  }
  const auto found = counts(folder);
  const auto done = found.find(PointStatus::done);
  const std::size_t left = 40 - (done == found.end() ? 0 : done->second);
  CHECK(run_trial(folder, 40, "quick").out == fmt::format("evaluated {}\n", left));
  CHECK(counts(folder) == std::map<PointStatus, std::size_t>{{PointStatus::done, 40}});
}

TEST_CASE("bad input of rank 0 ends all ranks, with one message") {
  const TemporaryFolder folder;
  const Ended ended = run_trial(folder, 40, "no_points");
  CHECK(ended.code == 2);
  CHECK(appearances(ended.err, "trial: no points") == 1);
}

TEST_CASE("a sweep that no rank can read is one message") {
  const TemporaryFolder folder;
  const std::filesystem::path command =
      std::filesystem::path(TUTTI_COMMAND).replace_filename("tutti_mpi");
  write_file(folder.file("bad.toml"), "colour = 1\n");
  const Ended ended =
      Launch(folder, {command.string(), "sweep", folder.file("bad.toml"), "--engine", "mpi"}).end();
  CHECK(ended.code == 2);
  CHECK(appearances(ended.err, "tutti: ") == 1);
}

#else

TEST_CASE("four ranks simulate a sweep") { WARN("skipped: built without MPI"); }

#endif
