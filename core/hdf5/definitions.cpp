// Definitions: names, shapes and attributes, shared by the format's files and the engines.
#include "core/hdf5/definitions.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "core/base/link.hpp"
#include "core/hdf5/decoding.hpp"

namespace penstock::hdf5 {
namespace {

struct KnownFilter {
  H5Z_filter_t number;
  std::string_view name;
};

constexpr H5Z_filter_t lzf = 32000, blosc = 32001, zfp = 32013, zstandard = 32015, blosc2 = 32026;

// The common filters, by their numbers in The HDF Group's registry.
constexpr KnownFilter usual[] = {{H5Z_FILTER_DEFLATE, "deflate"},
                                 {H5Z_FILTER_SHUFFLE, "shuffle"},
                                 {H5Z_FILTER_FLETCHER32, "fletcher32"},
                                 {H5Z_FILTER_SZIP, "szip"},
                                 {307, "bzip2"},
                                 {lzf, "LZF"},
                                 {blosc, "Blosc"},
                                 {32004, "LZ4"},
                                 {32008, "bitshuffle"},
                                 {zfp, "ZFP"},
                                 {zstandard, "Zstandard"},
                                 {32024, "SZ3"},
                                 {blosc2, "Blosc2"}};

// Of Blosc, 1 and 2: behind four other values the level, the shuffle and the method.
std::string blosc_details(std::span<const unsigned> values) {
  constexpr std::string_view shuffles[] = {"", " shuffle", " bitshuffle"};
  constexpr std::string_view methods[] = {" blosclz", " lz4", " lz4hc", " snappy", " zlib", " zstd"};
  std::string text;
  if (values.size() > 5 && values[5] < std::size(shuffles)) text += shuffles[values[5]];
  if (values.size() > 6 && values[6] < std::size(methods)) text += methods[values[6]];
  return values.size() > 4 ? text + " " + std::to_string(values[4]) : text;
}

// Of ZFP: the last twelve of the header's first 96 bits say what it limits; an error is a power of two.
std::string zfp_details(std::span<const unsigned> values) {
  constexpr unsigned reversible = 2176, first = reversible + 1, last = 4094;
  constexpr int least_exponent = -1074;
  const unsigned mode = values.size() > 3 ? values[3] >> 20U : 0;
  if (mode == reversible) return " reversible";
  if (mode < first || mode > last) return "";
  return fmt::format(" error {:.6g}", std::ldexp(1.0, least_exponent + static_cast<int>(mode - first)));
}

// What people choose: a level, or how it loses.
std::string details(H5Z_filter_t filter, std::span<const unsigned> values) {
  switch (filter) {
    case H5Z_FILTER_DEFLATE:
    case zstandard: return values.empty() ? "" : " " + std::to_string(values[0]);
    case blosc:
    case blosc2: return blosc_details(values);
    case zfp: return zfp_details(values);
    default: return "";
  }
}

// "32015 (Zstandard)".
std::string filter_name(H5Z_filter_t filter, std::string_view stored) {
  for (const auto& [number, name] : usual)
    if (number == filter) stored = name;
  const bool printable = std::ranges::all_of(stored, [](char c) { return c >= 0x20 && c < 0x7f; });
  return std::to_string(filter) + (stored.empty() || !printable ? "" : " (" + std::string(stored) + ")");
}

Status missing_filter(hid_t creation) {
  for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0, config = 0;
    size_t values = 0;
    char name[256] = {};
    const H5Z_filter_t filter =
        H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr, sizeof name - 1, name, &config);
    if (filter <= 0 || can_decode(filter)) continue;
    const std::string remedy = filter < H5Z_FILTER_RESERVED ? "use a libhdf5 that was built with it"
                               : filter == lzf ? "rewrite it without this filter, with h5py, which has it built in"
                                               : "install its plug-in (the Python package hdf5plugin has the usual "
                                                 "ones) and name its folder in HDF5_PLUGIN_PATH";
    return {Code::unsupported,
            "it is packed by HDF5 filter " + filter_name(filter, name) + ", which is not found here: " + remedy};
  }
  return {};
}

bool is_there(const std::string& path, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  return fs::exists(fs::path(path).parent_path() / name, error) || fs::exists(name, error);
}

Status absent(std::string_view what, const std::string& name) {
  return {Code::unsupported, "its values are in the " + std::string(what) + " '" + name +
                                 "', which is not there: put that file beside this one"};
}

