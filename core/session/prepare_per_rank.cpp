// Placement per_rank: each rank lays out and creates its own files; rank 0 learns their contents.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/encode.hpp"
#include "core/base/guarded.hpp"
#include "core/base/units.hpp"
#include "core/session/prepare.hpp"

namespace penstock {
namespace {

// The files of one rank under per_rank, and their entries for the index.
Status prepare_own(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                   std::span<std::byte* const> memory, Output& output, Encoder& index) {
  const int64_t block = state.plan.settings.integer("block");
  const auto own = own_parts(catalogue, claims, state.plan.settings.word("split") == "group");
  index.value(static_cast<int64_t>(own.size()));
  for (const OwnPart& part : own) {
    PENSTOCK_ASSIGN(Layout layout, state.format->layout(part.catalogue, Alignment{block}));
    const std::string label = fmt::format("{:06d}{}{}", state.comm->rank(), part.label.empty() ? "" : ".", part.label);
    const auto number = static_cast<int32_t>(output.parts.size());
    output.parts.push_back({part_path(state, label), round_up(layout.end, block), output.virtual_bytes});
    PENSTOCK_TRY(create_part(state, output, output.parts.back().path, output.parts.back().bytes));
    output.virtual_bytes += output.parts.back().bytes;
    if (layout.exact) output.cuts.push_back({number, 0, layout.end});
    index.text(output.parts.back().path);
    index.value(head_of(layout.metadata));
    index.value(static_cast<int64_t>(part.claims.size()));
    for (size_t i = 0; i < part.claims.size(); ++i) {
      const auto c = static_cast<size_t>(part.claims[i]);
      const ElementType& type = part.catalogue.datasets[i].type;
      const Layout::Place& place = layout.places[i];
      add_piece(output, number, place, type, in_packed(claims[c].selection), memory[c]);
      if (memory[c] == nullptr)
        output.own.push_back({c, {number, place.base, place.swapped, claims[c].selection.packed(0, INT64_MAX)}});
      index.value(static_cast<int64_t>(claims[c].dataset));
      index.value(static_cast<int64_t>(part.claims[i]));
      index.value(place.base);
      index.value(place.swapped);
      claims[c].selection.packed(0, INT64_MAX).encode(index);
    }
    add_metadata(output, number, std::move(layout.metadata));
  }
  return {};
}

Status read_index(std::span<const std::byte> bytes, Output& output) {
  struct Numbered {
    int64_t dataset, claim;
    StoredBlock block;
  };
  Contents& contents = output.contents;
  Decoder in(bytes);
  std::vector<Numbered> all;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    const auto part = static_cast<int32_t>(contents.parts.size());
    contents.parts.push_back(in.text());
    output.heads.push_back(in.value<FileSum>());
    for (auto m = in.value<int64_t>(); m > 0 && in.ok(); --m) {
      Numbered one;
      one.dataset = in.value<int64_t>();
      one.claim = in.value<int64_t>();
      one.block.part = part;
      one.block.base = in.value<int64_t>();
      one.block.swapped = in.value<bool>();
      one.block.where = Selection::decode(in);
      all.push_back(std::move(one));
    }
  }
  if (!in.ok()) return {Code::internal, "an index from another rank cannot be decoded"};
  // Blocks are named in the order in which the rank put them.
  std::sort(all.begin(), all.end(), [](const Numbered& a, const Numbered& b) { return a.claim < b.claim; });
  for (Numbered& one : all) contents.blocks[static_cast<size_t>(one.dataset)].push_back(std::move(one.block));
  return {};
}

}  // namespace

Status prepare_per_rank(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                        std::span<std::byte* const> memory, Output& output) {
  int64_t total = 0;
  for (const Claim& claim : claims)
    total += claim.selection.count() * bytes(catalogue.datasets[static_cast<size_t>(claim.dataset)].type);
  PENSTOCK_TRY(state.comm->all_reduce_sum(std::span(&total, 1)));
  output.io = wanted_io(state, total / state.comm->size());
  Encoder index;
  PENSTOCK_TRY(
      agree(state.comm, guarded([&] { return prepare_own(state, catalogue, claims, memory, output, index); })));
  int64_t buffered =
      output.io == Io::buffered;  // a fallback on one rank applies to all: a writer may hold any rank's part
  PENSTOCK_TRY(state.comm->all_reduce_max(std::span(&buffered, 1)));
  if (buffered != 0) output.io = Io::buffered;

  int64_t before = output.virtual_bytes;
  PENSTOCK_TRY(state.comm->exclusive_sum(std::span(&before, 1)));
  PENSTOCK_TRY(state.comm->all_reduce_sum(std::span(&output.virtual_bytes, 1)));
  for (Part& part : output.parts) part.virtual_base += before;
  for (Piece& piece : output.pieces) piece.address += before;

  begin_contents(state, catalogue, output);
  output.contents.parts.clear();  // read_index numbers them
  const auto bytes = index.take();
  PENSTOCK_ASSIGN(const auto all, state.comm->gather(bytes, 0));
  Status status;
  for (const auto& one : all)
    if (status.ok()) status = read_index(one, output);
  if (status.ok()) status = check_counts(catalogue, output.contents);
  return agree(state.comm, status);
}

}  // namespace penstock
