// Verify: compares windows of the file with memory.
#include "core/transport/mpiio/verify.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/transport/move.hpp"

namespace penstock::mpiio {
namespace {

constexpr size_t spots = 16;          // pieces checked
constexpr int64_t spot_bytes = 4096;  // of the file, at both ends of a piece
constexpr int64_t full_bytes = 1 << 20;

Status compare(StorageFile& file, const Part& part, const Piece& piece, int64_t begin, int64_t end) {
  std::vector<std::byte> there(static_cast<size_t>(end - begin)), meant;
  PENSTOCK_TRY(file.read(begin - part.virtual_base, there));
  SliceCursor cursor(piece, begin, end);
  for (Slice slice; cursor.next(slice);) {
    meant.resize(static_cast<size_t>(slice.bytes));
    copy_slice(piece, slice, meant.data(), Direction::write);
    if (std::memcmp(meant.data(), there.data() + (slice.address - begin), meant.size()) != 0)
      return {Code::io, fmt::format("'{}' has other bytes at {} than were written, though the MPI library reported "
                                    "success: use another transport, and see docs/known-faults.md",
                                    part.path, slice.address - part.virtual_base)};
  }
  return {};
}

}  // namespace

Status verify_part(const Job& job, const Part& part, const std::vector<const Piece*>& pieces, Verify how) {
  if (how == Verify::none || !job.disjoint || pieces.empty()) return {};
  PENSTOCK_ASSIGN(auto file, job.files->open(part.path, Io::buffered, false));
  const bool full = how == Verify::full;
  const size_t step = full ? 1 : (pieces.size() + spots - 1) / spots;
  for (size_t i = 0; i < pieces.size(); i += step) {
    const Piece& piece = *pieces[i];
    const int64_t first = first_address(piece), last = last_address(piece);
    if (!full) {
      PENSTOCK_TRY(compare(*file, part, piece, first, std::min(first + spot_bytes, last)));
      PENSTOCK_TRY(compare(*file, part, piece, std::max(last - spot_bytes, first), last));
    }
    for (int64_t at = first; full && at < last; at += full_bytes)
      PENSTOCK_TRY(compare(*file, part, piece, at, std::min(at + full_bytes, last)));
  }
  return file->close();
}

}  // namespace penstock::mpiio
