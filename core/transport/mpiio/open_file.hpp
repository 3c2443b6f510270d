// OpenFile: one part of a job, opened by MPI-IO, by all ranks together or by this rank alone.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "core/comm/mpi/io_library.hpp"
#include "core/transport/mpiio/access.hpp"
#include "core/transport/mpiio/options.hpp"
#include "core/transport/transport.hpp"

namespace penstock::mpiio {

// The parts that a job opens, and the ranks that open them.
struct PartPlan {
  bool together = false;     // all ranks have the same parts and open the same ones
  std::vector<size_t> open;  // indices into Job::parts, ascending
};

// Collective. Parts known to all ranks are opened together. Parts of one rank are opened by each rank that needs them,
// and so are several parts for reads that are independent, or where less than half of all ranks need a part on average:
// P ranks that read a file each would make P collective calls to open them.
Result<PartPlan> plan_parts(const Job& job, const Options& options);

// Local. The pieces of JOB with elements in part number PART.
std::vector<const Piece*> pieces_of(const Job& job, size_t part);

class OpenFile {
 public:
  // Collective if TOGETHER; then fails on all ranks if one fails. Fails if the disk has no room for the part, or the
  // part to read is truncated. Reports the effect of the job's hints.
  static Result<std::unique_ptr<OpenFile>> open(const Job& job, const Part& part, const Options& options,
                                                bool together);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  MPI_File get() const { return file_; }
  // Open MPI's own implementation: its collective reads return wrong bytes if three or more ranks read overlapping
  // ranges (4.1.4: docs/reproducers/overlapping_read_all.c).
  bool reads_overlaps_wrongly() const { return implementation_ == IoLibrary::ompio; }
  // In the same implementation MPI_File_sync of any file fails while a non-blocking call of another file is in progress
  // (docs/reproducers/pending_sync.c): no call may stay pending while the program continues.
  bool must_not_be_left_pending() const { return implementation_ == IoLibrary::ompio; }
  // The closest cell to CELL that works: with MPI_THREAD_MULTIPLE, OMPIO loses non-blocking calls
  // (docs/reproducers/two_threads.c).
  Cell possible(Cell cell) const;
  // Collective if the file is open together. The view starts at DISPLACEMENT (bytes of the part); the pointer moves to
  // its start.
  Status view(int64_t displacement, MPI_Datatype unit, MPI_Datatype file_type);
  // Collective if the file is open together. Syncs if SYNC; checks that the file is as long as the part.
  Status close(bool sync);

 private:
  OpenFile(const Job& job, const Part& part, const Options& options, bool together)
      : job_(job), part_(part), hints_(job.hints), datarep_(options.datarep), together_(together) {}
  Status open_here(const Options& options);
  Status check_library(const Options& options) const;
  void report_hints(const Options& options) const;
  bool loses_pending_calls() const;
  Status check_length() const;

  const Job& job_;
  const Part& part_;
  Hints hints_;
  std::string datarep_;
  bool together_;
  MPI_File file_ = MPI_FILE_NULL;
  IoLibrary implementation_ = IoLibrary::romio;
};

}  // namespace penstock::mpiio
