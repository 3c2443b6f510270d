// Take: the table of our functions, in the order of functions.h, for the library that programs load.
#include "bindings/mpiio/original.hpp"

#include <exception>
#include <utility>

namespace penstock::mpiio {

#define FUNCTION(name) decltype(PMPI_##name) name;
#if MPI_VERSION >= 4
#define LARGE(name) decltype(PMPI_##name##_c) name##_c;
#else
#define LARGE(name)
#endif
#include "bindings/mpiio/functions.h"
#undef FUNCTION
#undef LARGE

const Originals* original = nullptr;

namespace {
thread_local int depth = 0;
thread_local struct {
  MPI_File file;
  int code;
} raised;
}  // namespace

Inside::Inside() : unwinding_(std::uncaught_exceptions()) { ++depth; }
Inside::~Inside() noexcept(false) {  // a handler may throw
  if (--depth > 0 || raised.code == MPI_SUCCESS) return;
  const int code = std::exchange(raised.code, MPI_SUCCESS);
  if (std::uncaught_exceptions() == unwinding_) (void)MPI_File_call_errhandler(raised.file, code);
}
bool Inside::already() { return depth > 0; }
void Inside::raise_behind(MPI_File file, int code) {
  if (raised.code == MPI_SUCCESS) raised = {file, code};
}

namespace {

Originals kept;

#define FUNCTION(name) reinterpret_cast<Function>(&name),
#if MPI_VERSION >= 4
#define LARGE(name) reinterpret_cast<Function>(&name##_c),
#else
#define LARGE(name) nullptr,
#endif
const Function our_calls[] = {
#include "bindings/mpiio/functions.h"
};

}  // namespace
}  // namespace penstock::mpiio

extern "C" __attribute__((visibility("default"))) const penstock::mpiio::Function* penstock_mpiio_take(
    const penstock::mpiio::Originals* originals) {
  penstock::mpiio::kept = *originals;
  penstock::mpiio::original = &penstock::mpiio::kept;
  return penstock::mpiio::our_calls;
}

extern "C" __attribute__((visibility("default"))) int penstock_mpiio_inside() {
  return penstock::mpiio::Inside::already() ? 1 : 0;
}
