// Barrier: MPI_Barrier, at which what is kept back comes into the files.
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bindings/mpiio/file.hpp"
#include "bindings/mpiio/original.hpp"
#include "core/base/guarded.hpp"

namespace penstock::mpiio {
namespace {

// Whether no rank of COMM leaves the movement before all have come.
bool move_at_barrier(File& file, MPI_Comm comm) {
  const CallTimer timer(*file.statistics, "MPI_Barrier");
  const Status status = guarded([&] { return move_kept(file, "MPI_Barrier"); });
  if (!status.ok()) file.failed = status;
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return status.ok() && ranks == file.comm->size();
}

bool is_within(const File& file, MPI_Comm comm) {
  return comm == MPI_COMM_WORLD ? file.in_world : has_ranks_of(comm, file);
}

// What this thread finds kept in the files of all ranks of a communicator, which it locks.
struct AtBarrier {
  std::vector<std::shared_ptr<File>> files;
  std::vector<std::unique_lock<std::mutex>> locks;
  int64_t calls = 0;      // a number for the collective calls so far; 0 if there is no file
  bool any = false;       // there is something to move
  bool is_other = false;  // another thread has made the last call, or is in one

  AtBarrier(MPI_Comm comm, int ranks) {
    for (const auto& file : open_files()) {
      if (file->comm->size() != ranks || !is_within(*file, comm)) continue;
      std::unique_lock lock(file->busy, std::try_to_lock);
      is_other = is_other || !lock.owns_lock();
      if (!lock.owns_lock() || (file->kept.calls.empty() && !file->keeps_alone)) continue;
      is_other = is_other || file->caller != std::this_thread::get_id();
      any = any || !file->kept.calls.empty() || !file->alone.empty();
      const std::string made = fmt::format("{} {} {}", calls, file->hidden, file->pace.calls);
      calls = static_cast<int64_t>(std::hash<std::string>()(made) >> 1);
      files.push_back(file);
      locks.push_back(std::move(lock));
    }
  }
};

enum class Move { nothing, together, alone };

// Collective over COMM, as a barrier is.
Move agreed(MPI_Comm comm, const AtBarrier& mine) {
  int64_t words[] = {mine.calls, -mine.calls, mine.is_other, mine.any};
  if (MPI_Allreduce(MPI_IN_PLACE, words, 4, MPI_INT64_T, MPI_MAX, comm) != MPI_SUCCESS) return Move::alone;
  if (words[2] == 0 && words[3] == 0) return Move::nothing;
  return words[2] == 0 && words[0] == -words[1] ? Move::together : Move::alone;
}

// What this rank keeps in FILE is in the file, whatever the others do.
void write_at_barrier(File& file) {
  const std::unique_lock lock(file.busy, std::try_to_lock);
  if (!lock.owns_lock()) return;
  (void)guarded([&] { return write_own(file); });
  if (!file.alone.empty())
    if (const Status status = guarded([&] { return write_kept(file); }); !status.ok()) file.failed = status;
}

// Where several threads call MPI, each rank may have come here by another one. So the ranks ask whether all have made
// the same calls by the thread that is in the barrier, first with their files free: a rank that is not here yet may
// wait for other threads of this one. Then all are here, and ask again with their files locked. Otherwise each rank
// writes what it keeps itself.
int barrier_of_threads(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  for (const auto& file : open_files())
    if (file->comm->size() < ranks && is_within(*file, comm)) write_at_barrier(*file);
  Move move = agreed(comm, AtBarrier(comm, ranks));
  if (move == Move::together) {
    const AtBarrier mine(comm, ranks);
    move = agreed(comm, mine);
    if (move == Move::together)
      for (const auto& file : mine.files) (void)move_at_barrier(*file, comm);
  }
  if (move == Move::nothing) return MPI_SUCCESS;
  if (move == Move::alone)
    for (const auto& file : open_files())
      if (is_within(*file, comm)) write_at_barrier(*file);
  return original->Barrier(comm);
}

}  // namespace

// Programs, and HDF5, count on a barrier to make what was written before visible after it. So it moves what is kept.
int Barrier(MPI_Comm comm) {
  if (Inside::already()) return original->Barrier(comm);
  const Inside inside;
  for (const auto& file : open_files())
    if (file->background && !file->is_sole) (void)file->background->drain();  // for those with other handles
  int inter = 1;
  if (threads_call() && comm != MPI_COMM_NULL && MPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter == 0)
    return barrier_of_threads(comm);
  bool met = false;  // all ranks of COMM, in a movement
  for (const auto& file : open_files()) {
    const std::lock_guard lock(file->busy);
    if ((!file->kept.calls.empty() || file->keeps_alone) && is_within(*file, comm))
      met = move_at_barrier(*file, comm) || met;
  }
  return met ? MPI_SUCCESS : original->Barrier(comm);
}

}  // namespace penstock::mpiio
