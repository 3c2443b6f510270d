/* glue.h: shared by the sources of the Fortran module: arrays, texts and numbers from Fortran descriptors, and
 * reporting of failed calls. */
#ifndef PENSTOCK_FORTRAN_GLUE_H
#define PENSTOCK_FORTRAN_GLUE_H

#include <ISO_Fortran_binding.h>
#include <penstock.h>
#include <stdbool.h>

enum { MOST_DIMENSIONS = 8 };

/* The target of a type(penstock_file). */
typedef struct File {
  penstock_file *file;
  struct Text *texts; /* requested texts, to be padded with blanks when the data has arrived */
} File;

/* An actual argument. EXTENT and BYTES (distance from one element to the next) are in Fortran's order. */
typedef struct Array {
  char *data;
  int rank;
  int64_t extent[MOST_DIMENSIONS], bytes[MOST_DIMENSIONS];
  int64_t elements, element_bytes;
  penstock_type type;
  bool text;
  bool apart; /* after regroup: BYTES cannot describe where the elements are */
} Array;

/* --- failed calls --- */

/* Sets MESSAGE as the thread's message and, if FILE is not NULL, makes its next commit fail with it on all ranks. */
penstock_status refuse(File *file, penstock_status status, const char *message, ...)
    __attribute__((format(printf, 3, 4)));
/* Ends every call: stores STATUS in IERR; without IERR stops the program with the message if STATUS is an error. */
void end_call(penstock_status status, int *ierr);
/* Same for a local call: if FILE is not NULL, its next commit reports the failure, on all ranks. */
void end_local_call(const File *file, penstock_status status, int *ierr);
/* In the module, since only Fortran has `error stop`. */
void penstock_fortran_stop(const char *message);

/* --- descriptors --- */

/* A C string without trailing blanks; the caller frees it. NULL if the argument is absent or memory is exhausted. */
char *text_of(const CFI_cdesc_t *text);
/* DOING, such as "penstock_put 'rho'", begins the message. AS: the type in the file if it differs, for unsigned
 * numbers. */
penstock_status array_of(File *file, const char *doing, const CFI_cdesc_t *a, const int *as, Array *array);
bool is_contiguous(const Array *a);
/* A, which must have elements, with other extents for the same elements in the same order: (8, n) as (2, 2, 2, n), or
 * the reverse. False if the extents of one are not products of neighbouring extents of the other. */
bool regroup(const Array *a, int rank, const int64_t *extent, Array *out);
/* A contiguous copy, in which trailing blanks of texts are NULs, as in files; the caller frees it. NULL if memory is
 * exhausted. */
char *packed(const Array *a);
/* The reverse: fills A from PACKED. */
void unpack(const Array *a, const char *packed);
/* Replaces NULs at the end of COUNT texts of LENGTH bytes by blanks. */
void pad_with_blanks(char *texts, int64_t count, int64_t length);
/* The elements of an array of 4-byte or 8-byte integers, in array element order; the caller frees them. NULL if memory
 * is exhausted. */
int64_t *numbers_of(const CFI_cdesc_t *a, int64_t *count);

/* --- decompositions --- */

typedef enum Form { BOX, LIST, RAGGED, PER_RANK, REPLICATED } Form;

/* The target of a type(penstock_decomposition). Numbers are in Fortran's order; START counts from 1. */
typedef struct Part {
  penstock_decomposition *part;
  Form form;
  int rank; /* of the block in memory */
  int64_t start[MOST_DIMENSIONS], count[MOST_DIMENSIONS];
} Part;

/* One box. FILE may be NULL. RANK applies to all three lists. */
penstock_status make_block(File *file, const char *doing, int rank, const int64_t *shape, const int64_t *start,
                           const int64_t *count, Part *part);
penstock_status make_replicated(File *file, int rank, const int64_t *shape, Part *part);

#endif
