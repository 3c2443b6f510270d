/* sketch.c: the program of the design's first page, and one rank that reads its file and knows nothing of it. */
#include "ranks.h"

#define NY 12
#define NX 10

static void write_it(double *t, int64_t y0, int64_t x0, int64_t ny, int64_t nx) {
  penstock_file *f;
  penstock_decomposition *d;
  CHECK_OK(penstock_create(world, in_folder("heat.h5"), NULL, &f));
  CHECK_OK(penstock_block(2, (int64_t[]){NY, NX}, (int64_t[]){y0, x0}, (int64_t[]){ny, nx}, &d));
  CHECK_OK(penstock_put(f, "temperature", PENSTOCK_DOUBLE, d, t, NULL));
  CHECK_OK(penstock_attribute(f, "temperature", "units", "K"));
  CHECK_OK(penstock_close(f));
  penstock_free(d);
}

static void read_it_alone(void) {
  penstock_file *f;
  penstock_decomposition *d;
  double all[NY * NX];
  char units[8] = "";
  CHECK_OK(penstock_open(PENSTOCK_ALONE, in_folder("heat.h5"), NULL, &f));
  CHECK_OK(penstock_block(2, (int64_t[]){NY, NX}, (int64_t[]){0, 0}, (int64_t[]){NY, NX}, &d));
  CHECK_OK(penstock_get(f, "temperature", PENSTOCK_DOUBLE, d, all, NULL));
  CHECK_OK(penstock_attribute_get(f, "temperature", "units", PENSTOCK_TEXT(1), units, sizeof units));
  CHECK_OK(penstock_close(f));
  penstock_free(d);
  CHECK(!strcmp(units, "K"));
  for (int i = 0; i < NY * NX; i++) CHECK(all[i] == i + 0.5);
}

int main(int argc, char **argv) {
  ranks_begin(&argc, &argv);
  const int64_t y0 = NY * rank / size, ny = NY * (rank + 1) / size - y0;
  double t[NY * NX];
  for (int64_t i = 0; i < ny * NX; i++) t[i] = (double)(y0 * NX + i) + 0.5;
  write_it(t, y0, 0, ny, NX);
  if (rank == size - 1) read_it_alone();
  barrier();
  return ranks_end("sketch");
}
