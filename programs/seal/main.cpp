// penstock-seal: renews the checksums of files that other tools changed, in parallel; the command `penstock seal` starts it and
// reads the lines of JSON that it prints.
#include <cstdio>
#include <nlohmann/json.hpp>
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

void print(const nlohmann::json& line) {
  std::printf("%s\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

int seal(const Result<Communicator>& comm, int argc, char** argv) {
  if (!comm) {
    std::fprintf(stderr, "penstock-seal: %s\n", comm.status().message().c_str());
    return failure;
  }
  const bool root = (*comm)->rank() == 0;
  const bool force = argc > 1 && std::string_view(argv[1]) == "--force";
  if (argc < (force ? 3 : 2)) {
    if (root) std::fprintf(stderr, "usage: penstock-seal [--force] FILE...\n");
    return usage;
  }
  int exit = success;
  for (int i = force ? 2 : 1; i < argc; ++i) {
    const auto done = File::seal(*comm, argv[i], force);
    if (!done.ok()) exit = failure;
    if (!root) continue;
    if (done.ok())
      print({{"file", argv[i]}, {"renewed", done->renewed}, {"found", done->found}, {"unchecked", done->unchecked}});
    else
      print({{"file", argv[i]}, {"code", name(done.status().code())}, {"error", done.status().message()}});
  }
  return exit;
}

}  // namespace

int main(int argc, char** argv) {
#if PENSTOCK_HAVE_MPI
  MPI_Init(&argc, &argv);
  const int exit = seal(mpi_communicator(MPI_COMM_WORLD), argc, argv);
  MPI_Finalize();
  return exit;
#else
  return seal(serial_communicator(), argc, argv);
#endif
}
