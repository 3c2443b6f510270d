// Dimensions: names from the user, from coordinate datasets, or from lengths; the record dimension from growing
// datasets.
#include "core/netcdf/dimensions.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/model/kinds.hpp"
#include "core/netcdf/names.hpp"

namespace penstock::netcdf {
namespace {

constexpr std::string_view default_record = "record", no_elements = "_penstock_empty", parts_of_complex = "complex";

using Names = DimensionNames;

bool grows_as_records(const Dataset& dataset) {
  const auto rest = dataset.shape.begin() + 1;
  return dataset.unlimited && dataset.shape.rank() > 0 &&
         std::find(rest, dataset.shape.end(), 0) == dataset.shape.end();
}

class Namer {
 public:
  explicit Namer(const Catalogue& catalogue) : catalogue_(catalogue) {}

  Result<Shapes> name() {
    const auto& datasets = catalogue_.datasets;
    for (const Dataset& dataset : datasets) given_.push_back(given(dataset));
    for (size_t i = 0; i < datasets.size(); ++i) PENSTOCK_TRY(note_lengths(i));
    for (size_t i = 0; i < datasets.size(); ++i) adopt_own_name(i);
    choose_record();
    for (size_t i = 0; i < datasets.size(); ++i) PENSTOCK_TRY(define_all(i));
    return std::move(shapes_);
  }

 private:
  // Nothing if the attribute is a text that names no dimensions: it is then an attribute as any other, as in HDF5.
  // Blocks of a set's part are cut from larger datasets: names that fit those may not fit here.
  std::optional<Names> given(const Dataset& dataset) {
    auto names = penstock::dimension_names(catalogue_, dataset.name);
    if (!names || catalogue_.attribute(dataset.name, "penstock_shape") != nullptr ||
        std::ssize(*names) != dataset.shape.rank() ||
        std::ranges::any_of(*names, [](const std::string& name) { return name.empty(); }))
      return std::nullopt;
    for (std::string& name : *names) name = encode_name(name);
    return names;
  }

  Status note_lengths(size_t i) {
    const Dataset& dataset = catalogue_.datasets[i];
    if (!given_[i] || (elements(dataset.shape) == 0 && !grows_as_records(dataset))) return {};
    for (size_t d = 0; d < given_[i]->size(); ++d) {
      const std::string& name = (*given_[i])[d];
      const auto [at, is_new] = lengths_.try_emplace(name, dataset.shape[static_cast<int>(d)], dataset.name);
      if (!is_new) PENSTOCK_TRY(check_length(name, at->second.second, at->second.first, dataset, static_cast<int>(d)));
    }
    return {};
  }

  static Status check_length(const std::string& name, const std::string& first, int64_t length, const Dataset& dataset,
                             int d) {
    if (length == dataset.shape[d]) return {};
    return {Code::invalid, fmt::format("dimension '{}' has length {} in '{}' but {} in '{}': use another name in the "
                                       "attribute '{}'",
                                       name, length, first, dataset.shape[d], dataset.name, naming_attribute)};
  }

  // A 1-D dataset with the name of a dimension contains that dimension's coordinates.
  void adopt_own_name(size_t i) {
    const Dataset& dataset = catalogue_.datasets[i];
    if (given_[i] || dataset.shape.rank() != 1) return;
    const std::string name = encode_name(dataset.name);
    const auto found = lengths_.find(name);
    if (found != lengths_.end() && found->second.first == dataset.shape[0]) given_[i] = Names{name};
  }

  std::string first_name(size_t i) const { return given_[i] ? (*given_[i])[0] : std::string(default_record); }

