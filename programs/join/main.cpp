// penstock-join: makes one file of a set of files, or of any file that penstock reads, in parallel.
#include <cstdio>
#include <string>
#include <string_view>

#include <penstock/config.h>
#include <penstock/file.hpp>

#if PENSTOCK_HAVE_MPI
#include <mpi.h>

#include <penstock/mpi.hpp>
#endif

namespace {

using namespace penstock;  // NOLINT(google-build-using-namespace): this is a main

enum Exit { success = 0, failure = 1, usage = 2 };

int join(const Result<Communicator>& comm, int argc, char** argv) {
  if (!comm) {
    std::fprintf(stderr, "penstock-join: %s\n", comm.status().message().c_str());
    return failure;
  }
  const bool root = (*comm)->rank() == 0;
  if (argc < 3 || argc > 4) {
    if (root) std::fprintf(stderr, "usage: penstock-join FROM TO [PLAN]\n");
    return usage;
  }
  const Status status = File::copy(*comm, argv[1], argv[2], argc == 4 ? argv[3] : "");
  if (!status.ok() && root) std::fprintf(stderr, "penstock-join: %s\n", status.message().c_str());
  return status.ok() ? success : failure;
}

}  // namespace

int main(int argc, char** argv) {
#if PENSTOCK_HAVE_MPI
  MPI_Init(&argc, &argv);
  const int exit = join(mpi_communicator(MPI_COMM_WORLD), argc, argv);
  MPI_Finalize();
  return exit;
#else
  return join(serial_communicator(), argc, argv);
#endif
}
