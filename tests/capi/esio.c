/* esio.c: what ESIO's users do, in C: each entry of docs/esio.md names a function of this file. */
#include "ranks.h"

#define CG 6
#define BG (4 * (int64_t)size)
#define AG 5

static penstock_decomposition *field, *plane, *line, *vectors; /* established once, used by every file */

/* esio_line_establish, esio_plane_establish, esio_field_establish, and their _established. */
static void establish(void) {
  const int64_t whole[3] = {CG, BG, AG}, start[3] = {0, 4 * rank, 0}, local[3] = {CG, 4, AG};
  CHECK_OK(penstock_block(3, whole, start, local, &field));
  CHECK_OK(penstock_block(2, whole + 1, start + 1, local + 1, &plane));
  CHECK_OK(penstock_block(1, whole + 1, start + 1, local + 1, &line));
  CHECK_OK(penstock_block(4, (int64_t[]){CG, BG, AG, 3}, (int64_t[]){0, 4 * rank, 0, 0}, (int64_t[]){CG, 4, AG, 3},
                          &vectors));
  CHECK(penstock_elements(field) == CG * 4 * AG && penstock_elements(line) == 4);
  CHECK(penstock_elements(vectors) == 3 * penstock_elements(field));
}

static double value(int64_t c, int64_t b, int64_t a, int n) { return (double)(((c * BG + b) * AG + a) * 3 + n); }

/* esio_file_create, esio_attribute_write and _writev, esio_string_set, esio_*_write and _writev with strides and
 * comments. */
static void write_file(penstock_file *f) {
  double dense[CG][4][AG][3];
  float tall[4][AG + 2]; /* with a stride of AG + 2 between lines */
  int32_t spread[8];     /* with a stride of 2 */
  for (int c = 0; c < CG; c++)
    for (int b = 0; b < 4; b++)
      for (int a = 0; a < AG; a++)
        for (int n = 0; n < 3; n++) dense[c][b][a][n] = value(c, 4 * rank + b, a, n);
  for (int b = 0; b < 4; b++)
    for (int a = 0; a < AG + 2; a++) tall[b][a] = (float)value(0, 4 * rank + b, a, 0);
  for (int i = 0; i < 8; i++) spread[i] = 8 * rank + i;
  CHECK_OK(penstock_put(f, "u", PENSTOCK_DOUBLE, vectors, dense, NULL));
  /* One component of the vectors is a field whose elements lie three apart. */
  CHECK_OK(penstock_put(f, "w", PENSTOCK_DOUBLE, field, &dense[0][0][0][2],
                        &(penstock_memory){.stride = (int64_t[]){12 * AG, 3 * AG, 3}}));
  CHECK_OK(penstock_put(f, "wall", PENSTOCK_FLOAT, plane, tall, &(penstock_memory){.stride = (int64_t[]){AG + 2, 1}}));
  CHECK_OK(penstock_put(f, "spread", PENSTOCK_INT32, line, spread, &(penstock_memory){.stride = (int64_t[]){2}}));
  CHECK_OK(penstock_attribute(f, "u", "comment", "velocity in wall units"));
  CHECK_OK(penstock_attribute(f, "/", "program", "esio"));
  CHECK_OK(penstock_attribute_array(f, "/", "time", PENSTOCK_DOUBLE, -1, &(double){1.5}));
  CHECK_OK(penstock_attribute_array(f, "wall", "normal", PENSTOCK_INT32, 3, (int32_t[]){0, 1, 0}));
}

