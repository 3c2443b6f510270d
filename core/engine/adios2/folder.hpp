// Folder: a BP5 folder that closes itself, and its type names.
#pragma once

#include <adios2_c.h>

#include <optional>
#include <string>
#include <vector>

#include "core/engine/engine.hpp"

namespace penstock::bp5 {

// Converts the result of CALL to a status. The library prints the reason to standard error only.
Status check(adios2_error error, const std::string& call);

// The type of one element; for a text that of its bytes.
adios2_type stored_type(const ElementType& type);
// Nothing if a catalogue does not support the type.
std::optional<ElementType> element_type(adios2_type type);
// DIMS, with the bytes of a text as an additional last dimension (0 for a start).
std::vector<size_t> extents(const Dims& dims, const ElementType& type, bool start = false);

// Start, open, close and destruction are collective over the communicator.
class Folder {
 public:
  Folder() = default;
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Null COMM: this rank by itself, without MPI.
  Status start(const CommunicatorInterface* comm, const Settings* settings);
  Status open(const std::string& path, adios2_mode mode);
  Status close();
  // Leaks the library's objects: after a failure its destructors may end the program.
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
