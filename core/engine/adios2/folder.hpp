// Folder: a BP5 folder that closes itself, and what its types are called.
#pragma once

#include <adios2_c.h>

#include <optional>
#include <string>
#include <vector>

#include "core/engine/engine.hpp"

namespace penstock::bp5 {

// What CALL returned. The library says why on standard error only.
Status check(adios2_error error, const std::string& call);

// Of one element; of a text its bytes.
adios2_type stored_type(const ElementType& type);
// None for what a catalogue cannot hold.
std::optional<ElementType> element_type(adios2_type type);
// DIMS with the bytes of a text as a last dimension (0 as its start).
std::vector<size_t> extents(const Dims& dims, const ElementType& type, bool start = false);

// Starting, opening, closing and the end are collective over the communicator.
class Folder {
 public:
  Folder() = default;
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Null: this rank by itself, without MPI.
  Status start(const CommunicatorInterface* comm, const Settings* settings);
  Status open(const std::string& path, adios2_mode mode);
  Status close();
  // Leaks what the library has: after a failure its destructors may end the program.
  void abandon();
  adios2_io* io() const { return io_; }
  ::adios2_engine* engine() const { return engine_; }

 private:
  Status set(const char* key, const std::string& value);
  adios2_adios* adios_ = nullptr;
  adios2_io* io_ = nullptr;
  ::adios2_engine* engine_ = nullptr;
};

}  // namespace penstock::bp5
