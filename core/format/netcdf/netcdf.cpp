// netCDF: one classic CDF-5 file. We encode and decode the header ourselves, so every build supports it.
#include "core/format/format.hpp"
#include "core/format/index.hpp"
#include "core/format/netcdf/contents.hpp"
#include "core/format/regular_file.hpp"
#include "core/netcdf/define.hpp"

namespace penstock {
namespace {

class Netcdf final : public Format {
 public:
  const Descriptor& describe() const override {
    static const Descriptor descriptor{
        "netcdf", "one classic netCDF file (CDF-5) that ncdump, xarray, PnetCDF and CF tools read", {}, ""};
    return descriptor;
  }

  bool self_contained() const override { return true; }
  std::string_view convention() const override { return "CF"; }
  bool big_endian() const override { return true; }
  std::string_view extension() const override { return "nc"; }
  std::string_view master_extension() const override { return "json"; }

  Status check(const Catalogue& catalogue) const override {
    PENSTOCK_TRY(check_names(catalogue));
    return netcdf::define(catalogue, {}).status();
  }

  Result<Layout> layout(const Catalogue& catalogue, const LayoutOptions& options) const override {
    PENSTOCK_TRY(check_names(catalogue));
    PENSTOCK_ASSIGN(auto defined, netcdf::define(catalogue, options.block));
    return std::move(defined.layout);
  }

  Result<std::vector<std::byte>> master(const Contents& contents) const override { return index_bytes(contents); }

  bool recognises(std::span<const std::byte> head) const override {
    if (is_index(head, "netcdf")) return true;
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    return text.starts_with("CDF\1") || text.starts_with("CDF\2") || text.starts_with("CDF\5");
  }

  Result<Contents> read(const std::string& path) const override {
    PENSTOCK_ASSIGN(const std::string first, read_regular_file(path, 1));
    return first == "{" ? read_index(path, "netcdf") : netcdf::read_contents(path);
  }
};

}  // namespace

const Format& netcdf_format() {
  static const Netcdf format;
  return format;
}

}  // namespace penstock
