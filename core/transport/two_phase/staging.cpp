// Staging: the file ranges of a window, and their movement between buffer and files.
#include "core/transport/two_phase/staging.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "core/base/units.hpp"
#include "core/transport/move.hpp"
#include "core/transport/two_phase/coverage.hpp"

namespace penstock {
namespace {

// One small window has nothing to overlap with, and does not delay a program that rarely tests a commit.
bool beside(const Domains& domains) { return domains.rounds() > 1 || domains.largest_window() > 2 << 20; }

}  // namespace

Staging::Staging(const Job& job, const Domains& domains, const ExchangePlan& plan, IoMode mode,
                 std::function<void()> rested)
    : job_(job),
      domains_(domains),
      plan_(plan),
      writer_(domains.writer_of(job.comm->rank())),
      files_(job.files, mode, job.direction == Direction::write),
      helper_(!job.one_thread && job.comm->threads_allowed() && beside(domains), std::move(rested)) {}

Status Staging::reserve(std::byte* shared) {
  if (plan_.clients.empty()) return {};
  if (shared == nullptr) {
    own_ = Buffer(bytes());
    shared = own_.data();
  }
  if (shared == nullptr) return {Code::memory, "no memory for a writer's windows: lower buffer_bytes"};
  windows_[0] = shared;
  windows_[1] = shared + bytes() - domains_.largest_window();  // the same if there is one round
  return {};
}

bool Staging::reads_before(int64_t round) {
  if (!exact()) return job_.keep;
  find_ranges(round);
  return std::ranges::any_of(ranges_[round % 2], &Range::gaps);
}

void Staging::find_ranges(int64_t round) {
  if (std::exchange(found_for_, round) == round) return;
  bool overlap = false;
  ranges_[round % 2] = exact() ? exact_ranges(round, overlap) : ranges(round);
  if (overlap) fail({Code::overlap, "two ranks wrote the same bytes"});
}

void Staging::begin(int64_t round) {
  find_ranges(round);
  const std::vector<Range>& list = ranges_[round % 2];
  if (!failure_.ok()) return;
  for (const Range& range : list) {
    if (exact() ? !range.gaps : job_.disjoint && range.bytes >= range.end - range.begin) continue;
    if (job_.keep) {
      settle();
      fail(read_kept(range, bytes_of(range, round)));
    } else {
      zero_gaps(range, round);
    }
  }
}

void Staging::write(int64_t round) {
  PhaseTimer timer(*job_.phases, Phase::write);
  settle();  // also without data to write: the next round fills the buffer of the previous one
  if (ranges_[round % 2].empty() || !failure_.ok()) return;
  fail(helper_.submit([this, round, list = ranges_[round % 2]]() -> Status {
    for (const Range& range : list) {
      PENSTOCK_ASSIGN(StorageFile * file, files_.at(range.part->path));
      PENSTOCK_TRY(file->write(range.begin - range.part->virtual_base, bytes_of(range, round)));
    }
    return {};
  }));
}

void Staging::read_ahead(int64_t round) {
  if (plan_.clients.empty() || !failure_.ok()) return;
  PhaseTimer timer(*job_.phases, Phase::read);
  fail(helper_.submit([this, round, list = ranges(round)]() -> Status {
    for (const Range& range : list) PENSTOCK_TRY(read_range(range, bytes_of(range, round)));
    return {};
  }));
}

void Staging::place(const Parcel& parcel, Load load, int64_t round, std::byte* data) {
  std::byte* const to = window(round);
  if (to == nullptr) return;
  PhaseTimer timer(*job_.phases, Phase::pack);
  if (load.image && reading()) {
    std::memcpy(data, to, static_cast<size_t>(load.bytes));
    return;
  }
  const Window whole = addresses(round);
  for (const Client& client : parcel.clients) {
    int64_t start = 0;  // of the range in the window
    for (const AddressRange& range : whole.ranges) {
      for (const Piece& piece : client.pieces.near(range)) {
        if (!load.image) {
          data = copy_between(piece, range, data, to + start, job_.direction);
          continue;
        }
        SliceCursor cursor(piece, range.begin, range.end);
        for (Slice slice; cursor.next(slice);) {
          const int64_t at = start + slice.address - range.begin;
          std::memcpy(to + at, data + at, static_cast<size_t>(slice.bytes));
        }
      }
      start += range.end - range.begin;
    }
  }
}

void Staging::place_own(int64_t round) {
  if (window(round) == nullptr) return;
  PhaseTimer timer(*job_.phases, Phase::pack);
  for (const Client& client : plan_.clients)
    if (client.rank == job_.comm->rank())
      copy_load(client.pieces, addresses(round), window(round), true, job_.direction);
}

void Staging::settle() { fail(helper_.wait()); }

Status Staging::finish() {
  {
    PhaseTimer timer(*job_.phases, reading() ? Phase::read : Phase::write);
    settle();
  }
  touched_ = files_.any();
  PhaseTimer timer(*job_.phases, Phase::sync);
  fail(files_.finish(failure_.ok() && job_.sync && !reading()));
  return failure_;
}

std::span<std::byte> Staging::bytes_of(const Range& range, int64_t round) const {
  return {window(round) + range.at, static_cast<size_t>(range.end - range.begin)};
}

// The ranges to move, in whole blocks; a window without pieces has none.
std::vector<Staging::Range> Staging::ranges(int64_t round) const {
  std::vector<Range> found;
  if (writer_ < 0) return found;
  int64_t at = 0;
  for (const AddressRange& range : addresses(round).ranges) {
    add_ranges(range, at, found);
    at += range.end - range.begin;
  }
  return found;
}

void Staging::add_ranges(AddressRange whole, int64_t at, std::vector<Range>& found) const {
  const auto before = found.size();
  std::unordered_map<int32_t, size_t> number;  // of a part's range
  for (const Client& client : plan_.clients) {
    for (const Piece& piece : client.pieces.near(whole)) {
      const int64_t bytes = bytes_in(piece, whole.begin, whole.end);
      if (bytes == 0) continue;
      const Part& part = plan_.parts[static_cast<size_t>(piece.part)];
      const auto [known, is_new] = number.try_emplace(piece.part, found.size());
      if (is_new) found.push_back({&part, INT64_MAX, 0});
      Range& range = found[known->second];
      range.begin = std::min(range.begin, std::max(whole.begin, first_address(piece)));
      range.end = std::max(range.end, std::min(whole.end, last_address(piece)));
      range.bytes += bytes;
    }
  }
  for (Range& range : std::span(found).subspan(before)) {
    range.begin = range.begin / domains_.block * domains_.block;
    range.end = round_up(range.end, domains_.block);
    range.end = std::min({range.end, whole.end, range.part->virtual_base + range.part->bytes});
    range.at = at + range.begin - whole.begin;
  }
}

// In the order of the files: a job that keeps bytes has no other.
std::vector<Staging::Range> Staging::exact_ranges(int64_t round, bool& overlap) const {
  const Window whole = writer_ < 0 ? Window() : addresses(round);
  if (whole.ranges.empty()) return {};
  const AddressRange window = whole.ranges.front();
  Coverage coverage(window);
  std::vector<const Part*> parts;
  for (const Client& client : plan_.clients)
    for (const Piece& piece : client.pieces.near(window)) {
      coverage.add(piece);
      const Part* part = &plan_.parts[static_cast<size_t>(piece.part)];
      if (std::ranges::find(parts, part) == parts.end()) parts.push_back(part);
    }
  overlap = job_.exclusive && coverage.overlaps();
  std::vector<Range> found;
  for (const auto& [range, gaps] : coverage.stretches(job_.bridge))
    for (const Part* part : parts) {
      const int64_t begin = std::max(range.begin, part->virtual_base);
      const int64_t end = std::min(range.end, part->virtual_base + part->bytes);
      if (begin < end) found.push_back({part, begin, end, begin - window.begin, 0, gaps});
    }
  return found;
}

// Between a few contiguous pieces only the gaps, which are small: datasets begin at blocks.
void Staging::zero_gaps(const Range& range, int64_t round) {
  constexpr size_t most = 1024;
  std::vector<AddressRange> filled;
  int64_t bytes = 0;
  for (const Client& client : plan_.clients)
    for (const Piece& piece : client.pieces.near({range.begin, range.end})) {
      if (!job_.disjoint || filled.size() > most) break;
      if (&plan_.parts[static_cast<size_t>(piece.part)] != range.part) continue;
      const AddressRange its{std::max(first_address(piece), range.begin), std::min(last_address(piece), range.end)};
      if (its.begin >= its.end) continue;
      filled.push_back(its);
      bytes += its.end - its.begin;
    }
  const std::span<std::byte> all = bytes_of(range, round);
  // Longer together than what is in them: a piece has gaps itself.
  if (!job_.disjoint || filled.size() > most || bytes != range.bytes) {
    std::memset(all.data(), 0, all.size());
    return;
  }
  std::ranges::sort(filled, {}, &AddressRange::begin);
  filled.push_back({range.end, range.end});
  int64_t done = range.begin;
  for (const AddressRange& one : filled) {
    if (one.begin > done) std::memset(all.data() + (done - range.begin), 0, static_cast<size_t>(one.begin - done));
    done = std::max(done, one.end);
  }
}

Status Staging::read_range(const Range& range, std::span<std::byte> bytes) {
  PENSTOCK_ASSIGN(StorageFile * file, files_.at(range.part->path));
  return file->read(range.begin - range.part->virtual_base, bytes);
}

Status Staging::read_kept(const Range& range, std::span<std::byte> bytes) {
  const int64_t old = std::clamp(job_.keep_below, range.begin, range.end) - range.begin;
  std::ranges::fill(bytes.subspan(static_cast<size_t>(old)), std::byte{0});
  if (old == 0) return {};
  return read_range({range.part, range.begin, range.begin + old, range.at}, bytes.first(static_cast<size_t>(old)));
}

}  // namespace penstock