  // There is one record dimension, that of the most rows. Other growing datasets have a fixed size and a note.
  void choose_record() {
    const auto& datasets = catalogue_.datasets;
    const Dataset* longest = nullptr;
    for (size_t i = 0; i < datasets.size(); ++i) {
      if (!grows_as_records(datasets[i]) || (longest != nullptr && longest->shape[0] >= datasets[i].shape[0])) continue;
      longest = &datasets[i];
      record_ = first_name(i);
    }
    shapes_.records = longest == nullptr ? 0 : longest->shape[0];
    for (size_t i = 0; i < datasets.size(); ++i) {
      const bool has_rows = datasets[i].shape.rank() > 0 && datasets[i].shape[0] == shapes_.records;
      const bool grows = grows_as_records(datasets[i]);
      // Others on the same dimension must also be record variables.
      const bool shares = given_[i] && elements(datasets[i].shape) > 0;
      shapes_.record.push_back(longest != nullptr && has_rows && (grows || shares) && first_name(i) == *record_);
    }
  }

  Status define_all(size_t i) {
    const Dataset& dataset = catalogue_.datasets[i];
    auto& of = shapes_.of.emplace_back();
    if (elements(dataset.shape) == 0 && !shapes_.record[i]) {
      PENSTOCK_TRY(define(std::string(no_elements), 1, dataset, of));
    } else {
      std::map<int64_t, int> times;
      for (int d = 0; d < dataset.shape.rank(); ++d) {
        const int64_t length = dataset.shape[d];
        const bool record = shapes_.record[i] && d == 0;
        std::string name = record ? *record_ : given_[i] ? (*given_[i])[static_cast<size_t>(d)] : "";
        if (name.empty()) {
          const int time = ++times[length];
          name = time == 1 ? fmt::format("dim_{}", length) : fmt::format("dim_{}_{}", length, time);
        }
        if (!record && record_ && name == *record_)
          return {Code::invalid, fmt::format("dimension '{}' of '{}' grows, so it can only be the first: use another "
                                             "name in the attribute '{}'",
                                             name, dataset.name, naming_attribute)};
        PENSTOCK_TRY(define(name, record ? 0 : length, dataset, of));
      }
    }
    if (is_complex(dataset.type)) return define(std::string(parts_of_complex), 2, dataset, of);
    if (dataset.type.kind != Kind::text) return {};
    return define(fmt::format("string{}", dataset.type.text_bytes), dataset.type.text_bytes, dataset, of);
  }

  Status define(const std::string& name, int64_t length, const Dataset& dataset, std::vector<int64_t>& of) {
    if (name.size() > longest_name)
      return {Code::unsupported, fmt::format("dimension '{}' of '{}' has a name of more than {} bytes, which netCDF "
                                             "does not have",
                                             name, dataset.name, longest_name)};
    const auto [at, is_new] = index_.try_emplace(name, static_cast<int64_t>(shapes_.dimensions.size()));
    of.push_back(at->second);
    if (is_new) {
      shapes_.dimensions.push_back({name, length});
      return {};
    }
    const int64_t known = shapes_.dimensions[static_cast<size_t>(at->second)].length;
    if (known == length) return {};
    return {Code::invalid, fmt::format("dimension '{}' has length {}, but {} in '{}': use another name in the "
                                       "attribute '{}'",
                                       name, known, length, dataset.name, naming_attribute)};
  }

  const Catalogue& catalogue_;
  std::vector<std::optional<Names>> given_;                         // of each dataset, encoded
  std::map<std::string, std::pair<int64_t, std::string>> lengths_;  // of given names, with their first dataset
  std::optional<std::string> record_;
  std::map<std::string, int64_t> index_;
  Shapes shapes_;
};

}  // namespace

Attribute dimension_names(const std::vector<Dimension>& dimensions, const std::vector<int64_t>& of, size_t count,
                          bool decoded) {
  Names names;
  for (size_t d = 0; d < count; ++d) {
    const std::string& name = dimensions[static_cast<size_t>(of[d])].name;
    names.push_back(decoded ? decode_name(name) : name);
  }
  return naming(names);
}

Result<Shapes> name_dimensions(const Catalogue& catalogue) { return Namer(catalogue).name(); }

}  // namespace penstock::netcdf
