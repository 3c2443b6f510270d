/* failure.c: reports a failed Fortran call: through ierr, by the next commit, or by error stop. */
#include <stdarg.h>
#include <stdio.h>

#include "glue.h"

penstock_status refuse(File *file, penstock_status status, const char *message, ...) {
  char text[1024];
  va_list values;
  va_start(values, message);
  vsnprintf(text, sizeof text, message, values);
  va_end(values);
  return penstock_fail(file != NULL ? file->file : NULL, status, text);
}

void end_call(penstock_status status, int *ierr) {
  if (ierr != NULL)
    *ierr = (int)status;
  else if (status != PENSTOCK_OK)
    penstock_fortran_stop(penstock_message());
}

void end_local_call(const File *file, penstock_status status, int *ierr) {
  if (ierr != NULL || file == NULL) end_call(status, ierr);
}

void penstock_fortran_end_call(int status, int *ierr) { end_call((penstock_status)status, ierr); }
