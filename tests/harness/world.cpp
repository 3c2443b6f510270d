// The ranks of a test program: start, count failures, report, end.
#include "tests/harness/world.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <vector>

#include <penstock/config.h>

#if PENSTOCK_HAVE_MPI
#include <penstock/mpi.hpp>

#include "tests/harness/wrapped_communicator.hpp"
#endif

namespace penstock::test {

namespace {

int64_t checked = 0, failed = 0;
int world_rank = 0;
std::string subject;

}  // namespace

#if PENSTOCK_HAVE_MPI
namespace {

// PENSTOCK_TEST_THREADS: single (the default), funneled, multiple.
int thread_level() {
  const char* wanted = std::getenv("PENSTOCK_TEST_THREADS");
  const std::string_view word = wanted == nullptr ? "single" : wanted;
  return word == "multiple" ? MPI_THREAD_MULTIPLE : word == "funneled" ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

// PENSTOCK_TEST_NODES: so many nodes to which the ranks are dealt in turn.
Communicator on_nodes(const Communicator& comm) {
  const char* wanted = std::getenv("PENSTOCK_TEST_NODES");
  if (wanted == nullptr) return comm;
  const int nodes = std::atoi(wanted);
  return std::make_shared<WrappedCommunicator>(comm, [=](int rank) { return rank % nodes; });
}

}  // namespace
#endif

World::World([[maybe_unused]] int* argc, [[maybe_unused]] char*** argv) : comm_(serial_communicator()) {
#if PENSTOCK_HAVE_MPI
  int provided = 0;
  MPI_Init_thread(argc, argv, thread_level(), &provided);
  MPI_Comm ranks = MPI_COMM_WORLD;
  if (std::getenv("PENSTOCK_SERVER_RANKS") != nullptr) {
    if (const Status split = split_servers(MPI_COMM_WORLD, &ranks); !split.ok()) {
      std::fprintf(stderr, "no server ranks: %s\n", split.message().c_str());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (ranks == MPI_COMM_NULL) {  // it has served
      MPI_Finalize();
      std::exit(0);
    }
  }
  auto comm = mpi_communicator(ranks);
  if (!comm) {
    std::fprintf(stderr, "no communicator: %s\n", comm.status().message().c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  comm_ = on_nodes(*comm);
#endif
  world_rank = comm_->rank();
}

World::~World() {
  (void)comm_->barrier();
  if (rank() == 0 && !folder_.empty()) std::filesystem::remove_all(folder_);
  comm_ = nullptr;
#if PENSTOCK_HAVE_MPI
  MPI_Finalize();
#endif
}

const std::string& World::folder() {
  if (!folder_.empty()) return folder_;
  std::vector<std::byte> name;
  if (rank() == 0) {
    std::string path = std::filesystem::current_path() / "penstock-test-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) std::perror(path.c_str());
    const auto chars = std::as_bytes(std::span(path));
    name.assign(chars.begin(), chars.end());
  }
  CHECK_OK(comm_->broadcast(name, 0), "the folder's name");
  folder_.assign(reinterpret_cast<const char*>(name.data()), name.size());
  return folder_;
}

int World::finish(std::string_view program) {
  int64_t sums[] = {checked, failed};
  if (!comm_->all_reduce_sum(sums)) return 1;
  if (rank() == 0)
    std::printf("%.*s: %d ranks, %lld checks, %lld failures\n", static_cast<int>(program.size()), program.data(),
                size(), static_cast<long long>(sums[0]), static_cast<long long>(sums[1]));
  std::fflush(stdout);
  return sums[1] == 0 ? 0 : 1;
}

int World::skip(std::string_view why) {
  say("skipped: " + std::string(why));
  (void)comm_->barrier();
  return skipped;
}

int64_t checks() { return checked; }
int64_t failures() { return failed; }

bool check(bool condition, std::string_view what, const char* file, int line) {
  ++checked;
  if (!condition && ++failed <= 20)
    std::fprintf(stderr, "%s:%d: rank %d: %s%s%.*s\n", file, line, world_rank, subject.c_str(),
                 subject.empty() ? "" : ": ", static_cast<int>(what.size()), what.data());
  return condition;
}

bool check_ok(const Status& status, std::string_view what, const char* file, int line) {
  if (status.ok()) return check(true, what, file, line);
  return check(false, std::string(what) + ": " + std::string(name(status.code())) + ": " + status.message(), file,
               line);
}

void say(std::string_view line) {
  if (world_rank != 0) return;
  std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
  std::fflush(stdout);
}

void about(std::string what) { subject = std::move(what); }

}  // namespace penstock::test
