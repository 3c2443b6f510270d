/* files.c: opens, commits and closes files; communicators arrive as Fortran handles. */
#include "files.h"

#include <stdlib.h>

/* Texts that a get will fill. */
typedef struct Text {
  struct Text *next;
  Array texts;
} Text;

penstock_status refuse_closed(const char *doing) {
  return refuse(NULL, PENSTOCK_INVALID, "%s: the file is not open: call penstock_create or penstock_open first", doing);
}

penstock_status pad_when_filled(File *file, const Array *a) {
  Text *text = malloc(sizeof *text);
  if (text == NULL) return refuse(file, PENSTOCK_MEMORY, "no memory to remember a get of texts");
  *text = (Text){file->texts, *a};
  file->texts = text;
  return PENSTOCK_OK;
}

static void pad_all(File *file, bool filled) {
  while (file->texts != NULL) {
    Text *text = file->texts;
    char *copy = filled ? packed(&text->texts) : NULL;
    if (copy != NULL) {
      pad_with_blanks(copy, text->texts.elements, text->texts.element_bytes);
      unpack(&text->texts, copy);
    }
    free(copy);
    file->texts = text->next;
    free(text);
  }
}

penstock_status communicator_of(const Handle *handle, penstock_comm *comm) {
  *comm = PENSTOCK_ALONE;
#if PENSTOCK_HAVE_MPI
  if (handle == NULL) return PENSTOCK_OK;
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (!started || ended)
    return refuse(NULL, PENSTOCK_INVALID,
                  started ? "MPI_Finalize was called: close files before it"
                          : "MPI is not initialised: call MPI_Init first, or leave out comm, which "
                            "means this process alone");
  *comm = MPI_Comm_f2c(*handle);
#else
  (void)handle;
#endif
  return PENSTOCK_OK;
}

/* For programs that call the C interface through module penstock_c. */
penstock_comm penstock_fortran_comm(int handle) {
#if PENSTOCK_HAVE_MPI
  return MPI_Comm_f2c(handle);
#else
  (void)handle;
  return PENSTOCK_ALONE;
#endif
}

/* --- files --- */

typedef penstock_status (*Opener)(penstock_comm, const char *, const char *, penstock_file **);

static void open_with(Opener opener, const Handle *handle, const CFI_cdesc_t *path, File **file,
                      const CFI_cdesc_t *plan, int *ierr) {
  penstock_comm comm;
  penstock_file *opened = NULL;
  *file = NULL;
  penstock_status status = communicator_of(handle, &comm);
  if (status == PENSTOCK_OK) {
    char *where = text_of(path), *how = text_of(plan);
    File *made = calloc(1, sizeof *made);
    status = opener(comm, where, how, made != NULL && where != NULL ? &opened : NULL);
    if (status == PENSTOCK_OK) {
      made->file = opened;
      *file = made;
    } else {
      free(made);
    }
    free(where);
    free(how);
  }
  end_call(status, ierr);
}

