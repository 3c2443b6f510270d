// Method: one way to write and read a file, as the text of a plan.
#pragma once

#include <string>
#include <vector>

namespace penstock::test {

struct Method {
  std::string plan;           // "hdf5/two_phase:writers=2"
  std::string reading;        // the plan to read with: the same transport and parameters
  std::string extension;      // ".h5"
  bool base = false;          // every parameter at its fallback, but for the placement
  bool may_refuse = false;    // depends on the file system or library: "unsupported" is an answer
  std::string changing;       // the plan to reopen with
  std::string second = "";    // another plan that reads the file too: an engine's own reader
  std::string engine = "";    // "" where there is a format and a transport
  bool small_chunks = false;  // what is written is encoded in chunks of a few hundred bytes
};

// Whether files written so have checksums.
inline bool summed(const Method& method) {
  return method.engine != "adios2" && method.plan.find("checksums=none") == std::string::npos;
}

// Every format x transport x placement, and every engine, that is built; then each again with one parameter changed at
// a time, and some engines with parameters that need each other.
std::vector<Method> methods();

}  // namespace penstock::test
