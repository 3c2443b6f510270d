// Dimension scales: in the form of HDF5's high-level library, but written all at once. That library would rewrite all
// of them for each user of a scale.
#include "core/hdf5/dimension_scales.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/hdf5/definitions.hpp"
#include "core/hdf5/shared.hpp"

namespace penstock::hdf5 {
namespace {

constexpr int64_t max_in_chunk = 1024;  // of a growing scale without values

Attribute sized(std::string name, int64_t bytes) {
  return make_attribute(std::move(name), {Kind::text, bytes}, std::string(static_cast<size_t>(bytes), 'x').data(), -1);
}

Status failed(const std::string& name) {
  return library_error(Code::internal, "making dimension scale '" + name + "'");
}

Status write_value(hid_t object, const char* name, hid_t type, hid_t space, const void* value) {
  AttributeHandle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
  const bool ok = attribute.ok() && H5Awrite(attribute, type, value) >= 0 && attribute.close();
  return ok ? Status() : failed(name);
}

// In the form of the high-level library; our other texts are padded with NUL.
Status write_text(hid_t object, const char* name, const std::string& value) {
  const Type type(H5Tcopy(H5T_C_S1));
  const Space space(H5Screate(H5S_SCALAR));
  if (!type.ok() || !space.ok() || H5Tset_size(type, value.size() + 1) < 0 || H5Tset_strpad(type, H5T_STR_NULLTERM) < 0)
    return failed(name);
  return write_value(object, name, type, space, value.c_str());
}

// An attribute of COUNT elements.
Status write_list(hid_t object, const char* name, hid_t type, hsize_t count, const void* values) {
  const Space space(H5Screate_simple(1, &count, nullptr));
  return space.ok() ? write_value(object, name, type, space, values) : failed(name);
}

class Writer {
 public:
  Writer(hid_t file, const DimensionScales& scales) : file_(file), scales_(scales) {}

  Status write() {
    references_.resize(scales_.list.size());
    for (size_t i = 0; i < scales_.list.size(); ++i) {
      const DimensionScale& scale = scales_.list[i];
      if (!scale.is_dataset) PENSTOCK_TRY(make(scale));
      if (H5Rcreate(&references_[i], file_, path(scale.name).c_str(), H5R_OBJECT, -1) < 0) return failed(scale.name);
    }
    for (const auto& [dataset, of] : scales_.of) PENSTOCK_TRY(attach(dataset, of).in("dataset '" + dataset + "'"));
    for (const DimensionScale& scale : scales_.list) PENSTOCK_TRY(mark(scale));
    return {};
  }

 private:
  static std::string path(const std::string& name) { return "/" + name; }

  // Without values: it only has a length.
  Status make(const DimensionScale& scale) {
    const Properties creation(H5Pcreate(H5P_DATASET_CREATE));
    PENSTOCK_ASSIGN(const hid_t links, shared_.link_creation(scale.name));
    const hsize_t chunk = static_cast<hsize_t>(std::clamp<int64_t>(scale.length, 1, max_in_chunk));
    const bool ok =
        creation.ok() && H5Pset_obj_track_times(creation, false) >= 0 &&
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) >= 0 &&
        (scale.unlimited ? H5Pset_chunk(creation, 1, &chunk) : H5Pset_layout(creation, H5D_CONTIGUOUS)) >= 0 &&
        H5Pset_alloc_time(creation, scale.unlimited ? H5D_ALLOC_TIME_INCR : H5D_ALLOC_TIME_LATE) >= 0;
    const Space space = dataset_space(Dims{scale.length}, scale.unlimited);
    if (!ok || !space.ok()) return failed(scale.name);
    DatasetHandle made(
        H5Dcreate2(file_, path(scale.name).c_str(), H5T_IEEE_F32BE, space, links, creation, H5P_DEFAULT));
    return made.ok() && made.close() ? Status() : failed(scale.name);
  }

  // For a dataset: a list for each dimension, with its only scale.
  Status attach(const std::string& dataset, const std::vector<int>& of) {
    const Object object(H5Oopen(file_, path(dataset).c_str(), H5P_DEFAULT));
    const Type type(H5Tvlen_create(H5T_STD_REF_OBJ));
    if (!object.ok() || !type.ok()) return failed(dataset);
    std::vector<hvl_t> lists;
    for (const int i : of) lists.push_back({1, &references_[static_cast<size_t>(i)]});
    return write_list(object, "DIMENSION_LIST", type, lists.size(), lists.data());
  }

