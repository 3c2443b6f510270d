// HDF5: plain files for any tool. libhdf5 creates the metadata privately and never opens the file for writing.
#include "core/format/format.hpp"
#include "core/format/hdf5/image.hpp"
#include "core/format/hdf5/read.hpp"
#include "core/hdf5/definitions.hpp"
#include "core/hdf5/dimension_scales.hpp"

namespace penstock {
namespace {

class Hdf5 final : public Format {
 public:
  const Descriptor& describe() const override {
    static const Descriptor descriptor{
        "hdf5", "one plain HDF5 file that h5py, xarray, ParaView and netCDF-4 tools read", {}, ""};
    return descriptor;
  }

  bool self_contained() const override { return true; }
  bool encodes() const override { return true; }
  std::string_view convention() const override { return "openPMD"; }
  std::string_view extension() const override { return "h5"; }
  std::string_view master_extension() const override { return "h5"; }

  Status check(const Catalogue& catalogue) const override {
    PENSTOCK_TRY(hdf5::check_definitions(catalogue));
    PENSTOCK_TRY(hdf5::check_scales(catalogue));
    for (const Dataset& dataset : catalogue.datasets)
      if (dataset.unlimited && hdf5::rows_per_chunk(dataset, 1) == 0)
        return {Code::unsupported, "dataset '" + dataset.name +
                                       "' can grow, and one of its rows has 4 GiB or more, which HDF5 cannot store"};
    return {};
  }

  Result<Layout> layout(const Catalogue& catalogue, const LayoutOptions& options) const override {
    PENSTOCK_TRY(check(catalogue));
    for (const Dataset& dataset : catalogue.datasets)
      if (dataset.unlimited && hdf5::rows_per_chunk(dataset, options.block) == 0)
        return Status(Code::unsupported, "dataset '" + dataset.name +
                                             "' can grow, and no chunk of whole rows below 4 GiB is a multiple of " +
                                             std::to_string(options.block) + " bytes");
    const hdf5::QuietErrors quiet;
    PENSTOCK_TRY(hdf5::library_ready());
    return hdf5::image_layout(catalogue, options);
  }

  Result<std::vector<std::byte>> master(const Contents& contents) const override {
    PENSTOCK_TRY(check(contents.catalogue));
    const hdf5::QuietErrors quiet;
    PENSTOCK_TRY(hdf5::library_ready());
    return hdf5::master_image(contents);
  }

  bool recognises(std::span<const std::byte> head) const override {
    return std::string_view(reinterpret_cast<const char*>(head.data()), head.size()).starts_with(hdf5::signature);
  }

  // HDF5's user blocks, as in MATLAB files.
  bool may_begin_later() const override { return true; }

  Result<Contents> read(const std::string& path) const override {
    const hdf5::QuietErrors quiet;
    PENSTOCK_TRY(hdf5::library_ready());
    return hdf5::read_contents(path);
  }

  Result<std::unique_ptr<ForeignDataset>> open_foreign(const Contents&, const std::string& path, const Dataset& dataset,
                                                       int64_t cache_bytes) const override {
    const hdf5::QuietErrors quiet;
    PENSTOCK_TRY(hdf5::library_ready());
    return hdf5::open_foreign(path, dataset, cache_bytes);
  }
};

}  // namespace

const Format& hdf5_format() {
  static const Hdf5 format;
  return format;
}

}  // namespace penstock
