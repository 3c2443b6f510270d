// Original: the functions of the MPI library that ours stand in front of.
#pragma once

#include <mpi.h>

namespace penstock::mpiio {

using Function = void (*)();

struct Originals {
#define FUNCTION(name) decltype(&PMPI_##name) name;
#if MPI_VERSION >= 4
#define LARGE(name) decltype(&PMPI_##name##_c) name##_c;
#else
#define LARGE(name) Function name##_c;
#endif
#include "bindings/mpiio/functions.h"
#undef FUNCTION
#undef LARGE
};

// Set before any of our functions is called.
extern const Originals* original;

// Whether this thread is inside one of our functions: calls that it makes meanwhile go to MPI.
class Inside {
 public:
  Inside();
  ~Inside() noexcept(false);
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  static bool already();  // before this one
  // The error handler of FILE is called when this thread is not inside any more, since it may use files, or never
  // return.
  static void raise_behind(MPI_File file, int code);

 private:
  int unwinding_;
};

}  // namespace penstock::mpiio