  Status mark(const DimensionScale& scale) {
    const Object object(H5Oopen(file_, path(scale.name).c_str(), H5P_DEFAULT));
    if (!object.ok()) return failed(scale.name);
    const std::string name =
        scale.is_dataset ? last_part(scale.name) : fmt::format("{}{:10}", dimension_only_name, scale.length);
    PENSTOCK_TRY(write_text(object, "CLASS", "DIMENSION_SCALE"));
    PENSTOCK_TRY(write_text(object, "NAME", name));
    if (scale.users.empty()) return {};
    struct User {
      hobj_ref_t dataset;
      int dimension;
    };
    std::vector<User> users(scale.users.size());
    std::memset(static_cast<void*>(users.data()), 0, users.size() * sizeof(User));  // for identical bytes each time
    for (size_t i = 0; i < users.size(); ++i) {
      users[i].dimension = scale.users[i].dimension;
      if (H5Rcreate(&users[i].dataset, file_, path(scale.users[i].dataset).c_str(), H5R_OBJECT, -1) < 0)
        return failed(scale.name);
    }
    const Type type(H5Tcreate(H5T_COMPOUND, sizeof(User)));
    if (!type.ok() || H5Tinsert(type, "dataset", HOFFSET(User, dataset), H5T_STD_REF_OBJ) < 0 ||
        H5Tinsert(type, "dimension", HOFFSET(User, dimension), H5T_NATIVE_INT) < 0)
      return failed(scale.name);
    return write_list(object, "REFERENCE_LIST", type, users.size(), users.data());
  }

  hid_t file_;
  const DimensionScales& scales_;
  Shared shared_;
  std::vector<hobj_ref_t> references_;  // to each scale
};

}  // namespace

int64_t heap_bytes(const DimensionScales& scales) {
  constexpr int64_t collection = 4096, entry = 24, head = 64;  // of an object that is one reference
  int64_t entries = 0;
  for (const auto& [dataset, of] : scales.of) entries += std::ssize(of);
  return entries == 0 ? 0 : (entries * entry / (collection - head) + 1) * collection;
}

Catalogue with_scales(const Catalogue& catalogue, const DimensionScales& scales) {
  constexpr int64_t entry = 16, types = 100;
  Catalogue all = catalogue;
  for (const auto& [dataset, of] : scales.of)
    all.attributes[dataset]["DIMENSION_LIST"] = sized("DIMENSION_LIST", std::ssize(of) * entry + types);
  for (const DimensionScale& scale : scales.list) {
    auto& attributes = all.attributes[scale.name];
    attributes["CLASS"] = sized("CLASS", entry);
    attributes["NAME"] = sized("NAME", std::ssize(dimension_only_name) + std::ssize(scale.name));
    attributes["REFERENCE_LIST"] = sized("REFERENCE_LIST", std::ssize(scale.users) * entry + types);
    if (!scale.is_dataset) all.datasets.push_back({scale.name, {Kind::f32}, Dims{0}, scale.unlimited});
  }
  std::ranges::sort(all.datasets, {}, &Dataset::name);
  return all;
}

Status check_scales(const Catalogue& catalogue) {
  const DimensionScales scales = scales_of(catalogue);
  const auto check = [&](const std::string& object, const std::string& name, std::string_view also) -> Status {
    if (catalogue.attribute(object, name) == nullptr) return {};
    return {Code::invalid, fmt::format("attribute '{}' of '{}': HDF5 uses that name for dimension scales: "
                                       "choose another name for the attribute{}",
                                       name, object, also)};
  };
  for (const auto& [object, attributes] : catalogue.attributes)  // of anything: readers of netCDF-4 crash on a text
    for (const char* name : {"DIMENSION_LIST", "REFERENCE_LIST"}) PENSTOCK_TRY(check(object, name, ""));
  for (const DimensionScale& scale : scales.list)
    for (const char* name : {"CLASS", "NAME"}) PENSTOCK_TRY(check(scale.name, name, ", or for the dimension"));
  return {};
}

Status write_scales(hid_t file, const DimensionScales& scales) { return Writer(file, scales).write(); }

}  // namespace penstock::hdf5
