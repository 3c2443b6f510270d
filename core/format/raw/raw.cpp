// Raw: datasets one after another in a file of their own, and a JSON sidecar that says where; the plainest format there
// is.
#include <string_view>

#include "core/format/format.hpp"
#include "core/format/index.hpp"
#include "core/format/regular_file.hpp"

namespace penstock {
namespace {

constexpr int64_t largest_offset = INT64_MAX - (int64_t{1} << 31);  // room for rounding up to any block

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// What a C compiler on any 64-bit machine asks of an array of TYPE, so that a mapped file can be used in place.
int64_t natural_alignment(const ElementType& type) { return type.kind == Kind::complex128 ? 16 : 8; }

class Raw final : public Format {
 public:
  const Descriptor& describe() const override {
    static const Descriptor descriptor{
        "raw", "binary data and a JSON sidecar: the least overhead, numpy.memmap reads it", {}, ""};
    return descriptor;
  }

  bool self_contained() const override { return false; }

  Status check(const Catalogue& catalogue) const override { return check_names(catalogue); }

  Result<Layout> layout(const Catalogue& catalogue, const Alignment& alignment) const override {
    Layout layout;
    for (const Dataset& dataset : catalogue.datasets) {
      const int64_t size = bytes(dataset);
      Layout::Place place;
      if (size > 0) {
        const int64_t unit = size >= alignment.block ? alignment.block : natural_alignment(dataset.type);
        place.base = round_up(layout.end, unit);
        if (size > largest_offset - place.base)
          return Status(Code::invalid,
                        "up to dataset '" + dataset.name + "' there are more bytes than 63 bits can address");
        layout.end = place.base + size;
      }
      layout.places.push_back(place);
    }
    return layout;
  }

  Result<std::vector<std::byte>> master(const Contents& contents) const override {
    PENSTOCK_ASSIGN(const std::string text, encode_index(contents));
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return std::vector<std::byte>(begin, begin + text.size());
  }

  bool recognises(std::span<const std::byte> head) const override {
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    if (!text.starts_with('{') || text.find("\"penstock.index/1\"") == std::string_view::npos) return false;
    size_t at = text.find("\"format\"");
    if (at == std::string_view::npos) return false;
    at = text.find_first_not_of(" \t\r\n:", at + 8);
    return at != std::string_view::npos && text.substr(at, 5) == "\"raw\"";
  }

  Result<Contents> read(const std::string& path) const override {
    PENSTOCK_ASSIGN(const std::string text, read_regular_file(path));
    auto contents = decode_index(text, "raw", folder_of(path));
    if (!contents.ok()) return contents.status().in("'" + path + "'");
    PENSTOCK_TRY(check_parts(*contents).in("'" + path + "'"));
    return contents;
  }

  Status read_foreign(const std::string& path, const Dataset& dataset, const Box&,
                      std::span<std::byte>) const override {
    return {Code::internal, "'" + path + "', dataset '" + dataset.name + "': nothing in a raw file is foreign"};
  }
};

}  // namespace

const Format& raw_format() {
  static const Raw format;
  return format;
}

}  // namespace penstock
