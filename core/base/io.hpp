// Io: how the contents of a file move between a process and the file system.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock {

// automatic, for reading: data in the page cache is read from there; large other ranges are read directly if the file
// system supports that.
enum class Io : uint8_t { buffered, direct, mmap, automatic };
// The value of the parameter "io" of transports. parse_io takes other words for buffered.
std::string_view name(Io io);
Io parse_io(std::string_view word);

}  // namespace penstock
