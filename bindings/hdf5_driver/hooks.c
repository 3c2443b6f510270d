/* hooks.c: functions of HDF5 that are preloaded in front of it: files that a program opens by mpio get the driver, and
 * where raw data must not be kept back, none is. */
#include <hdf5.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/hdf5_driver/calls.h"
#include "bindings/hdf5_driver/driver.h"

#define HOOK __attribute__((visibility("default")))

/* HDF5's function for a caller at this address, found once. A place is taken once, so that it never changes. */
static void *next(void *caller, const char *name) {
  enum { places = 256 };
  static struct {
    void *caller, *function;
  } known[places];
  const size_t at = ((uintptr_t)caller * 0x9E3779B97F4A7C15u >> 48) % places;
  if (__atomic_load_n(&known[at].caller, __ATOMIC_ACQUIRE) == caller) {
    void *found = __atomic_load_n(&known[at].function, __ATOMIC_ACQUIRE);
    if (found != 0) return found;
  }
  void *found = function_of(caller, name), *nobody = 0;
  if (found == 0) abort(); /* the caller calls what is not there */
  if (__atomic_compare_exchange_n(&known[at].caller, &nobody, caller, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    __atomic_store_n(&known[at].function, found, __ATOMIC_RELEASE);
  return found;
}
#define CALLER void *const caller = __builtin_return_address(0)
#define NEXT(name) ((__typeof__(&(name)))next(caller, #name))

/* LIST if it is not of mpio, or the user does not ask for the driver; a copy that has the driver. */
static hid_t with_driver(void *caller, hid_t list) {
  const char *asked = getenv("HDF5_DRIVER");
  if (list == H5P_DEFAULT || asked == 0 || strcmp(asked, "penstock") != 0) return list;
  hid_t (*mpio)(void) = (hid_t (*)(void))function_of(caller, "H5FD_mpio_init");
  if (mpio == 0 || HDF5(H5Pset_driver_by_name) == 0 || HDF5(H5Pget_driver)(list) != mpio()) return list;
  const hid_t copy = HDF5(H5Pcopy)(list);
  if (copy < 0) return list;
  if (HDF5(H5Pset_driver_by_name)(copy, "penstock", getenv("HDF5_DRIVER_CONFIG")) >= 0) return copy;
  HDF5(H5Pclose)(copy);
  return list;
}

HOOK hid_t H5Fcreate(const char *name, unsigned flags, hid_t creation, hid_t access) {
  CALLER;
  const struct lists before = opened_by, now = {access, with_driver(caller, access)};
  if (now.with != access) opened_by = now;
  const hid_t file = NEXT(H5Fcreate)(name, flags, creation, now.with);
  opened_by = before;
  if (now.with != access) HDF5(H5Pclose)(now.with);
  return file;
}

HOOK hid_t H5Fopen(const char *name, unsigned flags, hid_t access) {
  CALLER;
  const struct lists before = opened_by, now = {access, with_driver(caller, access)};
  if (now.with != access) opened_by = now;
  const hid_t file = NEXT(H5Fopen)(name, flags, now.with);
  opened_by = before;
  if (now.with != access) HDF5(H5Pclose)(now.with);
  return file;
}

/* Outside of it raw data are fill values and parts of chunks, which other ranks read and write, too. */
HOOK herr_t H5Dwrite(hid_t set, hid_t type, hid_t in_memory, hid_t in_file, hid_t transfer, const void *data) {
  CALLER;
  const int before = writes_alone;
  H5FD_mpio_xfer_t mode = H5FD_MPIO_INDEPENDENT;
  writes_alone = transfer == H5P_DEFAULT || HDF5(H5Pget_dxpl_mpio) == 0 ||
                 (HDF5(H5Pget_dxpl_mpio)(transfer, &mode) >= 0 && mode == H5FD_MPIO_INDEPENDENT);
  const herr_t result = NEXT(H5Dwrite)(set, type, in_memory, in_file, transfer, data);
  writes_alone = before;
  return result;
}

/* Space of raw data in the file of OBJECT is going to be free, for other ranks, too: what is kept for it would be
 * written over theirs. Collective, as these functions are: nothing is kept in this file any more. An object that is
 * removed while it is open is freed when it is closed. */
static void before_freeing(void *caller, hid_t object) {
  void *handle;
  const hid_t file = HDF5(H5Iget_file_id)(object);
  if (file < 0) return;
  asked_file = 0;
  HDF5(H5Fget_vfd_handle)(file, H5P_DEFAULT, &handle);
  if (asked_file != 0) keep_no_more(asked_file);
  HDF5(H5Fclose)(file);
}

#define FREES(name, object, parameters, arguments) \
  HOOK herr_t name parameters {                    \
    CALLER;                                        \
    before_freeing(caller, object);                \
    return NEXT(name) arguments;                   \
  }
FREES(H5Ldelete, place, (hid_t place, const char *name, hid_t list), (place, name, list))
FREES(H5Ldelete_by_idx, place,
      (hid_t place, const char *group, H5_index_t index, H5_iter_order_t order, hsize_t n, hid_t list),
      (place, group, index, order, n, list))
FREES(H5Gunlink, place, (hid_t place, const char *name), (place, name))
FREES(H5Odecr_refcount, object, (hid_t object), (object))
#undef H5Ldelete_async /* macros, which give the place in the program */
#undef H5Ldelete_by_idx_async
#undef H5Dset_extent_async
FREES(H5Ldelete_async, place,
      (const char *file, const char *function, unsigned line, hid_t place, const char *name, hid_t list, hid_t events),
      (file, function, line, place, name, list, events))
FREES(H5Ldelete_by_idx_async, place,
      (const char *file, const char *function, unsigned line, hid_t place, const char *group, H5_index_t index,
       H5_iter_order_t order, hsize_t n, hid_t list, hid_t events),
      (file, function, line, place, group, index, order, n, list, events))
FREES(H5Dset_extent_async, set,
      (const char *file, const char *function, unsigned line, hid_t set, const hsize_t size[], hid_t events),
      (file, function, line, set, size, events))

static int shrinks(void *caller, hid_t set, const hsize_t size[]) {
  hsize_t now[H5S_MAX_RANK];
  const hid_t space = HDF5(H5Dget_space)(set);
  if (space < 0) return 0;
  const int rank = HDF5(H5Sget_simple_extent_dims)(space, now, NULL);
  HDF5(H5Sclose)(space);
  for (int d = 0; d < rank; ++d)
    if (size[d] < now[d]) return 1;
  return 0;
}

/* Where a chunk is cut, all ranks read and write it. */
HOOK herr_t H5Dset_extent(hid_t set, const hsize_t size[]) {
  CALLER;
  if (size != 0 && shrinks(caller, set, size)) before_freeing(caller, set);
  return NEXT(H5Dset_extent)(set, size);
}
