// Integrity: what verify, repair and seal find in a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/status.hpp>

namespace penstock {

// Elements of a dataset that differ from what was committed, at the resolution of the checksum blocks: linear offsets
// from FIRST up to, but not including, END.
struct Damage {
  std::string dataset;
  int64_t first = 0, end = 0;
  std::string what;  // for a person: both as coordinates, and the reason
};

// Result of verify(); the same on all ranks.
struct Verification {
  int64_t committed_at = 0;  // nanoseconds since 1970
  int64_t bytes = 0;         // of compared data
  std::vector<Damage> damages;
  std::vector<std::string> unchecked;  // datasets without checksums
  // For a set opened with lost_parts=zeros: the lost parts and their exact contents.
  std::vector<std::string> lost;
  // For a set: its files with a damaged header; with parity all damaged or missing files.
  std::vector<std::string> files;
  bool rebuildable = false;      // parity can rebuild the one file in question
  bool metadata_differ = false;  // the metadata before the data (HDF5 or netCDF header) or a set's index differ
  // The file was written after its commit, or copied without its time stamp. The differences may be intended.
  bool modified = false;

  // The differences that cannot be intended. Each file of a set is judged by its own time stamp, and data by the whole
  // files.
  std::vector<std::string> not_meant;

  // ok, or Code::damaged: the message names the first difference in the file at PATH and counts the others.
  Status verdict(const std::string& path) const;
};

// Result of repair(); the same on all ranks.
struct Repair {
  std::string rebuilt;  // the rebuilt file of the set; "" if all files were as committed
  std::string why;      // what was wrong with it
  std::string kept;     // new path of the replaced file; "" unless it was changed after the commit
  int64_t bytes = 0;    // size of the rebuilt file
  int64_t files = 0;    // files of the set compared with their checksums, including the parity file
};

// Result of seal(); the same on all ranks.
struct Sealed {
  bool renewed = false;                // new checksums were made; false if all agreed already
  std::vector<std::string> found;      // differences from the commit
  std::vector<std::string> unchecked;  // datasets without checksums now, since the file's record has no room for them
};

}  // namespace penstock
