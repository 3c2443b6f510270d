/* left_open: preloaded into tests: MPI_Finalize reports each MPI object that the library made and did not free, with
 * the call that made it. That is a failure (exit status 99 of the rank).
 *
 * Only calls from libpenstock count; other libraries may have their own reasons. Handles are compared as numbers: MPI
 * reuses a number, or gives it to several at once, so they are counted. PENSTOCK_LEFT_OPEN_SELF_TEST: forget every
 * free. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { communicator, datatype, group, info, file, window, request, keyval, error_handler, operation };
static const char *const kind_names[] = {"communicator", "datatype", "group",  "info",          "file",
                                         "window",       "request",  "keyval", "error handler", "operation"};

enum { most = 1 << 16, max_shown = 20 };
static struct object {
  enum kind kind;
  uintptr_t handle;
  const char *call;
  void *caller;
} objects[most];
static size_t count, made;
static int overflown;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int is_ours(void *caller) {
  Dl_info where;
  return dladdr(caller, &where) != 0 && where.dli_fname != NULL && strstr(where.dli_fname, "libpenstock.so") != NULL;
}

static void add(enum kind kind, uintptr_t handle, const char *call, void *caller) {
  if (!is_ours(caller)) return;
  pthread_mutex_lock(&lock);
  ++made;
  if (count < most) {
    const struct object one = {kind, handle, call, caller};
    objects[count++] = one;
  } else {
    overflown = 1;
  }
  pthread_mutex_unlock(&lock);
}

static void drop(enum kind kind, uintptr_t handle) {
  if (getenv("PENSTOCK_LEFT_OPEN_SELF_TEST") != NULL && kind != request) return;
  pthread_mutex_lock(&lock);
  for (size_t i = count; i-- > 0;)
    if (objects[i].kind == kind && objects[i].handle == handle) {
      objects[i] = objects[--count];
      break;
    }
  pthread_mutex_unlock(&lock);
}

/* Makers: NAME(ARGUMENTS) makes a KIND in *MADE; NULL handles are what ranks get that are left out. */
#define MAKER(kind, null, name, parameters, arguments, result)                    \
  int MPI_##name parameters {                                                     \
    const int error = PMPI_##name arguments;                                      \
    if (error == MPI_SUCCESS && *(result) != (null))                              \
      add(kind, (uintptr_t)*(result), "MPI_" #name, __builtin_return_address(0)); \
    return error;                                                                 \
  }
#define COMMUNICATOR(name, parameters, arguments) MAKER(communicator, MPI_COMM_NULL, name, parameters, arguments, out)
#define DATATYPE(name, parameters, arguments) MAKER(datatype, MPI_DATATYPE_NULL, name, parameters, arguments, out)
#define REQUEST(name, parameters, arguments) MAKER(request, MPI_REQUEST_NULL, name, parameters, arguments, out)

COMMUNICATOR(Comm_dup, (MPI_Comm c, MPI_Comm *out), (c, out))
COMMUNICATOR(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *out), (c, color, key, out))
COMMUNICATOR(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm *out), (c, type, key, i, out))
COMMUNICATOR(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *out), (c, g, out))
COMMUNICATOR(Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm *out), (c, g, tag, out))
COMMUNICATOR(Comm_dup_with_info, (MPI_Comm c, MPI_Info i, MPI_Comm *out), (c, i, out))
COMMUNICATOR(Intercomm_create, (MPI_Comm c, int l, MPI_Comm p, int r, int tag, MPI_Comm *out), (c, l, p, r, tag, out))

DATATYPE(Type_contiguous, (int n, MPI_Datatype t, MPI_Datatype *out), (n, t, out))
DATATYPE(Type_vector, (int n, int b, int s, MPI_Datatype t, MPI_Datatype *out), (n, b, s, t, out))
DATATYPE(Type_create_hvector, (int n, int b, MPI_Aint s, MPI_Datatype t, MPI_Datatype *out), (n, b, s, t, out))
DATATYPE(Type_indexed, (int n, const int b[], const int d[], MPI_Datatype t, MPI_Datatype *out), (n, b, d, t, out))
DATATYPE(Type_create_hindexed, (int n, const int b[], const MPI_Aint d[], MPI_Datatype t, MPI_Datatype *out),
         (n, b, d, t, out))
