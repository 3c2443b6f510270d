// Scales: netCDF-4 stores a variable's dimensions in one of three ways, other tools in the first; all are read after
// the whole file is known.
#include "core/format/hdf5/scales.hpp"

#include "core/format/hdf5/netcdf4.hpp"
#include "core/hdf5/definitions.hpp"
#include "core/model/dimension_names.hpp"
#include "core/model/layout.hpp"
#include "core/netcdf/header.hpp"

namespace penstock::hdf5 {
namespace {

int rank_of(hid_t dataset) {
  const Space space(H5Dget_space(dataset));
  return space.ok() ? H5Sget_simple_extent_ndims(space) : 0;
}

// The identities of the scales of the dataset's dimensions; empty if it has none, or unsupported ones. ODD: why these
// do not say all.
std::vector<std::string> attached(hid_t dataset, int rank, GlobalHeap& heap, std::string& odd) {
  constexpr const char* name = "DIMENSION_LIST";
  if (H5Aexists(dataset, name) <= 0) return {};
  const AttributeHandle attribute(H5Aopen(dataset, name, H5P_DEFAULT));
  const Space space(attribute.ok() ? H5Aget_space(attribute) : -1);
  const Type stored(attribute.ok() ? H5Aget_type(attribute) : -1);
  if (!space.ok() || !stored.ok() || H5Sget_simple_extent_npoints(space) != rank || H5Tget_class(stored) != H5T_VLEN)
    return {};
  const Type element(H5Tget_super(stored));
  if (!element.ok() || H5Tequal(element, H5T_STD_REF_OBJ) <= 0) return {};
  const auto read = [&](hid_t type, void* out) { return H5Aread(attribute, type, out); };
  const auto lists = heap.elements(static_cast<size_t>(rank), read);
  if (!lists.ok()) return {};
  std::vector<std::string> found;
  for (const HeapElement& list : *lists) {
    const size_t width = heap.file().address_bytes;  // of a reference to an object
    const auto references = heap.values(list, width);
    if (!references.ok()) odd = "a dataset whose dimension scales cannot be read: " + references.status().message();
    if (!references.ok() || references->empty()) return {};
    if (list.length > 1) odd = "a dataset of which a dimension has several scales";
    found.push_back(std::to_string(number(*references, 0, width)));
  }
  return found;
}

// A list of ints as texts; empty if it is something else.
std::vector<std::string> numbers(const AttributeMap& attributes, const char* name) {
  std::vector<std::string> list;
  const auto found = attributes.find(name);
  if (found == attributes.end() || found->second.type != ElementType{Kind::i32}) return list;
  for (const int64_t number : netcdf::integers(found->second)) list.push_back(std::to_string(number));
  return list;
}

}  // namespace

#if H5_VERSION_GE(1, 12, 0)
namespace {

uint64_t address_in(const H5O_token_t& token) { return number(std::as_bytes(std::span(token.__data)).first(8)); }

}  // namespace

uint64_t address_of(hid_t object) {
  H5O_info2_t info;
  return H5Oget_info3(object, &info, H5O_INFO_BASIC) < 0 ? HADDR_UNDEF : address_in(info.token);
}

uint64_t address_of(const H5L_info_t& link) { return address_in(link.u.token); }
#else
uint64_t address_of(hid_t object) {
  H5O_info_t info;
  return H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 ? HADDR_UNDEF : info.addr;
}

uint64_t address_of(const H5L_info_t& link) { return link.u.address; }
#endif

void Scales::add(hid_t object, const std::string& name, const AttributeMap& attributes, GlobalHeap& heap) {
  if (H5Iget_type(object) != H5I_DATASET) return;
  const bool scale = text_of(attributes, "CLASS") == "DIMENSION_SCALE";
  const std::string identity = std::to_string(address_of(object));
  if (scale) {
    by_identity_[identity] = name;
    for (const std::string& number : numbers(attributes, "_Netcdf4Dimid")) by_number_[number] = name;
  }
  if (is_dimension_only(attributes)) {
    unused_.insert(name);
    return;
  }
  const int rank = rank_of(object);
  if (scale) {
    const std::string said = text_of(attributes, "NAME");
    if (rank != 1 || (!said.empty() && said != last_part(name) && said != name && said != "/" + name))
      odd_[name] = "a dimension scale of another name, or of several dimensions";
  }
  if (rank < 1) return;
  std::string odd;
  std::vector<std::string> keys = attached(object, rank, heap, odd);
  if (keys.empty()) keys = numbers(attributes, "_Netcdf4Coordinates");
  if (keys.empty() && scale) keys = {identity};
  if (keys.empty() && odd.empty() && H5Aexists(object, "DIMENSION_LIST") > 0)
    odd = "a dataset that has scales for some dimensions";
  if (!odd.empty()) odd_[name] = odd;
  variables_[name] = std::move(keys);
}

std::vector<std::string> Scales::names_of(const std::vector<std::string>& keys) const {
  std::vector<std::string> names;
  for (const std::string& one : keys) {
    auto found = by_identity_.find(one);
    if (found == by_identity_.end()) {
      found = by_number_.find(one);
      if (found == by_number_.end()) break;
    }
    names.push_back(found->second);
  }
  return names;
}

std::vector<Scales::Odd> Scales::name_dimensions(Catalogue& catalogue, bool netcdf4) {
  std::vector<Odd> wrong;
  const std::string key(naming_attribute);
  std::set<std::string> used;  // by other datasets
  for (const auto& [name, keys] : variables_)
    for (const std::string& dimension : names_of(keys)) {
      unused_.erase(dimension);
      if (dimension != name) used.insert(dimension);
    }
  for (const Dataset& dataset : catalogue.datasets) {
    const auto variable = variables_.find(dataset.name);
    if (variable == variables_.end() || dataset.shape.rank() == 0) continue;
    if (netcdf4 && last_part(dataset.name).starts_with("_nc4_non_coord_"))
      wrong.push_back(
          {dataset.name, "a netCDF-4 variable with the name of a dimension that it is not the coordinate of"});
    const auto& keys = variable->second;
    std::vector<std::string> names = names_of(keys);
    // The characters of a text do not count as a dimension.
    const auto rank = static_cast<size_t>(dataset.shape.rank());
    if (names.size() < rank || names.size() > rank + (netcdf4 ? 1 : 0) || names.size() != keys.size()) {
      if (netcdf4)
        wrong.push_back({dataset.name, "a variable of a netCDF-4 file that does not say what its dimensions are"});
      else if (!keys.empty())
        wrong.push_back({dataset.name, "a dataset whose dimension scales cannot be found"});
      continue;
    }
    // A 1-D dataset that is a scale of others names its own dimension.
    if (!netcdf4 && names == std::vector{dataset.name} && used.contains(dataset.name)) continue;
    names.resize(rank);
    if (!catalogue.attributes[dataset.name].emplace(key, naming(names)).second && netcdf4)
      wrong.push_back(
          {dataset.name + "@" + key, "an attribute whose name penstock has for netCDF's dimensions", false});
  }
  for (const std::string& name : unused_) wrong.push_back({name, "a dimension that no variable has", false});
  if (!netcdf4)
    for (const auto& [name, what] : odd_) wrong.push_back({name, what});
  return wrong;
}

}  // namespace penstock::hdf5
