// waiting: ranks that do not come: late, gone, stopped, in another call, thrown out. Within the limit the others get an
// error that names them, and the old file is there; after the publication the error says that it is in doubt.
#include "tests/mpi/waiting.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>

#include <penstock/stream.hpp>

#include "tests/harness/wrapped_communicator.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace penstock::test {
namespace {

struct Case {
  const char* name;
  std::function<Status(File& file)> odd, others;
};

// The file is there already; a new one is being written over it.
Status play(const std::string& path, const Case& one) {
  about(one.name);
  write_file(path, 40, 1);
  together();
  Status status;
  {
    auto file = File::create(fresh(), path);
    if (!CHECK_OK(file.status(), "create")) return {};
    CHECK_OK(put(*file, 40, 2), "put");
    status = ranks.is_odd() ? one.odd(*file) : one.others(*file);
  }
  together();
  return status;
}

Status commit(File& file) {
  return timed_out([&] { return file.commit(); });
}
Status patient_commit(File& file) {
  return within(most, [&] { return file.commit(); });
}
std::string odd_rank() { return fmt::format("rank {}", ranks.odd()); }

void returns_early(const std::string& path) {
  const Status status = play(path, {"returns early", [](File&) { return Status(); }, commit});
  if (!ranks.is_odd())
    expect(status, Code::timeout, {odd_rank(), fmt::format("(of {})", ranks.size), "commit of", "has not come"});
  check_same(status);
  check_file(path, 40, 1);
}

void comes_late(const std::string& path) {
  const Status status = play(path, {"comes late",
                                    [](File& file) {
                                      until_answered();
                                      return patient_commit(file);
                                    },
                                    [](File& file) {
                                      Status status = commit(file);
                                      say_answered();
                                      return status;
                                    }});
  expect(status, Code::timeout, {odd_rank(), "commit of"});
  check_same(status);
  check_file(path, 40, 1);
}

// Somebody may take his time as long as it is within the limit.
void comes_in_time(const std::string& path) {
  const Status status = play(path, {"comes in time",
                                    [](File& file) {
                                      ::usleep(static_cast<useconds_t>(limit * 1e6));
                                      return patient_commit(file);
                                    },
                                    patient_commit});
  CHECK_OK(status, "commit");
  check_file(path, 40, 2);
}

void calls_commit_twice(const std::string& path) {
  const Status status = play(path, {"calls commit twice",
                                    [](File& file) {
                                      CHECK_OK(file.commit(), "first commit");
                                      return patient_commit(file);
                                    },
                                    [](File& file) {
                                      CHECK_OK(file.commit(), "commit");
                                      return within(most, [&] { return file.close(); });
                                    }});
  expect(status, Code::mismatch, {odd_rank() + " called commit of", "where rank 0 called close of"});
  check_same(status);
  check_file(path, 40, 2);
}

void closes_instead(const std::string& path) {
  const Status status = play(
      path, {"closes instead", [](File& file) { return within(most, [&] { return file.close(); }); }, patient_commit});
  // Both commit and close begin by writing what was put.
  expect(status, Code::mismatch, {odd_rank() + " called close of", "where rank 0 called commit of"});
  check_same(status);
  check_file(path, 40, 1);
}

void root_closes_instead(const std::string& path) {
  about("rank 0 closes instead");
  write_file(path, 40, 1);
  Status status;
  {
    auto file = File::create(fresh(), path);
    if (!CHECK_OK(file.status(), "create")) return;
    CHECK_OK(put(*file, 40, 2), "put");
    status = within(most, [&] { return ranks.rank == 0 ? file->close() : file->commit(); });
  }
  expect(status, Code::mismatch, {"called commit of", "where rank 0 called close of"});
  check_same(status);
  check_file(path, 40, 1);
}

void another_file(const std::string& path) {
  about("another file");
  write_file(path, 40, 1);
  const Communicator comm = fresh();
  Status status;
  {
    auto file = File::create(comm, path), other = File::create(comm, path + ".other.h5");
    if (!CHECK_OK(file.status(), "create") || !CHECK_OK(other.status(), "create")) return;
    CHECK_OK(put(*file, 40, 2), "put");
    CHECK_OK(put(*other, 40, 2), "put");
    status = within(most, [&] { return ranks.is_odd() ? other->commit() : file->commit(); });
  }
  expect(status, Code::mismatch, {odd_rank() + " called commit of", ".other"});
  check_same(status);
  check_file(path, 40, 1);
}

// Creating a file, or a stream, while the others commit.
void creates_instead(const std::string& path) {
  for (const bool stream : {false, true}) {
    about(stream ? "creates a stream instead" : "creates instead");
    write_file(path, 40, 1);
    const Communicator comm = fresh();
    Status status;
    {
      auto file = File::create(comm, path);
      if (!CHECK_OK(file.status(), "create")) return;
      CHECK_OK(put(*file, 40, 2), "put");
      status = within(most, [&] {
        if (!ranks.is_odd()) return file->commit();
        return stream ? Stream::create(comm, path + ".streams").status()
                      : File::create(comm, path + ".new.h5").status();
      });
    }
    expect(status, Code::mismatch, {odd_rank() + (stream ? " called stream_create of" : " called create of")});
    check_same(status);
    check_file(path, 40, 1);
  }
}

// The first on a communicator of the program's, and one beside an open file: MPI makes communicators there, and never
// returns. When all come again, the first communicator cannot be used any more, and says so at once.
void comes_late_to_create(const std::string& path) {
  for (const bool first : {true, false}) {
    about(first ? "comes late to the first create" : "comes late to another create");
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    std::optional<File> open;
    if (!first) {
      auto file = File::create(*mpi_communicator(own), path);
      if (!CHECK_OK(file.status(), "create")) return;
      open.emplace(*std::move(file));
    }
    together();
    if (ranks.is_odd()) until_answered();
    const Status status = timed_out([&]() -> Status {
      PENSTOCK_ASSIGN(const Communicator comm, mpi_communicator(own));
      return File::create(comm, path + ".late.h5").status();
    });
    if (!ranks.is_odd()) say_answered();
    CHECK(status.code() == Code::timeout, fmt::format("is '{}': {}", name(status.code()), status.message()));
    if (!first) check_same(status);
    together();
    Result<Communicator> again = Status(Code::internal, "");
    const Status came = within(most, [&] { return (again = mpi_communicator(own)).status(); });
    if (first) expect(came, Code::timeout, {"MPI_Comm_dup"});
    if (!first && CHECK_OK(came, "again")) CHECK_OK(File::create(*again, path + ".late.h5").status(), "create again");
  }
}

// Rank 0 waits for ever, and the others' patience decides.
void root_has_no_limit(const std::string& path) {
  const Status status = play(path, {"rank 0 has no limit", [](File&) { return Status(); },
                                    [](File& file) {
                                      if (ranks.rank > 0) return commit(file);
                                      CHECK_OK(set_timeout(0), "set_timeout");
                                      const Status told = within(limit + most, [&] { return file.commit(); });
                                      CHECK_OK(set_timeout(patient), "set_timeout");
                                      return told;
                                    }});
  if (!ranks.is_odd()) expect(status, Code::timeout, {odd_rank(), "has not come"});
  check_same(status);
  check_file(path, 40, 1);
}

void throws(const std::string& path) {
  about("throws");
  write_file(path, 40, 1);
  Status status;
  try {
    auto file = File::create(fresh(), path);
    if (!CHECK_OK(file.status(), "create")) return;
    CHECK_OK(put(*file, 40, 2), "put");
    if (ranks.is_odd()) throw std::runtime_error("out of here");
    status = commit(*file);
  } catch (const std::runtime_error&) {
  }
  if (!ranks.is_odd()) expect(status, Code::timeout, {odd_rank(), "has not come"});
  check_same(status);
  check_file(path, 40, 1);
}

// With its own communicator for each file, as the C interface has it, what a rank does instead is known at the limit.
void on_another_communicator(const std::string& path) {
  about("on another communicator");
  write_file(path, 40, 1);
  Status status;
  {
    auto file = File::create(fresh(), path), other = File::create(fresh(), path + ".other.h5");
    if (!CHECK_OK(file.status(), "create") || !CHECK_OK(other.status(), "create")) return;
    CHECK_OK(put(*file, 40, 2), "put");
    CHECK_OK(put(*other, 40, 2), "put");
    together();  // the limit is for the call, not for a disk that was slow before
    // Who is still in its call can be named: the others' limit ends first.
    status =
        timed_out([&] { return ranks.is_odd() ? other->close() : file->commit(); }, ranks.is_odd() ? 3 * limit : limit);
  }
  if (!ranks.is_odd()) expect(status, Code::timeout, {odd_rank() + " is in close of", ".other"});
  check_file(path, 40, 1);
}

// A shell stops this process, and lets it go on when all others have a file ANSWERED.<rank>, at the latest after 30 s.
pid_t stop_me(double after, const std::string& answered) {
  const std::string script = fmt::format(
      "sleep {}; kill -STOP {}; for i in $(seq 300); do [ $(ls '{}'.* | wc -l) = {} ] && break; sleep 0.1; "
      "done; kill -CONT {}",
      after, ::getpid(), answered, ranks.size - 1, ::getpid());
  const char* arguments[] = {"sh", "-c", script.c_str(), nullptr};
  pid_t shell = -1;
  CHECK(::posix_spawn(&shell, "/bin/sh", nullptr, nullptr, const_cast<char**>(arguments), environ) == 0, "no shell");
  return shell;
}

// Somewhere in one of many commits.
void is_stopped(const std::string& path, int victim, const char* plan) {
  about(fmt::format("rank {} is stopped, {}", victim, plan));
  write_file(path, 40, 1);
  const std::string answered = path + ".answered", mine = fmt::format("{}.{}", answered, ranks.rank);
  (void)::unlink(mine.c_str());
  together();
  Status status;
  {
    auto file = File::create(fresh(), path, plan);
    if (!CHECK_OK(file.status(), "create")) return;
    CHECK_OK(put(*file, 4000, 1), "put");
    CHECK_OK(file->commit(), "the first commit, which makes communicators");
    together();
    CHECK_OK(set_timeout(limit), "set_timeout");
    const pid_t shell = ranks.rank == victim ? stop_me(0.3, answered) : -1;
    const double start = now();
    // The one that was stopped hears of it in the call that it makes next.
    for (uint64_t seed = 2; status.ok() && now() - start < limit + most; ++seed) {
      status = put(*file, 4000, seed);
      if (status.ok()) status = file->commit();
    }
    if (ranks.rank != victim) {
      CHECK(now() - start < limit + most, fmt::format("took {:.1f} s", now() - start));
      std::ofstream(mine).put('\n');
    }
    CHECK_OK(set_timeout(patient), "set_timeout");
    if (shell > 0) ::waitpid(shell, nullptr, 0);
  }
  together();
  CHECK(!status.ok(), "no error");
  CHECK(status.code() == Code::timeout || status.code() == Code::in_doubt,
        fmt::format("is '{}': {}", name(status.code()), status.message()));
  if (ranks.rank != victim && victim != 0) expect(status, status.code(), {fmt::format("rank {}", victim), "commit of"});
  if (ranks.rank != victim && victim == 0) expect(status, status.code(), {"rank 0", "does not answer"});
  together();
  CHECK_OK(File::open(fresh(), path).status(), "what is there");
}

// The odd rank comes late to its all_reduce_min number AT.
class Delayed : public WrappedCommunicator {
 public:
  explicit Delayed(Communicator inner) : WrappedCommunicator(std::move(inner), [](int) { return 0; }) {}
  Status all_reduce_min(std::span<int64_t> values) const override {
    if (++count == at && ranks.is_odd()) until_answered();
    return WrappedCommunicator::all_reduce_min(values);
  }
  mutable int64_t count = 0;
  int64_t at = -1;
};

// The last agreement of a commit says that rank 0 has published.
void is_in_doubt(const std::string& path) {
  about("in doubt");
  write_file(path, 40, 1);
  const auto delayed = std::make_shared<Delayed>(fresh());
  Status status;
  {
    auto file = File::create(delayed, path, "hdf5/independent");
    if (!CHECK_OK(file.status(), "create")) return;
    CHECK_OK(put(*file, 40, 2), "put");
    CHECK_OK(file->commit(), "first commit");
    CHECK_OK(put(*file, 40, 2), "put");
    const int64_t before = delayed->count;
    CHECK_OK(file->commit(), "a commit like the next");
    CHECK_OK(put(*file, 40, 3), "put");
    delayed->at = delayed->count + (delayed->count - before);
    status = commit(*file);
    if (!ranks.is_odd()) say_answered();
  }
  expect(status, Code::in_doubt, {odd_rank()});
  check_same(status);
  check_file(path, 40, 3);
}

// What this rank is told while BODY runs, to which one rank comes late, but within the limit.
std::vector<Waiting> told_in(bool late_one, const std::function<void()>& body) {
  std::vector<Waiting> told;
  when_waiting([&](const Waiting& waiting) { told.push_back(waiting); }, 0.5);
  together();
  if (late_one) ::usleep(1500000);
  body();
  when_waiting({});
  together();
  CHECK(late_one || !told.empty(), "nobody was told");
  for (const Waiting& one : told) {
    CHECK(one.seconds >= 0.5 && one.what.find(fmt::format(" for {:g} s", std::round(one.seconds))) != std::string::npos,
          one.what);
  }
  return told;
}

// The others are told whom they wait for; ROOT: it is rank 0.
void is_told(const std::string& path, bool root) {
  about(root ? "told of rank 0" : "told of the last rank");
  write_file(path, 40, 1);
  const bool late_one = root ? ranks.rank == 0 : ranks.is_odd();
  auto file = File::create(fresh(), path);
  CHECK_OK(file.status(), "create");
  CHECK_OK(put(*file, 40, 2), "put");
  const auto told = told_in(late_one, [&] { CHECK_OK(within(most, [&] { return file->close(); }), "close"); });
  if (!late_one) {
    const std::string whom = root ? fmt::format("rank 0 (of {})", ranks.size)
                                  : fmt::format("waiting for {} (of {}) in close of", odd_rank(), ranks.size);
    CHECK(std::ssize(told) <= 6, fmt::format("told {} times", told.size()));
    bool named = false;
    for (const Waiting& one : told) CHECK(one.rank == ranks.rank, one.what);
    for (const Waiting& one : told) named = named || one.what.find(whom) != std::string::npos;
    CHECK(named, fmt::format("no '{}' in: {}", whom, told.empty() ? "" : told[0].what));
  }
  check_file(path, 40, 2);
}

// The file is named also where the wait is on a communicator of the library's own.
void is_told_the_file(const std::string& path) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const auto check = [&](const std::string& call, const std::function<void()>& body) {
    about("told of " + call);
    const std::string name = fmt::format("'{}'", path);
    for (const Waiting& one : told_in(ranks.is_odd(), body)) CHECK(one.what.find(name) != std::string::npos, one.what);
  };
  for (int use = 0; use < 2; ++use) {  // the second finds the communicator of the first
    Result<Communicator> comm = Communicator();
    check(use == 0 ? "the first call" : "a later call", [&] { comm = mpi_communicator(copy, path); });
    if (!CHECK_OK(comm.status(), "a communicator")) return;
    auto file = File::create(*comm, path);
    CHECK_OK(file.status(), "create");
    CHECK_OK(put(*file, 40, 2), "put");
    CHECK_OK(file->commit_start(), "commit_start");
    if (use == 0) check("a background commit", [&] { CHECK_OK(file->commit_wait(), "commit_wait"); });
    CHECK_OK(file->close(), "close");
  }
  MPI_Comm_free(&copy);
}

