/* random.c: random calls of MPI-IO in random views, with random datatypes, and checks of all that a program sees:
 * counts, positions, what is read, and the bytes of the file, by a map of each view that MPI_Pack makes.
 * random FILE SEED [COUNT [STEPS]]: COUNT seeds from SEED on. */
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static int below(int most) { /* not the same on all ranks, unless seeded so */
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)most);
}

enum { cell = 4096, most_data = 1 << 18, filled_bytes = 16 << 20 };

static int rank, ranks, seed, step, failures;

static void check(int good, const char *format, ...) {
  if (good) return;
  if (++failures > 5) return;
  va_list arguments;
  va_start(arguments, format);
  printf("seed %d, step %d, rank %d: ", seed, step, rank);
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
}

/* Runs of the type map lie one after the other inside CELL bytes. */
static MPI_Datatype in_cell(void) {
  MPI_Datatype type, old, inner;
  int lengths[8], places[8], at = 0, count = 1 + below(6);
  MPI_Aint addresses[8];
  for (int i = 0; i < count; ++i) {
    at += below(60);
    places[i] = at;
    lengths[i] = 1 + below(40);
    at += lengths[i];
  }
  switch (below(9)) {
    case 0:
      MPI_Type_contiguous(1 + below(cell / 4), MPI_INT, &type);
      break;
    case 1: {
      const int length = 1 + below(30), stride = length + below(40);
      MPI_Type_vector(1 + below(cell / 4 / stride / 2 + 1), length, stride, MPI_INT, &type);
      break;
    }
    case 2:
      MPI_Type_indexed(count, lengths, places, MPI_SHORT, &type);
      break;
    case 3: {
      for (int i = 0; i < count; ++i) addresses[i] = 3 * places[i];
      MPI_Type_create_hindexed(count, lengths, addresses, MPI_BYTE, &type);
      break;
    }
    case 4: {
      for (int i = 0; i < count; ++i) places[i] = 50 * i + below(10);
      MPI_Type_create_indexed_block(count, 1 + below(40), places, MPI_DOUBLE, &type);
      break;
    }
    case 5: {
      MPI_Datatype types[8];
      MPI_Type_vector(2, 1, 3, MPI_SHORT, &inner);
      for (int i = 0; i < count; ++i) {
        types[i] = i % 3 == 0 ? MPI_DOUBLE : i % 3 == 1 ? inner : MPI_CHAR;
        addresses[i] = 600 * i + below(30);
        lengths[i] = 1 + below(8);
      }
      MPI_Type_create_struct(count, lengths, addresses, types, &type);
      MPI_Type_free(&inner);
      break;
    }
    case 6: {
      int shape[3] = {2 + below(6), 2 + below(6), 2 + below(7)}, part[3], start[3];
      for (int d = 0; d < 3; ++d) {
        part[d] = 1 + below(shape[d]);
        start[d] = below(shape[d] - part[d] + 1);
      }
      MPI_Type_create_subarray(3, shape, part, start, below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);
      break;
    }
    case 7: {
      int shape[2] = {8 + below(12), 8 + below(12)}, grid[2] = {2, 2}, arguments[2], how[2];
      for (int d = 0; d < 2; ++d) {
        how[d] = below(2) ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_BLOCK;
        arguments[d] = how[d] == MPI_DISTRIBUTE_CYCLIC ? 1 + below(3) : MPI_DISTRIBUTE_DFLT_DARG;
      }
      MPI_Type_create_darray(4, below(4), 2, shape, how, arguments, grid, below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                             MPI_DOUBLE, &type);
      break;
    }
    default:
      MPI_Type_vector(3, 2, 4, MPI_SHORT, &inner);
      MPI_Type_create_resized(inner, 0, 32, &old);
      MPI_Type_free(&inner);
      MPI_Type_create_hvector(1 + below(8), 2, 100, old, &type);
      MPI_Type_free(&old);
      break;
  }
  return type;
}

/* Of one view. */
static unsigned char model[2 * most_data], memory[2 * most_data];
static unsigned char owned[filled_bytes]; /* bytes of the file that this rank has written */
static int map[cell];                     /* byte I of a tile's data is here in the tile */
static int bytes;                         /* of a tile's data */
static long written;                      /* bytes of data, from the first on */
static MPI_Offset start;                  /* of the view */

static MPI_Offset place(long at) { return start + at / bytes * (MPI_Offset)cell * ranks + map[at % bytes]; }

