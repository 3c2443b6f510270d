// Placement per_rank: each rank lays out and creates its own files; rank 0 learns their contents.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/encode.hpp"
#include "core/base/guarded.hpp"
#include "core/placement/claims.hpp"
#include "core/placement/placing.hpp"

namespace penstock {
namespace {

// Local. The files of this rank, and their entries for the index.
Status place_own(const Placing& placing, Placed& placed, Encoder& index) {
  const auto own = own_parts(*placing.catalogue, placing.claims, placing.settings->word("split") == "group");
  index.value(std::ssize(own));
  for (const OwnPart& part : own) {
    PENSTOCK_ASSIGN(Layout layout, placing.format->layout(part.catalogue, {placing.block()}));
    const std::string path =
        placing.files->part(fmt::format("{:06d}{}{}", placing.comm->rank(), part.label.empty() ? "" : ".", part.label));
    index.text(path);
    index.value(head_of(layout));
    index.value(std::ssize(part.claims));
    const int32_t number = add_part(placing, placed, path, layout);
    PENSTOCK_TRY(placing.files->create(path, placed.parts.back().bytes, placed.io));
    if (layout.exact) placed.cuts.push_back({number, 0, layout.end});
    for (size_t i = 0; i < part.claims.size(); ++i) {
      const auto c = static_cast<size_t>(part.claims[i]);
      const Claim& claim = placing.claims[c];
      StoredBlock block = layout.blocks[i];
      block.part = number;
      block.where = claim.selection.packed(0, INT64_MAX);
      index.value(static_cast<int64_t>(claim.dataset));
      index.value(static_cast<int64_t>(part.claims[i]));
      index.value(Place(block));
      block.where.encode(index);
      if (claim.supplier != nullptr)
        placed.supplied[c].push_back(std::move(block));
      else
        placed.pieces.push_back(
            piece_of(block, placed.parts, placing.type(claim), in_packed(claim.selection), claim.memory));
    }
  }
  return {};
}

// Rank 0.
Status read_index(std::span<const std::byte> bytes, Placed& placed) {
  struct Numbered {
    int64_t dataset, claim;
    StoredBlock block;
  };
  Contents& contents = placed.contents;
  Decoder in(bytes);
  std::vector<Numbered> all;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    const auto part = static_cast<int32_t>(contents.parts.size());
    contents.parts.push_back(in.text());
    placed.heads.push_back(in.value<FileSum>());
    for (auto m = in.value<int64_t>(); m > 0 && in.ok(); --m) {
      Numbered one;
      one.dataset = in.value<int64_t>();
      one.claim = in.value<int64_t>();
      const auto place = in.value<Place>();
      one.block = place.block_of(Selection::decode(in));
      one.block.part = part;
      all.push_back(std::move(one));
    }
  }
  if (!in.ok()) return {Code::internal, "an index from another rank cannot be decoded"};
  // Blocks are named in the order in which the rank put them.
  std::sort(all.begin(), all.end(), [](const Numbered& a, const Numbered& b) { return a.claim < b.claim; });
  for (Numbered& one : all) contents.blocks[static_cast<size_t>(one.dataset)].push_back(std::move(one.block));
  return {};
}

class PerRank final : public Placement {
 public:
  const Descriptor& describe() const override { return descriptor_; }
  bool own_files() const override { return true; }

  Result<Placed> place(const Placing& placing) const override {
    const CommunicatorInterface& comm = *placing.comm;
    int64_t total = 0;
    for (const Claim& claim : placing.claims) total += claim.selection.count() * bytes(placing.type(claim));
    PENSTOCK_TRY(comm.all_reduce_sum(std::span(&total, 1)));
    Placed placed;
    placed.io = placing.files->wanted(total / comm.size());
    Encoder index;
    PENSTOCK_TRY(agree(placing.comm, guarded([&] { return place_own(placing, placed, index); })));
    // A fallback on one rank applies to all: a writer may hold any rank's part.
    int64_t buffered = placed.io == Io::buffered;
    PENSTOCK_TRY(comm.all_reduce_max(std::span(&buffered, 1)));
    if (buffered != 0) placed.io = Io::buffered;

    int64_t all = 0, before = 0;
    for (const Part& part : placed.parts) all += part.bytes;
    PENSTOCK_TRY(comm.exclusive_sum(std::span(&all, 1), std::span(&before, 1)));
    for (Part& part : placed.parts) part.virtual_base += before;
    for (Piece& piece : placed.pieces) piece.address += before;

    begin_contents(placing, placed);
    placed.contents.parts.clear();  // read_index numbers them
    PENSTOCK_ASSIGN(const auto indexes, comm.gather(index.take(), 0));
    Status status;
    for (const auto& one : indexes)
      if (status.ok()) status = read_index(one, placed);
    if (status.ok()) status = check_counts(*placing.catalogue, placed.contents);
    PENSTOCK_TRY(agree(placing.comm, status));
    return placed;
  }

 private:
  Descriptor descriptor_{"per_rank",
                         "each rank's blocks in files of its own, and an index",
                         {{"split", Parameter::Type::choice, "none|group", "none",
                           "one file for each rank, or for each rank and top group"}},
                         ""};
};

}  // namespace

const Placement& per_rank_placement() {
  static const PerRank per_rank;
  return per_rank;
}

}  // namespace penstock
