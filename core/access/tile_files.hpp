// Tile files: the tiles of datasets as the files of a movement, by which each tile comes to one rank, or from it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/model/claim.hpp"
#include "core/model/tiles.hpp"
#include "core/transport/transport.hpp"

namespace penstock {

// Opens tiles instead of files. A tile's elements are in row-major order.
class TileFiles : public Files {
 public:
  Result<StorageFilePtr> open(const std::string& path, IoMode mode, bool writable) final;
  Result<FileStat> stat(const std::string& path) final;
  virtual Result<StorageFilePtr> open_tile(int dataset, int64_t tile) = 0;
};

// A dataset of a movement; without TILES it has no part in it.
struct Tiled {
  const Dataset* dataset = nullptr;
  std::optional<Tiles> tiles;
};

struct TileMovement {
  int64_t bytes_each = 0;    // a rank with less to do waits longer for others than it works
  int64_t memory_bytes = 0;  // of the plan; 0: its default
};

// Collective, with a JOB that lacks parts and pieces. Moves CLAIMS, whose datasets are indexes into DATASETS, by
// two_phase. Each tile is written or read by one rank, or by two where a tile is larger than JOB's block and their
// shares meet in it. The status may differ between ranks.
Result<Moved> move_tiles(Job& job, std::span<const Tiled> datasets, std::span<const Claim> claims,
                         const TileMovement& how);

}  // namespace penstock
