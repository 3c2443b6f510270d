// What an agreement costs: a reduction of one number by our communicator and by MPI_Allreduce, in turn.
//
//   mpiexec -n RANKS agreement_cost [BLOCKS]
//
// Prints microseconds per call, of blocks of 50 calls: the least, the lower quartile and the median. No test: nothing
// is judged by time.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include <penstock/mpi.hpp>
#include <penstock/phase.hpp>

namespace {

constexpr int calls = 50;

template <typename Call>
double timed(MPI_Comm comm, Call call) {
  MPI_Barrier(comm);
  const double start = penstock::now();
  for (int i = 0; i < calls; ++i) call();
  return (penstock::now() - start) / calls * 1e6;
}

void print(const char* name, std::vector<double> micros) {
  std::ranges::sort(micros);
  std::printf("%-14s %8.1f %8.1f %8.1f\n", name, micros[0], micros[micros.size() / 4], micros[micros.size() / 2]);
}

int run(MPI_Comm comm, size_t blocks) {
  const auto ours = penstock::mpi_communicator(comm);
  if (!ours) return 1;
  std::vector<double> micros[2];
  while (micros[0].size() < blocks) {
    int64_t least = (*ours)->rank();
    micros[0].push_back(timed(comm, [&] { (void)(*ours)->all_reduce_min(std::span(&least, 1)); }));
    micros[1].push_back(timed(comm, [&] { MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT64_T, MPI_MIN, comm); }));
  }
  if ((*ours)->rank() > 0) return 0;
  std::printf("%d ranks, us       least  quartile   median\n", (*ours)->size());
  print("all_reduce_min", micros[0]);
  print("MPI_Allreduce", micros[1]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 60;
  const int exit = run(comm, static_cast<size_t>(std::max(blocks, 1)));
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return exit;
}
