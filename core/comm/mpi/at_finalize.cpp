// At finalize: MPI_Finalize first deletes attributes of MPI_COMM_SELF, while messages still work.
#include "core/comm/mpi/at_finalize.hpp"

#include <mpi.h>

#include <mutex>
#include <utility>
#include <vector>

namespace penstock {
namespace {

std::mutex mutex;
std::vector<std::function<void()>>& waiting() {
  static auto& list =
      *new std::vector<std::function<void()>>;  // MPI may end after the program's static objects have gone
  return list;
}

int run(MPI_Comm, int, void*, void*) {
  std::unique_lock lock(mutex);
  auto list = std::exchange(waiting(), {});
  lock.unlock();
  for (; !list.empty(); list.pop_back()) list.back()();
  return MPI_SUCCESS;
}

bool ask_mpi() {
  int key = MPI_KEYVAL_INVALID;
  return MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, run, &key, nullptr) == MPI_SUCCESS &&
         MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr) == MPI_SUCCESS &&
         MPI_Comm_free_keyval(&key) == MPI_SUCCESS;  // freed with the attribute
}

}  // namespace

void at_finalize(std::function<void()> last) {
  const std::lock_guard lock(mutex);
  static const bool asked = ask_mpi();
  if (asked) waiting().push_back(std::move(last));
}

}  // namespace penstock
