// Contents: variables as datasets, with names, shapes and attributes from penstock's notes if there are any.
#include "core/format/netcdf/contents.hpp"

#include <algorithm>
#include <bit>

#include "core/format/regular_file.hpp"
#include "core/model/checksums.hpp"
#include "core/model/kinds.hpp"
#include "core/netcdf/dimensions.hpp"
#include "core/netcdf/header.hpp"
#include "core/netcdf/names.hpp"
#include "core/netcdf/note.hpp"

namespace penstock::netcdf {
namespace {

constexpr int64_t first_read = 64 << 10, largest_header = int64_t{1} << 30;

Status damaged(const std::string& what) { return {Code::damaged, what}; }

Result<Header> read_header(const std::string& path, int64_t file_bytes) {
  for (int64_t limit = first_read;; limit *= 4) {
    PENSTOCK_ASSIGN(const std::string head, read_regular_file(path, limit));
    bool incomplete = false;
    auto header = decode_header(std::as_bytes(std::span(head)), &incomplete);
    if (header.ok() || !incomplete || limit >= file_bytes || limit >= largest_header) return header;
  }
}

std::string take_note(std::vector<Attribute>& attributes, bool& found) {
  const auto at =
      std::find_if(attributes.begin(), attributes.end(), [](const Attribute& a) { return a.name == own_attribute; });
  found = at != attributes.end();
  if (!found) return {};
  std::string note = text(*at);
  attributes.erase(at);
  return note;
}

class Mapper {
 public:
  Mapper(Header header, int64_t file_bytes) : header_(std::move(header)), file_bytes_(file_bytes) {}

  Status map() {
    note_ = parse_note(take_note(header_.attributes, own_));
    PENSTOCK_TRY(find_records());
    PENSTOCK_TRY(map_global_attributes());
    used_.assign(header_.dimensions.size(), false);
    for (Variable& variable : header_.variables)
      PENSTOCK_TRY(map_variable(variable).in("variable '" + variable.name + "'"));
    for (size_t i = 0; i < used_.size(); ++i)
      if (!used_[i]) leave_out(header_.dimensions[i].name, "a dimension that no variable has");
    return {};
  }

  // Sorted by name, which is the catalogue's order.
  Result<Contents> take() {
    std::ranges::sort(found_, {}, [](const Found& found) -> const std::string& { return found.dataset.name; });
    for (auto& [dataset, block] : found_) {
      auto& datasets = contents_.catalogue.datasets;
      if (!datasets.empty() && datasets.back().name == dataset.name)
        return damaged("two variables have the name '" + datasets.back().name + "'");
      datasets.push_back(std::move(dataset));
      contents_.blocks.emplace_back();
      if (block.where.count() > 0) contents_.blocks.back().push_back(std::move(block));
      contents_.foreign.push_back(false);
    }
    if (const Status names = check_names(contents_.catalogue); !names.ok()) return damaged(names.message());
    return std::move(contents_);
  }

 private:
  struct Found {
    Dataset dataset;
    StoredBlock block;
  };

  // "Streaming": as many whole records as the file has bytes for.
  Status find_records() {
    record_bytes_ = record_bytes(header_);
    if (record_bytes_ < 0) return damaged("a record is larger than 63 bits can say");
    if (header_.records >= 0) return {};
    int64_t begin = INT64_MAX;
    for (const Variable& variable : header_.variables)
      if (variable.record) begin = std::min(begin, variable.begin);
    header_.records = record_bytes_ == 0 || begin > file_bytes_ ? 0 : (file_bytes_ - begin) / record_bytes_;
    return {};
  }

  Status map_global_attributes() {
    for (const Attribute& plain : header_.attributes) {
      const AttributeName name = own_ ? decode_attribute_name(plain.name) : AttributeName{"", plain.name};
      if (own_ && note_.conventions && plain.name == "Conventions") continue;
      const auto object = object_name(name.group);
      if (!object.ok() || *object != name.group || name.attribute.empty()) {
        leave_out(plain.name, "an attribute of a group that penstock cannot have");
        continue;
      }
      contents_.catalogue.attributes[name.group][name.attribute] = from_plain(plain, name.attribute, note_);
    }
    for (const std::string& group : note_.groups)
      if (const auto name = object_name(group); name.ok() && *name == group && !group.empty())
        contents_.catalogue.attributes.try_emplace(group);
    return {};
  }

