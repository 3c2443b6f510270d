// VTKHDF: the group VTKHDF of a file, as specified by "VTKHDF file format" in VTK's documentation.
#include "programs/convert/vtkhdf.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <penstock/file.hpp>

namespace penstock {
namespace {

// The common properties of all fields of one image, in the order of their dimensions, slowest first; three of each.
struct Grid {
  Dims points;
  std::vector<double> origin, spacing;
  friend bool operator==(const Grid&, const Grid&) = default;
};

struct Field {
  DatasetInfo dataset;
  Dims shape;  // in the form for VTK
  bool of_cells = false;
  Grid grid;
};

bool has_numbers(const ElementType& type) { return type.kind <= Kind::f64; }

// COUNT finite numbers of attribute NAME of the dataset, else of the file, else COUNT times OTHER.
std::vector<double> numbers(const File& file, const std::string& dataset, const char* name, int count, double other) {
  for (const std::string& object : {dataset, std::string()}) {
    const auto found = file.attribute(object, name);
    const bool wide = found.ok() && found->type.kind == Kind::f64;
    if (!found.ok() || (!wide && found->type.kind != Kind::f32)) continue;
    const size_t size = wide ? 8 : 4;
    if (found->value.size() != size * static_cast<size_t>(count)) continue;
    std::vector<double> values;
    for (int i = 0; i < count; ++i) {
      const std::byte* at = found->value.data() + size * static_cast<size_t>(i);
      float narrow = 0;
      double value = 0;
      std::memcpy(wide ? static_cast<void*>(&value) : &narrow, at, size);
      values.push_back(wide ? value : narrow);
    }
    if (std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) return values;
  }
  return std::vector<double>(static_cast<size_t>(count), other);
}

Field field_of(const File& file, const DatasetInfo& dataset) {
  Field field{dataset, {}, false, {}};
  const auto center = file.attribute(dataset.name, "center");
  field.of_cells = center.ok() && text(*center) == "cell";
  const int rank = dataset.shape.rank(), flat = 3 - rank;
  field.grid = {Dims::filled(flat, 1), std::vector<double>(static_cast<size_t>(flat), 0),
                std::vector<double>(static_cast<size_t>(flat), 1)};
  const auto append = [](std::vector<double>& list, const std::vector<double>& more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  append(field.grid.origin, numbers(file, dataset.name, "origin", rank, 0));
  append(field.grid.spacing, numbers(file, dataset.name, "spacing", rank, 1));
  for (const int64_t extent : dataset.shape) {
    const int64_t points = extent + (field.of_cells ? 1 : 0);
    field.grid.points.push_back(points);
    if (points > 1) field.shape.push_back(extent);  // VTK's reader omits flat dimensions
  }
  if (field.shape.empty()) field.shape.push_back(1);
  return field;
}

std::string describe(const Grid& grid) {
  return fmt::format("{} points from ({}) every ({})",
                     fmt::join(std::span(grid.points.begin(), grid.points.end()), " x "), fmt::join(grid.origin, ", "),
                     fmt::join(grid.spacing, ", "));
}

bool is_in(std::string_view name, std::string_view group) {
  while (group.starts_with('/')) group.remove_prefix(1);
  while (group.ends_with('/')) group.remove_suffix(1);
  return name == group || (name.size() > group.size() && name.starts_with(group) && name[group.size()] == '/');
}

struct Image {
  std::vector<Field> fields;
  std::vector<std::string> left_out;
};

Status check_grid(const std::vector<Field>& fields) {
  for (const Field& field : fields)
    if (!(field.grid == fields[0].grid))
      return {Code::unsupported,
              fmt::format("a VTKHDF image has one grid, but '{}' has {} and '{}' has {}: choose with --only",
                          fields[0].dataset.name, describe(fields[0].grid), field.dataset.name, describe(field.grid))};
  return {};
}

Result<Image> image_of(const File& file, std::span<const std::string> only) {
  Image image;
  for (const DatasetInfo& dataset : file.datasets()) {
    const auto names_it = [&](const std::string& name) { return is_in(dataset.name, name); };
    if (!only.empty() && std::ranges::none_of(only, names_it)) continue;
    const int rank = dataset.shape.rank();
    const bool empty = std::any_of(dataset.shape.begin(), dataset.shape.end(), [](int64_t n) { return n == 0; });
    if ((rank == 2 || rank == 3) && has_numbers(dataset.type) && !empty)
      image.fields.push_back(field_of(file, dataset));
    else
      image.left_out.push_back(dataset.name);
  }
  for (const std::string& name : only)
    if (std::ranges::none_of(file.datasets(), [&](const DatasetInfo& dataset) { return is_in(dataset.name, name); }))
      return Status(Code::not_found, fmt::format("there is no dataset or group '{}' in '{}'", name, file.path()));
  if (image.fields.empty())
    return Status(Code::unsupported,
                  fmt::format("'{}' has no field of real numbers with 2 or 3 dimensions, which is what a VTKHDF image "
                              "holds",
                              file.path()));
  PENSTOCK_TRY(check_grid(image.fields));
  return image;
}

template <typename T>
std::vector<T> reversed(std::vector<T> values) {
  std::ranges::reverse(values);
  return values;
}

Status describe_image(File& to, const Grid& grid) {
  const auto set = [&](const char* name, const auto& values) {
    using Number = typename std::decay_t<decltype(values)>::value_type;
    return to.set_attribute("VTKHDF", make_attribute(name, type_of<Number>(), values.data(), std::ssize(values)));
  };
  const Dims& n = grid.points;
  PENSTOCK_TRY(to.set_attribute("VTKHDF", text_attribute("Type", "ImageData")));
  PENSTOCK_TRY(set("Version", std::vector<int64_t>{2, 0}));
  PENSTOCK_TRY(set("WholeExtent", std::vector<int64_t>{0, n[2] - 1, 0, n[1] - 1, 0, n[0] - 1}));
  PENSTOCK_TRY(set("Origin", reversed(grid.origin)));
  PENSTOCK_TRY(set("Spacing", reversed(grid.spacing)));
  return set("Direction", std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
}

// VTK takes everything directly in a group for an array, so there are no groups below.
std::string array_name(const Field& field) {
  std::string name = field.dataset.name;
  std::ranges::replace(name, '/', '_');
  return fmt::format("VTKHDF/{}/{}", field.of_cells ? "CellData" : "PointData", name);
}

// Each rank reads its share through its own file ALONE, since ranks request pieces at different times.
Status supply_field(File& to, const std::shared_ptr<File>& alone, const Field& field) {
  const Communicator& comm = to.communicator();
  __int128 all = 1;
  for (const int64_t extent : field.shape) all *= extent;
  const auto share = [&](int rank) { return static_cast<int64_t>(all * rank / comm->size()); };
  const int64_t begin = share(comm->rank()), end = share(comm->rank() + 1);
  const Run run{begin, end - begin};
  PENSTOCK_ASSIGN(const Decomposition part,
                  Decomposition::runs(field.shape, std::span(&run, run.length > 0 ? size_t{1} : 0)));
  const DatasetInfo& dataset = field.dataset;
  return to.supply(array_name(field), dataset.type, part,
                   [alone, dataset, begin](int64_t first, std::span<std::byte> out) -> Status {
                     const Run wanted{begin + first, std::ssize(out) / bytes(dataset.type)};
                     PENSTOCK_ASSIGN(const Decomposition piece,
                                     Decomposition::runs(dataset.shape, std::span(&wanted, 1)));
                     PENSTOCK_TRY(alone->get(dataset.name, dataset.type, piece, out.data()));
                     return alone->commit();
                   });
}

Status write_fields(File& to, const std::shared_ptr<File>& alone, const std::vector<Field>& fields) {
  PENSTOCK_TRY(describe_image(to, fields[0].grid));
  for (const Attribute& attribute : alone->attributes("")) PENSTOCK_TRY(to.set_attribute("", attribute));
  std::map<std::string, std::string> names;
  for (const Field& field : fields) {
    const auto [at, is_new] = names.emplace(array_name(field), field.dataset.name);
    if (!is_new)
      return {Code::exists, fmt::format("'{}' and '{}' would both become '{}': choose one with --only", at->second,
                                        field.dataset.name, at->first)};
    for (const Attribute& attribute : alone->attributes(field.dataset.name))
      PENSTOCK_TRY(to.set_attribute(at->first, attribute));
    PENSTOCK_TRY(supply_field(to, alone, field));
  }
  return {};
}

}  // namespace

Result<std::string> write_vtkhdf(const Communicator& comm, const std::string& from, const std::string& to,
                                 const std::string& plan, std::span<const std::string> only) {
  PENSTOCK_ASSIGN(File source, File::open(comm, from));
  PENSTOCK_ASSIGN(const Image image, image_of(source, only));
  auto alone = File::open(serial_communicator(), from);
  PENSTOCK_ASSIGN(File file, File::create(comm, to, plan));
  if (file.path() == source.path())
    return Status(Code::invalid, fmt::format("'{}' would be converted onto itself: name another file", to));
  if (alone.ok())
    file.remember_failure(write_fields(file, std::make_shared<File>(*std::move(alone)), image.fields));
  else
    file.remember_failure(alone.status());
  PENSTOCK_TRY(file.close());
  if (image.left_out.empty()) return std::string();
  return fmt::format("left out, since they are no fields of 2 or 3 dimensions with real numbers: {}",
                     fmt::join(image.left_out, ", "));
}

}  // namespace penstock
