// Raw: datasets one after another in a file, and a JSON sidecar with their locations; the simplest format.
#include <string_view>

#include "core/base/units.hpp"
#include "core/format/format.hpp"
#include "core/format/index.hpp"

namespace penstock {
namespace {

constexpr int64_t largest_offset = INT64_MAX - (int64_t{1} << 31);  // room for rounding up to any block

// The alignment that C compilers on 64-bit machines require for an array of TYPE, so that a mapped file can be used in
// place.
int64_t natural_alignment(const ElementType& type) { return type.kind == Kind::complex128 ? 16 : 8; }

class Raw final : public Format {
 public:
  const Descriptor& describe() const override {
    static const Descriptor descriptor{
        "raw", "binary data and a JSON sidecar: the least overhead, numpy.memmap reads it", {}, ""};
    return descriptor;
  }

  bool self_contained() const override { return false; }
  std::string_view extension() const override { return "raw"; }
  std::string_view master_extension() const override { return "json"; }

  Status check(const Catalogue& catalogue) const override { return check_names(catalogue); }

  Result<Layout> layout(const Catalogue& catalogue, const LayoutOptions& options) const override {
    Layout layout;
    for (const Dataset& dataset : catalogue.datasets) {
      const int64_t size = bytes(dataset);
      StoredBlock block{0, 0, false, Selection::whole(dataset.shape)};
      if (size > 0) {
        const int64_t unit = size >= options.block ? options.block : natural_alignment(dataset.type);
        block.base = round_up(layout.end, unit);
        if (size > largest_offset - block.base)
          return Status(Code::invalid,
                        "up to dataset '" + dataset.name + "' there are more bytes than 63 bits can address");
        layout.end = block.base + size;
      }
      layout.blocks.push_back(std::move(block));
    }
    return layout;
  }

  Result<std::vector<std::byte>> master(const Contents& contents) const override { return index_bytes(contents); }

  bool recognises(std::span<const std::byte> head) const override { return is_index(head, "raw"); }

  Result<Contents> read(const std::string& path) const override { return read_index(path, "raw"); }
};

}  // namespace

const Format& raw_format() {
  static const Raw format;
  return format;
}

}  // namespace penstock