/* esio_*_size and _sizev, esio_*_read and _readv, esio_attribute_read and _readv, _sizev, esio_string_get. */
static void read_file(penstock_file *f) {
  penstock_type type;
  int dims;
  int64_t shape[8], count;
  CHECK_OK(penstock_describe(f, "u", &type, &dims, shape, NULL));
  CHECK(type == PENSTOCK_DOUBLE && dims == 4 && shape[0] == CG && shape[1] == BG && shape[2] == AG && shape[3] == 3);
  CHECK_IS(penstock_describe(f, "nothing", NULL, NULL, NULL, NULL), PENSTOCK_NOT_FOUND);
  double dense[CG][4][AG][3], scattered[CG][4][AG][2];
  float flat[4][AG];
  int32_t numbers[4];
  memset(scattered, 0, sizeof scattered);
  CHECK_OK(penstock_get(f, "u", PENSTOCK_DOUBLE, vectors, dense, NULL));
  CHECK_OK(penstock_get(f, "w", PENSTOCK_DOUBLE, field, scattered,
                        &(penstock_memory){.stride = (int64_t[]){8 * AG, 2 * AG, 2}}));
  CHECK_OK(penstock_get(f, "wall", PENSTOCK_FLOAT, plane, flat, NULL));
  CHECK_OK(penstock_get(f, "spread", PENSTOCK_INT32, line, numbers, NULL));
  CHECK_OK(penstock_commit(f));
  int wrong = 0;
  for (int c = 0; c < CG; c++)
    for (int b = 0; b < 4; b++)
      for (int a = 0; a < AG; a++) {
        for (int n = 0; n < 3; n++) wrong += dense[c][b][a][n] != value(c, 4 * rank + b, a, n);
        wrong += scattered[c][b][a][0] != value(c, 4 * rank + b, a, 2) || scattered[c][b][a][1] != 0;
        if (c == 0) wrong += flat[b][a] != (float)value(0, 4 * rank + b, a, 0);
      }
  for (int i = 0; i < 4; i++) wrong += numbers[i] != 8 * rank + 2 * i;
  CHECK(wrong == 0);
  char text[64] = "";
  double time = 0;
  int32_t normal[3] = {0};
  CHECK_OK(penstock_attribute_info(f, "u", "comment", &type, &count));
  CHECK_OK(penstock_attribute_get(f, "u", "comment", type, text, sizeof text));
  CHECK(!strcmp(text, "velocity in wall units"));
  CHECK_OK(penstock_attribute_get(f, "/", "time", PENSTOCK_DOUBLE, &time, sizeof time));
  CHECK_OK(penstock_attribute_info(f, "wall", "normal", &type, &count));
  CHECK(type == PENSTOCK_INT32 && count == 3);
  CHECK_OK(penstock_attribute_get(f, "wall", "normal", type, normal, sizeof normal));
  CHECK(time == 1.5 && normal[1] == 1);
}

/* esio_file_create without replacing a file, esio_file_path, esio_file_flush, esio_file_close, esio_file_open. */
static void files(void) {
  penstock_file *f = NULL;
  CHECK_OK(penstock_create(world, in_folder("a.h5"), NULL, &f));
  CHECK(strstr(penstock_path(f), "/a.h5") != NULL);
  write_file(f);
  CHECK_OK(penstock_commit(f));
  CHECK_OK(penstock_attribute(f, "/", "program", "overwritten"));
  CHECK_OK(penstock_close(f));
  CHECK_OK(penstock_open(world, in_folder("a.h5"), NULL, &f));
  read_file(f);
  char text[64] = "";
  CHECK_OK(penstock_attribute_get(f, "/", "program", PENSTOCK_TEXT(11), text, sizeof text));
  CHECK(!strcmp(text, "overwritten"));
  CHECK_OK(penstock_close(f));
  CHECK_IS(penstock_open(world, in_folder("absent.h5"), NULL, &f), PENSTOCK_NOT_FOUND);
  CHECK(f == NULL && strstr(penstock_message(), "absent.h5") != NULL);
}

static int there(const char *name) {
  FILE *f = fopen(in_folder(name), "rb");
  if (f) fclose(f);
  return f != NULL;
}

