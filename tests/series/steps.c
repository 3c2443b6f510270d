/* steps: a program that writes steps of a series, to be killed, or to have its files looked at. It runs without MPI.
 *
 *   steps PATTERN PLAN OPTIONS FIRST LAST
 *
 * At iteration n the time is n / 4, and every element of "rho" (4 x 3), "fluid/u" (2 x 3 x 4) and "line" (5) is n. */
#include <penstock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char *what) {
  fprintf(stderr, "steps: %s: %s\n", what, penstock_message());
  return 1;
}

static int put(penstock_file *f, const char *name, int rank, const int64_t *shape, double value) {
  double data[24];
  penstock_decomposition *d = NULL;
  for (int i = 0; i < 24; i++) data[i] = value;
  if (penstock_replicated(rank, shape, &d) || penstock_put(f, name, PENSTOCK_DOUBLE, d, data, NULL))
    return failed(name);
  penstock_free(d);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  const char *plan = argv[2][0] ? argv[2] : NULL;
  penstock_series *s = NULL;
  if (penstock_series_create(PENSTOCK_ALONE, argv[1], plan, argv[3], &s)) return failed(argv[1]);
  for (int64_t n = atoll(argv[4]); n <= atoll(argv[5]); n++) {
    penstock_file *f = NULL;
    if (penstock_series_step(s, n, (double)n / 4, &f)) return failed("step");
    if (put(f, "rho", 2, (int64_t[]){4, 3}, (double)n) || put(f, "fluid/u", 3, (int64_t[]){2, 3, 4}, (double)n) ||
        put(f, "line", 1, (int64_t[]){5}, (double)n))
      return 1;
    penstock_attribute(f, "rho", "units", n % 2 ? "kg m-3" : "K");
    penstock_attribute_array(f, "rho", "spacing", PENSTOCK_DOUBLE, 2, (double[]){0.5, 0.25});
    penstock_provenance(f, "code", "steps 1.0");
    if (penstock_close(f)) return failed("close");
    printf("%lld\n", (long long)n);
    fflush(stdout);
  }
  return penstock_series_close(s) ? failed("series") : 0;
}
