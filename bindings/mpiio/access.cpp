// Access: MPI's functions that read and write.
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bindings/mpiio/errors.hpp"
#include "bindings/mpiio/file.hpp"
#include "bindings/mpiio/original.hpp"
#include "core/base/guarded.hpp"

namespace penstock::mpiio {
namespace {

enum class Where { at, pointer, shared };

struct Access {
  const char* call;
  Direction direction;
  bool together;
  Where where;
  MPI_Offset offset;  // in etypes
  void* memory;
  int64_t count;
  MPI_Datatype type;
};

// MPI's class of what is wrong with ACCESS, MPI_SUCCESS if nothing is, and its text.
std::pair<int, Status> check(const File& file, const Access& access) {
  const bool writes = access.direction == Direction::write;
  const auto wrong = [](int error_class, Code code, std::string text) {
    return std::pair(error_class, Status(code, std::move(text)));
  };
  if (access.count < 0) return wrong(MPI_ERR_COUNT, Code::invalid, fmt::format("a count of {}", access.count));
  if (access.offset < 0) return wrong(MPI_ERR_ARG, Code::invalid, fmt::format("an offset of {}", access.offset));
  if (access.type == MPI_DATATYPE_NULL) return wrong(MPI_ERR_TYPE, Code::invalid, "MPI_DATATYPE_NULL as datatype");
  if (!is_committed(file, access.type)) return wrong(MPI_ERR_TYPE, Code::invalid, "a datatype that is not committed");
  if (writes ? !file.writable() : !file.readable())
    return wrong(writes ? MPI_ERR_READ_ONLY : MPI_ERR_ACCESS, Code::denied,
                 fmt::format("'{}' was opened for {} only", file.path, writes ? "reading" : "writing"));
  return {MPI_SUCCESS, {}};
}

// Moves the data, BYTES of it, unless STATUS says what is wrong.
Status perform(File& file, const Access& access, Status status, int64_t& bytes) {
  bytes = 0;
  std::vector<Run> runs;
  if (status.ok()) {
    Buffer buffer{static_cast<std::byte*>(access.memory), access.count, flat(access.type)};
    if (!buffer.type->known || !file.view.known())
      status = {Code::unsupported, "a datatype of an unknown kind: use --plan none"};
    int64_t at = access.offset;
    if (access.where == Where::pointer) {
      at = file.position;
      file.position += buffer.bytes() / file.view.etype_bytes();
    }
    if (status.ok() && access.where == Where::shared) {
      const int64_t etype = file.view.etype_bytes();
      const Result<int64_t> before =
          buffer.bytes() % etype == 0
              ? file.pointer->advance(buffer.bytes() / etype)
              : Status(Code::invalid, fmt::format("{} bytes are not whole elements of the view, which "
                                                  "have {}",
                                                  buffer.bytes(), etype));
      status = before.status();
      if (before.ok()) at = *before;
    }
    if (status.ok())
      status = guarded([&]() -> Status {
        runs = runs_of(file.view, at * file.view.etype_bytes(), buffer);
        return {};
      });
  }
  const bool writes = access.direction == Direction::write;
  bytes = bytes_of(runs);
  Status moved;
  if (access.together) {  // also with a wrong argument: others wait
    const Together collective(file);
    if (writes) {
      moved = guarded([&] { return write_together(file, std::move(runs)); });
    } else {
      moved = guarded([&]() -> Status {
        PENSTOCK_ASSIGN(bytes, read_together(file, std::move(runs)));
        return {};
      });
    }
  } else if (status.ok()) {
    if (writes) {
      moved = guarded([&] { return write_or_keep(file, std::move(runs)); });
    } else {
      moved = guarded([&]() -> Status {
        PENSTOCK_ASSIGN(bytes, read_alone(file, runs));
        return {};
      });
    }
  }
  if (status.ok()) status = moved;
  if (!status.ok()) bytes = 0;
  return status;
}

void set_status(MPI_Status* status, int64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  MPI_Status_set_elements_x(status, MPI_BYTE, bytes);
  MPI_Status_set_cancelled(status, 0);
}

// Our file behind HANDLE, if its accesses go our way now.
std::shared_ptr<File> ours(MPI_File handle, const char* call) {
  auto file = find(handle);
  if (file == nullptr) return nullptr;
  if (const char* why = file->why_passed()) {
    file->statistics->pass(call, why);
    return nullptr;
  }
  return file;
}

// Performs ACCESS if it goes our way, and gives TOLD its file and bytes; PASS otherwise.
template <typename Pass, typename Told>
int take_over(MPI_File handle, const Access& access, Pass pass, Told told) {
  const auto file = Inside::already() ? nullptr : ours(handle, access.call);
  if (file == nullptr) return pass();
  const Inside inside;
  const std::lock_guard lock(file->busy);
  if (access.where == Where::shared && !file->pointer) return pass();  // another thread has given MPI the view
  CallTimer timer(*file->statistics, access.call);
  int64_t bytes = 0;
  auto [error_class, wrong] = check(*file, access);
  const Status done = perform(*file, access, std::move(wrong), bytes);
  timer.moved(bytes);
  const int failed = raise(*file, access.call, done, error_class);
  const int error = told(*file, bytes, failed);
  return failed == MPI_SUCCESS ? error : failed;
}

template <typename Pass>
int blocking(MPI_File handle, const Access& access, MPI_Status* status, Pass pass) {
  return take_over(handle, access, pass, [&](File&, int64_t bytes, int) {
    set_status(status, bytes);
    return MPI_SUCCESS;
  });
}

template <typename Pass>
int split_begin(MPI_File handle, const Access& access, Pass pass) {
  return take_over(handle, access, pass, [](File& file, int64_t bytes, int) {
    file.split_bytes = bytes;
    return MPI_SUCCESS;
  });
}

int query(void* bytes, MPI_Status* status) {
  set_status(status, *static_cast<int64_t*>(bytes));
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
int release(void* bytes) {
  delete static_cast<int64_t*>(bytes);
  return MPI_SUCCESS;
}
int cancel(void*, int) { return MPI_SUCCESS; }

// A request that is complete, after BYTES.
int completed(int64_t bytes, MPI_Request* request) {
  auto kept = std::make_unique<int64_t>(bytes);
  const int error = MPI_Grequest_start(query, release, cancel, kept.get(), request);
  if (error != MPI_SUCCESS) return error;
  (void)kept.release();
  return MPI_Grequest_complete(*request);
}

// By this rank alone, also where the call is collective: it must not wait for others in this call.
template <typename Pass>
int beginning(MPI_File handle, const Access& access, MPI_Request* request, Pass pass) {
  return take_over(handle, access, pass, [&](File&, int64_t bytes, int failed) {
    *request = MPI_REQUEST_NULL;
    return failed == MPI_SUCCESS ? completed(bytes, request) : failed;
  });
}

template <typename Pass>
int split_end(MPI_File handle, MPI_Status* status, Pass pass) {
  if (Inside::already()) return pass();
  const auto file = find(handle);
  if (file == nullptr || file->split_bytes < 0) return pass();
  set_status(status, std::exchange(file->split_bytes, -1));
  return MPI_SUCCESS;
}

// Shared file pointers are MPI's, where it has the view: what is kept must be in the file before. Where all call, they
// move it.
template <typename Pass>
int shared(MPI_File handle, const char* call, bool together, Pass pass) {
  const auto file = Inside::already() ? nullptr : find(handle);
  if (file == nullptr) return pass();
  const Inside inside;
  const std::lock_guard lock(file->busy);
  file->statistics->pass(call, "shared file pointer");
  std::optional<Together> collective;
  if (together) collective.emplace(*file);
  Status status = guarded([&] { return together ? move_kept(*file, call) : write_own(*file); });
  if (status.ok() && !together) status = settle(*file);
  if (const Status waited = wait_for_background(*file, {0, INT64_MAX}); status.ok()) status = waited;
  if (status.ok() && file->pointer && together) status = give_view(*file);
  if (!status.ok()) return raise(*file, call, status);
  return pass();
}

// OURS where MPI has not the view.
template <typename Ours, typename Pass>
int shared_alone(MPI_File handle, const char* call, Ours ours, Pass pass) {
  const auto file = Inside::already() ? nullptr : find(handle);
  return file != nullptr && file->pointer ? ours() : shared(handle, call, false, pass);
}

constexpr auto writing = Direction::write;
constexpr auto reading = Direction::read;
void* plain(const void* memory) { return const_cast<void*>(memory); }  // NOLINT: never written to when writing

}  // namespace

// --- the functions; each twice where MPI has them with counts of 64 bits, too ---

#if MPI_VERSION >= 4
#define LARGE_TOO(...) __VA_ARGS__
#else
#define LARGE_TOO(...)
#endif

#define AT(name, ...) AT_OF(name, int, __VA_ARGS__) LARGE_TOO(AT_OF(name##_c, MPI_Count, __VA_ARGS__))
#define AT_OF(name, number, direction, together, constant)                                                            \
  int name(MPI_File file, MPI_Offset offset, constant void* memory, number count, MPI_Datatype type,                  \
           MPI_Status* status) {                                                                                      \
    return blocking(file, {"MPI_" #name, direction, together, Where::at, offset, plain(memory), count, type}, status, \
                    [&] { return original->name(file, offset, memory, count, type, status); });                       \
  }
#define POINTER(name, ...) POINTER_OF(name, int, __VA_ARGS__) LARGE_TOO(POINTER_OF(name##_c, MPI_Count, __VA_ARGS__))
#define POINTER_OF(name, number, direction, together, constant)                                                       \
  int name(MPI_File file, constant void* memory, number count, MPI_Datatype type, MPI_Status* status) {               \
    return blocking(file, {"MPI_" #name, direction, together, Where::pointer, 0, plain(memory), count, type}, status, \
                    [&] { return original->name(file, memory, count, type, status); });                               \
  }
#define BEGIN_AT(name, ...) BEGIN_AT_OF(name, int, __VA_ARGS__) LARGE_TOO(BEGIN_AT_OF(name##_c, MPI_Count, __VA_ARGS__))
#define BEGIN_AT_OF(name, number, direction, constant)                                                               \
  int name(MPI_File file, MPI_Offset offset, constant void* memory, number count, MPI_Datatype type,                 \
           MPI_Request* request) {                                                                                   \
    return beginning(file, {"MPI_" #name, direction, false, Where::at, offset, plain(memory), count, type}, request, \
                     [&] { return original->name(file, offset, memory, count, type, request); });                    \
  }
#define BEGIN_POINTER(name, ...) \
  BEGIN_POINTER_OF(name, int, __VA_ARGS__) LARGE_TOO(BEGIN_POINTER_OF(name##_c, MPI_Count, __VA_ARGS__))
#define BEGIN_POINTER_OF(name, number, direction, constant)                                                          \
  int name(MPI_File file, constant void* memory, number count, MPI_Datatype type, MPI_Request* request) {            \
    return beginning(file, {"MPI_" #name, direction, false, Where::pointer, 0, plain(memory), count, type}, request, \
                     [&] { return original->name(file, memory, count, type, request); });                            \
  }
#define SPLIT_AT(name, ...) SPLIT_AT_OF(name, int, __VA_ARGS__) LARGE_TOO(SPLIT_AT_OF(name##_c, MPI_Count, __VA_ARGS__))
#define SPLIT_AT_OF(name, number, direction, constant)                                                       \
  int name(MPI_File file, MPI_Offset offset, constant void* memory, number count, MPI_Datatype type) {       \
    return split_begin(file, {"MPI_" #name, direction, true, Where::at, offset, plain(memory), count, type}, \
                       [&] { return original->name(file, offset, memory, count, type); });                   \
  }
#define SPLIT_POINTER(name, ...) \
  SPLIT_POINTER_OF(name, int, __VA_ARGS__) LARGE_TOO(SPLIT_POINTER_OF(name##_c, MPI_Count, __VA_ARGS__))
#define SPLIT_POINTER_OF(name, number, direction, constant)                                                  \
  int name(MPI_File file, constant void* memory, number count, MPI_Datatype type) {                          \
    return split_begin(file, {"MPI_" #name, direction, true, Where::pointer, 0, plain(memory), count, type}, \
                       [&] { return original->name(file, memory, count, type); });                           \
  }
#define SPLIT_END(name, constant)                                                         \
  int name(MPI_File file, constant void* memory, MPI_Status* status) {                    \
    return split_end(file, status, [&] { return original->name(file, memory, status); }); \
  }
#define SHARED(name, ...) SHARED_OF(name, int, __VA_ARGS__) LARGE_TOO(SHARED_OF(name##_c, MPI_Count, __VA_ARGS__))
#define SHARED_OF(name, number, constant)                                                                       \
  int name(MPI_File file, constant void* memory, number count, MPI_Datatype type, MPI_Status* status) {         \
    return shared(file, "MPI_" #name, true, [&] { return original->name(file, memory, count, type, status); }); \
  }
#define SHARED_ALONE(name, ...) \
  SHARED_ALONE_OF(name, int, __VA_ARGS__) LARGE_TOO(SHARED_ALONE_OF(name##_c, MPI_Count, __VA_ARGS__))
#define SHARED_ALONE_OF(name, number, way, direction, result, constant)                                \
  int name(MPI_File file, constant void* memory, number count, MPI_Datatype type, result* done) {      \
    const auto pass = [&] { return original->name(file, memory, count, type, done); };                 \
    const Access access{"MPI_" #name, direction, false, Where::shared, 0, plain(memory), count, type}; \
    return shared_alone(file, access.call, [&] { return way(file, access, done, pass); }, pass);       \
  }
#define SPLIT_SHARED(name, ...) \
  SPLIT_SHARED_OF(name, int, __VA_ARGS__) LARGE_TOO(SPLIT_SHARED_OF(name##_c, MPI_Count, __VA_ARGS__))
#define SPLIT_SHARED_OF(name, number, constant)                                                         \
  int name(MPI_File file, constant void* memory, number count, MPI_Datatype type) {                     \
    return shared(file, "MPI_" #name, true, [&] { return original->name(file, memory, count, type); }); \
  }
#define NOT_CONST

AT(File_read_at, reading, false, NOT_CONST)
AT(File_read_at_all, reading, true, NOT_CONST)
AT(File_write_at, writing, false, const)
AT(File_write_at_all, writing, true, const)
BEGIN_AT(File_iread_at, reading, NOT_CONST)
BEGIN_AT(File_iread_at_all, reading, NOT_CONST)
BEGIN_AT(File_iwrite_at, writing, const)
BEGIN_AT(File_iwrite_at_all, writing, const)
POINTER(File_read, reading, false, NOT_CONST)
POINTER(File_read_all, reading, true, NOT_CONST)
POINTER(File_write, writing, false, const)
POINTER(File_write_all, writing, true, const)
BEGIN_POINTER(File_iread, reading, NOT_CONST)
BEGIN_POINTER(File_iread_all, reading, NOT_CONST)
BEGIN_POINTER(File_iwrite, writing, const)
BEGIN_POINTER(File_iwrite_all, writing, const)
SHARED_ALONE(File_read_shared, blocking, reading, MPI_Status, NOT_CONST)
SHARED_ALONE(File_write_shared, blocking, writing, MPI_Status, const)
SHARED_ALONE(File_iread_shared, beginning, reading, MPI_Request, NOT_CONST)
SHARED_ALONE(File_iwrite_shared, beginning, writing, MPI_Request, const)
SHARED(File_read_ordered, NOT_CONST)
SHARED(File_write_ordered, const)
SPLIT_AT(File_read_at_all_begin, reading, NOT_CONST)
SPLIT_END(File_read_at_all_end, NOT_CONST)
SPLIT_AT(File_write_at_all_begin, writing, const)
SPLIT_END(File_write_at_all_end, const)
SPLIT_POINTER(File_read_all_begin, reading, NOT_CONST)
SPLIT_END(File_read_all_end, NOT_CONST)
SPLIT_POINTER(File_write_all_begin, writing, const)
SPLIT_END(File_write_all_end, const)
SPLIT_SHARED(File_read_ordered_begin, NOT_CONST)
SPLIT_SHARED(File_write_ordered_begin, const)

}  // namespace penstock::mpiio
