/* driver.c: HDF5's file driver "penstock". It opens files by HDF5's own drivers, mpio or sec2, and leaves all to them;
 * writing by mpio, it tells libpenstock_mpiio which writes are raw data of one rank. */
#include <H5FDdevelop.h>
#include <H5PLextern.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "bindings/hdf5_driver/calls.h"
#include "bindings/hdf5_driver/driver.h"

__thread int writes_alone = 0;
__thread void *asked_file = 0;
__thread struct lists opened_by = {H5I_INVALID_HID, H5I_INVALID_HID};

/* mpio's class, and the one that its files get from us: the same but for these functions. */
struct classes {
  H5FD_class_t ours, mpio;
  struct classes *next;
};

static const struct classes *classes_of(const H5FD_t *file) { return (const struct classes *)file->cls; }

static herr_t write_block(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, const void *data) {
  const int before = say_raw(writes_alone && type == H5FD_MEM_DRAW);
  const herr_t result = classes_of(file)->mpio.write(file, type, transfer, at, bytes, data);
  say_raw(before);
  return result;
}

static herr_t write_vector(H5FD_t *file, hid_t transfer, uint32_t count, H5FD_mem_t types[], haddr_t at[],
                           size_t bytes[], const void *data[]) {
  int raw = writes_alone;
  /* H5FD_MEM_NOLIST: the others are of the type before it. */
  for (uint32_t i = 0; i < count && types[i] != H5FD_MEM_NOLIST; ++i) raw = raw && types[i] == H5FD_MEM_DRAW;
  const int before = say_raw(raw);
  const herr_t result = classes_of(file)->mpio.write_vector(file, transfer, count, types, at, bytes, data);
  say_raw(before);
  return result;
}

static herr_t write_selection(H5FD_t *file, H5FD_mem_t type, hid_t transfer, size_t count, hid_t in_memory[],
                              hid_t in_file[], haddr_t at[], size_t element_bytes[], const void *data[]) {
  const int before = say_raw(writes_alone && type == H5FD_MEM_DRAW);
  const herr_t result =
      classes_of(file)->mpio.write_selection(file, type, transfer, count, in_memory, in_file, at, element_bytes, data);
  say_raw(before);
  return result;
}

static herr_t get_handle(H5FD_t *file, hid_t list, void **handle) {
  const herr_t result = classes_of(file)->mpio.get_handle(file, list, handle);
  if (result >= 0) asked_file = *(MPI_File *)*handle;
  return result;
}

