// Walk: visits every group and dataset reachable by hard links, once, without recursion: the file determines the depth.
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/base/utf8.hpp"
#include "core/format/hdf5/esio.hpp"
#include "core/format/hdf5/netcdf4.hpp"
#include "core/format/hdf5/read.hpp"
#include "core/format/hdf5/scales.hpp"
#include "core/format/hdf5/variable_text.hpp"
#include "core/format/index.hpp"
#include "core/hdf5/attributes.hpp"
#include "core/hdf5/definitions.hpp"
#include "core/hdf5/library.hpp"
#include "core/hdf5/meaning.hpp"
#include "core/hdf5/object_header.hpp"
#include "core/hdf5/types.hpp"
#include "core/model/checksums.hpp"

namespace penstock::hdf5 {
namespace {

constexpr size_t longest_name = 1000;  // as for any dataset; also bounds the depth

struct HardLink {
  std::string name;
  uint64_t address;
};

struct Links {
  std::vector<HardLink> hard;
  std::vector<std::string> others;  // that are not
};

Result<Links> list_links(hid_t group) {
  Links links;
  const auto collect = [](hid_t, const char* name, const H5L_info_t* info, void* list) -> herr_t {
    auto& found = *static_cast<Links*>(list);
    try {
      if (info->type == H5L_TYPE_HARD)
        found.hard.push_back({name, address_of(*info)});
      else
        found.others.emplace_back(name);
    } catch (...) {
      return -1;
    }
    return 0;
  };
  hsize_t index = 0;
  if (H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, &index, collect, &links) < 0)
    return library_error(Code::damaged, "listing a group");
  return links;
}

class Walker {
 public:
  Walker(hid_t file, const StoredBytes& bytes, const std::string& path)
      : file_(file), heap_(bytes), path_(path), own_(H5Lexists(file, own_group, H5P_DEFAULT) > 0) {}

  Status walk() {
    if (const uint64_t size = heap_.file().base; size > 0)
      convert("/", "a file that begins with a user block of " + std::to_string(size) + " bytes, which would be lost");
    std::vector<std::string> groups{""};
    while (!groups.empty()) {
      const std::string name = std::move(groups.back());
      groups.pop_back();
      PENSTOCK_TRY(visit_group(name, groups).in("group '/" + name + "'"));
    }
    return {};
  }

  // Sorted by name, which is the catalogue's order.
  Contents take() {
    std::ranges::sort(found_, {}, [](const Found& found) -> const std::string& { return found.dataset.name; });
    for (Found& found : found_) {
      contents_.catalogue.datasets.push_back(std::move(found.dataset));
      contents_.blocks.push_back(std::move(found.blocks));
      contents_.foreign.push_back(found.foreign);
    }
    for (const auto& [name, what, is_read] : scales_.name_dimensions(contents_.catalogue, netcdf4_))
      if (is_read)
        show_otherwise(name, what);
      else
        leave_out(name, what);
    return std::move(contents_);
  }

 private:
  struct Found {
    Dataset dataset;
    std::vector<StoredBlock> blocks;
    bool foreign = false;
  };

  Status visit_group(const std::string& name, std::vector<std::string>& groups) {
    const Group group(H5Gopen2(file_, ("/" + name).c_str(), H5P_DEFAULT));
    if (!group.ok()) return library_error(Code::damaged, "opening it");
    if (!seen_.insert(address_of(group)).second)  // another path to a visited group, possibly a cycle
      return skip(name, "a second link to a group");
    PENSTOCK_TRY(add_attributes(group, name).status());
    PENSTOCK_ASSIGN(const Links links, list_links(group));
    for (const std::string& other : links.others)
      leave_out(name.empty() ? other : name + "/" + other, "a soft or external link");
    if (links.hard.empty() && links.others.empty() && !name.empty()) contents_.catalogue.attributes.try_emplace(name);
    const size_t first = groups.size();
    for (const HardLink& link : links.hard) {
      const std::string full = name.empty() ? link.name : name + "/" + link.name;
      if (full == own_group)
        PENSTOCK_TRY(visit_own(group, link, groups));
      else if (full.size() > longest_name)
        leave_out(full.substr(0, first_no_utf8(full.substr(0, 60))) + "...",
                  "an object with a name of more than 1000 bytes");
      else if (link.name == "." || link.name == "..")
        leave_out(full, "an object named '.' or '..'");
      else
        PENSTOCK_TRY(visit_object(group, link, full, groups));
    }
    std::reverse(groups.begin() + static_cast<std::ptrdiff_t>(first), groups.end());  // the first link names a group
    return {};
  }

