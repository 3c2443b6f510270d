// openPMD: the attributes that standard 1.1.0 requires of files, iterations, meshes and particles.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/conventions/conventions.hpp"
#include "core/mesh/mesh.hpp"
#include "core/mesh/thinned.hpp"

namespace penstock {
namespace {

constexpr std::string_view root = "data/", fields = "fields/", particles = "particles/";

Attribute number(const std::string& name, double value) { return make_attribute(name, type_of<double>(), &value, -1); }

Attribute numbers(const std::string& name, const std::vector<double>& values) {
  return make_attribute(name, type_of<double>(), values.data(), std::ssize(values));
}

// The datasets of a record: one with its name, or components with names below it.
struct Record {
  std::map<std::string, const Dataset*> components;  // "" for a scalar record
  const Dataset& any() const { return *components.begin()->second; }
};

class OpenPmd {
 public:
  OpenPmd(Catalogue& catalogue, std::string_view software) : catalogue_(catalogue), software_(software) {}

  Status follow() {
    PENSTOCK_ASSIGN(meshes_, meshes_of(catalogue_));
    for (const Dataset& dataset : catalogue_.datasets) sort(dataset);
    if (iterations_.empty())
      return {
          Code::invalid,
          "openPMD: no dataset is named data/ITERATION/fields/NAME or data/ITERATION/particles/SPECIES/RECORD, as in "
          "'data/100/fields/rho'"};
    describe_file();
    for (const auto& [name, record] : fields_) PENSTOCK_TRY(describe_field(name, record));
    for (const auto& [species, records] : species_) PENSTOCK_TRY(describe_species(species, records));
    return {};
  }

 private:
  void set(const std::string& object, Attribute attribute) {
    std::string name = attribute.name;
    catalogue_.attributes[object].try_emplace(std::move(name), std::move(attribute));
  }
  void set(const std::string& object, const char* name, const std::string& value) {
    set(object, text_attribute(name, value));
  }