  Status map_variable(Variable& variable) {
    bool noted = false;
    Note note = parse_note(take_note(variable.attributes, noted));
    for (const int64_t id : variable.dimensions) used_[static_cast<size_t>(id)] = true;
    Found found;
    found.dataset.name = own_ ? decode_name(variable.name) : variable.name;
    const auto legal = dataset_name(found.dataset.name);
    const bool record = own_ && found.dataset.name == record_name;
    if (!record && (!legal.ok() || *legal != found.dataset.name)) {
      leave_out(variable.name, "a variable whose name penstock cannot have");
      return {};
    }
    const size_t own_dimensions = map_type(variable, note, found.dataset);
    if (own_dimensions > static_cast<size_t>(max_rank)) {
      leave_out(variable.name, "a variable of more than 8 dimensions");
      return {};
    }
    for (size_t d = 0; d < own_dimensions; ++d) found.dataset.shape.push_back(length(variable.dimensions[d]));
    if (note.shape && elements(*note.shape) == 0 && check_shape(found.dataset.type, *note.shape).ok())
      found.dataset.shape = *note.shape;
    found.dataset.unlimited = found.dataset.shape.rank() > 0 && note.unlimited.value_or(variable.record);
    if (const Status status = check_shape(found.dataset.type, found.dataset.shape); !status.ok())
      return damaged(status.message());
    PENSTOCK_TRY(find_block(variable, found));
    map_attributes(variable, note, own_dimensions, found.dataset.name);
    found_.push_back(std::move(found));
    return {};
  }

  // The number of the variable's dimensions that belong to the dataset; the last one may be a text's bytes or two
  // parts.
  size_t map_type(const Variable& variable, const Note& note, Dataset& dataset) const {
    const size_t rank = variable.dimensions.size();
    dataset.type = variable.type;
    const bool has_last = rank > (variable.record ? 1 : 0);
    const int64_t last = has_last ? length(variable.dimensions.back()) : 0;
    if (variable.type.kind == Kind::text) {
      const ElementType whole{Kind::text, last};
      if (!has_last || !check_shape(whole, Dims{}).ok()) return rank;
      dataset.type = whole;
      return rank - 1;
    }
    if (last != 2 || !note.type || !is_complex(*note.type) || part_of(*note.type) != variable.type) return rank;
    dataset.type = *note.type;
    return rank - 1;
  }

  Status find_block(const Variable& variable, Found& found) {
    const Dataset& dataset = found.dataset;
    StoredBlock& block = found.block;
    block.base = variable.begin;
    block.swapped = scalar_bytes(dataset.type) > 1 && std::endian::native == std::endian::little;
    block.where = Selection::whole(dataset.shape);
    if (variable.begin < header_.bytes) return damaged("it begins inside the header");
    const int64_t size = bytes(dataset);
    if (size == 0) return {};
    if (variable.record && size / dataset.shape[0] != record_bytes_) block.row_stride = record_bytes_;
    int64_t span = 0, end = 0;
    const int64_t row = size / (dataset.shape.rank() > 0 ? dataset.shape[0] : 1);
    const bool fits = block.row_stride == 0 ? !__builtin_add_overflow(variable.begin, size, &end)
                                            : !__builtin_mul_overflow(dataset.shape[0] - 1, block.row_stride, &span) &&
                                                  !__builtin_add_overflow(span, row, &span) &&
                                                  !__builtin_add_overflow(variable.begin, span, &end);
    if (!fits || end > file_bytes_)
      return damaged("the file has " + std::to_string(file_bytes_) + " bytes and ends before its data: it was cut off");
    return {};
  }

  // In foreign files the names of dimensions become the attribute with which penstock's users name them.
  void map_attributes(const Variable& variable, const Note& note, size_t own_dimensions, const std::string& name) {
    auto& attributes = contents_.catalogue.attributes;
    for (const Attribute& plain : variable.attributes) {
      std::string key = own_ ? decode_attribute_name(plain.name).attribute : plain.name;
      attributes[name][key] = from_plain(plain, key, note);
    }
    const std::string key(naming_attribute);
    if ((own_ && !note.named) || own_dimensions == 0 || attributes[name].contains(key)) return;
    attributes[name][key] = dimension_names(header_.dimensions, variable.dimensions, own_dimensions, own_);
  }

  int64_t length(int64_t id) const {
    const int64_t length = header_.dimensions[static_cast<size_t>(id)].length;
    return length == 0 ? header_.records : length;
  }

  void leave_out(const std::string& name, std::string_view what) {
    contents_.leave_out("'" + name + "' is " + std::string(what));
  }

  Header header_;
  int64_t file_bytes_;
  bool own_ = false;  // written by penstock: names are encoded
  Note note_;
  int64_t record_bytes_ = 0;
  std::vector<bool> used_;  // dimensions
  std::vector<Found> found_;
  Contents contents_;
};

}  // namespace

Result<Contents> read_contents(const std::string& path) {
  const std::string where = "'" + path + "'";
  PENSTOCK_ASSIGN(const int64_t file_bytes, regular_file_bytes(path));
  auto header = read_header(path, file_bytes);
  if (!header.ok()) return header.status().in(where);
  Mapper mapper(*std::move(header), file_bytes);
  PENSTOCK_TRY(mapper.map().in(where));
  auto contents = mapper.take();
  if (!contents.ok()) return contents.status().in(where);
  contents->format = "netcdf";
  contents->parts.push_back(path);
  return contents;
}

}  // namespace penstock::netcdf
