// Options: the parameters of mpiio as values, and their valid combinations.
#pragma once

#include <cstdint>
#include <string>

#include <penstock/status.hpp>

#include "core/model/settings.hpp"
#include "core/transport/transport.hpp"

namespace penstock::mpiio {

enum class Positioning : uint8_t { by_offset, individual, shared };
enum class Synchronism : uint8_t { blocking, nonblocking, split };
enum class Verify : uint8_t { none, spot, full };

struct Options {
  explicit Options(const Settings& settings);

  Positioning positioning = Positioning::by_offset;
  bool collective = true;
  Synchronism synchronism = Synchronism::blocking;
  bool datatype = true;
  bool apart = false;  // each call moves one put, in order
  std::string datarep;
  bool atomicity = false;
  int64_t buffer_bytes = 0, round_bytes = 0, round_runs = 0, record_bytes = 0;
  Verify verify = Verify::spot;

  bool shared() const { return positioning == Positioning::shared; }
  bool records() const { return shared() && !collective; }
  bool portable() const { return datarep == "external32"; }
  // Whether every call has a file view of its own, which all ranks of the file must set together.
  bool viewed() const { return datatype || datarep != "native"; }
};

// Code::unsupported, naming the parameter, for combinations that the standard does not define, or that do not work with
// this format or placement.
Status check_options(const Options& options, const FileKind& file, Direction direction);

}  // namespace penstock::mpiio