/* esio_file_clone and esio_file_close_restart: constant metadata once, restart files with a retention count. */
static void restarts(const char *plan, const char *stem) {
  penstock_file *f = NULL;
  penstock_decomposition *all = NULL;
  double grid[4] = {0, 1, 4, 9}, got[4];
  CHECK_OK(penstock_create(world, in_folder("template.h5"), NULL, &f));
  CHECK_OK(penstock_replicated(1, (int64_t[]){4}, &all));
  CHECK_OK(penstock_put(f, "grid", PENSTOCK_DOUBLE, all, grid, NULL));
  CHECK_OK(penstock_attribute(f, "/", "title", "constant"));
  CHECK_OK(penstock_close(f));
  char pattern[600], file[32];
  snprintf(file, sizeof file, "%s#.h5", stem);
  snprintf(pattern, sizeof pattern, "%s", in_folder(file));
  for (int64_t step = 1; step <= 5; step++) {
    CHECK_OK(penstock_clone(world, in_folder("template.h5"), in_folder("uncommitted.h5"), plan, &f));
    write_file(f);
    CHECK_OK(penstock_attribute_array(f, "/", "step", PENSTOCK_INT64, -1, &step));
    CHECK_OK(penstock_close_restart(f, pattern, 3));
    barrier();
    CHECK(!there("uncommitted.h5"));
    for (int64_t k = 0; k < 4; k++) {
      char name[32];
      snprintf(name, sizeof name, "%s%d.h5", stem, (int)k);
      CHECK(there(name) == (k < step && k < 3));
      if (!there(name)) continue;
      int64_t found = 0;
      CHECK_OK(penstock_open(world, in_folder(name), NULL, &f));
      CHECK_OK(penstock_attribute_get(f, "/", "step", PENSTOCK_INT64, &found, sizeof found));
      CHECK(found == step - k);
      CHECK_OK(penstock_get(f, "grid", PENSTOCK_DOUBLE, all, got, NULL));
      read_file(f);
      CHECK(got[3] == 9);
      CHECK_OK(penstock_close(f));
    }
  }
  snprintf(file, sizeof file, "%s*.h5", stem);
  CHECK_OK(penstock_open_latest(world, in_folder(file), NULL, &f));
  snprintf(file, sizeof file, "%s0.h5", stem);
  CHECK(strstr(penstock_path(f), file) != NULL);
  CHECK_OK(penstock_close(f));
  penstock_free(all);
}

/* What cannot be is the same error on all ranks. */
static void wrong_restarts(void) {
  penstock_file *f = NULL;
  CHECK_IS(penstock_close_restart(NULL, "a#", 1), PENSTOCK_INVALID);
  CHECK_IS(penstock_clone(world, NULL, in_folder("x.h5"), NULL, &f), PENSTOCK_INVALID);
  CHECK_IS(penstock_clone(world, in_folder("template.h5"), NULL, NULL, &f), PENSTOCK_INVALID);
  CHECK_IS(penstock_clone(world, in_folder("absent.h5"), in_folder("x.h5"), NULL, &f), PENSTOCK_NOT_FOUND);
  CHECK_IS(penstock_clone(world, in_folder("template.h5"), in_folder("x.h5"), "hdf5/two_phase:placement=per_rank", &f),
           PENSTOCK_UNSUPPORTED);
  CHECK_OK(penstock_create(world, in_folder("x.h5"), NULL, &f));
  CHECK_IS(penstock_close_restart(f, NULL, 3), PENSTOCK_INVALID);
  CHECK_OK(penstock_create(world, in_folder("x.h5"), NULL, &f));
  CHECK_IS(penstock_close_restart(f, in_folder("restart#.h5"), rank == 0 && size > 1 ? 2 : 0),
           size > 1 ? PENSTOCK_MISMATCH : PENSTOCK_INVALID);
  CHECK_OK(penstock_create(world, in_folder("x.h5"), NULL, &f));
  CHECK_IS(penstock_close_restart(f, in_folder("restart.h5"), 3), PENSTOCK_INVALID);
  CHECK(strstr(penstock_message(), "#") != NULL);
  barrier();
  CHECK(!there("x.h5") && there("restart0.h5"));
}

int main(int argc, char **argv) {
  ranks_begin(&argc, &argv);
  establish();
  files();
  restarts(NULL, "restart");
  restarts("hdf5/two_phase:placement=parts,parts=2", "set");
  wrong_restarts();
  penstock_free(field), penstock_free(plane), penstock_free(line), penstock_free(vectors);
  return ranks_end("esio");
}
