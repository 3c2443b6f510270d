// Work: what a transport does to move a problem's data, in counts; a machine's rates make seconds of them.
#pragma once

#include <cstdint>

namespace penstock {

// Of all ranks together.
struct Work {
  int64_t bytes = 0;        // of the data
  int64_t copied = 0;       // bytes copied in memory
  int64_t pieces = 0;       // that are copied one by one
  int64_t sent = 0;         // bytes in messages
  int64_t messages = 0;     // point to point, of the rank that sends most
  int64_t collectives = 0;  // of each rank
  int64_t movers = 1;       // ranks that call the file system
  int64_t calls = 0;        // to the file system, with data
  bool direct = false;      // they go past the page cache
};

}  // namespace penstock
