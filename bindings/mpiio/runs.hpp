// Runs: pieces of memory and their places in a file, of one call or of several.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "bindings/mpiio/datatype.hpp"
#include "core/model/piece.hpp"

namespace penstock::mpiio {

// LENGTH bytes at byte OFFSET of the file and at DATA, of the call with this number.
struct Run {
  int64_t offset = 0;
  std::byte* data = nullptr;  // read-only when writing
  int64_t length = 0;
  int32_t call = 0;
};

// What a rank sees of a file, as MPI_File_set_view says: bytes of data in their order have places in the file.
class View {
 public:
  View();  // all bytes
  View(int64_t displacement, MPI_Datatype etype, MPI_Datatype filetype);
  bool known() const { return flat_->known; }
  int64_t displacement() const { return displacement_; }
  const Type& etype() const { return etype_; }
  const Type& filetype() const { return filetype_; }
  int64_t etype_bytes() const { return etype_bytes_; }
  // The offset in the file of data byte AT.
  int64_t place(int64_t at) const;
  // The number of data bytes before byte OFFSET of the file.
  int64_t before(int64_t offset) const;
  // Calls VISIT(offset in the file, length) for LENGTH data bytes from AT on, in their order.
  template <typename Visit>
  void walk(int64_t at, int64_t length, Visit visit) const;

 private:
  int64_t displacement_ = 0;
  Type etype_, filetype_;
  int64_t etype_bytes_ = 1;
  std::shared_ptr<const Flat> flat_;
};

// COUNT items of TYPE at BUFFER.
struct Buffer {
  std::byte* memory = nullptr;
  int64_t count = 0;
  std::shared_ptr<const Flat> type;
  int64_t bytes() const { return count * type->size; }
};

// The runs of data bytes from AT on in VIEW that BUFFER fills, sorted by offset if the view is.
std::vector<Run> runs_of(const View& view, int64_t at, const Buffer& buffer);
int64_t bytes_of(std::span<const Run> runs);

// From the first byte to one past the last; LAST <= FIRST if there are none.
struct Hull {
  int64_t first = INT64_MAX, last = INT64_MIN;
  bool meets(const Hull& other) const { return first < other.last && other.first < last; }
  void add(const Hull& other);
};
Hull hull_of(std::span<const Run> runs);

// Sorted by offset and without overlaps: where two runs meet, that of the later call, or the later in the list, stays.
std::vector<Run> without_overlaps(std::vector<Run> runs);

// Bytes of a file: ranges that do not meet.
class Ranges {
 public:
  void add(Hull range);
  std::vector<Hull> list() const;  // sorted
  // Takes them out of RUNS, which are sorted and do not overlap.
  void take_out_of(std::vector<Run>& runs) const;

 private:
  std::map<int64_t, int64_t> ends_;  // by their first bytes
};

// For reading: the same runs in lists, each sorted by offset and without overlaps. None if there were more than MOST.
std::vector<std::vector<Run>> layers_of(std::vector<Run> runs, size_t most);

// Pieces for a transport, of runs that are sorted and do not overlap. Equal runs at equal distances become boxes.
std::vector<Piece> pieces_of(std::span<const Run> runs);

}  // namespace penstock::mpiio
