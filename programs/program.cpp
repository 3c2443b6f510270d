// Program: starts and ends MPI, if any.
#include "programs/program.hpp"

#include <cstdio>
#include <filesystem>
#include <string_view>

#include <penstock/config.h>
#include <penstock/timeout.hpp>

#include "core/base/utf8.hpp"

#if PENSTOCK_HAVE_MPI
#include <mpi.h>

#include <penstock/mpi.hpp>
#endif

namespace penstock::program {
namespace {

int run_with(const Result<Communicator>& comm, std::span<char*> arguments, const Usage& usage,
             const std::function<int(const Communicator&, std::span<char*>)>& body) {
  if (!comm) {
    std::fprintf(stderr, "%s: %s\n", usage.program, printable(comm.status().message()).c_str());
    return failure;
  }
  if (!arguments.empty() && (arguments[0] == std::string_view("--help") || arguments[0] == std::string_view("-h"))) {
    if ((*comm)->rank() == 0) std::printf("usage: %s %s\n", usage.program, usage.arguments);
    return success;
  }
  tell_of_waits(usage.program);
  const bool right = arguments.size() >= usage.least && arguments.size() <= usage.most;
  const int exit = right ? body(*comm, arguments) : Exit::usage;
  if (exit == Exit::usage && (*comm)->rank() == 0)
    std::fprintf(stderr, "usage: %s %s\n", usage.program, usage.arguments);
  return exit;
}

}  // namespace

void tell_of_waits(const char* program) {
  // One rank's report is enough; rank 1's if rank 0 is missing.
  when_waiting([program](const Waiting& waiting) {
    if (waiting.rank == 0 || (waiting.rank == 1 && waiting.what.find("rank 0 (of") != std::string::npos))
      std::fprintf(stderr, "%s: note: %s\n", program, waiting.what.c_str());
  });
}

int run(int argc, char** argv, const Usage& usage,
        const std::function<int(const Communicator&, std::span<char*>)>& body) {
#if PENSTOCK_HAVE_MPI
  MPI_Init(&argc, &argv);
  const int exit = run_with(mpi_communicator(MPI_COMM_WORLD), std::span(argv, argc).subspan(1), usage, body);
  MPI_Finalize();
  return exit;
#else
  return run_alone(argc, argv, usage, body);
#endif
}

int run_alone(int argc, char** argv, const Usage& usage,
              const std::function<int(const Communicator&, std::span<char*>)>& body) {
  return run_with(serial_communicator(), std::span(argv, argc).subspan(1), usage, body);
}

// Rank 0 checks. A dangling link also counts.
Status check_free(const Communicator& comm, const std::string& path) {
  int64_t there = 0;
  if (comm->rank() == 0)
    for (const std::string& name : {path, path + ".json"}) {
      std::error_code error;
      if (std::filesystem::exists(std::filesystem::symlink_status(name, error))) there = 1;
    }
  PENSTOCK_TRY(comm->all_reduce_max(std::span(&there, 1)));
  if (there == 0) return {};
  return {Code::exists, "'" + path + "' is there already: --force replaces it"};
}

void print(const nlohmann::json& line) {
  std::printf("%s\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

int for_each_file(const Communicator& comm, std::span<char*> files,
                  const std::function<Result<Outcome>(const char* path)>& work) {
  int exit = success;
  for (const char* path : files) {
    auto outcome = work(path);
    if (!outcome.ok() || !outcome->good) exit = failure;
    if (comm->rank() != 0) continue;
    nlohmann::json line =
        outcome.ok() ? std::move(outcome->line)
                     : nlohmann::json{{"code", name(outcome.status().code())}, {"error", outcome.status().message()}};
    line["file"] = path;
    print(line);
  }
  return exit;
}

}  // namespace penstock::program
