// Proof of exact tiling, by sums of powers.
#include "core/commit/proof.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/model/tiling.hpp"

namespace penstock {
namespace {

// Sums of residues below 2^61 over ranks. The halves are added separately, so that no number of ranks overflows them.
// In the same message, BITS of all ranks by exclusive or.
Status sum_residues(const Communicator& comm, std::vector<uint64_t>& sums, std::span<uint64_t> bits = {}) {
  std::vector<int64_t> halves(2 * sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    halves[2 * i] = static_cast<int64_t>(sums[i] >> 31);
    halves[2 * i + 1] = static_cast<int64_t>(sums[i] & 0x7FFFFFFF);
  }
  const std::span<int64_t> words(reinterpret_cast<int64_t*>(bits.data()), bits.size());
  PENSTOCK_TRY(bits.empty() ? comm->all_reduce_sum(halves) : comm->all_reduce_sum_xor(halves, words));
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto high = static_cast<unsigned __int128>(halves[2 * i]) << 31;
    sums[i] = static_cast<uint64_t>((high + static_cast<uint64_t>(halves[2 * i + 1])) % tiling_modulus);
  }
  return {};
}

uint64_t proper(uint64_t base) { return base % (tiling_modulus - 2) + 2; }  // neither 0 nor 1

uint64_t difference(uint64_t a, uint64_t b) { return tiling_add(a, tiling_modulus - b); }

struct Question {
  int dataset;
  int64_t kept;
  int64_t elements;
  uint64_t base;
};

// This rank's sum over kept <= offset < limit.
uint64_t my_sum(std::span<const Claim> claims, const Question& q, int64_t limit) {
  uint64_t sum = 0;
  for (const Claim& claim : claims)
    if (claim.dataset == q.dataset)
      sum = tiling_add(
          sum, difference(tiling_sum(claim.selection, q.base, limit), tiling_sum(claim.selection, q.base, q.kept)));
  return sum;
}

uint64_t whole_sum(const Question& q, int64_t limit) {
  return difference(tiling_sum(q.elements, q.base, limit), tiling_sum(q.elements, q.base, q.kept));
}

// The sums of one commit. Many datasets usually have one shape and one decomposition: the last box's sum, the sums of
// lists of runs that claims share, and the last sum of a whole dataset are reused.
class Sums {
 public:
  explicit Sums(uint64_t base) : base_(base) {}

  uint64_t of(const Selection& selection, int64_t kept) {
    if (!selection.is_box()) {
      const auto [at, added] = of_runs_.try_emplace({selection.runs().data(), kept});
      if (added) at->second = sum(selection, kept);
      return at->second;
    }
    if (!last_ || kept != kept_ || !(selection.box() == last_->box()) || !(selection.shape() == last_->shape())) {
      sum_ = sum(selection, kept);
      last_ = selection;
      kept_ = kept;
    }
    return sum_;
  }

  uint64_t of_whole(const Question& q) {
    if (q.elements != whole_.elements || q.kept != whole_.kept) {
      whole_sum_ = whole_sum(q, q.elements);
      whole_ = q;
    }
    return whole_sum_;
  }

 private:
  uint64_t sum(const Selection& selection, int64_t kept) const {
    return difference(tiling_sum(selection, base_), tiling_sum(selection, base_, kept));
  }

  uint64_t base_;
  std::optional<Selection> last_;
  int64_t kept_ = 0;
  uint64_t sum_ = 0;
  std::map<std::pair<const MemoryRun*, int64_t>, uint64_t> of_runs_;
  Question whole_{-1, -1, -1, 0};
  uint64_t whole_sum_ = 0;
};

// The shortest prefix with different sums ends with the first wrong element.
Status name_first_wrong(const Communicator& comm, const Dataset& dataset, std::span<const Claim> claims,
                        const Question& q) {
  int64_t good = q.kept, bad = q.elements;
  while (bad - good > 1) {
    const int64_t middle = good + (bad - good) / 2;
    std::vector<uint64_t> sum{my_sum(claims, q, middle)};
    PENSTOCK_TRY(sum_residues(comm, sum));
    (sum[0] == whole_sum(q, middle) ? good : bad) = middle;
  }
  int64_t times = 0;
  for (const Claim& claim : claims) times += claim.dataset == q.dataset && claim.selection.contains(good);
  int64_t total = times;
  PENSTOCK_TRY(comm->all_reduce_sum(std::span(&total, 1)));
  int64_t ranks[2] = {times > 0 ? comm->rank() : -1, times > 0 ? -comm->rank() : -comm->size()};
  PENSTOCK_TRY(comm->all_reduce_max(ranks));
  const std::string element =
      fmt::format("element {} of '{}' {}", describe(coordinates(dataset.shape, good)), dataset.name, describe(dataset));
  if (total == 0)
    return {Code::incomplete, element + " was put by no rank: put every element once, or allow holes with partial"};
  if (ranks[0] == -ranks[1])
    return {Code::overlap,
            fmt::format("{} was put {} times by rank {}: put every element once", element, total, ranks[0])};
  return {Code::overlap, fmt::format("{} was put by {} ranks, {} and {} among them: put every element once", element,
                                     total, -ranks[1], ranks[0])};
}

}  // namespace

Result<Tiling> find_tiling(const Communicator& comm, const Catalogue& catalogue, std::span<const Claim> claims,
                           std::span<const int64_t> kept, uint64_t base, std::span<uint64_t> bits) {
  base = proper(base);
  const size_t count = catalogue.datasets.size();
  const bool keeps = std::ranges::any_of(kept, [](int64_t n) { return n > 0; });
  std::vector<uint64_t> sums(keeps ? 2 * count : count);  // of whole datasets, then beyond what is kept
  Sums memory(base), memory_beyond(base);
  for (const Claim& claim : claims) {
    const auto d = static_cast<size_t>(claim.dataset);
    sums[d] = tiling_add(sums[d], memory.of(claim.selection, 0));
    if (keeps) sums[count + d] = tiling_add(sums[count + d], memory_beyond.of(claim.selection, kept[d]));
  }
  PENSTOCK_TRY(sum_residues(comm, sums, bits));
  Tiling tiling;
  for (size_t d = 0; d < count; ++d) {
    const int64_t size = elements(catalogue.datasets[d].shape);
    const auto question = [&](int64_t from) { return Question{static_cast<int>(d), from, size, base}; };
    tiling.whole.push_back(sums[d] == memory.of_whole(question(0)));
    if (keeps) tiling.beyond.push_back(sums[count + d] == memory_beyond.of_whole(question(kept[d])));
  }
  if (!keeps) tiling.beyond = tiling.whole;
  return tiling;
}

Status check_tiling(const Communicator& comm, const Catalogue& catalogue, std::span<const Claim> claims,
                    std::span<const int64_t> kept, uint64_t base, const Tiling& tiling) {
  const auto wrong = static_cast<size_t>(std::ranges::find(tiling.beyond, false) - tiling.beyond.begin());
  if (wrong == tiling.beyond.size()) return {};
  const Dataset& dataset = catalogue.datasets[wrong];
  return name_first_wrong(comm, dataset, claims,
                          {static_cast<int>(wrong), kept[wrong], elements(dataset.shape), proper(base)});
}

}  // namespace penstock
