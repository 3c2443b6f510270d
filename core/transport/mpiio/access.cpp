// Access: maps cells to routines of the MPI standard.
#include "core/transport/mpiio/access.hpp"

#include "core/comm/mpi/native.hpp"

namespace penstock::mpiio {
namespace {

// One number per pair of positioning and coordination, so that the tables below look like the standard's.
enum Row { offset_alone, offset_all, pointer_alone, pointer_all, shared_alone, shared_ordered };

Row row_of(const Cell& cell) {
  return static_cast<Row>(2 * static_cast<int>(cell.positioning) + (cell.collective ? 1 : 0));
}

int write_blocking(Row row, const Call& c, MPI_Status* status) {
  switch (row) {
    case offset_alone: return MPI_File_write_at(c.file, c.offset, c.memory, c.count, c.type, status);
    case offset_all: return MPI_File_write_at_all(c.file, c.offset, c.memory, c.count, c.type, status);
    case pointer_alone: return MPI_File_write(c.file, c.memory, c.count, c.type, status);
    case pointer_all: return MPI_File_write_all(c.file, c.memory, c.count, c.type, status);
    case shared_alone: return MPI_File_write_shared(c.file, c.memory, c.count, c.type, status);
    case shared_ordered: return MPI_File_write_ordered(c.file, c.memory, c.count, c.type, status);
  }
  return MPI_ERR_INTERN;
}

int read_blocking(Row row, const Call& c, MPI_Status* status) {
  switch (row) {
    case offset_alone: return MPI_File_read_at(c.file, c.offset, c.memory, c.count, c.type, status);
    case offset_all: return MPI_File_read_at_all(c.file, c.offset, c.memory, c.count, c.type, status);
    case pointer_alone: return MPI_File_read(c.file, c.memory, c.count, c.type, status);
    case pointer_all: return MPI_File_read_all(c.file, c.memory, c.count, c.type, status);
    case shared_alone: return MPI_File_read_shared(c.file, c.memory, c.count, c.type, status);
    case shared_ordered: return MPI_File_read_ordered(c.file, c.memory, c.count, c.type, status);
  }
  return MPI_ERR_INTERN;
}

int write_nonblocking(Row row, const Call& c, MPI_Request* request) {
  switch (row) {
    case offset_alone: return MPI_File_iwrite_at(c.file, c.offset, c.memory, c.count, c.type, request);
    case offset_all: return MPI_File_iwrite_at_all(c.file, c.offset, c.memory, c.count, c.type, request);
    case pointer_alone: return MPI_File_iwrite(c.file, c.memory, c.count, c.type, request);
    case pointer_all: return MPI_File_iwrite_all(c.file, c.memory, c.count, c.type, request);
    case shared_alone: return MPI_File_iwrite_shared(c.file, c.memory, c.count, c.type, request);
    case shared_ordered: break;
  }
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

int read_nonblocking(Row row, const Call& c, MPI_Request* request) {
  switch (row) {
    case offset_alone: return MPI_File_iread_at(c.file, c.offset, c.memory, c.count, c.type, request);
    case offset_all: return MPI_File_iread_at_all(c.file, c.offset, c.memory, c.count, c.type, request);
    case pointer_alone: return MPI_File_iread(c.file, c.memory, c.count, c.type, request);
    case pointer_all: return MPI_File_iread_all(c.file, c.memory, c.count, c.type, request);
    case shared_alone: return MPI_File_iread_shared(c.file, c.memory, c.count, c.type, request);
    case shared_ordered: break;
  }
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

int write_begin(Row row, const Call& c) {
  switch (row) {
    case offset_all: return MPI_File_write_at_all_begin(c.file, c.offset, c.memory, c.count, c.type);
    case pointer_all: return MPI_File_write_all_begin(c.file, c.memory, c.count, c.type);
    case shared_ordered: return MPI_File_write_ordered_begin(c.file, c.memory, c.count, c.type);
    default: return MPI_ERR_UNSUPPORTED_OPERATION;
  }
}

int read_begin(Row row, const Call& c) {
  switch (row) {
    case offset_all: return MPI_File_read_at_all_begin(c.file, c.offset, c.memory, c.count, c.type);
    case pointer_all: return MPI_File_read_all_begin(c.file, c.memory, c.count, c.type);
    case shared_ordered: return MPI_File_read_ordered_begin(c.file, c.memory, c.count, c.type);
    default: return MPI_ERR_UNSUPPORTED_OPERATION;
  }
}

int write_end(Row row, const Call& c, MPI_Status* status) {
  switch (row) {
    case offset_all: return MPI_File_write_at_all_end(c.file, c.memory, status);
    case pointer_all: return MPI_File_write_all_end(c.file, c.memory, status);
    case shared_ordered: return MPI_File_write_ordered_end(c.file, c.memory, status);
    default: return MPI_ERR_UNSUPPORTED_OPERATION;
  }
}

int read_end(Row row, const Call& c, MPI_Status* status) {
  switch (row) {
    case offset_all: return MPI_File_read_at_all_end(c.file, c.memory, status);
    case pointer_all: return MPI_File_read_all_end(c.file, c.memory, status);
    case shared_ordered: return MPI_File_read_ordered_end(c.file, c.memory, status);
    default: return MPI_ERR_UNSUPPORTED_OPERATION;
  }
}

}  // namespace

Status Access::start(const Cell& cell, const Call& call) {
  cell_ = cell;
  call_ = call;
  const Row row = row_of(cell);
  const bool writing = cell.direction == Direction::write;
  switch (cell.synchronism) {
    case Synchronism::blocking:
      return mpi_status(writing ? write_blocking(row, call, &status_) : read_blocking(row, call, &status_),
                        writing ? "MPI-IO writing" : "MPI-IO reading");
    case Synchronism::nonblocking:
      return mpi_status(writing ? write_nonblocking(row, call, &request_) : read_nonblocking(row, call, &request_),
                        writing ? "starting to write by MPI-IO" : "starting to read by MPI-IO");
    case Synchronism::split:
      return mpi_status(writing ? write_begin(row, call) : read_begin(row, call),
                        writing ? "beginning to write by MPI-IO" : "beginning to read by MPI-IO");
  }
  return {};
}

Result<bool> Access::test() {
  if (cell_.synchronism != Synchronism::nonblocking || request_ == MPI_REQUEST_NULL) return true;
  int done = 0;
  PENSTOCK_TRY(mpi_status(MPI_Test(&request_, &done, &status_), "MPI_Test of a file access"));
  return done != 0;
}

Result<int64_t> Access::finish() {
  if (cell_.synchronism == Synchronism::nonblocking && request_ != MPI_REQUEST_NULL)
    PENSTOCK_TRY(mpi_status(MPI_Wait(&request_, &status_), "MPI_Wait for a file access"));
  if (cell_.synchronism == Synchronism::split) {
    const Row row = row_of(cell_);
    PENSTOCK_TRY(mpi_status(
        cell_.direction == Direction::write ? write_end(row, call_, &status_) : read_end(row, call_, &status_),
        "ending a split file access"));
  }
  MPI_Count bytes = 0;
  PENSTOCK_TRY(mpi_status(MPI_Get_elements_x(&status_, MPI_BYTE, &bytes), "MPI_Get_elements_x"));
  return int64_t{bytes};
}

}  // namespace penstock::mpiio
