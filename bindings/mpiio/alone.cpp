// Alone: what one rank keeps of its own independent writes.
#include "bindings/mpiio/alone.hpp"

#include <cstring>

#include <penstock/phase.hpp>

namespace penstock::mpiio {

int64_t Alone::bytes() const { return data_bytes_ + newest_.map_bytes(); }

bool Alone::keep(std::span<const Run> runs) {
  const int64_t bytes = bytes_of(runs);
  std::byte* to = arena_.take(bytes);
  if (to == nullptr) return false;
  if (newest_.empty()) since_ = now();
  data_bytes_ += bytes;
  for (const Run& run : runs) {
    std::memcpy(to, run.data, static_cast<size_t>(run.length));
    newest_.put({run.offset, to, run.length, 0});
    to += run.length;
  }
  return true;
}

void Alone::drop(std::span<const Run> runs) {
  if (newest_.empty()) return;
  for (const Run& run : runs) newest_.cut(run.offset, run.offset + run.length);
}

}  // namespace penstock::mpiio
