// Supply: writes suppliers' data to its place in the new files, window by window, before the transport moves the rest.
#include "core/commit/supply.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/access/here.hpp"
#include "core/base/guarded.hpp"

namespace penstock {
namespace {

constexpr size_t max_runs = 4096;  // of a window, which also need memory

// Elements that are contiguous in the order of their block, anywhere in the dataset.
struct Window {
  int64_t first = 0, count = 0;
  std::vector<MemoryRun> runs;
};

// Calls WORK with the windows of SELECTION in file order, each of at most MOST elements.
template <typename Work>
Status for_each_window(const Selection& selection, int64_t most, const Work& work) {
  Window window;
  const auto flush = [&]() -> Status {
    if (window.count > 0) PENSTOCK_TRY(work(window));
    window = {};
    return {};
  };
  Cursor cursor(selection);
  for (Segment segment; cursor.next(segment);)
    for (int64_t done = 0; done < segment.length;) {
      const int64_t memory = segment.memory + done;
      if (window.count == most || window.runs.size() == max_runs || memory != window.first + window.count)
        PENSTOCK_TRY(flush());
      if (window.count == 0) window.first = memory;
      const int64_t length = std::min(segment.length - done, most - window.count);
      window.runs.push_back({segment.offset + done, window.count, length, window.count});
      window.count += length;
      done += length;
    }
  return flush();
}

class Supplying {
 public:
  Supplying(const Target& target, Moving& moving, Report& report) : target_(target), moving_(moving), report_(report) {}

  Status run() {
    for (claim_ = 0; claim_ < moving_.contents.claims.size(); ++claim_) {
      if (claim().supplier == nullptr || moving_.encoded.has(claim().dataset)) continue;
      PENSTOCK_TRY(for_each_window(claim().selection, std::max<int64_t>(1, target_.buffer_bytes / element_bytes()),
                                   [this](Window& window) { return take(window); })
                       .in(fmt::format("supplying '{}'", dataset().name)));
    }
    return {};
  }

 private:
  const Claim& claim() const { return moving_.contents.claims[claim_]; }
  size_t index() const { return static_cast<size_t>(claim().dataset); }
  const Dataset& dataset() const { return moving_.output.placed.contents.catalogue.datasets[index()]; }
  int64_t element_bytes() const { return bytes(dataset().type); }

  Status take(Window& window) {
    buffer_.resize(static_cast<size_t>(window.count * element_bytes()));
    report_.memory_peak = std::max(report_.memory_peak, std::ssize(buffer_));
    PENSTOCK_TRY((*claim().supplier)(window.first, buffer_));
    target_.comm->working(0);
    const Selection selection = Selection::of_memory_runs(dataset().shape, std::move(window.runs));
    CommitSums& sums = moving_.contents.sums;
    const size_t d = index();
    if (sums.wanted && sums.summed[d]) add_to_sums(selection, buffer_.data(), element_bytes(), sums.cuts[d], sums.sums);
    return store(selection);
  }

  Status store(const Selection& selection) {
    const Placed& placed = moving_.output.placed;
    std::vector<Piece> pieces;
    const Claim window{claim().dataset, selection, buffer_.data()};
    const auto blocks = placed.supplied.find(claim_);
    if (blocks == placed.supplied.end()) return {};  // an engine asks the supplier itself
    add_pieces(blocks->second, placed.parts, dataset().type, window, pieces);
    return move_pieces_here(Direction::write, placed.parts, std::move(pieces), target_.storage);
  }

  const Target& target_;
  Moving& moving_;
  Report& report_;
  size_t claim_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace

Status supply(const Target& target, Moving& moving, Report& report) {
  PhaseTimer timer(report.phases, Phase::write);
  return agree(target.comm, guarded([&] { return Supplying(target, moving, report).run(); }));
}

}  // namespace penstock
