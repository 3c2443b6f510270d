/* libraries.c: wrappers of HDF5, netCDF and PnetCDF: time and call site; their bytes are those of the calls below. */
#include "profile.h"

#define HDF5(n, name) WRAP(n, name, .interface = in_hdf5, .way = of_metadata, .counter = -1)
HDF5(4, H5Fcreate)
HDF5(3, H5Fopen)
HDF5(1, H5Fclose)
HDF5(2, H5Fflush)
HDF5(2, H5Fis_accessible)
HDF5(5, H5Dcreate1)
HDF5(7, H5Dcreate2)
HDF5(2, H5Dopen1)
HDF5(3, H5Dopen2)
HDF5(1, H5Dclose)
HDF5(2, H5Dset_extent)
HDF5(6, H5Dread)
HDF5(6, H5Dwrite)
HDF5(7, H5Dread_multi)
HDF5(7, H5Dwrite_multi)
HDF5(5, H5Dread_chunk)
HDF5(6, H5Dwrite_chunk)
HDF5(5, H5Acreate1)
HDF5(6, H5Acreate2)
HDF5(3, H5Aopen)
HDF5(2, H5Aopen_name)
HDF5(3, H5Aread)
HDF5(3, H5Awrite)
HDF5(3, H5Gcreate1)
HDF5(5, H5Gcreate2)
HDF5(2, H5Gopen1)
HDF5(3, H5Gopen2)
HDF5(1, H5Gclose)
HDF5(3, H5Oopen)
HDF5(1, H5Oclose)
HDF5(3, H5Lexists)
HDF5(3, H5Ldelete)

#define NETCDF(n, name) WRAP(n, nc_##name, .interface = in_netcdf, .way = of_metadata, .counter = -1)
NETCDF(3, open)
NETCDF(4, _open)
NETCDF(5, open_par)
NETCDF(3, create)
NETCDF(5, _create)
NETCDF(5, create_par)
NETCDF(1, enddef)
NETCDF(5, _enddef)
NETCDF(1, redef)
NETCDF(1, sync)
NETCDF(1, close)
NETCDF(1, abort)
#define NETCDF_MOVE(way) \
  NETCDF(4, way##_var1)  \
  NETCDF(3, way##_var)   \
  NETCDF(5, way##_vara)  \
  NETCDF(6, way##_vars)  \
  NETCDF(7, way##_varm)
#define NETCDF_TYPE(way, type) \
  NETCDF(4, way##_var1_##type) \
  NETCDF(3, way##_var_##type)  \
  NETCDF(5, way##_vara_##type) \
  NETCDF(6, way##_vars_##type) \
  NETCDF(7, way##_varm_##type)
#define TYPES(one, way)                                                                                       \
  one(way, text) one(way, schar) one(way, uchar) one(way, short) one(way, int) one(way, long) one(way, float) \
      one(way, double) one(way, ushort) one(way, uint) one(way, longlong) one(way, ulonglong)
NETCDF_MOVE(get)
NETCDF_MOVE(put)
TYPES(NETCDF_TYPE, get)
TYPES(NETCDF_TYPE, put)
NETCDF_TYPE(get, ubyte)
NETCDF_TYPE(put, ubyte)
NETCDF_TYPE(get, string)
NETCDF_TYPE(put, string)

/* Its non-blocking calls queue requests; the wait calls move the bytes. */
#define PNETCDF(n, name) WRAP(n, ncmpi_##name, .interface = in_pnetcdf, .way = of_metadata, .counter = -1)
#define PNETCDF_2(n, name) PNETCDF(n, name) PNETCDF(n, name##_all)
PNETCDF(5, open)
PNETCDF(5, create)
PNETCDF(1, enddef)
PNETCDF(5, _enddef)
PNETCDF(1, redef)
PNETCDF(1, sync)
PNETCDF(1, close)
PNETCDF(1, abort)
PNETCDF(1, flush)
PNETCDF(1, begin_indep_data)
PNETCDF(1, end_indep_data)
PNETCDF_2(4, wait)
#define PNETCDF_MOVE(way)  \
  PNETCDF_2(6, way##_var1) \
  PNETCDF_2(5, way##_var)  \
  PNETCDF_2(7, way##_vara) \
  PNETCDF_2(6, way##_vard)
#define PNETCDF_TYPE(way, type)   \
  PNETCDF_2(4, way##_var1_##type) \
  PNETCDF_2(3, way##_var_##type)  \
  PNETCDF_2(5, way##_vara_##type) \
  PNETCDF_2(6, way##_vars_##type) \
  PNETCDF_2(7, way##_varm_##type) \
  PNETCDF_2(6, way##_varn_##type)
PNETCDF_MOVE(get)
PNETCDF_MOVE(put)
TYPES(PNETCDF_TYPE, get)
TYPES(PNETCDF_TYPE, put)
/* vars and varm of any type have 8 and 9 arguments: start, count, stride, imap, buffer, its count and its type. */
PNETCDF_2(8, get_vars)
PNETCDF_2(8, put_vars)
PNETCDF_2(9, get_varm)
PNETCDF_2(9, put_varm)
