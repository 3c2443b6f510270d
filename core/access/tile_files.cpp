// Tile files: every tile has a place in the address space, wanted or not; a rank knows the parts that it needs.
#include "core/access/tile_files.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/guarded.hpp"
#include "core/base/units.hpp"
#include "core/methods/methods.hpp"
#include "core/model/piece.hpp"

namespace penstock {
namespace {

constexpr int64_t largest_space = INT64_MAX / 4;

// The first address of each dataset's tiles.
Result<std::vector<int64_t>> bases_of(std::span<const Tiled> datasets, int64_t block) {
  std::vector<int64_t> bases;
  int64_t end = 0;
  for (const auto& [dataset, tiles] : datasets) {
    bases.push_back(end);
    if (!tiles) continue;
    const int64_t slot = round_up(tiles->bytes(), block);
    if (tiles->count() > (largest_space - end) / std::max<int64_t>(1, slot))
      return Status(Code::unsupported,
                    fmt::format("'{}' is {}: more than tiles can address", dataset->name, describe(*dataset)));
    end += tiles->count() * slot;
  }
  return bases;
}

Status add_pieces(Job& job, std::span<const Tiled> datasets, std::span<const Claim> claims) {
  PENSTOCK_ASSIGN(const std::vector<int64_t> bases, bases_of(datasets, job.block));
  std::map<std::pair<int, int64_t>, int32_t> known;  // the number of the part of a tile
  for (const Claim& claim : claims) {
    const auto& [dataset, tiles] = datasets[static_cast<size_t>(claim.dataset)];
    if (!tiles) continue;
    const int64_t slot = round_up(tiles->bytes(), job.block);
    std::vector<StoredBlock> blocks;
    for (const int64_t tile : tiles->of(claim.selection)) {
      const Box box = tiles->box(tile);
      const auto [found, fresh] = known.try_emplace({claim.dataset, tile}, static_cast<int32_t>(job.parts.size()));
      if (fresh)
        job.parts.push_back({fmt::format("{}:{}", claim.dataset, tile), elements(box.count) * bytes(dataset->type),
                             bases[static_cast<size_t>(claim.dataset)] + tile * slot});
      blocks.push_back({found->second, 0, false, Selection::of_box(dataset->shape, box)});
    }
    penstock::add_pieces(blocks, job.parts, dataset->type, claim, job.pieces);
  }
  return {};
}

}  // namespace

Result<StorageFilePtr> TileFiles::open(const std::string& path, IoMode, bool) {
  int dataset = 0;
  int64_t tile = 0;
  const char* const end = path.data() + path.size();
  const auto [colon, error] = std::from_chars(path.data(), end, dataset);
  if (error != std::errc() || colon == end || std::from_chars(colon + 1, end, tile).ptr != end)
    return Status(Code::internal, fmt::format("'{}' is no tile", path));
  return open_tile(dataset, tile);
}

Result<FileStat> TileFiles::stat(const std::string& path) {
  return Status(Code::internal, fmt::format("'{}' is a tile, whose length nobody asks for", path));
}

Result<Moved> move_tiles(Job& job, std::span<const Tiled> datasets, std::span<const Claim> claims,
                         const TileMovement& how) {
  PENSTOCK_TRY(agree(job.comm, guarded([&] { return add_pieces(job, datasets, claims); })));
  int64_t sum = 0;
  for (const auto& [dataset, tiles] : datasets)
    if (tiles) sum += bytes(*dataset);
  const int64_t busy = std::clamp<int64_t>(sum / how.bytes_each, 1, job.comm->size());
  std::string text = fmt::format("two_phase:writers={}", busy);
  if (how.memory_bytes > 0) text += fmt::format(",memory_bytes={}", how.memory_bytes);
  PENSTOCK_ASSIGN(const Plan plan, parse_plan(text, "raw", vocabulary()));
  auto transfer = find_transport(plan.transport)->begin(job, plan.settings);
  PENSTOCK_TRY(agree(job.comm, transfer.status()));
  PENSTOCK_TRY((*transfer)->finish());
  return (*transfer)->moved();
}

}  // namespace penstock
