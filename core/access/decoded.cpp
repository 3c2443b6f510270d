// Decoded: tiles are the parts of a movement by two_phase, whose writers decode them from a storage of tiles.
#include "core/access/decoded.hpp"

#include <cstring>

#include <fmt/format.h>

#include "core/access/chunk_reader.hpp"
#include "core/access/tile_files.hpp"
#include "core/comm/cores.hpp"
#include "core/format/format.hpp"
#include "core/model/boxes.hpp"

namespace penstock {
namespace {

constexpr int64_t min_tile_bytes = 4 << 20;    // less costs more for messages and calls than it saves
constexpr int64_t bytes_of_decoder = 2 << 20;  // a rank that decodes less waits longer for others than it works

// Whole chunks, or rows of datasets without chunks.
Tiles tiles_of(const Contents& contents, const Dataset& dataset) {
  const auto chunk = contents.chunks.find(dataset.name);
  return {dataset, chunk == contents.chunks.end() ? Dims::filled(dataset.shape.rank(), 1) : chunk->second,
          min_tile_bytes};
}

// Decodes boxes of the datasets of one file. Keeps the last dataset open: tiles come in the order of datasets.
class DecodingFiles final : public TileFiles {
 public:
  DecodingFiles(const Contents& contents, std::string path, int workers)
      : contents_(contents), path_(std::move(path)), format_(*find_format(contents.format)), chunks_(workers) {}

  Result<StorageFilePtr> open_tile(int index, int64_t tile) override;
  const Dataset& dataset(int index) const { return contents_.catalogue.datasets[static_cast<size_t>(index)]; }

  Status read(int index, const Box& box, std::span<std::byte> out) {
    if (index_ != index) {
      index_ = -1;
      open_.reset();
      PENSTOCK_ASSIGN(
          open_, format_.open_foreign(contents_, path_, dataset(index), tiles_of(contents_, dataset(index)).bytes()));
      index_ = index;
    }
    if (!ChunkReader::reads(contents_, dataset(index))) return open_->read(box, out);
    return chunks_.read(contents_, dataset(index), *open_, box, out).in(fmt::format("'{}'", path_));
  }

 private:
  const Contents& contents_;
  const std::string path_;
  const Format& format_;
  int index_ = -1;
  std::unique_ptr<ForeignDataset> open_;
  ChunkReader chunks_;
};

// A tile as a file, decoded.
class Tile final : public StorageFile {
 public:
  Tile(DecodingFiles& files, int dataset, Box box)
      : files_(files), dataset_(dataset), size_(penstock::bytes(files.dataset(dataset).type)), box_(box) {}

  Status write(int64_t, std::span<const std::byte>) override { return refused(); }
  Status sync() override { return refused(); }
  Status close() override { return {}; }

  Status read(int64_t offset, std::span<std::byte> bytes) override {
    const int64_t end = offset + std::ssize(bytes), first = offset / size_, last = (end + size_ - 1) / size_;
    if (first * size_ == offset && last * size_ == end) return elements(first, last, bytes);
    std::vector<std::byte> whole(static_cast<size_t>((last - first) * size_));  // a window ends inside an element
    PENSTOCK_TRY(elements(first, last, whole));
    std::memcpy(bytes.data(), whole.data() + (offset - first * size_), bytes.size());
    return {};
  }

 private:
  static Status refused() { return {Code::internal, "a decoded dataset is written"}; }

  Status elements(int64_t first, int64_t last, std::span<std::byte> out) {
    std::vector<Box> boxes;
    if (last - first == penstock::elements(box_.count))
      boxes.push_back({Dims::filled(box_.count.rank(), 0), box_.count});
    else
      boxes_of_run(box_.count, first, last - first, boxes);
    for (Box& box : boxes) {
      for (int d = 0; d < box.start.rank(); ++d) box.start[d] += box_.start[d];
      const auto bytes = static_cast<size_t>(penstock::elements(box.count) * size_);
      PENSTOCK_TRY(files_.read(dataset_, box, out.first(bytes)));
      out = out.subspan(bytes);
    }
    return {};
  }

  DecodingFiles& files_;  // outlive it
  const int dataset_;
  const int64_t size_;  // of an element
  const Box box_;
};

Result<StorageFilePtr> DecodingFiles::open_tile(int index, int64_t tile) {
  return StorageFilePtr(std::make_unique<Tile>(*this, index, tiles_of(contents_, dataset(index)).box(tile)));
}

}  // namespace

Result<Moved> read_decoded(const Communicator& comm, const Contents& contents, const std::string& path,
                           std::span<const int> asked, std::span<const Claim> claims, PhaseTimes& phases) {
  Job job;
  job.direction = Direction::read;
  job.comm = comm;
  job.files = std::make_shared<DecodingFiles>(contents, path, workers_of(comm));
  job.one_thread = true;  // this one may be inside the library already
  job.phases = &phases;
  std::vector<Tiled> datasets(contents.catalogue.datasets.size());
  for (const int index : asked) {
    const auto d = static_cast<size_t>(index);
    if (!contents.foreign[d]) continue;
    const Dataset& dataset = contents.catalogue.datasets[d];
    datasets[d] = {&dataset, tiles_of(contents, dataset)};
  }
  std::vector<Claim> wanted(claims.begin(), claims.end());
  for (Claim& claim : wanted) claim.dataset = asked[static_cast<size_t>(claim.dataset)];
  return move_tiles(job, datasets, wanted, {.bytes_each = bytes_of_decoder});
}

}  // namespace penstock
