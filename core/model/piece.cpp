// Piece: from blocks and claims to pieces; the only place where their addresses are computed.
#include "core/model/piece.hpp"

#include <utility>

namespace penstock {

Piece piece_of(const StoredBlock& block, std::span<const Part> parts, const ElementType& type, Selection within,
               std::byte* memory) {
  return {block.part,        parts[static_cast<size_t>(block.part)].virtual_base + block.base,
          bytes(type),       block.swapped ? scalar_bytes(type) : 0,
          std::move(within), memory,
          block.row_stride};
}

void add_pieces(std::span<const StoredBlock> blocks, std::span<const Part> parts, const ElementType& type,
                const Claim& claim, std::vector<Piece>& pieces) {
  for (const StoredBlock& block : blocks)
    if (auto common = intersect(claim.selection, block.where))
      pieces.push_back(piece_of(block, parts, type, *std::move(common), claim.memory));
}

void add_whole(std::span<const StoredBlock> blocks, std::span<const Part> parts, const ElementType& type,
               std::vector<WholeDataset>& whole) {
  if (blocks.size() != 1 || blocks[0].row_stride != 0) return;
  const Selection& where = blocks[0].where;
  if (where.count() == 0 || !where.is_box() || where.count() != elements(where.shape())) return;
  whole.push_back(
      {parts[static_cast<size_t>(blocks[0].part)].virtual_base + blocks[0].base, bytes(type), where.shape()});
}

Piece piece_of(const Layout::Metadata& metadata, std::span<const Part> parts, int32_t part) {
  // Pieces are read only when writing.
  auto* bytes = const_cast<std::byte*>(metadata.bytes.data());
  return {part,
          parts[static_cast<size_t>(part)].virtual_base + metadata.offset,
          1,
          0,
          Selection::whole(Dims{std::ssize(metadata.bytes)}),
          bytes};
}

}  // namespace penstock