  // Penstock's own group has the record, and nothing else that is kept.
  Status visit_own(hid_t root, const HardLink& there, std::vector<std::string>& groups) {
    const std::string own = own_group;
    PENSTOCK_TRY(check_layout(read_header(heap_.file(), there.address), heap_));
    const Object object(H5Oopen(root, own_group, H5P_DEFAULT));
    if (!object.ok()) return library_error(Code::damaged, "opening '/" + own + "'");
    if (H5Iget_type(object) != H5I_GROUP) return skip(own, "an object with the name of penstock's own group");
    if (H5Aget_num_attrs(object) > 0) leave_out(own + "@*", "in penstock's own group");
    PENSTOCK_ASSIGN(const Links links, list_links(object));
    for (const std::string& link : links.others) leave_out(own + "/" + link, "in penstock's own group");
    for (const auto& [link, address] : links.hard)
      if (own + "/" + link == record_name)
        PENSTOCK_TRY(visit_object(root, {std::string(record_name), address}, std::string(record_name), groups));
      else if (own + "/" + link != index_dataset)
        leave_out(own + "/" + link, "in penstock's own group");
    return {};
  }

  Status visit_object(hid_t group, const HardLink& link, const std::string& full, std::vector<std::string>& groups) {
    const ObjectHeader header = read_header(heap_.file(), link.address);
    if (const Status there = check_layout(header, heap_); !there.ok())
      return skip(full, "a dataset that cannot be read: " + there.message());
    const Object object(H5Oopen(group, link.name.c_str(), H5P_DEFAULT));
    if (!object.ok()) {
      if (!own_ && met_unknown_version())
        return skip(full, "an object that HDF5 " + library_version() + " does not know");
      // Libhdf5 1.14 refuses what 1.10 reads beyond the header of.
      if (!own_ && header.compact_bytes != ~uint64_t{0})
        return skip(full, "a dataset that cannot be read: its header is damaged");
      return library_error(Code::damaged, "opening '/" + full + "'");
    }
    const H5I_type_t kind = H5Iget_type(object);
    if (kind == H5I_GROUP) groups.push_back(full);
    if (kind != H5I_GROUP && kind != H5I_DATASET) leave_out(full, "neither a group nor a dataset");
    if (kind == H5I_DATASET) return visit_dataset(object, header, full).in("dataset '" + full + "'");
    return {};
  }