/* For files of MPIO, which is mpio's class in one of the HDF5s of this process. */
static const H5FD_class_t *over(const H5FD_class_t *mpio) {
  static struct classes *first;
  struct classes *known = __atomic_load_n(&first, __ATOMIC_ACQUIRE);
  for (; known != 0; known = known->next)
    if (known->mpio.open == mpio->open) return &known->ours;
  struct classes *made = malloc(sizeof *made);
  if (made == 0) return mpio;
  made->ours = made->mpio = *mpio;
  made->ours.write = write_block;
  made->ours.get_handle = get_handle;
  if (mpio->write_vector != 0) made->ours.write_vector = write_vector;
  if (mpio->write_selection != 0) made->ours.write_selection = write_selection;
  made->next = __atomic_load_n(&first, __ATOMIC_ACQUIRE);
  while (!__atomic_compare_exchange_n(&first, &made->next, made, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) continue;
  return &made->ours;
}

/* Whether LIST has a communicator: HDF5 hands on those of files whose links it follows. */
static int has_communicator(void *caller, hid_t list) {
  MPI_Comm comm;
  MPI_Info info;
  if (HDF5(H5Pget_mpi_params) == 0 || HDF5(H5Pget_mpi_params)(list, &comm, &info) < 0) return 0;
#ifdef OPEN_MPI /* its null handles are the addresses of objects */
  const MPI_Comm no_comm = object_of(caller, "ompi_mpi_comm_null");
  const MPI_Info no_info = object_of(caller, "ompi_mpi_info_null");
#else
  const MPI_Comm no_comm = MPI_COMM_NULL;
  const MPI_Info no_info = MPI_INFO_NULL;
#endif
  if (comm == no_comm) return 0;
  HDF5(MPI_Comm_free)(&comm);
  if (info != no_info) HDF5(MPI_Info_free)(&info);
  return 1;
}

/* A copy of LIST with HDF5's own driver; negative if there is none. */
static hid_t list_below(void *caller, hid_t list, int is_parallel) {
  hid_t (*mpio)(void) = (hid_t (*)(void))function_of(caller, "H5FD_mpio_init");
  const hid_t copy = HDF5(H5Pcopy)(list);
  if (copy < 0) return copy;
  const herr_t set = !is_parallel ? HDF5(H5Pset_fapl_sec2)(copy)
                     : mpio == 0  ? -1
                                  : HDF5(H5Pset_driver)(copy, mpio(), NULL);
  if (set >= 0) return copy;
  HDF5(H5Pclose)(copy);
  return H5I_INVALID_HID;
}

static void say_error(void *caller, int line, const char *what, const char *value) {
  const hid_t *class = function_of(caller, "H5E_ERR_CLS_g"), *major = function_of(caller, "H5E_VFL_g"),
              *minor = function_of(caller, "H5E_BADVALUE_g");
  if (class != 0 && major != 0 && minor != 0 && HDF5(H5Epush2) != 0)
    HDF5(H5Epush2)(H5E_DEFAULT, __FILE__, __func__, (unsigned)line, *class, *major, *minor, what, value);
}

static herr_t nothing(H5FD_t *file) {
  (void)file;
  return 0;
}

/* HDF5 holds the driver of each open file by a reference. This gives one to DRIVER back. */
static void give_back(void *caller, hid_t driver) {
  const H5FD_class_t class = {.close = nothing};
  H5FD_t holder = {.driver_id = driver, .cls = &class};
  HDF5(H5FDclose)(&holder);
}

/* What the file that this thread is opening gets when HDF5 has made it one of ours. */
static __thread struct {
  hid_t driver;
  const H5FD_class_t *class;
} real;

static H5FD_t *open_below(const char *name, unsigned flags, hid_t list, haddr_t most) {
  void *const caller = __builtin_return_address(0);
  char config[64] = "";
  if (HDF5(H5FDopen) == 0 || HDF5(H5Pget_driver_config_str) == 0) {
    fputs("penstock: the driver penstock does not find HDF5's functions: HDF5 is linked into the program\n", stderr);
    return NULL;
  }
  if (HDF5(H5Pget_driver_config_str)(list, config, sizeof config) > 0) {
    say_error(caller, __LINE__, "HDF5_DRIVER_CONFIG=%s: the driver penstock takes no configuration; unset it", config);
    return NULL;
  }
  const int is_given = list == opened_by.with; /* a copy would duplicate its communicator, which takes ms */
  const int is_parallel = is_given || has_communicator(caller, list);
  const hid_t below = is_given ? opened_by.given : list_below(caller, list, is_parallel);
  if (below < 0) return NULL;
  const int before = say_raw(is_parallel);
  H5FD_t *file = HDF5(H5FDopen)(name, flags, below, most);
  say_raw(before);
  if (!is_given) HDF5(H5Pclose)(below);
  if (file == NULL) return NULL;
  real.driver = file->driver_id;
  real.class = is_parallel ? over(file->cls) : file->cls;
  return file;
}

/* HDF5 asks each new file when it has set its class and driver. From then on it is one of the driver below: HDF5 looks
 * into mpio's files, and programs ask for the driver of a file. */
static herr_t query(const H5FD_t *asked, unsigned long *flags) {
  void *const caller = __builtin_return_address(0);
  if (asked == NULL) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_POSIX_COMPAT_HANDLE | H5FD_FEAT_SUPPORTS_SWMR_IO |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE; /* of sec2, which programs expect of the default */
    return 0;
  }
  H5FD_t *file = (H5FD_t *)asked;
  give_back(caller, file->driver_id);
  file->driver_id = real.driver;
  file->cls = real.class;
  return file->cls->query == NULL ? 0 : file->cls->query(file, flags);
}

static herr_t delete_below(const char *name, hid_t list) {
  void *const caller = __builtin_return_address(0);
  const hid_t below = HDF5(H5FDdelete) == 0 ? -1 : list_below(caller, list, has_communicator(caller, list));
  if (below < 0) return -1;
  const herr_t result = HDF5(H5FDdelete)(name, below);
  HDF5(H5Pclose)(below);
  return result;
}

/* Files have another class by the time when these would be called. */
static herr_t no_close(H5FD_t *file) { return (void)file, -1; }
static haddr_t no_end(const H5FD_t *file, H5FD_mem_t type) { return (void)file, (void)type, HADDR_UNDEF; }
static herr_t no_set_end(H5FD_t *file, H5FD_mem_t type, haddr_t end) { return (void)file, (void)type, (void)end, -1; }
static herr_t no_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, void *data) {
  return (void)file, (void)type, (void)transfer, (void)at, (void)bytes, (void)data, -1;
}
static herr_t no_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, const void *data) {
  return (void)file, (void)type, (void)transfer, (void)at, (void)bytes, (void)data, -1;
}

static const H5FD_class_t penstock = {
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)610, /* any that HDF5 has not for itself: up to 255 */
    .name = "penstock",
    .maxaddr = ((haddr_t)1 << 63) - 1,
    .fc_degree = H5F_CLOSE_WEAK,
    .open = open_below,
    .close = no_close,
    .query = query,
    .get_eoa = no_end,
    .set_eoa = no_set_end,
    .get_eof = no_end,
    .read = no_read,
    .write = no_write,
    .del = delete_below,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

__attribute__((visibility("default"))) H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_VFD; }
__attribute__((visibility("default"))) const void *H5PLget_plugin_info(void) { return &penstock; }
