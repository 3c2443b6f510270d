// Manage: MPI's functions on open files that do not read or write, and those of the program's start and end.
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "bindings/mpiio/communicators.hpp"
#include "bindings/mpiio/errors.hpp"
#include "bindings/mpiio/file.hpp"
#include "bindings/mpiio/original.hpp"
#include "bindings/mpiio/settings.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/calling.hpp"
#include "core/comm/mpi/native.hpp"

namespace penstock::mpiio {
namespace {

// Runs WORK on our file behind HANDLE; PASS if it is not ours.
template <typename Work, typename Pass>
int on_file(MPI_File handle, const char* call, Work work, Pass pass) {
  const auto file = Inside::already() ? nullptr : find(handle);
  if (file == nullptr) return pass();
  const Inside inside;
  const std::lock_guard lock(file->busy);
  const CallTimer timer(*file->statistics, call);
  const Untimed untimed(file->comm, run_settings().waits);
  return work(*file);
}

constexpr int most_noted_views = 4;  // for their hints: HDF5 gives the same ones each time

// What MPI refuses on the rank that has it. OMPIO refuses some legal views, too, which are taken.
Status judged(const File& file, MPI_Datatype etype, MPI_Datatype filetype) {
  if (!is_committed(file, etype) || !is_committed(file, filetype))
    return {Code::invalid, "a datatype that is not committed"};
  const auto outer = flat(filetype);
#ifdef MPICH_NUMVERSION
  const auto inner = flat(etype);
  if (inner->size > 0 && outer->size % inner->size != 0)
    return {Code::invalid, "the file type is not made of whole elementary types"};
#endif
  int64_t end = 0;
  for (const Flat::Run& run : outer->runs) {
    if (run.at < end) return {Code::invalid, "the file type goes back, or two of its parts overlap"};
    end = file.writable() ? run.at + run.length : run.at;
  }
  return {};
}

// Collective. What was written is in the file, for what MPI does with it.
Status move_all(File& file, const char* call) {
  const Status moved = move_kept(file, call), drained = drain_together(file);
  return moved.ok() ? drained : moved;
}

// Moves what is kept in FILE, for a call that goes on to MPI.
template <typename Pass>
int moved_first(MPI_File handle, const char* call, Pass pass) {
  return on_file(
      handle, call,
      [&](File& file) {
        const Together together(file);
        const int error = raise(file, call, move_all(file, call));
        return error == MPI_SUCCESS ? pass() : error;
      },
      pass);
}

void note_hints(const File& file, MPI_Info info, const char* what) {
  const std::lock_guard lock(file.statistics->mutex);
  for (const auto& [name, value] : hints_in(info)) file.statistics->hints.try_emplace(name + "=" + value, what);
}

// The file has SIZE bytes at least, and blocks for them.
Status reserve(File& file, int64_t size) {
  const std::string path = path_now(file);
  const FileDescriptor opened(::open(path.c_str(), O_RDWR | O_CLOEXEC));  // the C library may read, and write it again
  if (opened.get() < 0) return Status::from_errno(errno, "'" + path + "'");
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(opened.get(), 0, size);
  return error == 0 ? Status() : Status::from_errno(error, "'" + path + "'");
}

Result<int64_t> file_size(File& file) {
  PENSTOCK_ASSIGN(int64_t size, size_of(file));
  if (file.background) {
    PENSTOCK_TRY(file.background->wait_for_others_behind(size));
    PENSTOCK_ASSIGN(size, size_of(file));
  }
  return std::max(size, kept_end(file));
}

// Whether the file begins as one of classic netCDF.
bool is_classic(File& file) {
  std::array<std::byte, 3> magic{};
  const auto bytes = read_alone(file, {{0, magic.data(), std::ssize(magic), 0}});
  return bytes.ok() && *bytes == std::ssize(magic) && std::memcmp(magic.data(), "CDF", magic.size()) == 0;
}

// Collective. Finds out at the first view after a collective write, where this rank went BACK to a view of bytes or did
// not, whether the program is HDF5. PnetCDF goes back, too, and keeps to MPI's rules for what others read.
Status know(File& file, bool back) {
  if (file.is_known || file.pace.calls == 0) return {};
  file.is_known = true;
  int64_t words[3] = {!back, back && is_classic(file), threads_call()};
  PENSTOCK_TRY(check_mpi(MPI_Allreduce(MPI_IN_PLACE, words, 3, MPI_INT64_T, MPI_MAX, file.native), "MPI_Allreduce"));
  if (words[0] != 0 || words[1] != 0) return {};
  file.at_once = file.is_asking = true;
  file.gathers = words[2] == 0;
  return move_kept(file, "MPI_File_set_view");
}

}  // namespace

Status give_view(File& file) {
  Status given = check_mpi(original->File_set_view(file.handle, file.view.displacement(), file.view.etype().get(),
                                                   file.view.filetype().get(), file.datarep.c_str(), MPI_INFO_NULL),
                           "MPI_File_set_view");
  const auto position = file.pointer ? file.pointer->position() : Result<int64_t>(0);
  file.pointer.reset();
  if (given.ok()) given = position.status();
  int64_t words[2] = {position.ok() ? *position : 0, !given.ok()};  // who was last comes here after it
  PENSTOCK_TRY(check_mpi(MPI_Allreduce(MPI_IN_PLACE, words, 2, MPI_INT64_T, MPI_MAX, file.native), "MPI_Allreduce"));
  if (words[1] != 0) return agree(file.comm, given);
  if (words[0] == 0) return {};
  return check_mpi(original->File_seek_shared(file.handle, words[0], MPI_SEEK_SET), "MPI_File_seek_shared");
}

namespace {

// Collective. MPI gets the view of FILE and where its pointers are.
Status give_place(File& file) {
  if (file.pointer) PENSTOCK_TRY(give_view(file));
  return check_mpi(original->File_seek(file.handle, file.position, MPI_SEEK_SET), "MPI_File_seek");
}

}  // namespace

int Init(int* argc, char*** argv) {
  const int error = original->Init(argc, argv);
  start_report();
  return error;
}

int Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int error = original->Init_thread(argc, argv, required, provided);
  start_report();
  return error;
}

