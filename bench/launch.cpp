// Launch: MPI_Init to MPI_Finalize, or one rank in a serial build.
#include "bench/launch.hpp"

#include <fmt/format.h>
#include <penstock/config.h>
#include <cstdio>

#if PENSTOCK_HAVE_MPI
#include <mpi.h>

#include <string_view>

#include <penstock/mpi.hpp>

#endif

namespace penstock::bench {

#if PENSTOCK_HAVE_MPI

namespace {

// The value of --threads, needed before all ranks can parse the options. Threads of the ceiling only call the file
// system, so FUNNELED is enough, except for commits in the background.
int thread_level(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--threads=multiple" ||
        (std::string_view(argv[i]) == "--threads" && i + 1 < argc && std::string_view(argv[i + 1]) == "multiple"))
      return MPI_THREAD_MULTIPLE;
  return MPI_THREAD_FUNNELED;
}

}  // namespace

Launch::Launch(int* argc, char*** argv) : communicator_(Status()) {
  int provided = 0;
  if (MPI_Init_thread(argc, argv, thread_level(*argc, *argv), &provided) != MPI_SUCCESS)
    communicator_ = Status(Code::internal, "MPI_Init_thread failed");
  else
    communicator_ = mpi_communicator(MPI_COMM_WORLD);
}

Launch::~Launch() {
  communicator_ = Status();
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized) MPI_Finalize();
}

std::string Launch::library() const {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "unknown";
  std::string version(text, static_cast<size_t>(length));
  return version.substr(0, version.find_first_of(std::string_view("\n\0", 2)));
}

#else

Launch::Launch(int*, char***) : communicator_(serial_communicator()) {}
Launch::~Launch() = default;
std::string Launch::library() const { return "serial"; }

#endif

int complain(const Launch& launch, std::string_view text, Exit exit) {
  const Result<Communicator>& comm = launch.communicator();
  if (!comm || (*comm)->rank() == 0) fmt::print(stderr, "penstock-bench: {}\n", text);
  return exit;
}

}  // namespace penstock::bench