// What GET, a function of the library, tells of virtual source INDEX.
template <typename Get>
Result<std::string> name_of(Get get, hid_t creation, size_t index) {
  const ssize_t length = get(creation, index, nullptr, 0);
  std::string name(static_cast<size_t>(std::max<ssize_t>(length, 0)), '\0');
  if (length < 0 || get(creation, index, name.data(), name.size() + 1) < 0)
    return library_error(Code::damaged, "reading virtual sources' names");
  return name;
}

constexpr int64_t largest_attribute = int64_t{1} << 30;
constexpr size_t longest_attribute_name = 1000;
constexpr int64_t largest_text = INT32_MAX;  // HDF5 stores a type's size in 32 bits

Status check_attribute(const std::string& object, const Attribute& attribute) {
  const auto what = [&] {
    return "attribute '" + attribute.name.substr(0, longest_attribute_name) + "' of '" + object + "'";
  };
  if (attribute.name.empty() || attribute.name.find('\0') != std::string::npos ||
      attribute.name.size() > longest_attribute_name)
    return {Code::invalid, what() + " has a name that HDF5 cannot hold: 1 to 1000 bytes without NUL"};
  if (static_cast<int64_t>(attribute.value.size()) > largest_attribute || attribute.type.text_bytes > largest_text)
    return {Code::unsupported, what() + " is larger than 1 GiB; make it a dataset"};
  if (attribute.shape.rank() > 0 && elements(attribute.shape) == 0 && attribute.type.kind == Kind::text &&
      attribute.type.text_bytes == 0)
    return {Code::invalid, what() + " has texts of no bytes"};
  return {};
}

