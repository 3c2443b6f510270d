/* twin.c: writes the fields of twin.F90 from C, cut otherwise. */
#include <complex.h>

#include "tests/capi/ranks.h"

enum { NX = 7, NY = 12 };

int main(int argc, char **argv) {
  ranks_begin(&argc, &argv);
  const int x0 = NX * rank / size, nx = NX * (rank + 1) / size - x0;
  double f64[NY][NX];
  float f32[NY][NX];
  int32_t i32[NY][NX];
  int64_t i64[NY][NX];
  double complex c64[NY][NX];
  const char text[2][5] = {"north", "east"};
  for (int y = 0; y < NY; y++)
    for (int x = 0; x < NX; x++) {
      const int value = 100 * (y + 1) + x + 1;
      f64[y][x] = value, f32[y][x] = (float)value, i32[y][x] = value, i64[y][x] = value;
      c64[y][x] = value - value * I;
    }
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL, *all = NULL;
  const penstock_memory memory = {.shape = (int64_t[]){NY, NX}, .start = (int64_t[]){0, x0}};
  CHECK_OK(penstock_create(world, argv[1], NULL, &f));
  CHECK_OK(penstock_block(2, (int64_t[]){NY, NX}, (int64_t[]){0, x0}, (int64_t[]){NY, nx}, &d));
  CHECK_OK(penstock_put(f, "real64", PENSTOCK_DOUBLE, d, f64, &memory));
  CHECK_OK(penstock_put(f, "real32", PENSTOCK_FLOAT, d, f32, &memory));
  CHECK_OK(penstock_put(f, "int32", PENSTOCK_INT32, d, i32, &memory));
  CHECK_OK(penstock_put(f, "int64", PENSTOCK_INT64, d, i64, &memory));
  CHECK_OK(penstock_put(f, "complex64", PENSTOCK_COMPLEX_DOUBLE, d, c64, &memory));
  CHECK_OK(penstock_replicated(1, (int64_t[]){2}, &all));
  CHECK_OK(penstock_put(f, "text", PENSTOCK_TEXT(5), all, text, NULL));
  CHECK_OK(penstock_close(f));
  penstock_free(d);
  penstock_free(all);
  return ranks_end("twin");
}
