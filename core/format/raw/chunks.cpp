// Chunks: reads them as they lie in the part. Those that know codecs decode them.
#include "core/format/raw/chunks.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/format/regular_file.hpp"
#include "core/hdf5/definitions.hpp"
#include "core/model/tiles.hpp"

namespace penstock {
namespace {

class Chunks final : public ForeignDataset {
 public:
  Chunks(const ListedChunks& listed, const Dataset& dataset, const Dims& chunk, std::vector<std::string> filters,
         std::string name, FileDescriptor file)
      : listed_(listed),
        shape_(dataset.shape),
        tiles_(dataset, chunk, 0),
        filters_(std::move(filters)),
        name_(std::move(name)),
        file_(std::move(file)) {}

  Stored stored() const override {
    Stored stored{filters_, 0};
    for (const EncodedChunk& chunk : listed_.chunks) stored.bytes += chunk.bytes;
    return stored;
  }

  // Only what is in no chunk: zeros.
  Status read(const Box& box, std::span<std::byte> out) override {
    for (const int64_t number : tiles_.of(Selection::of_box(shape_, box)))
      if (find(number) != nullptr)
        return {Code::unsupported,
                fmt::format("{}: this build cannot decode its chunks ({})", name_, fmt::join(filters_, ", "))};
    std::ranges::fill(out, std::byte{});
    return {};
  }

  Result<bool> read_chunk(const Dims& start, int64_t most, StoredChunk& chunk) override {
    const Box first{start, Dims::filled(start.rank(), 1)};
    const EncodedChunk* listed = find(tiles_.of(Selection::of_box(shape_, first)).front());
    if (listed == nullptr || listed->bytes > most) return false;
    chunk.bytes.resize(static_cast<size_t>(listed->bytes));
    chunk.skipped = listed->skipped;
    const ssize_t n = read_at(file_.get(), chunk.bytes, listed->offset);
    if (n < 0) return Status::from_errno(errno, "reading " + name_);
    if (n < listed->bytes) return Status(Code::damaged, name_ + ": its part was cut off");
    return true;
  }

 private:
  const EncodedChunk* find(int64_t number) const {
    const auto at = std::ranges::lower_bound(listed_.chunks, number, {}, &EncodedChunk::number);
    return at != listed_.chunks.end() && at->number == number ? &*at : nullptr;
  }

  const ListedChunks& listed_;
  const Dims shape_;
  const Tiles tiles_;
  const std::vector<std::string> filters_;
  const std::string name_;  // of file and dataset
  FileDescriptor file_;
};

}  // namespace

Result<std::unique_ptr<ForeignDataset>> open_chunks(const Contents& contents, const std::string& path,
                                                    const Dataset& dataset) {
  const std::string name = fmt::format("'{}', dataset '{}'", path, dataset.name);
  const auto listed = contents.listed.find(dataset.name);
  if (listed == contents.listed.end()) return Status(Code::internal, name + " has no chunks");
  FileDescriptor file;
  if (!listed->second.chunks.empty()) {  // else its part may be lost
    PENSTOCK_ASSIGN(file, open_regular_file(contents.parts[static_cast<size_t>(listed->second.part)]));
  }
  return std::unique_ptr<ForeignDataset>(
      std::make_unique<Chunks>(listed->second, dataset, contents.chunks.at(dataset.name),
                               hdf5::names_of(contents.filters.at(dataset.name)), name, std::move(file)));
}

}  // namespace penstock
