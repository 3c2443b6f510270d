/* load.c: reads a variable of a netCDF file in a function of its own. */
#include <netcdf.h>

static int load_interp(int file, int variable) {
  double values[1000];
  const size_t start = 0, count = 1000;
  int wrong = 0;
  for (int i = 0; i < 50; ++i) wrong |= nc_get_vara_double(file, variable, &start, &count, values);
  return wrong;
}

int main(void) {
  int file, dimension, variable, wrong = nc_create("v.nc", NC_CLOBBER, &file);
  double values[1000] = {0};
  wrong |= nc_def_dim(file, "x", 1000, &dimension) | nc_def_var(file, "v", NC_DOUBLE, 1, &dimension, &variable);
  wrong |= nc_enddef(file) | nc_put_var_double(file, variable, values) | nc_close(file);
  wrong |= nc_open("v.nc", NC_NOWRITE, &file) | load_interp(file, variable) | nc_close(file);
  return wrong != 0;
}
