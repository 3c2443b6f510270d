// penstock-repair: makes the lost or damaged file of sets with parity again, in parallel; the command `penstock repair` starts it
// and reads the lines of JSON that it prints.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include <penstock/config.h>
#include <penstock/file.hpp>

#if PENSTOCK_HAVE_MPI
#include <mpi.h>

#include <penstock/mpi.hpp>
#endif

namespace {

using namespace penstock;  // NOLINT(google-build-using-namespace): this is a main

enum Exit { success = 0, failure = 1, usage = 2 };

void print(const nlohmann::json& line) {
  std::printf("%s\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

int repair(const Result<Communicator>& comm, int argc, char** argv) {
  if (!comm) {
    std::fprintf(stderr, "penstock-repair: %s\n", comm.status().message().c_str());
    return failure;
  }
  const bool root = (*comm)->rank() == 0;
  if (argc < 2) {
    if (root) std::fprintf(stderr, "usage: penstock-repair FILE...\n");
    return usage;
  }
  int exit = success;
  for (int i = 1; i < argc; ++i) {
    const auto done = File::repair(*comm, argv[i]);
    if (!done.ok()) exit = failure;
    if (!root) continue;
    if (done.ok())
      print({{"file", argv[i]},
             {"rebuilt", done->rebuilt},
             {"why", done->why},
             {"bytes", done->bytes},
             {"files", done->files}});
    else
      print({{"file", argv[i]}, {"code", name(done.status().code())}, {"error", done.status().message()}});
  }
  return exit;
}

}  // namespace

int main(int argc, char** argv) {
#if PENSTOCK_HAVE_MPI
  MPI_Init(&argc, &argv);
  const int exit = repair(mpi_communicator(MPI_COMM_WORLD), argc, argv);
  MPI_Finalize();
  return exit;
#else
  return repair(serial_communicator(), argc, argv);
#endif
}