#define OPENER(verb)                                                                                              \
  void penstock_fortran_##verb(const Handle *comm, const CFI_cdesc_t *path, File **file, const CFI_cdesc_t *plan, \
                               int *ierr) {                                                                       \
    open_with(penstock_##verb, comm, path, file, plan, ierr);                                                     \
  }
OPENER(create)
OPENER(open)
OPENER(open_latest)
OPENER(reopen)

void penstock_fortran_copy(const Handle *handle, const CFI_cdesc_t *from, const CFI_cdesc_t *to,
                           const CFI_cdesc_t *plan, int *ierr) {
  penstock_comm comm;
  penstock_status status = communicator_of(handle, &comm);
  if (status == PENSTOCK_OK) {
    char *source = text_of(from), *target = text_of(to), *how = text_of(plan);
    status = penstock_copy(comm, source, target, how);
    free(source);
    free(target);
    free(how);
  }
  end_call(status, ierr);
}

void penstock_fortran_clone(const Handle *handle, const CFI_cdesc_t *from, const CFI_cdesc_t *path, File **file,
                            const CFI_cdesc_t *plan, int *ierr) {
  penstock_comm comm;
  *file = NULL;
  penstock_status status = communicator_of(handle, &comm);
  if (status == PENSTOCK_OK) {
    char *source = text_of(from), *where = text_of(path), *how = text_of(plan);
    File *made = calloc(1, sizeof *made);
    status = penstock_clone(comm, source, where, how, made != NULL ? &made->file : NULL);
    if (status == PENSTOCK_OK)
      *file = made;
    else
      free(made);
    free(source);
    free(where);
    free(how);
  }
  end_call(status, ierr);
}

typedef enum Care { VERIFY, REPAIR, SEAL, SEAL_BY_FORCE } Care;

static void look_after(Care care, const Handle *handle, const CFI_cdesc_t *path, int *ierr) {
  penstock_comm comm;
  penstock_status status = communicator_of(handle, &comm);
  if (status == PENSTOCK_OK) {
    char *where = text_of(path);
    switch (care) {
      case VERIFY:
        status = penstock_verify(comm, where);
        break;
      case REPAIR:
        status = penstock_repair(comm, where);
        break;
      default:
        status = penstock_seal(comm, where, care == SEAL_BY_FORCE);
        break;
    }
    free(where);
  }
  end_call(status, ierr);
}

#define CARE(verb, care)                                                                 \
  void penstock_fortran_##verb(const Handle *comm, const CFI_cdesc_t *path, int *ierr) { \
    look_after(care, comm, path, ierr);                                                  \
  }                                                                                      \
  void penstock_fortran_##verb##_alone(const CFI_cdesc_t *path, int *ierr) { look_after(care, NULL, path, ierr); }
CARE(verify, VERIFY)
CARE(repair, REPAIR)

/* FORCE is a number here, since Fortran's default logical differs from C's. */
void penstock_fortran_seal(const Handle *comm, const CFI_cdesc_t *path, int force, int *ierr) {
  look_after(force ? SEAL_BY_FORCE : SEAL, comm, path, ierr);
}

/* --- commit and close --- */

void penstock_fortran_commit(File **file, int *ierr) {
  penstock_status status = *file == NULL ? refuse_closed("penstock_commit") : penstock_commit((*file)->file);
  if (*file != NULL) pad_all(*file, status == PENSTOCK_OK);
  end_call(status, ierr);
}

void penstock_fortran_commit_start(File **file, int *ierr) {
  penstock_status status =
      *file == NULL ? refuse_closed("penstock_commit_start") : penstock_commit_start((*file)->file);
  if (*file != NULL) pad_all(*file, status == PENSTOCK_OK);
  end_call(status, ierr);
}

void penstock_fortran_commit_test(File **file, int *done, int *ierr) {
  *done = 1;
  end_call(*file == NULL ? refuse_closed("penstock_commit_test") : penstock_commit_test((*file)->file, done), ierr);
}

void penstock_fortran_commit_wait(File **file, int *ierr) {
  end_call(*file == NULL ? refuse_closed("penstock_commit_wait") : penstock_commit_wait((*file)->file), ierr);
}

/* Cleans up after FILE ended with STATUS. */
static void release(File **file, penstock_status status) {
  pad_all(*file, status == PENSTOCK_OK);
  free(*file);
  *file = NULL;
}

void penstock_fortran_close(File **file, int *ierr) {
  penstock_status status;
  if (*file == NULL) {
    status = refuse_closed("penstock_close");
  } else {
    status = penstock_close((*file)->file);
    release(file, status);
  }
  end_call(status, ierr);
}

void penstock_fortran_close_restart(File **file, const CFI_cdesc_t *pattern, int64_t retain, int *ierr) {
  penstock_status status;
  if (*file == NULL) {
    status = refuse_closed("penstock_close_restart");
  } else {
    char *names = text_of(pattern);
    status = penstock_close_restart((*file)->file, names, retain);
    free(names);
    release(file, status);
  }
  end_call(status, ierr);
}