Status check_name(std::string name, const std::string& path) {
  namespace fs = std::filesystem;
  if (name.starts_with("./")) name.erase(0, 2);
  const auto refused = [&](const std::string& why) {
    return Status(Code::unsupported, "its values are in '" + name + "', " + why + ", where penstock does not look");
  };
  if (name.empty() || name == ".." || name.find('/') != std::string::npos)
    return refused("outside the folder of its file");
  if (name == ".") return {};  // the file itself
  // The library looks beside the file and in the working directory.
  for (const fs::path& found : {fs::path(path).parent_path() / name, fs::path(name)}) {
    std::error_code error;
    const fs::file_status status = fs::status(found, error);
    if (fs::exists(status) && !fs::is_regular_file(status)) return refused("which is no regular file");
    if (!check_link(found.string()).ok()) return refused("a link out of the folder");
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> external_files(hid_t creation) {
  std::vector<std::string> names;
  for (int i = 0; i < H5Pget_external_count(creation); ++i) {
    char name[4097] = {};
    off_t offset = 0;
    hsize_t size = 0;
    if (H5Pget_external(creation, static_cast<unsigned>(i), sizeof name - 1, name, &offset, &size) < 0)
      return library_error(Code::damaged, "reading external files' names");
    names.emplace_back(name);
  }
  return names;
}

Result<std::vector<VirtualSource>> virtual_sources(hid_t creation) {
  std::vector<VirtualSource> sources;
  size_t count = 0;
  if (H5Pget_layout(creation) != H5D_VIRTUAL) return sources;
  if (H5Pget_virtual_count(creation, &count) < 0) return library_error(Code::damaged, "counting virtual sources");
  for (size_t i = 0; i < count; ++i) {
    auto& [file, dataset] = sources.emplace_back();
    PENSTOCK_ASSIGN(file, name_of(H5Pget_virtual_filename, creation, i));
    PENSTOCK_ASSIGN(dataset, name_of(H5Pget_virtual_dsetname, creation, i));
  }
  return sources;
}

Status check_definitions(const Catalogue& catalogue) {
  PENSTOCK_TRY(check_names(catalogue));
  for (const Dataset& dataset : catalogue.datasets) {
    if (dataset.type.text_bytes > largest_text)
      return {Code::unsupported, "dataset '" + dataset.name + "' has texts of more than 2 GiB each"};
    if (dataset.unlimited && dataset.shape.rank() == 0)
      return {Code::invalid, "dataset '" + dataset.name + "' is a scalar and cannot grow"};
  }
  for (const auto& [object, attributes] : catalogue.attributes)
    for (const auto& [name, attribute] : attributes) PENSTOCK_TRY(check_attribute(object, attribute));
  return {};
}

std::string group_name(const std::string& dataset_name) {
  const size_t slash = dataset_name.rfind('/');
  return slash == std::string::npos ? "" : dataset_name.substr(0, slash);
}

std::string last_part(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

std::set<std::string> group_names(const Catalogue& catalogue) {
  std::set<std::string> names;  // sorted: a group comes before its contents
  const auto add = [&](std::string name) {
    while (!name.empty() && names.insert(name).second) name = group_name(name);
  };
  for (const Dataset& dataset : catalogue.datasets) add(group_name(dataset.name));
  for (const auto& [object, attributes] : catalogue.attributes)
    if (catalogue.find(object) == nullptr) add(object);
  return names;
}

Space dataset_space(const Dims& shape, bool unlimited) {
  if (shape.rank() == 0) return Space(H5Screate(H5S_SCALAR));
  hsize_t extents[max_rank], most[max_rank];
  std::copy(shape.begin(), shape.end(), extents);
  std::copy(shape.begin(), shape.end(), most);
  if (unlimited) most[0] = H5S_UNLIMITED;
  return Space(H5Screate_simple(shape.rank(), extents, most));
}

bool select_box(hid_t space, const Box& box, H5S_seloper_t operation) {
  if (box.count.empty()) return true;
  hsize_t start[max_rank], count[max_rank];
  std::copy(box.start.begin(), box.start.end(), start);
  std::copy(box.count.begin(), box.count.end(), count);
  return H5Sselect_hyperslab(space, operation, start, nullptr, count, nullptr) >= 0;
}

std::optional<Dims> shape_of(hid_t space, bool& unlimited) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return Dims{0};
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > max_rank) return std::nullopt;
  hsize_t extents[max_rank] = {}, most[max_rank] = {};
  if (rank > 0 && H5Sget_simple_extent_dims(space, extents, most) < 0) return std::nullopt;
  Dims shape;
  for (int i = 0; i < rank; ++i) {
    if (extents[i] > static_cast<hsize_t>(INT64_MAX)) return std::nullopt;
    shape.push_back(static_cast<int64_t>(extents[i]));
  }
  unlimited = most[0] == H5S_UNLIMITED;
  return shape;
}

Status check_inside(hid_t creation, const std::string& path) {
  PENSTOCK_ASSIGN(const auto files, external_files(creation));
  for (const std::string& name : files) PENSTOCK_TRY(check_name(name, path));
  PENSTOCK_ASSIGN(const auto sources, virtual_sources(creation));
  for (const VirtualSource& source : sources) PENSTOCK_TRY(check_name(source.file, path));
  return {};
}

std::vector<Filter> filters_of(hid_t creation) {
  constexpr size_t most = 64;  // values: more than any filter that we write has
  std::vector<Filter> filters;
  for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0, config = 0;
    size_t count = most;
    std::vector<unsigned> values(most);
    const H5Z_filter_t id =
        H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &count, values.data(), 0, nullptr, &config);
    values.resize(std::min(count, most));
    filters.push_back({id, std::move(values)});
  }
  return filters;
}

std::vector<std::string> names_of(std::span<const Filter> filters) {
  std::vector<std::string> names;
  for (const auto& [id, values] : filters) {
    const auto* known = std::ranges::find(usual, id, &KnownFilter::number);
    names.push_back((known == std::end(usual) ? std::to_string(id) : std::string(known->name)) + details(id, values));
  }
  return names;
}

std::vector<std::string> filter_names(hid_t creation) { return names_of(filters_of(creation)); }

Status check_sources(hid_t creation, const std::string& path) {
  PENSTOCK_TRY(missing_filter(creation));
  PENSTOCK_ASSIGN(const auto files, external_files(creation));
  for (const std::string& name : files)
    if (!is_there(path, name)) return absent("external file", name);
  PENSTOCK_ASSIGN(const auto sources, virtual_sources(creation));
  for (const auto& [file, dataset] : sources) {  // in place of missing ones the library reads fill values
    const bool numbered = file.find('%') != std::string::npos;  // any number of files
    if (!numbered && !is_there(path, file)) return absent("file", file);
  }
  return {};
}

Status explain_failure(hid_t creation, const std::string& path, const Status& failure) {
  if (failure.code() != Code::damaged) return failure;
  const Status cause = check_sources(creation, path);
  return cause.ok() ? failure : cause;
}

}  // namespace penstock::hdf5
