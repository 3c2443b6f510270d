// Placement: decides in which files the blocks of datasets go.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/communicator.hpp>

#include "core/base/io.hpp"
#include "core/format/format.hpp"
#include "core/model/descriptor.hpp"
#include "core/model/piece.hpp"
#include "core/model/settings.hpp"

namespace penstock {

// Names and creates the files that a placement decides on. All functions are local.
class NewFiles {
 public:
  virtual ~NewFiles() = default;
  // The path of the file that is published; of a part of a set.
  virtual std::string whole() const = 0;
  virtual std::string part(std::string_view label) const = 0;
  // How files of BYTES are to be written.
  virtual Io wanted(int64_t bytes) const = 0;
  // Creates PATH with its full size. IO becomes buffered if the file system cannot do what was wanted.
  virtual Status create(const std::string& path, int64_t bytes, Io& io) = 0;
};

// What is to be placed. Everything but CLAIMS and FILES is the same on all ranks.
struct Placing {
  Communicator comm;
  const Format* format = nullptr;
  const Settings* settings = nullptr;
  const Catalogue* catalogue = nullptr;
  std::span<const Claim> claims;
  Slots slots;            // of the transport
  bool supplied = false;  // some claim of some rank has a supplier
  // Of each dataset; empty: none is encoded. Claims on encoded datasets are on their bytes.
  std::span<const Encoding> encodings;
  Extent written;  // as in LayoutOptions: of the one file
  NewFiles* files = nullptr;

  int64_t block() const { return settings->integer("block"); }
  LayoutOptions layout_options() const { return {block(), encodings, written}; }
  // Of what is stored of dataset number D.
  ElementType type(size_t d) const {
    return layout_options().encoded(d) ? ElementType{Kind::u8} : catalogue->datasets[d].type;
  }
  ElementType type(const Claim& claim) const { return type(static_cast<size_t>(claim.dataset)); }
};

// The place of everything, and the files that are created for it.
struct Placed {
  std::vector<Part> parts;                 // with pieces of this rank
  std::vector<Piece> pieces;               // of this rank, metadata included; none of supplied claims
  std::vector<WholeDataset> whole;         // of PARTS; the same on all ranks
  std::vector<Layout::Metadata> metadata;  // keeps the bytes of metadata pieces
  std::vector<FileSum> heads;              // rank 0: of each part of the contents, its metadata
  std::vector<Extent> cuts;                // parts of this rank to be cut to a length, by index
  Io io = Io::buffered;
  Contents contents;  // without catalogue and names of the commit. Complete on rank 0; for shared files on all ranks
  // Where each supplied claim, by its number, has elements: among PARTS.
  std::map<size_t, std::vector<StoredBlock>> supplied;
  std::vector<std::pair<size_t, size_t>> in_slot;  // rank 0: the dataset and block in contents meant for each slot
};

class Placement {
 public:
  virtual ~Placement() = default;
  virtual const Descriptor& describe() const = 0;
  // Whether everything is in one file, which can be the published one.
  virtual bool one_file() const { return false; }
  // Whether each rank has files of its own, which others do not know.
  virtual bool own_files() const { return false; }
  // Whether a commit can carry over what is in a published file: elements have places whoever puts them.
  virtual bool keeps() const { return false; }
  // Whether the blocks of each rank lie together, in the order of ranks: what transports with slots need.
  virtual bool rank_order() const { return false; }
  // Whether datasets may be encoded: those of placements that divide datasets may not.
  virtual bool encodes() const { return false; }
  // Collective. Decides on the files, creates them with their full size, and tells all ranks. After a failure the
  // files that were created are to be removed.
  virtual Result<Placed> place(const Placing& placing) const = 0;
};

// single (one file for everything), per_rank (each rank's blocks packed in its own files), parts (M files, each with a
// slab of every dataset) and rank_order (one file with each rank's blocks packed).
std::span<const Placement* const> placements();
const Placement* find_placement(std::string_view name);

}  // namespace penstock