void penstock_fortran_abandon(File **file) {
  if (*file == NULL) return;
  penstock_abandon((*file)->file);
  pad_all(*file, false);
  free(*file);
  *file = NULL;
}

/* --- settings of a file --- */

static void end_call_with(File **file, const char *doing, penstock_status (*call)(penstock_file *, const char *),
                          const CFI_cdesc_t *word, int *ierr) {
  char *text = text_of(word);
  end_local_call(*file, *file == NULL ? refuse_closed(doing) : call((*file)->file, text), ierr);
  free(text);
}

void penstock_fortran_dataset_option(File **file, const CFI_cdesc_t *name, const CFI_cdesc_t *options, int *ierr) {
  char *dataset = text_of(name), *words = text_of(options);
  end_local_call(
      *file,
      *file == NULL ? refuse_closed("penstock_dataset_option") : penstock_dataset_option((*file)->file, dataset, words),
      ierr);
  free(dataset);
  free(words);
}

void penstock_fortran_unlimited(File **file, const CFI_cdesc_t *name, int *ierr) {
  end_call_with(file, "penstock_unlimited", penstock_unlimited, name, ierr);
}

void penstock_fortran_group(File **file, const CFI_cdesc_t *name, int *ierr) {
  end_call_with(file, "penstock_group", penstock_group, name, ierr);
}

void penstock_fortran_remove(File **file, const CFI_cdesc_t *name, int *ierr) {
  end_call_with(file, "penstock_remove", penstock_remove, name, ierr);
}

void penstock_fortran_conventions(File **file, const CFI_cdesc_t *convention, int *ierr) {
  end_call_with(file, "penstock_conventions", penstock_conventions, convention, ierr);
}

void penstock_fortran_partial(File **file, int partial, int *ierr) {
  end_local_call(*file, *file == NULL ? refuse_closed("penstock_partial") : penstock_partial((*file)->file, partial),
                 ierr);
}

void penstock_fortran_xdmf(File **file, int xdmf, int *ierr) {
  end_local_call(*file, *file == NULL ? refuse_closed("penstock_xdmf") : penstock_xdmf((*file)->file, xdmf), ierr);
}

void penstock_fortran_capture_bytes(File **file, int64_t bytes, int *ierr) {
  end_local_call(*file,
                 *file == NULL ? refuse_closed("penstock_capture_bytes") : penstock_capture_bytes((*file)->file, bytes),
                 ierr);
}

/* Records a failure in the program, which the next commit reports on all ranks. */
void penstock_fortran_fail(File **file, const CFI_cdesc_t *message, int *ierr) {
  if (*file == NULL) {
    end_call(refuse_closed("penstock_fail"), ierr);
    return;
  }
  char *text = text_of(message);
  end_local_call(*file, refuse(*file, PENSTOCK_INVALID, "%s", text != NULL ? text : ""), ierr);
  free(text);
}

/* --- I/O servers --- */

void penstock_fortran_split(const Handle *handle, Handle *compute, int *ierr) {
  penstock_comm comm, made = PENSTOCK_ALONE;
  penstock_status status = communicator_of(handle, &comm);
  if (status == PENSTOCK_OK) status = penstock_split(comm, &made);
#if PENSTOCK_HAVE_MPI
  if (status == PENSTOCK_OK) *compute = MPI_Comm_c2f(made);
#else
  *compute = made;
#endif
  end_call(status, ierr);
}

void penstock_fortran_unsplit(Handle *compute, int *ierr) {
  penstock_comm comm;
  penstock_status status = communicator_of(compute, &comm);
  if (status == PENSTOCK_OK) status = penstock_unsplit(&comm);
#if PENSTOCK_HAVE_MPI
  if (status == PENSTOCK_OK) *compute = MPI_Comm_c2f(comm);
#endif
  end_call(status, ierr);
}