  Status visit_dataset(hid_t object, const ObjectHeader& header, const std::string& name) {
    const Type stored(H5Dget_type(object));
    const Space space(H5Dget_space(object));
    if (!stored.ok() || !space.ok()) return library_error(Code::damaged, "reading its definition");
    Dims inner;
    const Type type = innermost_type(stored, inner);
    auto match = type.ok() ? match_type(type) : std::nullopt;
    Found found;
    found.dataset.name = name;
    const auto shape = shape_of(space, found.dataset.unlimited);
    const bool shaped = match && shape;
    if (shaped) found.dataset.shape = *shape;
    // Libhdf5 1.10 reads beyond the header.
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (shaped && count > 0 && header.compact_bytes != ~uint64_t{0} &&
        static_cast<uint64_t>(count) > header.compact_bytes / std::max<size_t>(H5Tget_size(stored), 1))
      return skip(name, "a dataset that cannot be read: its header is damaged and has only a part of it");
    if (shaped && match->variable_text && inner.empty()) {
      PENSTOCK_ASSIGN(const std::string why, measure_strings(object, header, found.dataset, match->type));
      if (!why.empty()) return skip(name, why);
      convert(name, "of strings of variable length, which would become texts as long as the longest");
    }
    if (!shaped || (match->variable_text && !inner.empty()) || !append(inner, found.dataset.shape) ||
        (match->type.kind == Kind::text && !check_shape(match->type, Dims{}).ok()))
      return skip(name, type.ok() ? "a dataset of " + unknown(type, space) : "a dataset of a type that cannot be read");
    found.dataset.type = match->type;
    if (!check_shape(found.dataset.type, found.dataset.shape).ok())
      return skip(name, "a dataset of more than 2^63 bytes");
    PENSTOCK_ASSIGN(auto note, add_attributes(object, name));
    if (!note) return {};
    AttributeMap meaning;
    add_meaning(type, meaning);
    if (!meaning.empty()) contents_.catalogue.attributes[name].merge(meaning);
    if (!inner.empty()) convert(name, "of an array type, whose extents would become dimensions");
    unfold_field(found.dataset, inner);
    if (netcdf4_ && !noted_) note->type = folded_type(found.dataset);
    apply_note(*note, found.dataset);
    if (!match->direct && !match->variable_text) {
      if (H5Tget_size(type) > static_cast<size_t>(bytes(match->type)))
        contents_.leave_out(fmt::format("digits of '{}' that {} does not hold: its elements have {} bytes", name,
                                        penstock::name(match->type), H5Tget_size(type)));
      if (match->type.kind == Kind::text)
        convert(name, "of texts that end with a NUL or with spaces, which would be padded with NULs");
      else
        show_otherwise(name, "a dataset whose type would be converted");
    }
    if (elements(found.dataset.shape) > 0) {
      found.foreign = true;
      if (match->direct)
        PENSTOCK_TRY(find_blocks(object, found.dataset, heap_.file(), match->swapped, found.blocks, found.foreign));
      if (found.foreign) found.blocks.clear();
      if (found.foreign)
        note_storage(object, found.dataset, match->direct && !match->swapped && match->type == found.dataset.type);
    }
    found_.push_back(std::move(found));
    return {};
  }

  // The text type of DATASET's strings, or why they cannot be read as texts.
  Result<std::string> measure_strings(hid_t object, const ObjectHeader& header, const Dataset& dataset,
                                      ElementType& type) {
    if (const Status safe = check_fills(header, heap_); !safe.ok())
      return "a dataset that cannot be read: " + safe.message();
    const Properties creation(H5Dget_create_plist(object));
    if (!creation.ok()) return library_error(Code::damaged, "reading its definition");
    if (const Status inside = check_inside(creation, path_); !inside.ok())
      return "a dataset that cannot be read: " + inside.message();
    const int64_t count = elements(dataset.shape);
    if (count < 0 || count > max_strings)
      return std::string("a dataset of more than 2^24 strings of variable length, the most that penstock examines");
    constexpr int64_t max_bytes = int64_t{1} << 34;
    const bool elsewhere = H5Pget_layout(creation) == H5D_VIRTUAL;
    if (elsewhere)
      if (const Status safe = check_string_sources(creation, path_); !safe.ok())
        return "a dataset that cannot be read: " + safe.message();
    const auto longest = longest_string(object, elsewhere ? nullptr : &heap_, max_bytes / std::max<int64_t>(count, 1));
    if (!longest.ok()) return "a dataset that cannot be read: " + longest.status().message();
    type.text_bytes = *longest;
    const Status legal = check_shape(type, dataset.shape);
    if (!legal.ok() || type.text_bytes * count > max_bytes)
      return std::string("a dataset of strings of variable length, too large with all as long as the longest");
    return std::string();
  }

