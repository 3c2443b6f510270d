// Reuse: an attribute of the user's communicator, like PETSc's inner communicator.
#include "core/comm/mpi/reuse.hpp"

#include <mutex>
#include <vector>

#include "core/comm/calling.hpp"
#include "core/comm/mpi/at_finalize.hpp"
#include "core/comm/mpi/native.hpp"

namespace penstock {
namespace {

struct Kept {
  // For asking whether the duplicate is free: its ranks may be using it on other threads.
  Communicator asking;
  Communicator duplicate;
  Status lost;  // ranks missing at its first use: collective calls on it may stay incomplete forever
};

// Communicators that nobody frees, such as MPI_COMM_WORLD, lose their attribute before MPI ends.
std::mutex keepers_mutex;
std::vector<MPI_Comm>& keepers() {
  static auto& list = *new std::vector<MPI_Comm>;  // MPI may end after the program's static objects are destroyed
  return list;
}

int drop_kept(MPI_Comm comm, int, void* value, void*) {
  {
    const std::lock_guard lock(keepers_mutex);
    std::erase(keepers(), comm);
  }
  delete static_cast<Kept*>(value);
  return MPI_SUCCESS;
}

void drop_all(int key) {
  while (true) {
    std::unique_lock lock(keepers_mutex);
    if (keepers().empty()) break;
    const MPI_Comm first = keepers().front();
    lock.unlock();
    if (MPI_Comm_delete_attr(first, key) != MPI_SUCCESS) break;
  }
  MPI_Comm_free_keyval(&key);
}

// Created once per process. Duplicates do not inherit the attribute.
int key() {
  static const int made = [] {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_kept, &key, nullptr);
    at_finalize([key] { drop_all(key); });
    return key;
  }();
  return made;
}

}  // namespace

Result<Communicator> reuse_duplicate(MPI_Comm comm, std::string_view path, const Make& make_plain, const Make& make) {
  Kept* kept = static_cast<Kept*>(attribute_of(comm, key()));
  if (kept == nullptr) {
    auto first = std::make_unique<Kept>();
    auto asking = make_plain();
    if (asking.ok()) {
      first->asking = *std::move(asking);
      PENSTOCK_ASSIGN(first->duplicate, make());
    } else {
      first->lost = asking.status();
    }
    if (MPI_Comm_set_attr(comm, key(), first.get()) != MPI_SUCCESS)
      return Status(Code::io, "MPI cannot keep a communicator with the one that was passed");
    const std::lock_guard lock(keepers_mutex);
    keepers().push_back(comm);
    kept = first.release();
    return kept->lost.ok() ? Result<Communicator>(kept->duplicate) : kept->lost;
  }
  if (!kept->lost.ok())
    return Status(kept->lost.code(),
                  kept->lost.message() +
                      ": end the program; MPI's collective calls on this communicator, MPI_Comm_dup too, "
                      "may hang or mix with the call that was given up");
  if (!kept->asking->usable().ok()) {  // ranks were lost and are back
    auto asking = make_plain();
    if (!asking.ok()) return kept->lost = asking.status();
    kept->asking = *std::move(asking);
  }
  const Calling calling(kept->asking, "creating or opening", path, false);
  int64_t free[2] = {kept->duplicate.use_count() == 1, !kept->duplicate->poisoned()};
  PENSTOCK_TRY(kept->asking->all_reduce_min(free));
  if (free[0] && free[1]) return kept->duplicate;
  PENSTOCK_TRY(kept->asking->barrier());  // a late rank passes the reduction, but not this
  PENSTOCK_ASSIGN(Communicator made, make());
  if (!free[1]) kept->duplicate = made;
  return made;
}

}  // namespace penstock
