// Traced MPI-IO: calls each routine of the standard unchanged, between two clock readings.
#include "core/comm/mpi/traced_io.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>

#include "core/comm/library.hpp"
#include "core/trace/redirect.hpp"
#include "core/trace/system_calls.hpp"
#include "core/trace/trace.hpp"

namespace penstock {
namespace {

Trace* tracing = nullptr;
constexpr std::string_view callers[] = {"libpenstock", "libhdf5", "libnetcdf", "libpnetcdf"};
enum class Kind : uint8_t { alone, collective, nonblocking, split };
enum class Where : uint8_t { given, pointer, unknown };  // how a routine determines its place in the file

std::mutex files_mutex;
std::map<MPI_File, uint32_t>& files() {
  static auto& all = *new std::map<MPI_File, uint32_t>;
  return all;
}

uint32_t path_of(MPI_File file) {
  const std::lock_guard lock(files_mutex);
  const auto at = files().find(file);
  return at == files().end() ? UINT32_MAX : at->second;
}

// The routine NAME as the program would have found it: MPI's, or that of an intermediate tool.
template <typename Routine>
Routine* real(Routine*, const char* name) {
  return reinterpret_cast<Routine*>(::dlsym(RTLD_DEFAULT, name));
}
#define PENSTOCK_REAL(name) static const auto call = real<decltype(name)>(nullptr, #name)

template <typename Call>
int timed(Operation operation, uint32_t path, int64_t offset, int64_t length, const Call& call) {
  Tracing record(tracing, operation, path, offset, length);
  const int result = call();
  record.call().failed = result == MPI_SUCCESS ? 0 : 1;
  return result;
}

int64_t bytes_of(int count, MPI_Datatype type) {
  MPI_Count size = 0;
  MPI_Type_size_x(type, &size);
  return size < 0 ? 0 : static_cast<int64_t>(count) * size;
}

// In bytes of the file; -1 if MPI does not tell.
int64_t place(MPI_File file, Where where, MPI_Offset offset) {
  MPI_Offset at = -1;
  if (where == Where::unknown) return -1;
  if (where == Where::pointer && MPI_File_get_position(file, &offset) != MPI_SUCCESS) return -1;
  return MPI_File_get_byte_offset(file, offset, &at) == MPI_SUCCESS ? at : -1;
}

template <typename Call>
int moved(Operation way, Kind kind, Where where, MPI_File file, MPI_Offset offset, int count, MPI_Datatype type,
          const Call& call) {
  const auto operation = static_cast<Operation>(static_cast<int>(way) + static_cast<int>(kind));
  return timed(operation, path_of(file), place(file, where, offset), bytes_of(count, type), call);
}

// The routine's own parameters before those common to all, and after.
#define PENSTOCK_MOVES_AT(name, way, kind, memory, last, last_name)                                              \
  int name##_instead(MPI_File f, MPI_Offset offset, memory m, int n, MPI_Datatype t, last last_name) {           \
    PENSTOCK_REAL(MPI_File_##name);                                                                              \
    return moved(way, kind, Where::given, f, offset, n, t, [&] { return call(f, offset, m, n, t, last_name); }); \
  }
#define PENSTOCK_MOVES(name, way, kind, where, memory, last, last_name)                      \
  int name##_instead(MPI_File f, memory m, int n, MPI_Datatype t, last last_name) {          \
    PENSTOCK_REAL(MPI_File_##name);                                                          \
    return moved(way, kind, where, f, 0, n, t, [&] { return call(f, m, n, t, last_name); }); \
  }
#define PENSTOCK_BEGINS(name, way, where, memory)                                        \
  int name##_begin_instead(MPI_File f, memory m, int n, MPI_Datatype t) {                \
    PENSTOCK_REAL(MPI_File_##name##_begin);                                              \
    return moved(way, Kind::split, where, f, 0, n, t, [&] { return call(f, m, n, t); }); \
  }
#define PENSTOCK_BEGINS_AT(name, way, memory)                                                                \
  int name##_begin_instead(MPI_File f, MPI_Offset offset, memory m, int n, MPI_Datatype t) {                 \
    PENSTOCK_REAL(MPI_File_##name##_begin);                                                                  \
    return moved(way, Kind::split, Where::given, f, offset, n, t, [&] { return call(f, offset, m, n, t); }); \
  }
#define PENSTOCK_WAY(name, way, memory)                                                             \
  PENSTOCK_MOVES_AT(name##_at, way, Kind::alone, memory, MPI_Status*, s)                            \
  PENSTOCK_MOVES_AT(name##_at_all, way, Kind::collective, memory, MPI_Status*, s)                   \
  PENSTOCK_MOVES(name, way, Kind::alone, Where::pointer, memory, MPI_Status*, s)                    \
  PENSTOCK_MOVES(name##_all, way, Kind::collective, Where::pointer, memory, MPI_Status*, s)         \
  PENSTOCK_MOVES(name##_shared, way, Kind::alone, Where::unknown, memory, MPI_Status*, s)           \
  PENSTOCK_MOVES(name##_ordered, way, Kind::collective, Where::unknown, memory, MPI_Status*, s)     \
  PENSTOCK_MOVES_AT(i##name##_at, way, Kind::nonblocking, memory, MPI_Request*, r)                  \
  PENSTOCK_MOVES_AT(i##name##_at_all, way, Kind::nonblocking, memory, MPI_Request*, r)              \
  PENSTOCK_MOVES(i##name, way, Kind::nonblocking, Where::pointer, memory, MPI_Request*, r)          \
  PENSTOCK_MOVES(i##name##_all, way, Kind::nonblocking, Where::pointer, memory, MPI_Request*, r)    \
  PENSTOCK_MOVES(i##name##_shared, way, Kind::nonblocking, Where::unknown, memory, MPI_Request*, r) \
  PENSTOCK_BEGINS_AT(name##_at_all, way, memory)                                                    \
  PENSTOCK_BEGINS(name##_all, way, Where::pointer, memory)                                          \
  PENSTOCK_BEGINS(name##_ordered, way, Where::unknown, memory)

PENSTOCK_WAY(read, Operation::mpi_read, void*)
PENSTOCK_WAY(write, Operation::mpi_write, const void*)

// ROMIO accepts the name of a file system before the path: "ufs:".
std::string_view plain_path(std::string_view path) {
  const size_t colon = path.find(':');
  return colon != std::string_view::npos && path.find('/') > colon ? path.substr(colon + 1) : path;
}

int open_instead(MPI_Comm comm, const char* path, int mode, MPI_Info info, MPI_File* file) {
  PENSTOCK_REAL(MPI_File_open);
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  const uint32_t number = tracing->path_number(plain_path(path));
  const int result = timed(ranks == 1 ? Operation::mpi_open : Operation::mpi_open_all, number, 0, 0,
                           [&] { return call(comm, path, mode, info, file); });
  const std::lock_guard lock(files_mutex);
  if (result == MPI_SUCCESS) files()[*file] = number;
  return result;
}

int close_instead(MPI_File* file) {
  PENSTOCK_REAL(MPI_File_close);
  const uint32_t path = path_of(*file);
  {
    const std::lock_guard lock(files_mutex);
    files().erase(*file);
  }
  return timed(Operation::mpi_close, path, 0, 0, [&] { return call(file); });
}

int sync_instead(MPI_File file) {
  PENSTOCK_REAL(MPI_File_sync);
  return timed(Operation::mpi_sync, path_of(file), 0, 0, [&] { return call(file); });
}

int set_view_instead(MPI_File file, MPI_Offset at, MPI_Datatype unit, MPI_Datatype type, const char* representation,
                     MPI_Info info) {
  PENSTOCK_REAL(MPI_File_set_view);
  return timed(Operation::mpi_view, path_of(file), at, 0,
               [&] { return call(file, at, unit, type, representation, info); });
}

int set_size_instead(MPI_File file, MPI_Offset size) {
  PENSTOCK_REAL(MPI_File_set_size);
  return timed(Operation::mpi_set_size, path_of(file), 0, size, [&] { return call(file, size); });
}

int get_size_instead(MPI_File file, MPI_Offset* size) {
  PENSTOCK_REAL(MPI_File_get_size);
  return timed(Operation::mpi_get_size, path_of(file), 0, 0, [&] { return call(file, size); });
}

int preallocate_instead(MPI_File file, MPI_Offset size) {
  PENSTOCK_REAL(MPI_File_preallocate);
  return timed(Operation::mpi_preallocate, path_of(file), 0, size, [&] { return call(file, size); });
}

#define PENSTOCK_ROUTINE(name) \
  Redirection { "MPI_File_" #name, reinterpret_cast<void*>(name##_instead) }
#define PENSTOCK_ROUTINES(name)                                                                                       \
  PENSTOCK_ROUTINE(name##_at), PENSTOCK_ROUTINE(name##_at_all), PENSTOCK_ROUTINE(name), PENSTOCK_ROUTINE(name##_all), \
      PENSTOCK_ROUTINE(name##_shared), PENSTOCK_ROUTINE(name##_ordered), PENSTOCK_ROUTINE(i##name##_at),              \
      PENSTOCK_ROUTINE(i##name##_at_all), PENSTOCK_ROUTINE(i##name), PENSTOCK_ROUTINE(i##name##_all),                 \
      PENSTOCK_ROUTINE(i##name##_shared), PENSTOCK_ROUTINE(name##_at_all_begin), PENSTOCK_ROUTINE(name##_all_begin),  \
      PENSTOCK_ROUTINE(name##_ordered_begin)

const Redirection routines[] = {PENSTOCK_ROUTINES(read),    PENSTOCK_ROUTINES(write),   PENSTOCK_ROUTINE(open),
                                PENSTOCK_ROUTINE(close),    PENSTOCK_ROUTINE(sync),     PENSTOCK_ROUTINE(set_view),
                                PENSTOCK_ROUTINE(set_size), PENSTOCK_ROUTINE(get_size), PENSTOCK_ROUTINE(preallocate)};

}  // namespace

void trace_mpi(Trace& trace) {
  static std::once_flag once;
  std::call_once(once, [&] {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    trace.identify(rank, ranks, message_library());
    tracing = &trace;
    redirect(routines, [](std::string_view library) {
      return std::ranges::any_of(callers, [&](std::string_view begin) { return library.starts_with(begin); });
    });
    trace_system_calls(trace);
  });
}

}  // namespace penstock