DATATYPE(Type_create_indexed_block, (int n, int b, const int d[], MPI_Datatype t, MPI_Datatype *out), (n, b, d, t, out))
DATATYPE(Type_create_hindexed_block, (int n, int b, const MPI_Aint d[], MPI_Datatype t, MPI_Datatype *out),
         (n, b, d, t, out))
DATATYPE(Type_create_struct, (int n, const int b[], const MPI_Aint d[], const MPI_Datatype t[], MPI_Datatype *out),
         (n, b, d, t, out))
DATATYPE(Type_create_subarray,
         (int n, const int a[], const int b[], const int s[], int order, MPI_Datatype t, MPI_Datatype *out),
         (n, a, b, s, order, t, out))
DATATYPE(Type_create_resized, (MPI_Datatype t, MPI_Aint l, MPI_Aint e, MPI_Datatype *out), (t, l, e, out))
DATATYPE(Type_dup, (MPI_Datatype t, MPI_Datatype *out), (t, out))

MAKER(group, MPI_GROUP_NULL, Comm_group, (MPI_Comm c, MPI_Group *out), (c, out), out)
MAKER(group, MPI_GROUP_NULL, Group_incl, (MPI_Group g, int n, const int r[], MPI_Group *out), (g, n, r, out), out)
MAKER(info, MPI_INFO_NULL, Info_create, (MPI_Info * out), (out), out)
MAKER(info, MPI_INFO_NULL, Info_dup, (MPI_Info i, MPI_Info *out), (i, out), out)
MAKER(info, MPI_INFO_NULL, File_get_info, (MPI_File f, MPI_Info *out), (f, out), out)
MAKER(info, MPI_INFO_NULL, Comm_get_info, (MPI_Comm c, MPI_Info *out), (c, out), out)
MAKER(file, MPI_FILE_NULL, File_open, (MPI_Comm c, const char *name, int mode, MPI_Info i, MPI_File *out),
      (c, name, mode, i, out), out)
MAKER(window, MPI_WIN_NULL, Win_create, (void *p, MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, MPI_Win *out),
      (p, n, unit, i, c, out), out)
MAKER(window, MPI_WIN_NULL, Win_allocate, (MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, void *p, MPI_Win *out),
      (n, unit, i, c, p, out), out)
MAKER(window, MPI_WIN_NULL, Win_allocate_shared, (MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, void *p, MPI_Win *out),
      (n, unit, i, c, p, out), out)
MAKER(keyval, MPI_KEYVAL_INVALID, Comm_create_keyval,
      (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function *drop_, int *out, void *state),
      (copy, drop_, out, state), out)
MAKER(error_handler, MPI_ERRHANDLER_NULL, Comm_create_errhandler,
      (MPI_Comm_errhandler_function * f, MPI_Errhandler *out), (f, out), out)
MAKER(error_handler, MPI_ERRHANDLER_NULL, Comm_get_errhandler, (MPI_Comm c, MPI_Errhandler *out), (c, out), out)
MAKER(error_handler, MPI_ERRHANDLER_NULL, File_get_errhandler, (MPI_File f, MPI_Errhandler *out), (f, out), out)
MAKER(operation, MPI_OP_NULL, Op_create, (MPI_User_function * f, int commutes, MPI_Op *out), (f, commutes, out), out)

#define SEND (const void *p, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *out)
#define RECEIVE (void *p, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *out)
REQUEST(Isend, SEND, (p, n, t, to, tag, c, out))
REQUEST(Issend, SEND, (p, n, t, to, tag, c, out))
REQUEST(Send_init, SEND, (p, n, t, to, tag, c, out))
REQUEST(Irecv, RECEIVE, (p, n, t, from, tag, c, out))
REQUEST(Recv_init, RECEIVE, (p, n, t, from, tag, c, out))
REQUEST(Ibarrier, (MPI_Comm c, MPI_Request *out), (c, out))
REQUEST(Ibcast, (void *p, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request *out), (p, n, t, root, c, out))
REQUEST(Iallreduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *out),
        (s, r, n, t, o, c, out))