static void make_map(MPI_Datatype type) {
  static unsigned char image[cell], low[cell], high[cell];
  int at = 0;
  MPI_Type_size(type, &bytes);
  for (int i = 0; i < cell; ++i) image[i] = (unsigned char)(i % 256);
  MPI_Pack(image, 1, type, low, cell, &at, MPI_COMM_SELF);
  for (int i = 0; i < cell; ++i) image[i] = (unsigned char)(i / 256);
  at = 0;
  MPI_Pack(image, 1, type, high, cell, &at, MPI_COMM_SELF);
  for (int i = 0; i < bytes; ++i) map[i] = high[i] * 256 + low[i];
}

/* Collective: the file has what was written in this view. */
static void check_file(MPI_File file, const char *path) {
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  FILE *plain = fopen(path, "r");
  for (long i = 0; i < written; ++i) {
    if (i == 0 || place(i) != place(i - 1) + 1) fseek(plain, (long)place(i), SEEK_SET);
    const int byte = getc(plain);
    check(byte == model[i], "byte %ld, at %lld of the file, is %d, not %d", i, (long long)place(i), byte, model[i]);
    if (place(i) < filled_bytes) owned[place(i)] = 1;
  }
  fclose(plain);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void check_read(const char *call, MPI_Status *status, int at, int items) {
  int got = -1;
  MPI_Get_count(status, MPI_BYTE, &got);
  check(got == items, "%s: %d bytes of %d", call, got, items);
  check(memcmp(memory, model + at, (size_t)items) == 0, "%s: other bytes than were written", call);
}

static void take_seed(const char *path, int steps) {
  /* Bytes that nobody wrote are defined only where the file had them before. */
  const int filled = seed % 2 == 0;
  if (rank == 0) remove(path);
  if (filled && rank == 0) {
    FILE *before = fopen(path, "w");
    for (int i = 0; i < filled_bytes; ++i) putc(i / 7 % 256, before);
    fclose(before);
  }
  memset(owned, 0, sizeof owned);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
  long used = 0; /* cells used up by earlier views */
  MPI_Datatype type = MPI_DATATYPE_NULL;
  written = 0;
  for (step = 0; step < steps; ++step) {
    state = (uint64_t)seed * 1000003u + (uint64_t)step; /* what to do is the same on all ranks */
    for (int i = 0; i < 5; ++i) below(2);
    const int what = step == 0 ? 0 : below(14), which = below(3);
    const int cells = 1 + below(12);
    state += (uint64_t)rank * 7919u + 17u;
    for (int i = 0; i < 5; ++i) below(2);
    if (what == 0) { /* a view: some bytes of every RANKS-th cell */
      if (step > 0) check_file(file, path);
      MPI_Datatype part = in_cell(), tile;
      MPI_Type_create_resized(part, 0, (MPI_Aint)cell * ranks, &tile);
      MPI_Type_free(&part);
      MPI_Type_commit(&tile);
      if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
      type = tile;
      make_map(type);
      start = ((MPI_Offset)used * ranks + rank) * cell;
      MPI_File_set_view(file, start, MPI_BYTE, type, "native", MPI_INFO_NULL);
      used += 200;
      written = 0;
      MPI_Offset found;
      const int at = below(3 * bytes);
      MPI_File_get_byte_offset(file, at, &found);
      check(found == place(at), "byte %d of the view is at %lld, not %lld", at, (long long)found, (long long)place(at));
    } else if (what < 9) { /* write behind what is there */
      const long room = 200L * bytes - written, most = room > most_data - written ? most_data - written : room;
      int items = 1 + below(1 + cells * bytes);
      if (below(8) == 0) items = 0;
      if (items > most) items = (int)most;
      MPI_Datatype kind = MPI_BYTE;
      const int strided = below(2) && items > 1; /* one byte in two of memory */
      for (int i = 0; i < items; ++i)
        model[written + i] = memory[strided ? 2 * i : i] = (unsigned char)(rank * 89 + step * 7 + i * 3 + i / 256);
      int count = items;
      if (strided) {
        MPI_Type_vector(items, 1, 2, MPI_BYTE, &kind);
        MPI_Type_commit(&kind);
        count = 1;
      }
      MPI_Status status;
      MPI_Request request;
      switch (what) {
        case 1:
          MPI_File_write_at(file, written, memory, count, kind, &status);
          break;
        case 2:
          MPI_File_iwrite_at(file, written, memory, count, kind, &request);
          MPI_Wait(&request, &status);
          break;
        case 3:
          MPI_File_write_at_all_begin(file, written, memory, count, kind);
          MPI_File_write_at_all_end(file, memory, &status);
          break;
        case 4:
          MPI_File_seek(file, written, MPI_SEEK_SET);
          MPI_File_write_all(file, memory, count, kind, &status);
          break;
        case 5:
          MPI_File_iwrite_at_all(file, written, memory, count, kind, &request);
          MPI_Wait(&request, &status);
          break;
        default:
          MPI_File_write_at_all(file, written, memory, count, kind, &status);
          break;
      }
      int got = -1;
      MPI_Get_elements(&status, kind, &got);
      check(got == items, "wrote %d bytes of %d", got, items);
      memset(memory, 0, sizeof memory);
      if (strided) MPI_Type_free(&kind);
      written += items;
      if (what == 4) {
        MPI_Offset position;
        MPI_File_get_position(file, &position);
        check(position == written, "the file pointer is at %lld, not %ld", (long long)position, written);
      }
    } else if (what == 9) { /* change something of it */
      if (written > 0) {
        const int at = below((int)written), items = 1 + below((int)written - at);
        for (int i = 0; i < items; ++i) model[at + i] = memory[i] = (unsigned char)(step + i);
        if (which == 0) MPI_File_write_at(file, at, memory, items, MPI_BYTE, MPI_STATUS_IGNORE);
        if (which == 1) MPI_File_write_at_all(file, at, memory, items, MPI_BYTE, MPI_STATUS_IGNORE);
        if (which == 2) {
          MPI_Request request;
          MPI_File_iwrite_at(file, at, memory, items, MPI_BYTE, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
      } else if (which == 1) {
        MPI_File_write_at_all(file, 0, memory, 0, MPI_BYTE, MPI_STATUS_IGNORE);
      }
    } else if (what == 10) { /* read one's own, at once */
      if (written > 0) {
        const int at = below((int)written), items = (int)written - at;
        MPI_Status status;
        memset(memory, 0, (size_t)items);
        if (which == 0) {
          MPI_File_seek(file, at, MPI_SEEK_SET);
          MPI_File_read(file, memory, items, MPI_BYTE, &status);
        } else {
          MPI_File_read_at(file, at, memory, items, MPI_BYTE, &status);
        }
        check_read("a read of one's own", &status, at, items);
      }
    } else if (what == 11) { /* together */
      MPI_Status status;
      memset(memory, 0, most_data);
      if (which == 0) {
        MPI_File_seek(file, 0, MPI_SEEK_SET);
        MPI_File_read_all(file, memory, (int)written, MPI_BYTE, &status);
      } else {
        MPI_File_read_at_all(file, 0, memory, (int)written, MPI_BYTE, &status);
      }
      check_read("a collective read", &status, 0, (int)written);
    } else { /* the size is what is defined after a sync */
      MPI_File_sync(file);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_File_sync(file);
      MPI_Offset size, at;
      MPI_File_get_size(file, &size);
      MPI_File_seek(file, 0, MPI_SEEK_END);
      MPI_File_get_position(file, &at);
      check(at == 0 || place((long)at - 1) < size, "the end of the view, %lld, is behind the file's", (long long)at);
      check(place((long)at) >= size, "the end of the view, %lld, is before the file's", (long long)at);
      MPI_Barrier(MPI_COMM_WORLD);
      if (what == 13 && which == 0) MPI_File_set_size(file, size + 1000);
    }
  }
  check_file(file, path);
  MPI_File_close(&file);
  if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  if (filled) MPI_Reduce(rank == 0 ? MPI_IN_PLACE : owned, owned, filled_bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
  if (filled && rank == 0) {
    FILE *after = fopen(path, "r");
    for (int i = 0; i < filled_bytes; ++i) {
      const int byte = getc(after);
      check(owned[i] || byte == i / 7 % 256, "byte %d of the file, which nobody wrote, is %d", i, byte);
    }
    fclose(after);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int first = atoi(argv[2]), count = argc > 3 ? atoi(argv[3]) : 1;
  for (seed = first; seed < first + count; ++seed) take_seed(argv[1], argc > 4 ? atoi(argv[4]) : 40);
  int failed = failures > 0;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
