/* glue.h: what the sources of the Fortran module share: arrays, texts and numbers from Fortran's descriptors, and how a
 * call fails. */
#ifndef PENSTOCK_FORTRAN_GLUE_H
#define PENSTOCK_FORTRAN_GLUE_H

#include <ISO_Fortran_binding.h>
#include <penstock.h>
#include <stdbool.h>

enum { MOST_DIMENSIONS = 8 };

/* What a type(penstock_file) points to. */
typedef struct File {
  penstock_file *file;
  struct Text *texts; /* asked for, and to be padded with blanks when the data is there */
} File;

/* An actual argument. EXTENT and BYTES (from one element to the next) are in Fortran's order. */
typedef struct Array {
  char *data;
  int rank;
  int64_t extent[MOST_DIMENSIONS], bytes[MOST_DIMENSIONS];
  int64_t elements, element_bytes;
  penstock_type type;
  bool text;
  bool apart; /* after regroup: BYTES cannot say where the elements are */
} Array;

/* --- how a call fails --- */

/* Makes MESSAGE the thread's, and where there is a FILE, makes its next commit fail with it on all ranks. */
penstock_status refuse(File *file, penstock_status status, const char *message, ...)
    __attribute__((format(printf, 3, 4)));
/* The end of every call: STATUS goes to IERR; where that was left out, the program stops with the message. */
void end_call(penstock_status status, int *ierr);
/* The same for a local call: where there is a FILE, its next commit reports the failure, on all ranks. */
void end_local_call(const File *file, penstock_status status, int *ierr);
/* In the module, since only Fortran can `error stop`. */
void penstock_fortran_stop(const char *message);

/* --- descriptors --- */

/* A C string without the trailing blanks, to be freed; NULL for an argument that was left out, or where there is no
 * memory. */
char *text_of(const CFI_cdesc_t *text);
/* DOING, such as "penstock_put 'rho'", begins the message. AS: the type in the file where it is another, for unsigned
 * numbers. */
penstock_status array_of(File *file, const char *doing, const CFI_cdesc_t *a, const int *as, Array *array);
bool is_contiguous(const Array *a);
/* A, which has elements, with other extents for the same elements in the same order: (8, n) as (2, 2, 2, n), or the
 * other way round. False where the extents of one are not products of neighbouring ones of the other. */
bool regroup(const Array *a, int rank, const int64_t *extent, Array *out);
/* A contiguous copy, to be freed; blanks at the end of texts are NULs in it, as in files. NULL where there is no
 * memory. */
char *packed(const Array *a);
/* The other way: fills A from PACKED. */
void unpack(const Array *a, const char *packed);
/* Replaces NULs at the end of COUNT texts of LENGTH bytes by blanks. */
void pad_with_blanks(char *texts, int64_t count, int64_t length);
/* The elements of an array of integers of 4 or 8 bytes, in array element order, to be freed; NULL where there is no
 * memory. */
int64_t *numbers_of(const CFI_cdesc_t *a, int64_t *count);

/* --- decompositions --- */

typedef enum Form { BOX, LIST, RAGGED, PER_RANK, REPLICATED } Form;

/* What a type(penstock_decomposition) points to; numbers are in Fortran's order, START from 1 on. */
typedef struct Part {
  penstock_decomposition *part;
  Form form;
  int rank; /* of the block that memory holds */
  int64_t start[MOST_DIMENSIONS], count[MOST_DIMENSIONS];
} Part;

/* One box. FILE may be NULL. RANK is that of all three. */
penstock_status make_block(File *file, const char *doing, int rank, const int64_t *shape, const int64_t *start,
                           const int64_t *count, Part *part);
penstock_status make_replicated(File *file, int rank, const int64_t *shape, Part *part);

#endif
