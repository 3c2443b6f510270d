// Io: its names in plans.
#include "core/base/io.hpp"

namespace penstock {

std::string_view name(Io io) {
  switch (io) {
    case Io::buffered: return "buffered";
    case Io::direct: return "direct";
    case Io::mmap: return "mmap";
    case Io::automatic: return "auto";
  }
  return "unknown";
}

Io parse_io(std::string_view word) {
  for (const Io io : {Io::automatic, Io::direct, Io::mmap})
    if (word == name(io)) return io;
  return Io::buffered;
}

}  // namespace penstock
