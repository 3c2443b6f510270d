/* twin.c: the fields of the other twins in C, cut into columns: write FILE, or read FILE. */
#include <complex.h>

#include "tests/capi/ranks.h"

enum { NX = 7, NY = 12 };

/* Whole fields on every rank; each sends and fills its columns. */
typedef struct Fields {
  double f64[NY][NX];
  float f32[NY][NX];
  int32_t i32[NY][NX];
  int64_t i64[NY][NX];
  double complex c64[NY][NX];
  char text[2][5];
} Fields;

static Fields wanted, fields;

static void set_wanted(void) {
  for (int y = 0; y < NY; y++)
    for (int x = 0; x < NX; x++) {
      const int value = 100 * (y + 1) + x + 1;
      wanted.f64[y][x] = value, wanted.f32[y][x] = (float)value, wanted.i32[y][x] = value, wanted.i64[y][x] = value;
      wanted.c64[y][x] = value - value * I;
    }
  memcpy(wanted.text, "northeast", 10);
}

int main(int argc, char **argv) {
  ranks_begin(&argc, &argv);
  const int writes = strcmp(argv[1], "write") == 0;
  const int x0 = NX * rank / size, nx = NX * (rank + 1) / size - x0;
  set_wanted();
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL, *all = NULL;
  const penstock_memory memory = {.shape = (int64_t[]){NY, NX}, .start = (int64_t[]){0, x0}};
  CHECK_OK(penstock_block(2, (int64_t[]){NY, NX}, (int64_t[]){0, x0}, (int64_t[]){NY, nx}, &d));
  CHECK_OK(penstock_replicated(1, (int64_t[]){2}, &all));
  if (writes) {
    CHECK_OK(penstock_create(world, argv[2], NULL, &f));
    CHECK_OK(penstock_put(f, "real64", PENSTOCK_DOUBLE, d, wanted.f64, &memory));
    CHECK_OK(penstock_put(f, "real32", PENSTOCK_FLOAT, d, wanted.f32, &memory));
    CHECK_OK(penstock_put(f, "int32", PENSTOCK_INT32, d, wanted.i32, &memory));
    CHECK_OK(penstock_put(f, "int64", PENSTOCK_INT64, d, wanted.i64, &memory));
    CHECK_OK(penstock_put(f, "complex64", PENSTOCK_COMPLEX_DOUBLE, d, wanted.c64, &memory));
    CHECK_OK(penstock_put(f, "text", PENSTOCK_TEXT(5), all, wanted.text, NULL));
  } else {
    CHECK_OK(penstock_open(world, argv[2], NULL, &f));
    CHECK_OK(penstock_get(f, "real64", PENSTOCK_DOUBLE, d, fields.f64, &memory));
    CHECK_OK(penstock_get(f, "real32", PENSTOCK_FLOAT, d, fields.f32, &memory));
    CHECK_OK(penstock_get(f, "int32", PENSTOCK_INT32, d, fields.i32, &memory));
    CHECK_OK(penstock_get(f, "int64", PENSTOCK_INT64, d, fields.i64, &memory));
    CHECK_OK(penstock_get(f, "complex64", PENSTOCK_COMPLEX_DOUBLE, d, fields.c64, &memory));
    CHECK_OK(penstock_get(f, "text", PENSTOCK_TEXT(5), all, fields.text, NULL));
  }
  CHECK_OK(penstock_close(f));
  for (int y = 0; y < NY && !writes; y++)
    for (int x = x0; x < x0 + nx; x++) {
      CHECK(fields.f64[y][x] == wanted.f64[y][x] && fields.f32[y][x] == wanted.f32[y][x]);
      CHECK(fields.i32[y][x] == wanted.i32[y][x] && fields.i64[y][x] == wanted.i64[y][x]);
      CHECK(fields.c64[y][x] == wanted.c64[y][x]);
    }
  CHECK(writes || memcmp(fields.text, wanted.text, sizeof(wanted.text)) == 0);
  penstock_free(d);
  penstock_free(all);
  return ranks_end("twin of C");
}
