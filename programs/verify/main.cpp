// penstock-verify: compares files with the checksums that were committed with them, in parallel; the command `penstock
// verify` starts it and reads the lines of JSON that it prints.
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

nlohmann::json as_json(const Verification& found) {
  nlohmann::json damages = nlohmann::json::array();
  for (const Damage& damage : found.damages)
    damages.push_back(
        {{"dataset", damage.dataset}, {"first", damage.first}, {"end", damage.end}, {"what", damage.what}});
  return {{"committed_at", found.committed_at},
          {"bytes", found.bytes},
          {"damages", damages},
          {"unchecked", found.unchecked},
          {"lost", found.lost},
          {"files", found.files},
          {"modified", found.modified},
          {"metadata_differ", found.metadata_differ}};
}

Result<Verification> verify_file(const Communicator& comm, const char* path) {
  // What has lost parts is looked at all the same, to say what is missing.
  auto opened = File::open(comm, path);
  if (opened.status().code() == Code::damaged || opened.status().code() == Code::not_found) {
    auto rest = File::open(comm, path, "independent:lost_parts=zeros");
    if (rest.ok()) opened = std::move(rest);
  }
  PENSTOCK_ASSIGN(File file, std::move(opened));
  double last = 0;
  auto found = file.verify([&](double share) {
    if (share < last + 0.005) return;
    last = share;
    print({{"file", path}, {"share", share}});
  });
  const Status closed = file.close();
  if (found.ok() && !closed.ok()) return closed;
  return found;
}

int verify(const Result<Communicator>& comm, int argc, char** argv) {
  if (!comm) {
    std::fprintf(stderr, "penstock-verify: %s\n", comm.status().message().c_str());
    return failure;
  }
  const bool root = (*comm)->rank() == 0;
  if (argc < 2) {
    if (root) std::fprintf(stderr, "usage: penstock-verify FILE...\n");
    return usage;
  }
  int exit = success;
  for (int i = 1; i < argc; ++i) {
    const auto found = verify_file(*comm, argv[i]);
    if (!found.ok() || !found->damages.empty() || !found->lost.empty() || !found->files.empty()) exit = failure;
    if (!root) continue;
    if (found.ok())
      print({{"file", argv[i]}, {"found", as_json(*found)}});
    else
      print({{"file", argv[i]}, {"code", name(found.status().code())}, {"error", found.status().message()}});
  }
  return exit;
}

}  // namespace

int main(int argc, char** argv) {
#if PENSTOCK_HAVE_MPI
  MPI_Init(&argc, &argv);
  const int exit = verify(mpi_communicator(MPI_COMM_WORLD), argc, argv);
  MPI_Finalize();
  return exit;
#else
  return verify(serial_communicator(), argc, argv);
#endif
}
