/* two_threads.c: a non-blocking access never completes if two threads make MPI progress.
 *
 *   mpicc two_threads.c -o two_threads && mpiexec -n 1 ./two_threads FILE
 *
 * MPI_THREAD_MULTIPLE is granted. One thread writes with MPI_File_iwrite_at and MPI_Wait; the other only calls
 * MPI_Iprobe, on another communicator. OMPIO's progress function reads its list of pending requests without a lock, so
 * both threads complete the same request, or neither does. Open MPI 4.1.4: hangs, crashes, or an error, within seconds.
 * ROMIO, MPICH: never. Collective writes of more than two cycles of cb_buffer_size consist of such requests too (fcoll
 * vulcan; not with --mca fcoll_vulcan_async_io 2). */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int done;
static MPI_Comm other;

static void *poll(void *unused) {
  while (!done) {
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, other, &found, MPI_STATUS_IGNORE);
  }
  return unused;
}

int main(int argc, char **argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (argc < 2) return fprintf(stderr, "usage: two_threads FILE\n"), MPI_Finalize(), 2;
  if (level < MPI_THREAD_MULTIPLE) return printf("no fault: no MPI_THREAD_MULTIPLE\n"), MPI_Finalize(), 0;
  MPI_Comm_dup(MPI_COMM_SELF, &other);
  pthread_t thread;
  pthread_create(&thread, NULL, poll, NULL);
  const int bytes = 64 << 10, blocks = 20000;
  char *data = calloc(1, bytes);
  MPI_File file;
  MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  int wrong = 0;
  for (int i = 0; i < blocks; ++i) {
    MPI_Request request;
    MPI_Status status;
    int count = 0;
    int error = MPI_File_iwrite_at(file, (MPI_Offset)(i % 100) * bytes, data, bytes, MPI_CHAR, &request);
    if (!error) error = MPI_Wait(&request, &status);
    if (!error) MPI_Get_count(&status, MPI_CHAR, &count);
    wrong += count != bytes;
  }
  done = 1;
  pthread_join(thread, NULL);
  printf("%s: %d of %d writes tell another length than they were asked for\n", wrong ? "FAULT" : "no fault", wrong,
         blocks);
  MPI_File_close(&file);
  MPI_Comm_free(&other);
  free(data);
  MPI_Finalize();
  return 0;
}