  // For people: a description of an unsupported object.
  static std::string unknown(hid_t type, hid_t space) {
    if (H5Sget_simple_extent_ndims(space) > max_rank) return "more than 8 dimensions";
    switch (H5Tget_class(type)) {
      case H5T_COMPOUND: return "a compound type, which penstock does not have";
      case H5T_REFERENCE: return "references, which penstock does not have";
      case H5T_VLEN: return "lists of variable length, which penstock does not have";
      case H5T_OPAQUE: return "an opaque type, which penstock does not have";
      case H5T_BITFIELD: return "bit fields, which penstock does not have";
      case H5T_TIME: return "times of HDF5, which penstock does not have";
      default: return "a type or shape that penstock does not have";
    }
  }

  // Notes what prevents a read of the dataset, and its chunks, so that a reader of the whole dataset need not unpack a
  // chunk twice, and a change need not unpack those whose elements are OURS.
  void note_storage(hid_t object, const Dataset& dataset, bool ours) {
    const Properties creation(H5Dget_create_plist(object));
    if (creation.ok() && contents_.left_out.empty())
      if (const Status there = check_sources(creation, path_); !there.ok())
        show_otherwise(dataset.name, "a dataset that cannot be read: " + there.message());
    const int rank = dataset.shape.rank();
    hsize_t extents[max_rank];
    if (rank == 0 || !creation.ok() || H5Pget_layout(creation) != H5D_CHUNKED ||
        H5Pget_chunk(creation, rank, extents) != rank)
      return;
    Dims chunk;
    for (int i = 0; i < rank; ++i) chunk.push_back(static_cast<int64_t>(std::max<hsize_t>(1, extents[i])));
    contents_.chunks.emplace(dataset.name, chunk);
    // Chunks at an edge may be stored as they are, which their masks of filters do not say.
    unsigned options = 0;
    const bool all_filtered = H5Pget_chunk_opts(creation, &options) >= 0 && options == 0;
    if (auto filters = filters_of(creation); ours && all_filtered && !filters.empty())
      contents_.filters.emplace(dataset.name, std::move(filters));
  }

  // The extents of an array type follow those of the dataset.
  static bool append(const Dims& inner, Dims& shape) {
    if (inner.rank() > max_rank - shape.rank()) return false;
    for (const int64_t extent : inner) shape.push_back(extent);
    return true;
  }

  // Presents a field in ESIO's layout 2 in its layout 0. The layout attributes would be wrong for a copy.
  void unfold_field(Dataset& dataset, const Dims& inner) {
    const auto found = contents_.catalogue.attributes.find(dataset.name);
    if (found == contents_.catalogue.attributes.end() || !unfold_esio(found->second, inner, dataset.shape)) return;
    found->second.erase(std::string(esio_note));
    if (found->second.empty()) contents_.catalogue.attributes.erase(found);
    dataset.unlimited = false;
    convert(dataset.name, "a field in ESIO's layout 2, which would become one of three dimensions");
  }

  // The note in a netCDF-4 file, empty in others; nothing if the object is a dimension and no dataset.
  Result<std::optional<netcdf::Note>> add_attributes(hid_t object, const std::string& name) {
    AttributeMap attributes;
    Unheld unheld;
    PENSTOCK_TRY(read_attributes(object, heap_, attributes, unheld));
    auto& skipped = unheld.skipped;
    if (name.empty() && is_netcdf4(attributes)) {
      netcdf4_ = true;
      noted_ = is_noted(attributes);
      convert("/", "a netCDF-4 file, which would become a plain HDF5 file");
    }
    const bool dimension_only = is_dimension_only(attributes);
    const bool scaled = attributes.contains("CLASS") || std::ranges::any_of(skipped, is_scale_attribute);
    if (!noted_ && (netcdf4_ || scaled)) scales_.add(object, name, attributes, heap_);
    std::erase_if(skipped, is_scale_attribute);
    netcdf::Note note;
    if (netcdf4_)
      note = take_note(attributes, noted_);
    else
      take_scale(attributes);
    add_comment(object, attributes);
    for (const std::string& key : skipped)
      leave_out(name + "@" + key, "an attribute of a type that penstock does not have");
    for (const auto& [key, why] : unheld.damaged)
      leave_out(name + "@" + key, "an attribute that cannot be read: " + why);
    for (const std::string& key : unheld.rounded)
      show_otherwise(name + "@" + key, "an attribute whose type would be converted");
    if (unheld.unlisted)
      leave_out(name + "@*", "a list of attributes, one of which HDF5 " + library_version() + " does not know");
    if (dimension_only) return std::optional<netcdf::Note>();
    if (!attributes.empty()) contents_.catalogue.attributes[name] = std::move(attributes);
    return std::optional(std::move(note));
  }

