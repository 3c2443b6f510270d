// Format: decides where bytes go in a file. It never opens the target for writing; its metadata moves like data.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/catalogue.hpp"
#include "core/model/descriptor.hpp"
#include "core/model/layout.hpp"

namespace penstock {

// How a dataset is stored: names of filters as applied, with their levels ("shuffle", "deflate 4"), and the bytes that
// it takes in the file.
struct Stored {
  std::vector<std::string> filters;
  int64_t bytes = 0;
};

// A chunk as it lies in the file.
struct StoredChunk {
  std::vector<std::byte> bytes;
  uint32_t skipped = 0;  // bit i: filter i was not applied
};

// A dataset that only its format's library can read, open on this rank.
class ForeignDataset {
 public:
  virtual ~ForeignDataset() = default;
  virtual Stored stored() const = 0;
  // The elements of BOX in row-major order, converted to the dataset's type. Code::unsupported where it knows only the
  // chunks as they lie.
  virtual Status read(const Box& box, std::span<std::byte> out) = 0;
  // Replaces CHUNK by the one whose first element is START, as it is. False if it is not there, or has more than MOST
  // bytes.
  virtual Result<bool> read_chunk(const Dims& /*start*/, int64_t /*most*/, StoredChunk& /*chunk*/) { return false; }
};

// All functions are local (rank 0 calls them; for a set each rank lays out its own part). They keep no state.
class Format {
 public:
  virtual ~Format() = default;
  virtual const Descriptor& describe() const = 0;
  // True if a single part is the whole file; false if a master beside the part is always needed.
  virtual bool self_contained() const = 0;
  // Whether numbers are stored in big-endian order.
  virtual bool big_endian() const { return false; }
  // Whether datasets may be encoded.
  virtual bool encodes() const { return false; }
  // The convention that its files can follow: "CF", "openPMD"; "" for none.
  virtual std::string_view convention() const { return {}; }
  // The extension of its file names, without the dot: of files and parts ("h5"), and of the master of a set, which is
  // the JSON index ("json") or a file of the format.
  virtual std::string_view extension() const = 0;
  virtual std::string_view master_extension() const = 0;
  // ok, or why this format does not support CATALOGUE, naming the dataset or attribute.
  virtual Status check(const Catalogue& catalogue) const = 0;
  // The location of every dataset in one part, and the metadata bytes of that part.
  virtual Result<Layout> layout(const Catalogue& catalogue, const LayoutOptions& options) const = 0;
  // The complete master file of a set: its contents and the parts that hold them.
  virtual Result<std::vector<std::byte>> master(const Contents& contents) const = 0;
  // Whether HEAD, the first bytes of a file (at most 512), are of this format.
  virtual bool recognises(std::span<const std::byte> head) const = 0;
  // Whether its files may begin later, after 512 bytes of anything, or after 1024, 2048, ... bytes.
  virtual bool may_begin_later() const { return false; }
  // The contents of the file or set at PATH. Invalid data gives Code::damaged, never a crash or an access outside its
  // folder.
  virtual Result<Contents> read(const std::string& path) const = 0;
  // Opens a dataset that CONTENTS, which must outlive it, marks as foreign. CACHE_BYTES: what its library may keep
  // unpacked between reads.
  virtual Result<std::unique_ptr<ForeignDataset>> open_foreign(const Contents& /*contents*/, const std::string& path,
                                                               const Dataset& dataset, int64_t /*cache_bytes*/) const {
    return Status(Code::internal, "'" + path + "', dataset '" + dataset.name + "': nothing in this format is foreign");
  }
};

// The built formats, in the order of core/format/CMakeLists.txt.
std::span<const Format* const> formats();
const Format* find_format(std::string_view name);

}  // namespace penstock