void limits() {
  about("limits");
  CHECK(set_timeout(-1).code() == Code::invalid &&
            set_timeout(std::numeric_limits<double>::quiet_NaN()).code() == Code::invalid,
        "a limit that is none");
  CHECK(timeout() == patient, "a refused limit was taken");
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  ranks = {world.rank(), world.size()};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_OK(penstock::set_timeout(patient), "set_timeout");
  const std::string path = world.folder() + "/waits.h5";
  const std::string only = argc > 1 ? argv[1] : "";
  const auto wanted = [&](const char* name) { return only.empty() || only == name; };
  if (wanted("calls")) {
    limits();
    comes_in_time(path);
    is_told(path, false);
    is_told(path, true);
    is_told_the_file(path);
    calls_commit_twice(path);
    closes_instead(path);
    root_closes_instead(path);
    another_file(path);
    creates_instead(path);
  }
  if (wanted("missing")) {
    returns_early(path);
    comes_late(path);
    comes_late_to_create(path);
    root_has_no_limit(path);
    throws(path);
    on_another_communicator(path);
    is_in_doubt(path);
  }
  if (wanted("stopped")) {
    is_stopped(path, ranks.odd(), "hdf5/two_phase");
    is_stopped(path, ranks.odd(), "hdf5/two_phase:neighbours=messages");
    is_stopped(path, 0, "hdf5/two_phase");
  }
  about("");
  CHECK_OK(penstock::set_timeout(600), "set_timeout");
  return world.finish("waiting");
}
