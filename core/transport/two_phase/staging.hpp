// Staging: a writer's two windows and the files behind them. While ranks fill or empty one window, a helper thread
// writes or reads the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/background.hpp"
#include "core/transport/move.hpp"
#include "core/transport/open_parts.hpp"
#include "core/transport/transport.hpp"
#include "core/transport/two_phase/buffers.hpp"
#include "core/transport/two_phase/domain.hpp"
#include "core/transport/two_phase/exchange.hpp"

namespace penstock {

// For a rank that is not a writer, or has an empty domain, every window is empty. All functions are local. A failure of
// the file system is kept until finish: windows continue as usual, since other ranks rely on them.
class Staging {
 public:
  // The arguments must outlive it. The helper thread calls RESTED at the end of a task.
  Staging(const Job& job, const Domains& domains, const ExchangePlan& plan, IoMode mode, std::function<void()> rested);
  // SHARED: memory for both windows; if null, the staging allocates its own.
  Status reserve(std::byte* shared);

  // Writing: whether begin(ROUND) reads the file, and so waits for the helper. Then the window before must be complete.
  bool reads_before(int64_t round);
  // Writing: fills the gaps between the pieces of ROUND's window with zeros or with the file's contents.
  void begin(int64_t round);
  // Writing: ROUND's window is complete; the helper writes it after the previous one.
  void write(int64_t round);
  // Reading: the helper fetches ROUND's window.
  void read_ahead(int64_t round);

  // Copies between ROUND's window and PARCEL's LOAD of it.
  void place(const Parcel& parcel, Load load, int64_t round, std::byte* data);
  // Copies this rank's data in its own domain without a message.
  void place_own(int64_t round);

  bool busy() { return !helper_.idle(); }    // whether the helper is busy
  void wait_idle() { helper_.wait_idle(); }  // without occupying a core
  void settle();                             // waits for the helper and keeps its failure
  // Waits, syncs and closes; returns the first failure.
  Status finish();
  bool touched_files() const { return touched_; }
  int64_t bytes() const { return plan_.clients.empty() ? 0 : domains_.windows_bytes(); }  // of its windows

 private:
  // A range of one part inside a window, in virtual addresses.
  struct Range {
    const Part* part = nullptr;
    int64_t begin = 0, end = 0;
    int64_t at = 0;     // of its first byte in the window
    int64_t bytes = 0;  // of pieces inside; not counted in exact ranges
    bool gaps = false;  // of an exact range: some of its bytes are in no piece
  };

  bool reading() const { return job_.direction == Direction::read; }
  bool exact() const { return !reading() && job_.keep && job_.bridge > 0; }
  void fail(const Status& status) {
    if (failure_.ok()) failure_ = status;
  }
  std::byte* window(int64_t round) const { return windows_[round % 2]; }
  Window addresses(int64_t round) const { return domains_.window_of(writer_, round); }
  std::span<std::byte> bytes_of(const Range& range, int64_t round) const;
  std::vector<Range> ranges(int64_t round) const;
  // Of WHOLE, which begins at byte AT of a window.
  void add_ranges(AddressRange whole, int64_t at, std::vector<Range>& found) const;
  // OVERLAP: two of the pieces share a byte, which the job does not allow.
  std::vector<Range> exact_ranges(int64_t round, bool& overlap) const;
  void find_ranges(int64_t round);
  // Zeroes the bytes of RANGE that are in none of its pieces, and possibly others.
  void zero_gaps(const Range& range, int64_t round);
  Status read_range(const Range& range, std::span<std::byte> bytes);
  Status read_kept(const Range& range, std::span<std::byte> bytes);

  const Job& job_;
  const Domains& domains_;
  const ExchangePlan& plan_;
  const int writer_;
  OpenParts files_;  // used by one thread at a time
  Buffer own_;
  std::byte* windows_[2] = {};
  std::vector<Range> ranges_[2];  // of the windows being filled
  int64_t found_for_ = -1;        // the last round of which the ranges were found
  Status failure_;
  bool touched_ = false;
  Background helper_;  // last member: its task uses the others
};

}  // namespace penstock
