// Immediate: ranges that were written at once, and how kept calls lose them.
#include "bindings/mpiio/immediate.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "bindings/mpiio/settings.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/mpi/native.hpp"

namespace penstock::mpiio {
namespace {

// Takes LATER out of CALLS.
void take_out(std::vector<Kept::Call>& calls, std::vector<Kept::Immediate> later) {
  if (later.empty()) return;
  std::ranges::sort(later, std::greater(), &Kept::Immediate::after);
  Ranges taken;
  size_t next = 0;
  for (size_t c = std::min(calls.size(), static_cast<size_t>(later.front().after)); c-- > 0;) {
    for (; next < later.size() && std::cmp_greater(later[next].after, c); ++next) taken.add(later[next].range);
    taken.take_out_of(calls[c].runs);
  }
}

// Bytes that were written more than once are remembered once; of more ranges than MOST, those that were last are not
// told to other ranks.
void shrink(Kept& kept, size_t most) {
  take_out_own(kept);
  std::map<int64_t, Ranges> by_call;
  for (const Kept::Immediate& one : kept.immediate) by_call[one.after].add(one.range);
  kept.immediate.clear();
  kept.own = {};
  for (const auto& [after, ranges] : by_call)
    for (const Hull& range : ranges.list())
      if (kept.immediate.size() < most) kept.immediate.push_back({range, after});
  kept.taken_out = kept.immediate.size();
}

// What this rank has written at once where calls before it, of any rank, have their HULLS.
std::vector<Kept::Immediate> to_tell(const Kept& kept, std::span<const Hull> hulls) {
  std::vector<Hull> before(hulls.size() + 1);  // of the first calls together
  for (size_t c = 0; c < hulls.size(); ++c) {
    before[c + 1] = before[c];
    before[c + 1].add(hulls[c]);
  }
  std::vector<Kept::Immediate> told;
  for (const Kept::Immediate& one : kept.immediate) {
    const auto calls = std::min(static_cast<size_t>(one.after), hulls.size());
    const auto meets = [&](const Hull& hull) { return hull.meets(one.range); };
    if (meets(before[calls]) && std::ranges::any_of(hulls.first(calls), meets)) told.push_back(one);
  }
  return told;
}

}  // namespace

void note_immediate(Kept& kept, std::span<const Run> runs, int64_t after) {
  if (after == 0) return;
  const auto most = static_cast<size_t>(run_settings().memory / 4) / sizeof(Kept::Immediate);
  for (const Run& run : runs) {
    const Hull range{run.offset, run.offset + run.length};
    Kept::Immediate* const last = kept.immediate.empty() ? nullptr : &kept.immediate.back();
    if (last != nullptr && last->after == after && kept.taken_out < kept.immediate.size() &&
        last->range.first <= range.last && range.first <= last->range.last) {
      last->range.add(range);
      continue;
    }
    if (kept.immediate.size() >= most + most / 2) shrink(kept, most);
    kept.immediate.push_back({range, after});
  }
}

void take_out_own(Kept& kept) {
  const auto fresh = kept.immediate.begin() + static_cast<std::ptrdiff_t>(kept.taken_out);
  take_out(kept.calls, {fresh, kept.immediate.end()});
  kept.taken_out = kept.immediate.size();
}

void overlay(Kept& kept, std::span<const Run> runs) {
  take_out_own(kept);
  auto& [bytes, calls, immediate] = kept.own;
  for (; immediate < kept.immediate.size(); ++immediate) {  // they came after all calls that BYTES has
    const Hull& range = kept.immediate[immediate].range;
    bytes.cut(range.first, range.last);
  }
  for (; calls < kept.calls.size(); ++calls)
    for (const Run& run : kept.calls[calls].runs) bytes.put(run);
  bytes.overlay(runs);
}

Status take_out_later(File& file, Kept& kept, std::span<const Hull> hulls) {
  constexpr size_t most_bytes = 16 << 20;  // that a rank gets in a round
  struct Rank {
    Hull kept;
    int64_t told = 0;  // ranges
  };
  static_assert(sizeof(Rank) == 3 * sizeof(int64_t));
  std::vector<Kept::Immediate> told;
  std::vector<Rank> theirs;
  Rank own;
  PENSTOCK_TRY(agree(file.comm, guarded([&]() -> Status {
                       told = to_tell(kept, hulls);
                       theirs.resize(static_cast<size_t>(file.comm->size()));
                       for (const Kept::Call& call : kept.calls) own.kept.add(hull_of(call.runs));
                       own.told = std::ssize(told);
                       return {};
                     })));
  PENSTOCK_TRY(
      check_mpi(MPI_Allgather(&own, 3, MPI_INT64_T, theirs.data(), 3, MPI_INT64_T, file.native), "MPI_Allgather"));
  const size_t in_round = std::max<size_t>(16, most_bytes / sizeof(Kept::Immediate) / theirs.size());
  const auto most = static_cast<size_t>(std::ranges::max_element(theirs, {}, &Rank::told)->told);
  for (size_t done = 0; done < most; done += in_round) {
    const size_t begin = std::min(told.size(), done);
    const auto part = std::span(told).subspan(begin, std::min(in_round, told.size() - begin));
    std::vector<Message> messages;
    for (int peer = 0; peer < file.comm->size(); ++peer) {
      std::vector<std::byte> bytes;
      for (const Kept::Immediate& one : part)
        if (peer != file.comm->rank() && theirs[static_cast<size_t>(peer)].kept.meets(one.range)) {
          const auto* const first = reinterpret_cast<const std::byte*>(&one);
          bytes.insert(bytes.end(), first, first + sizeof one);
        }
      if (!bytes.empty()) messages.push_back({peer, std::move(bytes)});
    }
    PENSTOCK_ASSIGN(const auto heard, file.comm->sparse_exchange(std::move(messages)));
    std::vector<Kept::Immediate> later;
    for (const Message& message : heard) {
      const size_t at = later.size();
      later.resize(at + message.bytes.size() / sizeof(Kept::Immediate));
      std::memcpy(&later[at], message.bytes.data(), message.bytes.size());
    }
    take_out(kept.calls, std::move(later));
  }
  return {};
}

}  // namespace penstock::mpiio
