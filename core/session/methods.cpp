// Methods: formats, placements and transports as descriptors.
#include "core/session/methods.hpp"

#include "core/format/format.hpp"
#include "core/placement/placement.hpp"
#include "core/transport/transport.hpp"

namespace penstock {
namespace {

const Descriptor common{
    "common",
    "parameters of every plan",
    {{"placement", Parameter::Type::choice, "single|per_rank", "single", "in which files the data goes"},
     {"durability", Parameter::Type::choice, "full|none", "full", "none leaves out the syncs and nothing else"},
     {"preallocate", Parameter::Type::boolean, "true|false", "true", "allocate a file's blocks before writing it"},
     {"block", Parameter::Type::bytes, "4096", "4KiB", "alignment of large datasets; no two writers share a block"}},
    ""};

}  // namespace

const Catalog& catalog() {
  static const Catalog all = [] {
    Catalog c;
    for (const Format* format : formats()) c.formats.push_back(&format->describe());
    for (const Descriptor* placement : placements()) c.placements.push_back(placement);
    for (const Transport* transport : transports()) c.transports.push_back(&transport->describe());
    c.common = &common;
    return c;
  }();
  return all;
}

std::string_view format_of_path(std::string_view path) {
  return path.ends_with(".raw") || path.ends_with(".json") ? "raw" : "hdf5";
}

}  // namespace penstock