int Finalize() {
  Status lost;
  if (!Inside::already()) {
    const Inside inside;
    auto files = open_files();
    std::ranges::sort(files, {}, &File::token);  // threads may have opened them in another order on other ranks
    for (const auto& file : files) {
      Status status = guarded([&] { return move_kept(*file, "MPI_Finalize"); });
      if (status.ok() && file->why_passed() == nullptr) status = give_place(*file);
      if (!status.ok()) file->statistics->fail("MPI_Finalize: " + status.message());
    }
    for (const auto& file : open_files()) {
      if (file->background) (void)file->background->end();
      forget(file->handle);
    }
    drain_process();
    lost = end_background();
    (void)guarded([] {
      write_report();
      return Status();
    });
    end_ledger();
    free_communicators();
  }
  const int error = original->Finalize();
  remove_pointers("");  // of files that were not closed
  return error == MPI_SUCCESS ? class_of(lost.code()) : error;
}

int File_sync(MPI_File handle) {
  return on_file(
      handle, "MPI_File_sync",
      [&](File& file) {
        const Together together(file);
        Status status = move_kept(file, "MPI_File_sync");
        if (status.ok()) status = sync(file);
        if (status.ok() && file.why_passed() != nullptr) return original->File_sync(handle);
        return raise(file, "MPI_File_sync", status);
      },
      [&] { return original->File_sync(handle); });
}

