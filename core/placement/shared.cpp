// Placements single and parts: rank 0 lays out files that all ranks share.
#include <algorithm>

#include <fmt/format.h>

#include "core/placement/claims.hpp"
#include "core/placement/placing.hpp"

namespace penstock {
namespace {

// Local, when all blocks are known: whole datasets, the pieces of the claims, and the blocks of supplied ones.
void add_claims(const Placing& placing, Placed& placed) {
  for (size_t d = 0; d < placed.contents.blocks.size(); ++d)
    add_whole(placed.contents.blocks[d], placed.parts, placing.type(d), placed.whole);
  for (size_t i = 0; i < placing.claims.size(); ++i) {
    const Claim& claim = placing.claims[i];
    const std::vector<StoredBlock>& blocks = placed.contents.blocks[static_cast<size_t>(claim.dataset)];
    if (claim.supplier == nullptr)
      add_pieces(blocks, placed.parts, placing.type(claim), claim, placed.pieces);
    else
      placed.supplied[i] = blocks;
  }
}

// Rank 0 has the chunks. For a format without an index of its own.
void list_chunks(const Encoding& encoding, const std::string& name, size_t d, Contents& contents) {
  const StoredBlock& block = contents.blocks[d].front();
  contents.filters[name] = encoding.filters;
  ListedChunks& listed = contents.listed[name];
  listed = {block.part, encoding.chunks};
  for (EncodedChunk& chunk : listed.chunks)
    if (chunk.written == 0) chunk.offset += block.base;
}

class Single final : public Placement {
 public:
  const Descriptor& describe() const override { return descriptor_; }
  bool one_file() const override { return true; }
  bool keeps() const override { return true; }
  bool encodes() const override { return true; }

  Result<Placed> place(const Placing& placing) const override {
    const LayoutOptions options = placing.layout_options();
    Placed placed;
    PENSTOCK_ASSIGN(auto blocks, share_files(placing, placed, [&]() -> Result<std::vector<PathAndLayout>> {
                      PENSTOCK_ASSIGN(Layout layout, placing.format->layout(*placing.catalogue, options));
                      std::vector<PathAndLayout> files;
                      files.emplace_back(
                          placing.format->self_contained() ? placing.files->whole() : placing.files->part(""),
                          std::move(layout));
                      return files;
                    }));
    begin_contents(placing, placed);
    for (size_t d = 0; d < blocks[0].size(); ++d) {
      blocks[0][d].where = Selection::whole(options.encoded(d) ? Dims{options.encodings[d].bytes}
                                                               : placing.catalogue->datasets[d].shape);
      placed.contents.blocks[d].push_back(std::move(blocks[0][d]));
    }
    add_claims(placing, placed);
    for (size_t d = 0; d < blocks[0].size(); ++d) {  // readers go through the format
      if (!options.encoded(d)) continue;
      const std::string& name = placing.catalogue->datasets[d].name;
      if (!placing.format->self_contained()) list_chunks(options.encodings[d], name, d, placed.contents);
      placed.contents.foreign[d] = true;
      placed.contents.blocks[d].clear();
      placed.contents.chunks[name] = options.encodings[d].chunk;
    }
    return placed;
  }

 private:
  Descriptor descriptor_{"single", "one file", {}, ""};
};

class Parts final : public Placement {
 public:
  const Descriptor& describe() const override { return descriptor_; }
  bool keeps() const override { return true; }

  Result<Placed> place(const Placing& placing) const override {
    PENSTOCK_ASSIGN(const int count, part_count(placing));
    const std::vector<std::vector<Claim>> held = slabs(*placing.catalogue, count);
    Placed placed;
    PENSTOCK_ASSIGN(auto blocks, share_files(placing, placed, [&]() -> Result<std::vector<PathAndLayout>> {
                      std::vector<PathAndLayout> files;
                      for (size_t p = 0; p < held.size(); ++p) {
                        const OwnPart part = one_part(*placing.catalogue, held[p]);
                        PENSTOCK_ASSIGN(Layout layout, placing.format->layout(part.catalogue, {placing.block()}));
                        files.emplace_back(placing.files->part(fmt::format("part{:06d}", p)), std::move(layout));
                      }
                      return files;
                    }));
    begin_contents(placing, placed);
    for (size_t p = 0; p < held.size(); ++p)
      for (size_t k = 0; k < held[p].size(); ++k) {  // sorted by dataset, like the part's catalogue
        blocks[p][k].where = held[p][k].selection;
        placed.contents.blocks[static_cast<size_t>(held[p][k].dataset)].push_back(std::move(blocks[p][k]));
      }
    add_claims(placing, placed);
    return placed;
  }

 private:
  // Collective. The number of nodes by default.
  static Result<int> part_count(const Placing& placing) {
    const int64_t chosen = placing.settings->integer("parts");
    if (chosen > 0) return static_cast<int>(std::min<int64_t>(chosen, 1 << 20));
    int64_t nodes = placing.comm->node_rank() == 0 ? 1 : 0;
    PENSTOCK_TRY(placing.comm->all_reduce_sum(std::span(&nodes, 1)));
    return static_cast<int>(nodes);
  }

  Descriptor descriptor_{"parts",
                         "M files, each a slab of every dataset, joined by a master: fewer files than ranks",
                         {{"parts", Parameter::Type::integer, "0", "0", "how many files; 0: one for each node"}},
                         ""};
};

}  // namespace

const Placement& single_placement() {
  static const Single single;
  return single;
}

const Placement& parts_placement() {
  static const Parts parts;
  return parts;
}

}  // namespace penstock
