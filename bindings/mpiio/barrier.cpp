// Barrier: MPI_Barrier, at which what is kept back comes into the files.
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <penstock/phase.hpp>
#include "bindings/mpiio/errors.hpp"
#include "bindings/mpiio/file.hpp"
#include "bindings/mpiio/original.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/mpi/native.hpp"

namespace penstock::mpiio {
namespace {

// Moves what is kept. Whether no rank of COMM leaves the movement before all have come.
bool move_at_barrier(File& file, MPI_Comm comm) {
  const Together together(file);
  const CallTimer timer(*file.statistics, "MPI_Barrier");
  const Status status = guarded([&] { return move_kept(file, "MPI_Barrier"); });
  if (!status.ok()) file.failed = status;
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return status.ok() && ranks == file.comm->size();
}

// An attribute of communicators on which files were opened: their numbers on this rank.
int numbering() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr);
    return made;
  }();
  return key;
}

// 0 if its ranks do not ask.
int64_t number_of(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  const int error = MPI_Comm_get_attr(comm, numbering(), static_cast<void*>(&value), &found);
  return error == MPI_SUCCESS && found != 0 ? static_cast<int64_t>(reinterpret_cast<intptr_t>(value)) : 0;
}

// Locks FILE, unless another thread is in a collective call on it, or keeps it locked for long.
bool locks(File& file, std::unique_lock<std::recursive_mutex>& lock) {
  constexpr double patience = 50e-3;
  const double until = now() + patience;
  lock = std::unique_lock(file.busy, std::try_to_lock);
  while (!lock.owns_lock() && !file.in_collective && now() < until) {
    std::this_thread::yield();
    (void)lock.try_lock();
  }
  return lock.owns_lock();
}

// What is kept in the files that were opened on a communicator, which are locked if they can be.
struct AtBarrier {
  std::vector<std::shared_ptr<File>> files;
  std::vector<std::unique_lock<std::recursive_mutex>> locked;
  int64_t calls = 0;     // a number for the collective calls so far
  bool any = false;      // there is something to move
  bool is_busy = false;  // a file cannot be locked

  explicit AtBarrier(int64_t comm) {
    for (const auto& file : open_files()) {
      if (file->opened_on != comm || (!file->has_kept && !file->keeps_alone)) continue;
      std::unique_lock<std::recursive_mutex> lock;
      if (!locks(*file, lock)) {
        is_busy = true;
        continue;
      }
      any = any || !file->kept.calls.empty() || !file->alone.empty();
      const std::string made = fmt::format("{} {} {}", calls, file->token, file->pace.calls);
      calls = static_cast<int64_t>(std::hash<std::string>()(made) >> 1);
      files.push_back(file);
      locked.push_back(std::move(lock));
    }
  }
};

enum class Found { nothing, the_same, others };

// Collective over COMM, as a barrier is.
Result<Found> agreed(MPI_Comm comm, const AtBarrier& mine) {
  int64_t words[] = {mine.calls, -mine.calls, mine.is_busy, mine.any};
  PENSTOCK_TRY(check_mpi(MPI_Allreduce(MPI_IN_PLACE, words, 4, MPI_INT64_T, MPI_MAX, comm), "MPI_Allreduce"));
  if (words[2] == 0 && words[3] == 0) return Found::nothing;
  return words[2] == 0 && words[0] == -words[1] ? Found::the_same : Found::others;
}

// At once, what this rank keeps of raw data: no byte is kept twice, so that ranks need no order.
void write_raw(File& file) {
  std::unique_lock<std::recursive_mutex> lock;
  if (!locks(file, lock)) return;
  if (const Status status = guarded([&] { return write_kept(file); }); !status.ok() && file.failed.ok())
    file.failed = status;
}

// Instead of a barrier, where nothing can move.
Status write_raw_alone(MPI_Comm comm, int64_t number) {
  for (const auto& file : open_files())
    if (file->opened_on == number && file->keeps_alone) write_raw(*file);
  return check_mpi(original->Barrier(comm), "MPI_Barrier");
}

// Instead of a barrier. Where several threads call MPI, another one may have made the last collective call on some
// ranks, or be about to make one. So the ranks ask whether all have made the same calls, first with their files free: a
// rank that is not here yet may wait for other threads of this one. Then all are here, and ask again with their files
// locked. Where they have not, nothing moves but raw data: MPI asks for a sync.
Status barrier_of_threads(MPI_Comm comm, int64_t number) {
  AtBarrier before(number);
  before.locked.clear();
  PENSTOCK_ASSIGN(Found found, agreed(comm, before));
  if (found == Found::nothing) return {};
  if (found == Found::others) return write_raw_alone(comm, number);
  AtBarrier now(number);
  PENSTOCK_ASSIGN(found, agreed(comm, now));
  if (found != Found::the_same) {
    now.locked.clear();
    return write_raw_alone(comm, number);
  }
  bool all_met = true;
  for (const auto& file : now.files) all_met = move_at_barrier(*file, comm) && all_met;
  return all_met ? Status() : check_mpi(original->Barrier(comm), "MPI_Barrier");
}

}  // namespace

int64_t ask_at_barriers(MPI_Comm comm) {
  static std::atomic<intptr_t> last = 0;
  if (const int64_t known = number_of(comm); known != 0) return known;
  const intptr_t number = ++last;
  (void)MPI_Comm_set_attr(comm, numbering(), reinterpret_cast<void*>(number));  // NOLINT: a number
  return number;
}

// Programs, and HDF5, count on a barrier to make what was written before visible after it. So it moves what is kept.
int Barrier(MPI_Comm comm) {
  if (Inside::already()) return original->Barrier(comm);
  const Inside inside;
  const int64_t number = comm == MPI_COMM_NULL ? 0 : number_of(comm);
  bool met = false;
  for (const auto& file : open_files()) {
    if (file->background && !file->is_sole) (void)file->background->drain();  // for those with other handles
    if ((!file->has_kept && !file->keeps_alone) || (number != 0 && file->opened_on == number) ||
        (file->threads && !file->keeps_alone) || !(comm == MPI_COMM_WORLD ? file->in_world : has_ranks_of(comm, *file)))
      continue;
    if (file->threads) {
      write_raw(*file);
      continue;
    }
    const std::lock_guard lock(file->busy);
    met = move_at_barrier(*file, comm) || met;
  }
  if (number != 0) {
    const Status done = barrier_of_threads(comm, number);
    return done.ok() ? MPI_SUCCESS : error_code(done);
  }
  return met ? MPI_SUCCESS : original->Barrier(comm);
}

}  // namespace penstock::mpiio