int File_set_size(MPI_File handle, MPI_Offset size) {
  const auto pass = [&] { return original->File_set_size(handle, size); };
  return on_file(
      handle, "MPI_File_set_size",
      [&](File& file) {
        const Together together(file);
        Status status = move_kept(file, "MPI_File_set_size");
        if (file.background && size < file.background->noted_end())  // not so where HDF5 sets what it has written
          if (const Status drained = drain_together(file); status.ok()) status = drained;
        if (const Status waited = wait_for_background(file, {size, INT64_MAX}); status.ok()) status = waited;
        if (file.background) status = agree(file.comm, status);  // all have waited
        const int error = raise(file, "MPI_File_set_size", status);
        return error == MPI_SUCCESS ? pass() : error;
      },
      pass);
}

// OMPIO reads and writes the old data through the view that it has, and may damage it.
int File_preallocate(MPI_File handle, MPI_Offset size) {
  const auto pass = [&] { return original->File_preallocate(handle, size); };
  return on_file(
      handle, "MPI_File_preallocate",
      [&](File& file) {
        const Together together(file);
        if (size <= 0 || !file.writable()) return pass();  // its error
        Status status = move_all(file, "MPI_File_preallocate");
        if (status.ok())
          status = agree(file.comm, file.comm->rank() == 0 ? guarded([&] { return reserve(file, size); }) : Status());
        return raise(file, "MPI_File_preallocate", status);
      },
      pass);
}

int File_set_info(MPI_File handle, MPI_Info info) {
  return on_file(
      handle, "MPI_File_set_info",
      [&](File& file) {
        const Together together(file);
        note_hints(file, info, "given to MPI");
        return original->File_set_info(handle, info);
      },
      [&] { return original->File_set_info(handle, info); });
}

int File_get_size(MPI_File handle, MPI_Offset* size) {
  return on_file(
      handle, "MPI_File_get_size",
      [&](File& file) {
        const auto bytes = file_size(file);
        *size = bytes.ok() ? *bytes : 0;
        return raise(file, "MPI_File_get_size", bytes.status());
      },
      [&] { return original->File_get_size(handle, size); });
}

int File_set_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                  const char* datarep, MPI_Info info) {
  const auto pass = [&] { return original->File_set_view(handle, displacement, etype, filetype, datarep, info); };
  return on_file(
      handle, "MPI_File_set_view",
      [&](File& file) {
        const Together together(file);
        ++file.views;
        const bool back = displacement == 0 && etype == MPI_BYTE && filetype == MPI_BYTE;
        const Status known = guarded([&] { return know(file, back); });
        if (const int error = raise(file, "MPI_File_set_view", known)) return error;
        if (displacement < 0 || etype == MPI_DATATYPE_NULL || filetype == MPI_DATATYPE_NULL)
          return pass();  // its error
        const bool was_passed = file.why_passed() != nullptr;
        const std::string before = std::exchange(file.datarep, datarep == nullptr ? "native" : datarep);
        // The same on all ranks, though their types and hints may differ: it is a collective call. OMPIO refuses
        // "internal".
        const bool give = file.why_passed() != nullptr || was_passed || !file.hides_views || file.datarep != "native";
        Status good = give ? Status() : judged(file, etype, filetype);
        const int refused = good.ok() ? MPI_SUCCESS : MPI_ERR_TYPE;
        if (file.why_passed() != nullptr) good = move_all(file, "MPI_File_set_view");
        int error = raise(file, "MPI_File_set_view", good, refused);
        if (error == MPI_SUCCESS && give) error = pass();
        if (error != MPI_SUCCESS) {
          file.datarep = before;
          return error;
        }
        file.pointer.reset();
        if (!give) file.pointer.emplace(file.hidden, file.views);
        if (!give && file.views <= most_noted_views) note_hints(file, info, "not used: it came with a view");
        file.view = View(displacement, etype, filetype);
        file.position = 0;
        return MPI_SUCCESS;
      },
      pass);
}

