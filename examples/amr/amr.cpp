// amr: a hill carried around a square, on blocks that are finer where it is steep. Any number of ranks can continue
// from a checkpoint.
//
//   amr [--steps STEPS] [--stop-after STEPS] [--write FILE] [--restart FILE]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "checkpoint.hpp"

namespace {

struct Options {
  int64_t steps = 40, stop_after = 0;
  std::string write, restart;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return false;
    const std::string word = argv[i];
    if (word == "--steps")
      options.steps = std::atoll(argv[i + 1]);
    else if (word == "--stop-after")
      options.stop_after = std::atoll(argv[i + 1]);
    else if (word == "--write")
      options.write = argv[i + 1];
    else if (word == "--restart")
      options.restart = argv[i + 1];
    else
      return false;
  }
  return options.steps >= 0;
}

int failed(int rank, const penstock::Status& status) {
  if (rank == 0) std::fprintf(stderr, "amr: %s\n", status.message().c_str());
  return 1;
}

int run(int rank, const Options& options) {
  auto field = options.restart.empty() ? penstock::Result<amr::Field>(amr::Field(MPI_COMM_WORLD))
                                       : amr::read(MPI_COMM_WORLD, options.restart);
  if (!field.ok()) return failed(rank, field.status());
  const int64_t leave = options.stop_after > 0 ? field->step() + options.stop_after : options.steps;
  while (field->step() < std::min(leave, options.steps)) field->advance();
  if (!options.write.empty())
    if (const auto status = amr::write(options.write, *field); !status.ok()) return failed(rank, status);
  const std::string line = field->describe();
  if (rank == 0) std::printf("%s\n", line.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, status = 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Options options;
  if (parse(argc, argv, options))
    status = run(rank, options);
  else if (rank == 0)
    std::fprintf(stderr, "usage: amr [--steps STEPS] [--stop-after STEPS] [--write FILE] [--restart FILE]\n");
  MPI_Finalize();
  return status;
}
