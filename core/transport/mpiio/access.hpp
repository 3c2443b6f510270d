// Access: the MPI standard's table of data access routines, one call for each cell.
#pragma once

#include <mpi.h>

#include <cstdint>

#include <penstock/status.hpp>

#include "core/transport/mpiio/options.hpp"

namespace penstock::mpiio {

struct Cell {
  Positioning positioning = Positioning::by_offset;
  bool collective = true;
  Synchronism synchronism = Synchronism::blocking;
  Direction direction = Direction::write;
};

inline Cell cell_of(const Options& options, Direction direction) {
  return {options.positioning, options.collective, options.synchronism, direction};
}

// COUNT elements of TYPE at MEMORY, moved to or from OFFSET (in etypes of the view; only for explicit offsets).
struct Call {
  MPI_File file = MPI_FILE_NULL;
  MPI_Offset offset = 0;
  void* memory = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

// A call that was started, and its completion. Not movable: MPI may hold addresses of it.
class Access {
 public:
  Access() = default;
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  // Collective if CELL is; may block unless CELL is non-blocking.
  Status start(const Cell& cell, const Call& call);
  // Local. Whether finish() will not wait.
  Result<bool> test();
  // Collective for split calls. Returns the number of bytes moved.
  Result<int64_t> finish();

 private:
  Cell cell_;
  Call call_;
  MPI_Status status_{};
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace penstock::mpiio