  void leave_out(const std::string& name, std::string_view what) {
    contents_.leave_out("'" + name + "' is " + std::string(what));
  }

  // The visit of it ends well.
  Status skip(const std::string& name, std::string_view what) {
    leave_out(name, what);
    return {};
  }

  // It is read nevertheless.
  void show_otherwise(const std::string& name, std::string_view what) {
    if (contents_.left_out.empty()) contents_.left_out = "'" + name + "' is " + std::string(what);
  }

  void convert(const std::string& name, std::string_view what) {
    if (contents_.converted.empty()) contents_.converted = "'" + name + "' is " + std::string(what);
  }

  hid_t file_;
  GlobalHeap heap_;
  const std::string& path_;
  bool own_;  // written by penstock, so that objects that cannot be opened are damaged
  Contents contents_;
  std::vector<Found> found_;
  std::set<uint64_t> seen_;  // addresses of groups
  Scales scales_;
  bool netcdf4_ = false, noted_ = false;  // written by netCDF-4, by our engine
};

// The JSON in a set's master; "" for other files.
Result<std::string> index_text(hid_t file, const StoredBytes& bytes) {
  if (H5Lexists(file, own_group, H5P_DEFAULT) <= 0 || H5Lexists(file, index_dataset, H5P_DEFAULT) <= 0)
    return std::string();
  H5L_info_t link;
  if (H5Lget_info(file, index_dataset, &link, H5P_DEFAULT) < 0)
    return library_error(Code::damaged, "finding its index");
  if (link.type != H5L_TYPE_HARD) return Status(Code::damaged, "its index is in another place");
  GlobalHeap heap(bytes);
  PENSTOCK_TRY(check_layout(read_header(bytes, address_of(link)), heap));
  const DatasetHandle dataset(H5Dopen2(file, index_dataset, H5P_DEFAULT));
  const Space space(dataset.ok() ? H5Dget_space(dataset) : -1);
  const Type type(dataset.ok() ? H5Dget_type(dataset) : -1);
  if (!space.ok() || !type.ok()) return library_error(Code::damaged, "opening its index");
  const hssize_t size = H5Sget_simple_extent_npoints(space);
  if (size <= 0 || size > bytes.file_bytes() || H5Tget_class(type) != H5T_INTEGER || H5Tget_size(type) != 1)
    return Status(Code::damaged, "its index is not a list of bytes");
  std::string text(static_cast<size_t>(size), '\0');
  if (H5Dread(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0)
    return library_error(Code::damaged, "reading its index");
  return text;
}

}  // namespace

Result<Contents> read_contents(const std::string& path) {
  PENSTOCK_ASSIGN(const File file, open_file(path));
  const std::string where = "'" + path + "'";
  PENSTOCK_ASSIGN(const StoredBytes bytes, StoredBytes::of(file));
  const auto index = index_text(file, bytes);
  if (!index.ok()) return index.status().in(where);
  if (!index->empty()) return contents_of_index(*index, "hdf5", path);
  Walker walker(file, bytes, path);
  PENSTOCK_TRY(walker.walk().in(where));
  Contents contents = walker.take();
  contents.format = "hdf5";
  contents.parts.push_back(path);
  return contents;
}

}  // namespace penstock::hdf5