int File_get_view(MPI_File handle, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                  char* datarep) {
  const auto pass = [&] { return original->File_get_view(handle, displacement, etype, filetype, datarep); };
  return on_file(
      handle, "MPI_File_get_view",
      [&](File& file) {
        if (file.why_passed() != nullptr) return pass();
        *displacement = file.view.displacement();
        *etype = file.view.etype().copy();
        *filetype = file.view.filetype().copy();
        file.datarep.copy(datarep, MPI_MAX_DATAREP_STRING - 1);
        datarep[std::min<size_t>(file.datarep.size(), MPI_MAX_DATAREP_STRING - 1)] = '\0';
        return MPI_SUCCESS;
      },
      pass);
}

int File_seek(MPI_File handle, MPI_Offset offset, int whence) {
  const auto pass = [&] { return original->File_seek(handle, offset, whence); };
  return on_file(
      handle, "MPI_File_seek",
      [&](File& file) {
        if (file.why_passed() != nullptr) return pass();
        int64_t from = 0;
        if (whence == MPI_SEEK_CUR) from = file.position;
        if (whence == MPI_SEEK_END) {
          const auto size = file_size(file);
          if (!size.ok()) return raise(file, "MPI_File_seek", size.status());
          const int64_t bytes = file.view.before(*size), etype = file.view.etype_bytes();
          from = (bytes + etype - 1) / etype;
        }
        if (from + offset < 0 || (whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR && whence != MPI_SEEK_END))
          return raise(file, "MPI_File_seek",
                       {Code::invalid, fmt::format("to {}, which is before the view begins", from + offset)});
        file.position = from + offset;
        return MPI_SUCCESS;
      },
      pass);
}

int File_get_position(MPI_File handle, MPI_Offset* offset) {
  const auto pass = [&] { return original->File_get_position(handle, offset); };
  return on_file(
      handle, "MPI_File_get_position",
      [&](File& file) {
        if (file.why_passed() != nullptr) return pass();
        *offset = file.position;
        return MPI_SUCCESS;
      },
      pass);
}

int File_get_byte_offset(MPI_File handle, MPI_Offset offset, MPI_Offset* place) {
  const auto pass = [&] { return original->File_get_byte_offset(handle, offset, place); };
  return on_file(
      handle, "MPI_File_get_byte_offset",
      [&](File& file) {
        if (file.why_passed() != nullptr || offset < 0) return pass();
        *place = file.view.place(offset * file.view.etype_bytes());
        return MPI_SUCCESS;
      },
      pass);
}

int File_seek_shared(MPI_File handle, MPI_Offset offset, int whence) {
  const auto pass = [&] { return original->File_seek_shared(handle, offset, whence); };
  return moved_first(handle, "MPI_File_seek_shared", [&] {
    const auto file = find(handle);
    if (file != nullptr && file->pointer)
      if (const int error = raise(*file, "MPI_File_seek_shared", give_view(*file))) return error;
    return pass();
  });
}

int File_get_position_shared(MPI_File handle, MPI_Offset* offset) {
  const auto pass = [&] { return original->File_get_position_shared(handle, offset); };
  return on_file(
      handle, "MPI_File_get_position_shared",
      [&](File& file) {
        if (!file.pointer) return pass();
        const auto position = file.pointer->position();
        *offset = position.ok() ? *position : 0;
        return raise(file, "MPI_File_get_position_shared", position.status());
      },
      pass);
}

int File_set_atomicity(MPI_File handle, int flag) {
  const auto pass = [&] { return original->File_set_atomicity(handle, flag); };
  return on_file(
      handle, "MPI_File_set_atomicity",
      [&](File& file) {
        const Together together(file);
        Status status = move_all(file, "MPI_File_set_atomicity");
        const bool was_passed = file.why_passed() != nullptr;
        if (status.ok() && !was_passed && flag != 0) status = give_place(file);
        if (!status.ok()) return raise(file, "MPI_File_set_atomicity", status);
        const int error = pass();
        if (error != MPI_SUCCESS) return error;
        file.atomic = flag != 0;
        if (was_passed && file.why_passed() == nullptr) {
          MPI_Offset position = 0;
          original->File_get_position(handle, &position);
          file.position = position;
        }
        return MPI_SUCCESS;
      },
      pass);
}

}  // namespace penstock::mpiio
