/* jacobi.c: the heat of a plate by Jacobi's iteration, with checkpoints from which any number of ranks can continue. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint.h"
#include "plate.h"

static const char USAGE[] =
    "usage: jacobi [--n CELLS] [--steps STEPS] [--checkpoint FILE] [--every STEPS] [--stop-after STEPS]\n"
    "              [--restart FILE] [--plan PLAN]\n"
    "  --n           cells along each side (512); a restart takes it from its file\n"
    "  --steps       the step at which the run is complete (400)\n"
    "  --checkpoint  the file to write at the end\n"
    "  --every       write it each so many steps too\n"
    "  --stop-after  leave after so many steps of this run, as a job does whose time is up\n"
    "  --plan        how the data travels, such as hdf5/two_phase:writers=2\n"
    "After SIGUSR1 it writes the checkpoint, if it has one to write, and leaves with status 75.\n";

enum { COME_BACK = 75 }; /* EX_TEMPFAIL: run it again, and it goes on */

typedef struct Options {
  int64_t n, steps, every, stop_after;
  const char *checkpoint, *restart, *plan;
} Options;

static int read_options(int argc, char **argv, Options *o) {
  *o = (Options){.n = 512, .steps = 400};
  const struct {
    const char *name;
    int64_t *number;
    const char **text;
  } table[] = {{"--n", &o->n, NULL},
               {"--steps", &o->steps, NULL},
               {"--every", &o->every, NULL},
               {"--stop-after", &o->stop_after, NULL},
               {"--checkpoint", NULL, &o->checkpoint},
               {"--restart", NULL, &o->restart},
               {"--plan", NULL, &o->plan}};
  for (int i = 1; i < argc; i += 2) {
    size_t k = 0;
    while (k < sizeof table / sizeof *table && strcmp(argv[i], table[k].name)) k++;
    if (k == sizeof table / sizeof *table || i + 1 == argc) return 0;
    if (table[k].text) {
      *table[k].text = argv[i + 1];
    } else {
      char *end;
      *table[k].number = strtoll(argv[i + 1], &end, 10);
      if (*end || end == argv[i + 1] || *table[k].number < 0) return 0;
    }
  }
  return o->n > 0;
}

static volatile sig_atomic_t told_to_leave;

static void on_signal(int number) {
  (void)number;
  told_to_leave = 1;
}

/* The signal reaches the ranks at different steps, or only one of them: they leave together. */
static int any_told_to_leave(MPI_Comm comm) {
  int told = told_to_leave;
  MPI_Allreduce(MPI_IN_PLACE, &told, 1, MPI_INT, MPI_MAX, comm);
  return told;
}

/* Rank 0 prints the error; every rank exits with status 1. */
static int failed(int rank, const char *doing, const char *path) {
  if (rank == 0) fprintf(stderr, "jacobi: %s %s: %s\n", doing, path, checkpoint_message());
  return 1;
}

static int run(int rank, const Options *o) {
  Plate plate;
  int64_t n = o->n;
  if (o->restart && checkpoint_size(MPI_COMM_WORLD, o->restart, &n)) return failed(rank, "restarting from", o->restart);
  if (!plate_make(MPI_COMM_WORLD, n, &plate)) {
    if (rank == 0) fprintf(stderr, "jacobi: %lld cells along a side are too few for so many ranks\n", (long long)n);
    return 1;
  }
  if (o->restart && checkpoint_read(o->restart, NULL, &plate)) {
    plate_free(&plate);
    return failed(rank, "restarting from", o->restart);
  }
  if (rank == 0 && o->restart) printf("restarted from %s at step %lld\n", o->restart, (long long)plate.step);

  int64_t leave = o->stop_after && plate.step + o->stop_after < o->steps ? plate.step + o->stop_after : o->steps;
  int status = 0, told = 0;
  while (plate.step < leave && !status) {
    plate_step(&plate);
    told = o->checkpoint && any_told_to_leave(plate.comm);
    if (told) leave = plate.step;
    if (!o->checkpoint || (plate.step != leave && (!o->every || plate.step % o->every))) continue;
    if (checkpoint_write(o->checkpoint, o->plan, &plate))
      status = failed(rank, "writing", o->checkpoint);
    else if (rank == 0)
      printf("wrote %s at step %lld\n", o->checkpoint, (long long)plate.step);
  }
  if (rank == 0 && !status) printf("step %lld residual %.15e\n", (long long)plate.step, plate.residual);
  const int complete = plate.step >= o->steps;
  plate_free(&plate);
  return !status && told && !complete ? COME_BACK : status;
}

int main(int argc, char **argv) {
  int rank;
  Options options;
  signal(SIGUSR1, on_signal);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int status = 2;
  if (read_options(argc, argv, &options))
    status = run(rank, &options);
  else if (rank == 0)
    fputs(USAGE, stderr);
  MPI_Finalize();
  return status;
}
