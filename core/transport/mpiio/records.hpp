// Records: blocks in the slots of a part, each after a small header that identifies it: docs/formats/shared-blocks.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/status.hpp>

#include "core/storage/storage.hpp"

namespace penstock::mpiio {

inline constexpr int64_t record_header_bytes = 64;

struct RecordHeader {
  int64_t block = 0;    // index in the intended order of blocks
  int64_t payload = 0;  // bytes of data after the header; zeros fill the slot
  int64_t slot = 0;     // bytes of every slot of the part, headers included
  int64_t blocks = 0;   // in the part
};

std::array<std::byte, record_header_bytes> encode(const RecordHeader& header);
// Nothing if BYTES are not a header.
std::optional<RecordHeader> decode_record(std::span<const std::byte> bytes);

// The slots of a part, in their order in the part.
struct Records {
  int64_t slot = 0;            // bytes
  std::vector<int64_t> order;  // the block in each slot: a permutation of 0 to its size less one
};

// Local. Reads all headers of the part at PATH. Code::unsupported if it has none, Code::damaged if one is missing.
Result<Records> scan_records(Files& files, const std::string& path);

}  // namespace penstock::mpiio
