// Placing: creates files, informs all ranks, records places.
#include "core/placement/placing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/crc64.hpp"
#include "core/base/encode.hpp"
#include "core/base/units.hpp"
#include "core/comm/share.hpp"

namespace penstock {
namespace {

void encode(Encoder& out, Io io, const std::vector<PathAndLayout>& files) {
  out.value(io);
  out.value(std::ssize(files));
  for (const auto& [path, layout] : files) {
    out.text(path);
    out.value(layout.end);
    out.value(layout.exact);
    std::vector<Place> places;
    for (const StoredBlock& block : layout.blocks) places.emplace_back(block);
    out.list(std::span<const Place>(places));
  }
}

Status decode(std::span<const std::byte> bytes, Io& io, std::vector<PathAndLayout>& files) {
  Decoder in(bytes);
  io = in.value<Io>();
  files.resize(static_cast<size_t>(in.value<int64_t>()));
  for (auto& [path, layout] : files) {
    path = in.text();
    layout.end = in.value<int64_t>();
    layout.exact = in.value<bool>();
    for (const Place& place : in.list<Place>()) layout.blocks.push_back(place.block_of({}));
  }
  return in.ok() ? Status() : Status(Code::internal, "the layout from rank 0 cannot be decoded");
}

Status create_all(const Placing& placing, const std::vector<PathAndLayout>& files, Io& io) {
  int64_t largest = 0;
  for (const auto& [path, layout] : files) largest = std::max(largest, layout.end);
  io = placing.files->wanted(largest);
  for (const auto& [path, layout] : files)
    PENSTOCK_TRY(placing.files->create(path, round_up(layout.end, placing.block()), io));
  return {};
}

}  // namespace

FileSum head_of(const Layout& layout) {
  const auto& metadata = layout.metadata;
  const bool covered = metadata.size() == 1 && metadata[0].offset == 0;
  return covered ? FileSum{std::ssize(metadata[0].bytes), crc64(metadata[0].bytes)} : FileSum{};
}

int32_t add_part(const Placing& placing, Placed& placed, std::string path, Layout& layout) {
  const auto number = static_cast<int32_t>(placed.parts.size());
  const int64_t base = placed.parts.empty() ? 0 : placed.parts.back().virtual_base + placed.parts.back().bytes;
  placed.parts.push_back({std::move(path), round_up(layout.end, placing.block()), base});
  for (Layout::Metadata& metadata : layout.metadata) {
    placed.pieces.push_back(piece_of(metadata, placed.parts, number));
    placed.metadata.push_back(std::move(metadata));
  }
  return number;
}

Result<std::vector<std::vector<StoredBlock>>> share_files(
    const Placing& placing, Placed& placed, const std::function<Result<std::vector<PathAndLayout>>()>& lay_out) {
  std::vector<PathAndLayout> files;
  const bool root = placing.comm->rank() == 0;
  const auto message = from_rank_0(placing.comm, [&](Encoder& out) -> Status {
    PENSTOCK_ASSIGN(files, lay_out());
    PENSTOCK_TRY(create_all(placing, files, placed.io));
    encode(out, placed.io, files);
    return {};
  });
  PENSTOCK_TRY(message.status());
  if (!root) PENSTOCK_TRY(decode(*message, placed.io, files));
  std::vector<std::vector<StoredBlock>> blocks;
  for (auto& [path, layout] : files) {
    if (root) placed.heads.push_back(head_of(layout));
    const int32_t number = add_part(placing, placed, std::move(path), layout);
    if (root && layout.exact) placed.cuts.push_back({number, 0, layout.end});
    for (StoredBlock& block : layout.blocks) block.part = number;
    blocks.push_back(std::move(layout.blocks));
  }
  return blocks;
}

void begin_contents(const Placing& placing, Placed& placed) {
  const size_t datasets = placing.catalogue->datasets.size();
  placed.contents.format = std::string(placing.format->describe().name);
  placed.contents.blocks.resize(datasets);
  placed.contents.foreign.assign(datasets, false);
  for (const Part& part : placed.parts) placed.contents.parts.push_back(part.path);
}

Status check_counts(const Catalogue& catalogue, const Contents& contents) {
  for (size_t d = 0; d < contents.blocks.size(); ++d) {
    const Dataset& dataset = catalogue.datasets[d];
    int64_t count = 0;
    for (const StoredBlock& block : contents.blocks[d]) count += block.where.count();
    if (count > elements(dataset.shape))
      return {Code::overlap, fmt::format("{} elements of '{}' {} were put: put every element once", count, dataset.name,
                                         describe(dataset))};
  }
  return {};
}

}  // namespace penstock
