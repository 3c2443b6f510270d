// Format: decides where bytes go in a file. It never opens the target for writing; its metadata travel like data.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/catalogue.hpp"
#include "core/model/descriptor.hpp"
#include "core/model/layout.hpp"

namespace penstock {

// All functions are local (rank 0 calls them; for a set each rank lays out its own part) and keep no state.
class Format {
 public:
  virtual ~Format() = default;
  virtual const Descriptor& describe() const = 0;
  // True where a single part is the whole file; false where a master beside the part is always needed.
  virtual bool self_contained() const = 0;
  // What the names of its files end with, without the dot: of files and parts ("h5"), and of the master of a set, where
  // that is the JSON index ("json") or again a file of the format.
  virtual std::string_view extension() const = 0;
  virtual std::string_view master_extension() const = 0;
  // Why this format cannot hold CATALOGUE, naming the dataset or attribute.
  virtual Status check(const Catalogue& catalogue) const = 0;
  // Where every dataset lies in one part, and the metadata bytes of that part.
  virtual Result<Layout> layout(const Catalogue& catalogue, const Alignment& alignment) const = 0;
  // The master file of a set, whole: what it holds and which parts hold it.
  virtual Result<std::vector<std::byte>> master(const Contents& contents) const = 0;
  // Whether the first bytes of a file (at most 512) are this format's.
  virtual bool recognises(std::span<const std::byte> head) const = 0;
  // Whether its files may begin later, behind 512 bytes of anything, or behind twice as many, four times as many, ...
  virtual bool may_begin_later() const { return false; }
  // What is in the file or set at PATH. Anything hostile in it is Code::damaged, never a crash or an access outside its
  // folder.
  virtual Result<Contents> read(const std::string& path) const = 0;
  // For datasets that Contents calls foreign: the elements of BOX in row-major order, converted to TYPE by the format's
  // library.
  virtual Status read_foreign(const std::string& path, const Dataset& dataset, const Box& box,
                              std::span<std::byte> out) const = 0;
};

// The built formats, in the order of core/format/CMakeLists.txt.
std::span<const Format* const> formats();
const Format* find_format(std::string_view name);

}  // namespace penstock
