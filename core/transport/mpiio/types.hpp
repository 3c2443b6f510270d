// Types: the derived MPI types of one call, for the file and for memory.
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

#include "core/transport/mpiio/rounds.hpp"

namespace penstock::mpiio {

// An MPI type; the destructor frees it if it was created here.
class Datatype {
 public:
  Datatype() = default;
  static Datatype basic(MPI_Datatype type) { return Datatype(type, false); }
  static Datatype made(MPI_Datatype type) { return Datatype(type, true); }
  Datatype(Datatype&& other) noexcept { *this = std::move(other); }
  Datatype& operator=(Datatype&& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(made_, other.made_);
    return *this;
  }
  ~Datatype() {
    if (made_ && type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  MPI_Datatype get() const { return type_; }

 private:
  Datatype(MPI_Datatype type, bool made) : type_(type), made_(made) {}
  MPI_Datatype type_ = MPI_BYTE;
  bool made_ = false;
};

// The memory layout of a call's data.
struct MemoryType {
  std::byte* address = nullptr;
  int count = 0;
  Datatype type;
};

// The file type of STRETCHES, relative to the address of the first, in elements of UNIT bytes.
Result<Datatype> file_type(const std::vector<Stretch>& stretches, int64_t unit);

// One run of memory: COUNT elements of ELEMENT_BYTES, STRIDE elements apart.
struct MemoryEntry {
  std::byte* address = nullptr;
  int64_t element_bytes = 1;
  int64_t count = 0;
  int64_t stride = 1;
};
// The type of all ENTRIES one after another, in elements of UNIT bytes. Empty if there are no entries.
Result<MemoryType> memory_type(const std::vector<MemoryEntry>& entries, int64_t unit);

// The type that MPI converts element by element: of 1, 2, 4 or 8 bytes.
MPI_Datatype unit_type(int64_t unit);

}  // namespace penstock::mpiio