#define WRITE (MPI_File f, const void *p, int n, MPI_Datatype t, MPI_Request *out)
#define WRITE_AT (MPI_File f, MPI_Offset at, const void *p, int n, MPI_Datatype t, MPI_Request *out)
#define READ (MPI_File f, void *p, int n, MPI_Datatype t, MPI_Request *out)
#define READ_AT (MPI_File f, MPI_Offset at, void *p, int n, MPI_Datatype t, MPI_Request *out)
REQUEST(File_iwrite, WRITE, (f, p, n, t, out))
REQUEST(File_iwrite_all, WRITE, (f, p, n, t, out))
REQUEST(File_iwrite_shared, WRITE, (f, p, n, t, out))
REQUEST(File_iwrite_at, WRITE_AT, (f, at, p, n, t, out))
REQUEST(File_iwrite_at_all, WRITE_AT, (f, at, p, n, t, out))
REQUEST(File_iread, READ, (f, p, n, t, out))
REQUEST(File_iread_all, READ, (f, p, n, t, out))
REQUEST(File_iread_shared, READ, (f, p, n, t, out))
REQUEST(File_iread_at, READ_AT, (f, at, p, n, t, out))
REQUEST(File_iread_at_all, READ_AT, (f, at, p, n, t, out))

/* Those that give back. */
#define FREER(kind, type, name)                   \
  int MPI_##name(type *object) {                  \
    const uintptr_t handle = (uintptr_t)*object;  \
    const int error = PMPI_##name(object);        \
    if (error == MPI_SUCCESS) drop(kind, handle); \
    return error;                                 \
  }
FREER(communicator, MPI_Comm, Comm_free)
FREER(communicator, MPI_Comm, Comm_disconnect)
FREER(datatype, MPI_Datatype, Type_free)
FREER(group, MPI_Group, Group_free)
FREER(info, MPI_Info, Info_free)
FREER(file, MPI_File, File_close)
FREER(window, MPI_Win, Win_free)
FREER(request, MPI_Request, Request_free)
FREER(keyval, int, Comm_free_keyval)
FREER(error_handler, MPI_Errhandler, Errhandler_free)
FREER(operation, MPI_Op, Op_free)

/* Completions: a request that was one before and is none now. */
#define COMPLETION(name, parameters, arguments, n, requests)                                                       \
  int MPI_##name parameters {                                                                                      \
    const size_t number = (size_t)(n);                                                                             \
    MPI_Request *before = malloc((number + 1) * sizeof *before);                                                   \
    if (before != NULL && number > 0) memcpy(before, requests, number * sizeof *before);                           \
    const int error = PMPI_##name arguments;                                                                       \
    for (size_t i = 0; before != NULL && i < number; ++i)                                                          \
      if (before[i] != MPI_REQUEST_NULL && (requests)[i] == MPI_REQUEST_NULL) drop(request, (uintptr_t)before[i]); \
    free(before);                                                                                                  \
    return error;                                                                                                  \
  }
COMPLETION(Wait, (MPI_Request * r, MPI_Status *s), (r, s), 1, r)
COMPLETION(Test, (MPI_Request * r, int *flag, MPI_Status *s), (r, flag, s), 1, r)
COMPLETION(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s), n, r)
COMPLETION(Testall, (int n, MPI_Request r[], int *flag, MPI_Status s[]), (n, r, flag, s), n, r)
COMPLETION(Waitany, (int n, MPI_Request r[], int *at, MPI_Status *s), (n, r, at, s), n, r)
COMPLETION(Testany, (int n, MPI_Request r[], int *at, int *flag, MPI_Status *s), (n, r, at, flag, s), n, r)
COMPLETION(Waitsome, (int n, MPI_Request r[], int *m, int at[], MPI_Status s[]), (n, r, m, at, s), n, r)
COMPLETION(Testsome, (int n, MPI_Request r[], int *m, int at[], MPI_Status s[]), (n, r, m, at, s), n, r)

int MPI_Finalize(void) {
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int error = PMPI_Finalize(); /* attributes of MPI_COMM_SELF go first, and free what hangs on them */
  for (size_t i = 0; i < count && i < max_shown; ++i) {
    Dl_info where = {0};
    dladdr(objects[i].caller, &where);
    fprintf(stderr, "left open on rank %d: a %s of %s, called from %s (%s+0x%zx)\n", rank, kind_names[objects[i].kind],
            objects[i].call, where.dli_sname != NULL ? where.dli_sname : "?", where.dli_fname,
            (size_t)((char *)objects[i].caller - (char *)where.dli_fbase));
  }
  printf("left open on rank %d: %zu of %zu objects of MPI\n", rank, count, made);
  fflush(stdout);
  if (count > 0 || overflown || made == 0) _exit(99);
  return error;
}
