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
  // False where the library reports an error; errors at the close of a file count.
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

// For its life no other thread of ours is in the library, which is not thread-safe, and it prints nothing; afterwards
// the caller's error stack and printer are as they were.
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

// Whether a call of the library that has just failed met a part of an object in a version that this release does not
// know, as of a type that a newer one brought.
bool met_unknown_version();

// Call before anything else: that the library which is loaded is the one this was compiled for (its own check would
// abort).
Status library_ready();

// Access as penstock always uses it: plain POSIX, no locks, and the given version bounds. A file that is not NAMED has
// a path that leads through /proc.
Result<Properties> file_access(H5F_libver_t bound, bool named);

// Of the library's function flags, without the macros that check the version by aborting.
inline constexpr unsigned open_read_only = 0x0000u;
inline constexpr unsigned create_truncating = 0x0002u;

}  // namespace penstock::hdf5
