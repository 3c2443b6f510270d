// Raw: datasets one after another in a file, and a JSON sidecar with their locations; the simplest format.
#include <string_view>

#include "core/base/units.hpp"
#include "core/format/format.hpp"
#include "core/format/index.hpp"
#include "core/format/raw/chunks.hpp"

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
  bool encodes() const override { return true; }
  std::string_view extension() const override { return "raw"; }
  std::string_view master_extension() const override { return "json"; }

  Status check(const Catalogue& catalogue) const override { return check_names(catalogue); }

  Result<Layout> layout(const Catalogue& catalogue, const LayoutOptions& options) const override {
    Layout layout;
    layout.blocks.resize(catalogue.datasets.size());
    PENSTOCK_TRY(place(catalogue, options, false, layout));
    if (options.written.length > 0) {
      if (layout.end > options.written.offset)
        return Status(Code::internal, "chunks were written where other datasets belong");
      layout.end = options.written.offset + options.written.length;
    }
    PENSTOCK_TRY(place(catalogue, options, true, layout));
    return layout;
  }

  Result<std::vector<std::byte>> master(const Contents& contents) const override { return index_bytes(contents); }

  bool recognises(std::span<const std::byte> head) const override { return is_index(head, "raw"); }

  Result<Contents> read(const std::string& path) const override { return read_index(path, "raw"); }

  Result<std::unique_ptr<ForeignDataset>> open_foreign(const Contents& contents, const std::string& path,
                                                       const Dataset& dataset, int64_t) const override {
    return open_chunks(contents, path, dataset);
  }

 private:
  // Gives datasets that are ENCODED, or the others, places behind LAYOUT's end.
  static Status place(const Catalogue& catalogue, const LayoutOptions& options, bool encoded, Layout& layout) {
    for (size_t d = 0; d < catalogue.datasets.size(); ++d) {
      if (options.encoded(d) != encoded) continue;
      const Dataset& dataset = catalogue.datasets[d];
      const int64_t size = options.stored_bytes(catalogue, d);
      StoredBlock& block = layout.blocks[d];
      block.where = Selection::whole(dataset.shape);
      if (size == 0) continue;
      const int64_t unit = size >= options.block ? options.block : natural_alignment(dataset.type);
      block.base = round_up(layout.end, unit);
      if (size > largest_offset - block.base)
        return {Code::invalid, "up to dataset '" + dataset.name + "' there are more bytes than 63 bits can address"};
      layout.end = block.base + size;
    }
    return {};
  }
};

}  // namespace

const Format& raw_format() {
  static const Raw format;
  return format;
}

}  // namespace penstock
