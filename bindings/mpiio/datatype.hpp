// Datatype: where the bytes of an MPI datatype are.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace penstock::mpiio {

// The runs of one item in the order of its type map, adjacent ones joined.
struct Flat {
  struct Run {
    int64_t at = 0;      // from the item's address
    int64_t length = 0;  // > 0
    int64_t before = 0;  // bytes in the runs before
  };
  std::vector<Run> runs;
  int64_t size = 0;    // bytes of data
  int64_t extent = 0;  // distance between items
  bool known = true;   // false: of a kind that is not understood; then there are no runs
  // Items follow each other without gaps: any number of them is one run.
  bool dense() const { return size == 0 || (runs.size() == 1 && runs[0].length == extent); }
};

// Local. Kept with TYPE, for its lifetime, unless it is a predefined one.
std::shared_ptr<const Flat> flat(MPI_Datatype type);

// An own duplicate of a datatype, so that the program may free its own.
class Type {
 public:
  Type() = default;
  explicit Type(MPI_Datatype type);
  ~Type();
  Type(Type&& other) noexcept;
  Type& operator=(Type&& other) noexcept;
  MPI_Datatype get() const { return type_; }
  // One for the program: the same if it is predefined, else a copy which it frees.
  MPI_Datatype copy() const;

 private:
  MPI_Datatype type_ = MPI_BYTE;
  bool owned_ = false;
};

}  // namespace penstock::mpiio
