// OpenFile: one part of a job, open by MPI-IO, by all ranks together or by this one alone.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "core/comm/mpi/io_library.hpp"
#include "core/transport/mpiio/access.hpp"
#include "core/transport/mpiio/options.hpp"
#include "core/transport/transport.hpp"

namespace penstock::mpiio {

// Which parts a job opens, and who.
struct PartPlan {
  bool together = false;     // all ranks have the same parts and open the same ones of them
  std::vector<size_t> open;  // indices into Job::parts, ascending
};

// Collective. Parts that all ranks know are opened together; those of one rank, and independent reads of several parts,
// by each rank that needs them.
Result<PartPlan> plan_parts(const Job& job, const Options& options);

class OpenFile {
 public:
  // Collective where TOGETHER. Fails on all ranks where one fails, and where a disk has no room for the part or the
  // part to read is cut off. Judges the job's hints.
  static Result<std::unique_ptr<OpenFile>> open(const Job& job, const Part& part, const Options& options,
                                                bool together);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  MPI_File get() const { return file_; }
  // Open MPI's own implementation: its collective reads give wrong bytes where three or more ranks read ranges that
  // overlap (4.1.4: docs/reproducers/overlapping_read_all.c).
  bool reads_overlaps_wrongly() const { return implementation_ == IoLibrary::ompio; }
  // And MPI_File_sync of any file fails while a non-blocking call of another is under way
  // (docs/reproducers/pending_sync.c): none may be left so for the program to go on.
  bool must_not_be_left_pending() const { return implementation_ == IoLibrary::ompio; }
  // CELL as it can be done here: with MPI_THREAD_MULTIPLE, OMPIO loses non-blocking calls
  // (docs/reproducers/two_threads.c).
  Cell possible(Cell cell) const;
  // Collective where the file is open together. From DISPLACEMENT (bytes of the part) on; the pointer goes to its
  // begin.
  Status view(int64_t displacement, MPI_Datatype unit, MPI_Datatype file_type);
  // Collective where the file is open together. Syncs where SYNC; looks whether the file is as long as the part.
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
