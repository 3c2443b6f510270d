// HDF5: plain files for any tool, whose metadata libhdf5 makes in private and which it never opens for writing.
#include <algorithm>

#include "core/format/format.hpp"
#include "core/format/hdf5/image.hpp"
#include "core/format/hdf5/master.hpp"
#include "core/format/hdf5/read.hpp"

namespace penstock {
namespace {

constexpr int64_t largest_attribute = int64_t{1} << 30;
constexpr size_t longest_attribute_name = 1000;
constexpr int64_t largest_text = INT32_MAX;  // HDF5 keeps a type's size in 32 bits

Status check_attribute(const std::string& object, const Attribute& attribute) {
  const std::string what = "attribute '" + attribute.name.substr(0, longest_attribute_name) + "' of '" + object + "'";
  if (attribute.name.empty() || attribute.name.find('\0') != std::string::npos ||
      attribute.name.size() > longest_attribute_name)
    return {Code::invalid, what + " has a name that HDF5 cannot hold: 1 to 1000 bytes without NUL"};
  if (static_cast<int64_t>(attribute.value.size()) > largest_attribute || attribute.type.text_bytes > largest_text)
    return {Code::unsupported, what + " is larger than 1 GiB; make it a dataset"};
  if (attribute.shape.rank() > 0 && elements(attribute.shape) == 0 && attribute.type.kind == Kind::text &&
      attribute.type.text_bytes == 0)
    return {Code::invalid, what + " has texts of no bytes"};
  return {};
}

class Hdf5 final : public Format {
 public:
  const Descriptor& describe() const override {
    static const Descriptor descriptor{
        "hdf5", "one plain HDF5 file that h5py, xarray, ParaView and netCDF-4 tools read", {}, ""};
    return descriptor;
  }

  bool self_contained() const override { return true; }

  Status check(const Catalogue& catalogue) const override {
    PENSTOCK_TRY(check_names(catalogue));
    for (const Dataset& dataset : catalogue.datasets) {
      if (dataset.type.text_bytes > largest_text)
        return {Code::unsupported, "dataset '" + dataset.name + "' has texts of more than 2 GiB each"};
      if (dataset.unlimited && dataset.shape.rank() == 0)
        return {Code::invalid, "dataset '" + dataset.name + "' is a scalar and cannot grow"};
      if (dataset.unlimited && hdf5::rows_per_chunk(dataset, 1) == 0)
        return {Code::unsupported, "dataset '" + dataset.name +
                                       "' can grow, and one of its rows has 4 GiB or more, which HDF5 cannot store"};
    }
    for (const auto& [object, attributes] : catalogue.attributes)
      for (const auto& [name, attribute] : attributes) PENSTOCK_TRY(check_attribute(object, attribute));
    return {};
  }

  Result<Layout> layout(const Catalogue& catalogue, const Alignment& alignment) const override {
    PENSTOCK_TRY(check(catalogue));
    PENSTOCK_TRY(hdf5::library_ready());
    for (const Dataset& dataset : catalogue.datasets)
      if (dataset.unlimited && hdf5::rows_per_chunk(dataset, alignment.block) == 0)
        return Status(Code::unsupported, "dataset '" + dataset.name +
                                             "' can grow, and no chunk of whole rows below 4 GiB is a multiple of " +
                                             std::to_string(alignment.block) + " bytes");
    const hdf5::QuietErrors quiet;
    return hdf5::image_layout(catalogue, alignment);
  }

  Result<std::vector<std::byte>> master(const Contents& contents) const override {
    PENSTOCK_TRY(check(contents.catalogue));
    PENSTOCK_TRY(hdf5::library_ready());
    const hdf5::QuietErrors quiet;
    return hdf5::master_image(contents);
  }

  bool recognises(std::span<const std::byte> head) const override {
    constexpr unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    return head.size() >= sizeof signature &&
           std::equal(signature, signature + sizeof signature, head.begin(),
                      [](unsigned char a, std::byte b) { return a == std::to_integer<unsigned char>(b); });
  }

  Result<Contents> read(const std::string& path) const override {
    PENSTOCK_TRY(hdf5::library_ready());
    const hdf5::QuietErrors quiet;
    return hdf5::read_contents(path);
  }

  Status read_foreign(const std::string& path, const Dataset& dataset, const Box& box,
                      std::span<std::byte> out) const override {
    PENSTOCK_TRY(hdf5::library_ready());
    const hdf5::QuietErrors quiet;
    return hdf5::read_box(path, dataset, box, out);
  }
};

}  // namespace

const Format& hdf5_format() {
  static const Hdf5 format;
  return format;
}

}  // namespace penstock
