// Supply: writes suppliers' data to its place in the new files, window by window, before the transport moves the rest.
#include "core/commit/supply.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/access/here.hpp"
#include "core/base/guarded.hpp"

namespace penstock {
namespace {

constexpr size_t max_runs = 4096;  // of a window, which also need memory

class Supplying {
 public:
  Supplying(const Target& target, Moving& moving, Report& report) : target_(target), moving_(moving), report_(report) {}

  Status run() {
    for (claim_ = 0; claim_ < moving_.contents.claims.size(); ++claim_) {
      if (claim().supplier == nullptr || moving_.encoded.has(claim().dataset)) continue;
      PENSTOCK_TRY(for_each_supplied(*claim().supplier, claim().selection, element_bytes(), target_.buffer_bytes,
                                     [this](std::vector<MemoryRun> runs, std::span<std::byte> bytes) {
                                       return take(std::move(runs), bytes);
                                     })
                       .in(fmt::format("supplying '{}'", dataset().name)));
    }
    return {};
  }

 private:
  const Claim& claim() const { return moving_.contents.claims[claim_]; }
  size_t index() const { return static_cast<size_t>(claim().dataset); }
  const Dataset& dataset() const { return moving_.output.placed.contents.catalogue.datasets[index()]; }
  int64_t element_bytes() const { return bytes(dataset().type); }

  Status take(std::vector<MemoryRun> runs, std::span<std::byte> bytes) {
    report_.memory_peak = std::max(report_.memory_peak, std::ssize(bytes));
    target_.comm->working(0);
    const Selection selection = Selection::of_memory_runs(dataset().shape, std::move(runs));
    CommitSums& sums = moving_.contents.sums;
    const size_t d = index();
    if (sums.wanted && sums.summed[d]) add_to_sums(selection, bytes.data(), element_bytes(), sums.cuts[d], sums.sums);
    return store(selection, bytes);
  }

  Status store(const Selection& selection, std::span<std::byte> bytes) {
    const Placed& placed = moving_.output.placed;
    std::vector<Piece> pieces;
    const Claim window{claim().dataset, selection, bytes.data()};
    const auto blocks = placed.supplied.find(claim_);
    if (blocks == placed.supplied.end()) return {};  // an engine asks the supplier itself
    add_pieces(blocks->second, placed.parts, dataset().type, window, pieces);
    return move_pieces_here(Direction::write, placed.parts, std::move(pieces), target_.storage);
  }

  const Target& target_;
  Moving& moving_;
  Report& report_;
  size_t claim_ = 0;
};

}  // namespace

Status for_each_supplied(const Supplier& supplier, const Selection& selection, int64_t element_bytes, int64_t max_bytes,
                         const UseSupplied& use) {
  const int64_t most = std::max<int64_t>(1, max_bytes / element_bytes);
  std::vector<std::byte> buffer;
  std::vector<MemoryRun> runs;  // whose elements are contiguous in the supplier's order, from FIRST on
  int64_t first = 0, count = 0;
  const auto flush = [&]() -> Status {
    if (count == 0) return {};
    buffer.resize(static_cast<size_t>(count * element_bytes));
    PENSTOCK_TRY(supplier(first, buffer));
    count = 0;
    return use(std::exchange(runs, {}), buffer);
  };
  Cursor cursor(selection);
  for (Segment segment; cursor.next(segment);)
    for (int64_t done = 0; done < segment.length;) {
      const int64_t memory = segment.memory + done;
      if (count == most || runs.size() == max_runs || memory != first + count) PENSTOCK_TRY(flush());
      if (count == 0) first = memory;
      const int64_t length = std::min(segment.length - done, most - count);
      runs.push_back({segment.offset + done, count, length, count});
      count += length;
      done += length;
    }
  return flush();
}

Status supply(const Target& target, Moving& moving, Report& report) {
  PhaseTimer timer(report.phases, Phase::write);
  return agree(target.comm, guarded([&] { return Supplying(target, moving, report).run(); }));
}

}  // namespace penstock
