// File: groups, dimensions by length, types, variables, attributes.
#include "core/engine/netcdf4/file.hpp"

#include <algorithm>

#include "core/base/utf8.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/engine/reserve.hpp"
#include "core/hdf5/definitions.hpp"
#include "core/model/kinds.hpp"
#include "core/netcdf/header.hpp"
#include "core/netcdf/names.hpp"

namespace penstock::netcdf4 {
namespace {

constexpr std::string_view of_the_library[] = {
    "CLASS",         "NAME",        "DIMENSION_LIST", "REFERENCE_LIST",     "_Netcdf4Dimid",      "_Netcdf4Coordinates",
    "_NCProperties", "_nc3_strict", "_IsNetcdf4",     "_SuperblockVersion", netcdf::own_attribute};

// The library's rule: a letter, digit, underscore or non-ASCII character, then any printable characters except slashes.
bool is_legal(std::string_view name) {
  if (name.empty() || name.size() > NC_MAX_NAME || name.ends_with(' ')) return false;
  const auto first = static_cast<unsigned char>(name[0]);
  if (first < 0x80 && first != '_' && std::isalnum(first) == 0) return false;
  for (size_t at = 0; at < name.size();) {
    const auto c = static_cast<unsigned char>(name[at]);
    const size_t length = utf8_length(name.substr(at));
    if (length == 0 || c < 0x20 || c == 0x7f || c == '/') return false;
    at += length;
  }
  return true;
}

Status check_path(const std::string& path) {
  for (std::string rest = path; !rest.empty(); rest = hdf5::group_name(rest))
    if (!is_legal(hdf5::last_part(rest)))
      return {Code::unsupported, "'" + path.substr(0, 256) +
                                     "' has a part that is no name in netCDF-4: 1 to 256 printable " +
                                     "characters of UTF-8, a letter, digit or underscore first, no space last"};
  return {};
}

}  // namespace

Status check(int error, const std::string& call) {
  if (error == NC_NOERR) return {};
  Code code = Code::io;
  if (error == ENOSPC) code = Code::no_space;
  if (error == EACCES || error == EPERM || error == NC_EPERM) code = Code::denied;
  if (error == NC_ENOMEM) code = Code::memory;
#ifdef NC_ENOFILTER
  if (error == NC_ENOFILTER || error == NC_EFILTER) code = Code::unsupported;
#endif
  return {code, call + ": " + nc_strerror(error)};
}

Status check_definitions(const Catalogue& catalogue) {
  PENSTOCK_TRY(hdf5::check_definitions(catalogue));
  for (const Dataset& dataset : catalogue.datasets) {
    PENSTOCK_TRY(check_path(dataset.name));
    if (dataset.type.kind == Kind::text && dataset.shape.rank() == max_rank)
      return {Code::unsupported,
              "dataset '" + dataset.name + "' has texts in 8 dimensions: netcdf4 needs one more for their characters"};
  }
  for (const auto& [object, list] : catalogue.attributes) {
    PENSTOCK_TRY(check_path(object));
    for (const auto& [name, attribute] : list)
      if (!is_legal(name) ||
          std::find(std::begin(of_the_library), std::end(of_the_library), name) != std::end(of_the_library))
        return {Code::unsupported, "attribute '" + name.substr(0, 256) + "' of '" + object +
                                       "' has a name that netCDF-4 does not have, or keeps for itself"};
  }
  return {};
}

Status File::create(const EngineJob& job, const Hints& hints) {
  const Info info(hints);
  const int error = nc_create_par(job.path.c_str(), NC_NETCDF4 | NC_CLOBBER, native(*job.comm), info.get(), &id_);
  PENSTOCK_TRY(creation_error(job.path, check(error, "creating '" + job.path + "'")));
  int before = 0;
  return check(nc_set_fill(id_, NC_NOFILL, &before), "nc_set_fill");
}

Status File::open(const EngineJob& job) {
  const Info info(job.hints);
  return check(nc_open_par(job.path.c_str(), NC_NOWRITE, native(*job.comm), info.get(), &id_),
               "opening '" + job.path + "'");
}

Status File::put_attributes(int group, int variable, const Catalogue& catalogue, const std::string& object,
                            netcdf::Note note) {
  if (const auto* list = catalogue.attributes_of(object))
    for (const auto& [key, attribute] : *list) {
      const Attribute plain = netcdf::to_plain(attribute, key, note);
      const int error = plain.type.kind == Kind::text
                            ? nc_put_att_text(group, variable, key.c_str(), plain.value.size(),
                                              reinterpret_cast<const char*>(plain.value.data()))
                            : nc_put_att(group, variable, key.c_str(), netcdf::type_number(plain.type.kind),
                                         static_cast<size_t>(elements(plain.shape)), plain.value.data());
      PENSTOCK_TRY(check(error, "writing attribute '" + key + "' of '" + object + "'"));
    }
  if (note.empty() && !object.empty()) return {};
  const std::string text = netcdf::print_note(note);  // the file's note always exists: it marks the file
  return check(nc_put_att_text(group, variable, std::string(netcdf::own_attribute).c_str(), text.size(), text.c_str()),
               "writing a note");
}

Status File::define_groups(const Catalogue& catalogue) {
  groups_[""] = id_;
  PENSTOCK_TRY(put_attributes(id_, NC_GLOBAL, catalogue, "", {}));
  for (const std::string& name : hdf5::group_names(catalogue)) {
    PENSTOCK_TRY(check(nc_def_grp(groups_[hdf5::group_name(name)], hdf5::last_part(name).c_str(), &groups_[name]),
                       "defining group '" + name + "'"));
    PENSTOCK_TRY(put_attributes(groups_[name], NC_GLOBAL, catalogue, name, {}));
  }
  return {};
}

Result<nc_type> File::type_of(const ElementType& type) {
  if (!is_complex(type)) return netcdf::type_number(type.kind);
  if (const auto found = complex_.find(type.kind); found != complex_.end()) return found->second;
  const size_t part = static_cast<size_t>(bytes(type)) / 2;
  const std::string name = "_penstock_" + penstock::name(type);
  nc_type made = NC_NAT;
  PENSTOCK_TRY(check(nc_def_compound(id_, 2 * part, name.c_str(), &made), "defining type '" + name + "'"));
  PENSTOCK_TRY(check(nc_insert_compound(id_, made, "r", 0, netcdf::type_number(type.kind)), "defining a real part"));
  PENSTOCK_TRY(
      check(nc_insert_compound(id_, made, "i", part, netcdf::type_number(type.kind)), "defining an imaginary part"));
  complex_[type.kind] = made;
  return made;
}

// All dimensions are in the root, one for each length. netCDF treats length zero as unlimited.
Result<int> File::dimension(int64_t length, bool unlimited) {
  const std::string name = prefix_ + (unlimited ? "rows_" : "") + std::to_string(length);
  const auto found = dimensions_.find(name);
  if (found != dimensions_.end()) return found->second;
  int made = -1;
  const size_t extent = unlimited || length == 0 ? NC_UNLIMITED : static_cast<size_t>(length);
  PENSTOCK_TRY(check(nc_def_dim(id_, name.c_str(), extent, &made), "defining dimension '" + name + "'"));
  dimensions_[name] = made;
  return made;
}

Status File::define_variable(const Catalogue& catalogue, const Dataset& dataset, const Dims& chunk) {
  const bool is_text = dataset.type.kind == Kind::text;
  const int group = groups_[hdf5::group_name(dataset.name)];
  netcdf::Note note;
  if (is_text) note.type = dataset.type;
  if (dataset.shape.rank() > 0 && dataset.shape[0] == 0 && !dataset.unlimited) note.unlimited = false;
  if (dataset.unlimited && elements(dataset.shape) == 0) note.shape = dataset.shape;  // empty rows do not extend it
  std::vector<int> of;
  std::vector<size_t> chunks;
  for (int i = 0; i < dataset.shape.rank(); ++i) {
    PENSTOCK_ASSIGN(const int one, dimension(dataset.shape[i], i == 0 && dataset.unlimited));
    of.push_back(one);
    chunks.push_back(static_cast<size_t>(std::max<int64_t>(1, chunk[i])));
  }
  if (is_text) {
    PENSTOCK_ASSIGN(const int one, dimension(dataset.type.text_bytes, false));
    of.push_back(one);
    chunks.push_back(static_cast<size_t>(dataset.type.text_bytes));
  }
  PENSTOCK_ASSIGN(const nc_type type, type_of(dataset.type));
  int id = -1;
  PENSTOCK_TRY(
      check(nc_def_var(group, hdf5::last_part(dataset.name).c_str(), type, static_cast<int>(of.size()), of.data(), &id),
            "defining it"));
  if (dataset.unlimited) PENSTOCK_TRY(check(nc_def_var_chunking(group, id, NC_CHUNKED, chunks.data()), "chunking it"));
  variables_.push_back({group, id});
  return put_attributes(group, id, catalogue, dataset.name, note);
}

Status File::define(const Catalogue& catalogue, const std::vector<Dims>& chunks) {
  prefix_ = "n";
  const auto taken = [&](const std::string& name) { return hdf5::last_part(name).starts_with(prefix_); };
  while (std::any_of(catalogue.datasets.begin(), catalogue.datasets.end(),
                     [&](const Dataset& dataset) { return taken(dataset.name); }) ||
         std::ranges::any_of(hdf5::group_names(catalogue), taken))
    prefix_ += "_";
  PENSTOCK_TRY(define_groups(catalogue));
  for (size_t i = 0; i < catalogue.datasets.size(); ++i) {
    const Dataset& dataset = catalogue.datasets[i];
    PENSTOCK_TRY(define_variable(catalogue, dataset, chunks[i]).in("dataset '" + dataset.name + "'"));
  }
  return check(nc_enddef(id_), "nc_enddef");
}

Result<Variable> File::find(const Dataset& dataset) const {
  Variable variable{id_, -1};
  const std::string group = hdf5::group_name(dataset.name), name = hdf5::last_part(dataset.name);
  if (!group.empty())
    PENSTOCK_TRY(
        check(nc_inq_grp_full_ncid(id_, ("/" + group).c_str(), &variable.group), "opening group '" + group + "'"));
  PENSTOCK_TRY(check(nc_inq_varid(variable.group, name.c_str(), &variable.id), "opening '" + dataset.name + "'"));
  nc_type type = NC_NAT;
  size_t size = 0;
  int rank = 0;
  PENSTOCK_TRY(check(nc_inq_var(variable.group, variable.id, nullptr, &type, &rank, nullptr, nullptr), "nc_inq_var"));
  PENSTOCK_TRY(check(nc_inq_type(variable.group, type, nullptr, &size), "nc_inq_type"));
  const bool folded = dataset.type.kind == Kind::text && rank == dataset.shape.rank() + 1;
  const int64_t expected = folded ? 1 : bytes(dataset.type);
  const bool number = type <= NC_MAX_ATOMIC_TYPE;
  if (static_cast<int64_t>(size) != expected || type == NC_STRING ||
      (number && type != netcdf::type_number(dataset.type.kind)) || (rank != dataset.shape.rank() && !folded))
    return Status(Code::unsupported, "netcdf4 reads '" + dataset.name + "' as another type than " +
                                         penstock::name(dataset.type) + ": read it with a transport");
  return variable;
}

}  // namespace penstock::netcdf4
