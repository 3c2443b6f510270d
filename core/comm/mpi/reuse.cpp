// Reuse by an attribute of the user's communicator, as PETSc keeps its inner communicator.
#include "core/comm/mpi/reuse.hpp"

#include <utility>

namespace penstock {
namespace {

struct Kept {
  // For the question whether the duplicate is free: its ranks may be in the middle of something on other threads.
  MPI_Comm asking = MPI_COMM_NULL;
  Communicator duplicate;
};

int drop_kept(MPI_Comm, int, void* value, void*) {
  auto* kept = static_cast<Kept*>(value);
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (!finalised) MPI_Comm_free(&kept->asking);
  delete kept;
  return MPI_SUCCESS;
}

// Made once for the process; MPI frees it at its end. Duplicates do not inherit the attribute.
int key() {
  static const int made = [] {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_kept, &key, nullptr);
    return key;
  }();
  return made;
}

Kept* kept_with(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  if (MPI_Comm_get_attr(comm, key(), static_cast<void*>(&value), &found) != MPI_SUCCESS || found == 0) return nullptr;
  return static_cast<Kept*>(value);
}

Status keep(MPI_Comm comm, const Communicator& duplicate) {
  auto kept = std::make_unique<Kept>();
  kept->duplicate = duplicate;
  const Status failed(Code::io, "MPI cannot keep a communicator with the one that was passed");
  if (MPI_Comm_dup(comm, &kept->asking) != MPI_SUCCESS) return failed;
  MPI_Comm_set_errhandler(kept->asking, MPI_ERRORS_RETURN);
  if (MPI_Comm_set_attr(comm, key(), kept.get()) != MPI_SUCCESS) return failed;
  (void)kept.release();
  return {};
}

}  // namespace

Result<Communicator> reuse_duplicate(MPI_Comm comm, const std::function<Result<Communicator>()>& make) {
  Kept* kept = kept_with(comm);
  if (kept == nullptr) {
    PENSTOCK_ASSIGN(Communicator made, make());
    PENSTOCK_TRY(keep(comm, made));
    return made;
  }
  int free[2] = {kept->duplicate.use_count() == 1, !kept->duplicate->spoiled()};
  if (MPI_Allreduce(MPI_IN_PLACE, free, 2, MPI_INT, MPI_MIN, kept->asking) != MPI_SUCCESS)
    return Status(Code::io, "MPI_Allreduce failed");
  if (free[0] && free[1]) return kept->duplicate;
  PENSTOCK_ASSIGN(Communicator made, make());
  if (!free[1]) kept->duplicate = made;
  return made;
}

}  // namespace penstock