  // Assigns it to a field or a species; other datasets are ignored.
  void sort(const Dataset& dataset) {
    std::string_view rest = dataset.name;
    if (!rest.starts_with(root)) return;
    rest.remove_prefix(root.size());
    int64_t iteration = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), iteration);
    if (error != std::errc() || iteration < 0 || end == rest.data() + rest.size() || *end != '/') return;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()) + 1);
    const std::string base = dataset.name.substr(0, dataset.name.size() - rest.size());
    const bool field = rest.starts_with(fields);
    if (!field && !rest.starts_with(particles)) return;
    rest.remove_prefix(field ? fields.size() : particles.size());
    if (field) {
      const size_t slash = std::min(rest.find('/'), rest.size());
      const std::string record = base + std::string(fields) + std::string(rest.substr(0, slash));
      fields_[record].components[std::string(rest.substr(std::min(slash + 1, rest.size())))] = &dataset;
    } else {
      const size_t slash = rest.find('/');
      if (slash == std::string_view::npos) return;
      const std::string species = base + std::string(particles) + std::string(rest.substr(0, slash));
      rest.remove_prefix(slash + 1);
      const size_t next = std::min(rest.find('/'), rest.size());
      species_[species][std::string(rest.substr(0, next))]
          .components[std::string(rest.substr(std::min(next + 1, rest.size())))] = &dataset;
    }
    iterations_.insert(base.substr(0, base.size() - 1));
  }

  double of_file(const char* name, double otherwise) const {
    const Attribute* found = catalogue_.attribute("", name);
    if (found == nullptr || found->type.kind != Kind::f64 || found->shape.rank() > 0) return otherwise;
    double value = 0;
    std::memcpy(&value, found->value.data(), sizeof value);
    return value;
  }

  void describe_file() {
    set("", "openPMD", "1.1.0");
    const uint32_t none = 0;
    set("", make_attribute("openPMDextension", type_of<uint32_t>(), &none, -1));
    set("", "basePath", "/data/%T/");
    if (!fields_.empty()) set("", "meshesPath", std::string(fields));
    if (!species_.empty()) set("", "particlesPath", std::string(particles));
    set("", "iterationEncoding", "groupBased");
    set("", "iterationFormat", "/data/%T/");
    const size_t blank = software_.find(' ');
    set("", "software", software_.substr(0, blank));
    if (blank != std::string::npos) set("", "softwareVersion", software_.substr(blank + 1));
    for (const std::string& iteration : iterations_) {
      set(iteration, number("time", of_file("time", 0)));
      set(iteration, number("dt", of_file("dt", 1)));
      set(iteration, number("timeUnitSI", 1));
    }
  }

  // Attributes of every record and every component.
  void describe_record(const std::string& name, const Record& record, const std::vector<double>& dimension) {
    set(name, numbers("unitDimension", dimension));
    set(name, number("timeOffset", 0));
    for (const auto& [component, dataset] : record.components) set(dataset->name, number("unitSI", 1));
  }

  Status describe_field(const std::string& name, const Record& record) {
    const int rank = record.any().shape.rank();
    for (const auto& [component, dataset] : record.components)
      if (!(dataset->shape == record.any().shape) || (component.empty() && record.components.size() > 1))
        return {Code::invalid,
                fmt::format("openPMD: '{}' is {}, '{}' is {}: components of one mesh record have one shape, and "
                            "a record is a dataset or has components",
                            dataset->name, penstock::describe(*dataset), record.any().name,
                            penstock::describe(record.any()))};
    describe_record(name, record, std::vector<double>(7, 0));
    const Mesh* mesh = nullptr;
    bool at_cells = false;
    for (const MeshWithValues& one : meshes_)
      for (const Values& values : one.values)
        if (values.dataset->name == record.any().name) mesh = &one.mesh, at_cells = values.at_cells;
    const bool uniform = mesh == nullptr || (mesh->kind == MeshKind::uniform && mesh->dimensions == rank);
    set(name, "geometry", uniform ? "cartesian" : "other");
    set(name, "dataOrder", "C");
    const std::vector<std::string> all = {"z", "y", "x"};
    std::vector<std::string> labels;
    for (int d = 0; d < rank; ++d)
      labels.push_back(rank <= 3 ? all[static_cast<size_t>(3 - rank + d)] : fmt::format("axis{}", d));
    set(name, text_attribute("axisLabels", labels));
    const bool known = uniform && mesh != nullptr;
    std::vector<double> origin(static_cast<size_t>(rank), 0), spacing(static_cast<size_t>(rank), 1);
    if (known)
      origin = mesh->origin, spacing = mesh->spacing;
    else
      place_stored(catalogue_, record.any().name, at_cells, origin, spacing);
    set(name, numbers("gridSpacing", spacing));
    set(name, numbers("gridGlobalOffset", origin));
    set(name, number("gridUnitSI", 1));
    for (const auto& [component, dataset] : record.components)
      set(dataset->name, numbers("position", std::vector<double>(static_cast<size_t>(rank), at_cells ? 0.5 : 0.0)));
    return {};
  }

  Status describe_species(const std::string& species, const std::map<std::string, Record>& records) {
    const auto position = records.find("position");
    if (position == records.end())
      return {Code::invalid, fmt::format("openPMD: particles '{}' have no '{}/position/x' (y, z)", species, species)};
    std::vector<double> length(7, 0);
    length[0] = 1;
    for (const auto& [name, record] : records) {
      const bool place = name == "position" || name == "positionOffset";
      describe_record(species + "/" + name, record, place ? length : std::vector<double>(7, 0));
      for (const auto& [component, dataset] : record.components)
        if (dataset->shape.rank() != 1 || !(dataset->shape == position->second.any().shape))
          return {Code::invalid,
                  fmt::format("openPMD: '{}' is {}, '{}' is {}: each record of a species has one value for each "
                              "particle",
                              dataset->name, penstock::describe(*dataset), position->second.any().name,
                              penstock::describe(position->second.any()))};
    }
    if (!records.contains("positionOffset")) add_offset(species, position->second, length);
    return {};
  }

  // Zero for all particles: a constant record is a group with a value and a shape.
  void add_offset(const std::string& species, const Record& position, const std::vector<double>& length) {
    const std::string record = species + "/positionOffset";
    set(record, numbers("unitDimension", length));
    set(record, number("timeOffset", 0));
    for (const auto& [component, dataset] : position.components) {
      const std::string object = component.empty() ? record : record + "/" + component;
      const auto count = static_cast<uint64_t>(dataset->shape[0]);
      set(object, number("unitSI", 1));
      set(object, number("value", 0));
      set(object, make_attribute("shape", type_of<uint64_t>(), &count, 1));
    }
  }

  Catalogue& catalogue_;
  std::string software_;
  std::vector<MeshWithValues> meshes_;
  std::set<std::string> iterations_;  // "data/100"
  std::map<std::string, Record> fields_;
  std::map<std::string, std::map<std::string, Record>> species_;
};

}  // namespace

Status follow_openpmd(Catalogue& catalogue, std::string_view software) { return OpenPmd(catalogue, software).follow(); }

}  // namespace penstock
