// Builder: creates the groups, datasets and attributes of a catalogue in an HDF5 file, without data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/format/hdf5/chunk_index.hpp"
#include "core/hdf5/dimension_scales.hpp"
#include "core/hdf5/handles.hpp"
#include "core/hdf5/shared.hpp"
#include "core/model/layout.hpp"

namespace penstock::hdf5 {

// Sets the creation properties of any object, including the root: no time stamps, so that equal contents give equal
// bytes, and attributes in the object header. False if the library reports an error.
bool set_object(hid_t creation);

// An encoded dataset of the catalogue. Its filters have stand-ins for numbers, see stand_in().
struct EncodedDataset {
  size_t number = 0;
  uint64_t header = 0;              // the address of its object header
  std::optional<ChunkIndex> index;  // it has a root, but no chunks of ours yet; nothing for a dataset of zeros
};

// A number that no filter has, in place of that of filter POSITION, unless every HDF5 has that filter. When the library
// makes a dataset, a plug-in would have a say in the values of its filter.
int stand_in(int filter, size_t position);

struct Built {
  std::vector<int64_t> bases;           // the first byte of each dataset; -1 for those without bytes
  std::vector<EncodedDataset> encoded;  // their chunks have no place yet
};

// All metadata must lie before all data. HDF5 stores very large attributes, and references to dimension scales, like
// data. So groups and all objects with such attributes or scales are created first; the storage of the latter is
// allocated afterwards, in its turn.
class Builder {
 public:
  // FILE is open for writing and outlives the builder.
  // SCALES: the scales of CATALOGUE, which need not contain their names.
  Builder(hid_t file, const Catalogue& catalogue, const DimensionScales& scales, const LayoutOptions& options)
      : file_(file), catalogue_(catalogue), scales_(scales), options_(options) {}

  // Creates everything except datasets: groups and their attributes, including those of the file.
  Status make_groups();
  // Creates datasets with allocated storage and attributes. REQUIRES: make_groups(). Called once.
  Result<Built> make_datasets();

  // An open group or the root, created by make_groups(). For masters, which create their datasets themselves.
  Result<Group> group_of(const std::string& dataset_name) const;
  // The shared properties for creating objects, including a master's datasets.
  Shared& shared() { return shared_; }

 private:
  Status make_group(const std::string& name);
  // Creation properties of datasets that cannot grow, with LATE or early allocation.
  Result<hid_t> plain_creation(bool late);
  Status make_storage(size_t number, DatasetHandle& handle);
  Status make_index(size_t number, hid_t handle);
  Status make_dataset(size_t number, bool deferred, DatasetHandle& handle);
  Status allocate(const Dataset& dataset, DatasetHandle& handle);
  Status find_chunks(const Dataset& dataset, hid_t handle, int64_t& base) const;

  hid_t file_;
  const Catalogue& catalogue_;
  const DimensionScales& scales_;
  const LayoutOptions options_;
  Shared shared_;
  Properties plain_[2];  // late or not
  Built built_;
  // The group of the last dataset stays open, since datasets with neighbouring names share it.
  std::string last_name_ = "/";
  Group last_group_;
};

}  // namespace penstock::hdf5
