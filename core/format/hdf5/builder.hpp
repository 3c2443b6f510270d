// Builder: fills an HDF5 file with the groups, datasets and attributes of a catalogue, without any data.
#pragma once

#include <string>
#include <vector>

#include "core/hdf5/dimension_scales.hpp"
#include "core/hdf5/handles.hpp"
#include "core/hdf5/shared.hpp"
#include "core/model/layout.hpp"

namespace penstock::hdf5 {

// Sets up a creation property list of any object, the file's root included: without times, so that equal contents make
// equal bytes, and with its attributes in its header. False where the library refuses.
bool set_object(hid_t creation);

// All metadata must come to lie before all data, and HDF5 stores very large attributes, and what refers to dimension
// scales, as if they were data. So groups and all objects that have such attributes or scales are made first; the data
// of the latter are allocated only after that, in their turn.
class Builder {
 public:
  // FILE is open for writing and outlives the builder.
  // SCALES: those of CATALOGUE, which may be without their names.
  Builder(hid_t file, const Catalogue& catalogue, const DimensionScales& scales, int64_t block)
      : file_(file), catalogue_(catalogue), scales_(scales), block_(block) {}

  // Everything but datasets: groups and their attributes, the file's included.
  Status make_groups();
  // Datasets, with storage allocated and attributes written. REQUIRES: make_groups().
  Status make_datasets();
  // Of the datasets, after make_datasets(); base is -1 where there are no bytes.
  const std::vector<Layout::Place>& places() const { return places_; }

  // An open group or the root; made by make_groups(). For masters, which make their datasets themselves.
  Result<Group> group_of(const std::string& dataset_name) const;
  // What its objects are made with; a master's datasets too.
  Shared& shared() { return shared_; }

 private:
  Status make_group(const std::string& name);
  // Of datasets that cannot grow, LATE or early in getting their storage.
  Result<hid_t> plain_creation(bool late);
  Status make_storage(const Dataset& dataset, DatasetHandle& handle, Layout::Place& place);
  Result<DatasetHandle> make_dataset(const Dataset& dataset, bool deferred);
  Status allocate(const Dataset& dataset, DatasetHandle& handle);
  Status find_chunks(const Dataset& dataset, hid_t handle, Layout::Place& place) const;

  hid_t file_;
  const Catalogue& catalogue_;
  const DimensionScales& scales_;
  int64_t block_;
  Shared shared_;
  Properties plain_[2];  // late or not
  std::vector<Layout::Place> places_;
  // The group of the last dataset stays open: neighbours in the order of names share it.
  std::string last_name_ = "/";
  Group last_group_;
};

}  // namespace penstock::hdf5
