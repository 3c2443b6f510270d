// Handles: every HDF5 identifier closes itself, and every failure of the library becomes a Status.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

#include <penstock/status.hpp>

#include "core/base/library_gate.hpp"

#if !H5_VERSION_GE(1, 10, 5)
#error "penstock needs HDF5 1.10.5 or newer (H5Dget_chunk_info)"
#endif

namespace penstock::hdf5 {

template <herr_t (*close_function)(hid_t)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      (void)close();
      id_ = std::exchange(other.id_, -1);
    }
    return *this;
  }
  ~Handle() { (void)close(); }
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): the library's functions take it
  bool ok() const { return id_ >= 0; }
  // False if the library reports an error; errors at the close of a file matter.
  bool close() { return id_ < 0 || close_function(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using Object = Handle<H5Oclose>;
using DatasetHandle = Handle<H5Dclose>;
using AttributeHandle = Handle<H5Aclose>;
using Space = Handle<H5Sclose>;
using Type = Handle<H5Tclose>;
using Properties = Handle<H5Pclose>;

// For its lifetime no other thread of penstock enters the library, which is not thread-safe, and the library does not
// print. The destructor restores the caller's error stack and printer.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  LibraryGate gate_;
  hid_t stack_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// CODE with "WHAT: " and the library's innermost message. REQUIRES: a call of the library has just failed.
Status library_error(Code code, std::string_view what);

// Whether the library call that has just failed met a part of an object in a version unknown to this release, for
// example a type of a newer release.
bool met_unknown_version();

// Call before anything else. Checks that the loaded library is the one compiled against (the library's own check would
// abort).
Status library_ready();

// File access as penstock always uses it: plain POSIX, no locks. A file that is not NAMED has a path through /proc.
Result<Properties> file_access(bool named);

// The library's function flags, without the macros that check the version and abort.
inline constexpr unsigned open_read_only = 0x0000u;
inline constexpr unsigned create_truncating = 0x0002u;

}  // namespace penstock::hdf5
