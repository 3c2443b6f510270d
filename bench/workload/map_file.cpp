// Map file: reads the variables of each decomposition, divided by process.
#include "bench/workload/map_file.hpp"

#include <fmt/format.h>
#include <cerrno>
#include <fstream>

#include "core/model/catalogue.hpp"
#include "core/netcdf/header.hpp"

namespace penstock::bench {

namespace {

// The whole file in memory, and its header.
struct MapFile {
  std::vector<std::byte> bytes;
  netcdf::Header header;

  Result<std::vector<int64_t>> variable(const std::string& name) const { return netcdf::integers(header, bytes, name); }
};

Status damaged(const std::string& name, std::string_view what) {
  return Status(Code::damaged, fmt::format("decomposition {}: {}", name, what));
}

Result<std::vector<std::byte>> read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return Status::from_errno(errno, "opening it");
  std::vector<std::byte> bytes(static_cast<size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) return Status(Code::io, "it cannot be read");
  return bytes;
}

Result<Dims> shape_of(const netcdf::Header& header, const std::string& name) {
  const Attribute* attribute = header.attribute(name + ".dims");
  if (attribute == nullptr) return damaged(name, "there is no attribute " + name + ".dims");
  const std::vector<int64_t> extents = netcdf::integers(*attribute);
  if (extents.empty() || extents.size() > max_rank) return damaged(name, "it has no dimensions, or too many");
  const Dims shape{std::span<const int64_t>(extents)};
  PENSTOCK_TRY(check_shape(ElementType{Kind::f64}, shape));
  return shape;
}

Result<MapDecomposition> decode(const MapFile& map, const std::string& name) {
  MapDecomposition decomposition;
  decomposition.name = name;
  PENSTOCK_ASSIGN(decomposition.shape, shape_of(map.header, name));
  PENSTOCK_ASSIGN(const auto requests, map.variable(name + ".nreqs"));
  PENSTOCK_ASSIGN(const auto offsets, map.variable(name + ".offsets"));
  PENSTOCK_ASSIGN(const auto lengths, map.variable(name + ".lengths"));
  // Older maps have no fills.
  const auto fills = map.variable(name + ".fill_starts");
  if (!fills && fills.status().code() != Code::not_found) return fills.status();
  if (fills && fills->size() != requests.size()) return damaged(name, "fill_starts and nreqs differ in length");
  if (offsets.size() != lengths.size()) return damaged(name, "offsets and lengths differ in length");

  const int64_t count = elements(decomposition.shape);
  size_t next = 0;
  for (size_t process = 0; process < requests.size(); ++process) {
    const int64_t own = requests[process];
    if (own < 0 || static_cast<uint64_t>(own) > offsets.size() - next)
      return damaged(name, "nreqs adds up to too many runs");
    const int64_t filled_from = fills ? (*fills)[process] : own;
    std::vector<Run>& runs = decomposition.processes.emplace_back();
    for (int64_t i = 0; i < own; ++i, ++next) {
      const Run run{offsets[next], lengths[next]};
      if (run.offset < 0 || run.length < 0 || run.length > count || run.offset > count - run.length)
        return damaged(name, fmt::format("run {} of process {} lies outside of the array", i, process));
      if (i >= filled_from) decomposition.fill_elements += run.length;
      if (run.length > 0) runs.push_back(run);
    }
  }
  if (next != offsets.size()) return damaged(name, "nreqs adds up to too few runs");
  return decomposition;
}

Result<std::vector<MapDecomposition>> decode_all(const std::string& path) {
  MapFile map;
  PENSTOCK_ASSIGN(map.bytes, read_whole(path));
  PENSTOCK_ASSIGN(map.header, netcdf::decode_header(map.bytes));
  PENSTOCK_ASSIGN(const int64_t count, map.header.dimension("num_decomp"));
  std::vector<MapDecomposition> decompositions;
  for (int64_t k = 1; k <= count; ++k) {
    PENSTOCK_ASSIGN(MapDecomposition one, decode(map, fmt::format("D{}", k)));
    decompositions.push_back(std::move(one));
  }
  if (decompositions.empty()) return Status(Code::damaged, "it holds no decomposition");
  return decompositions;
}

}  // namespace

Result<std::vector<MapDecomposition>> read_map_file(const std::string& path) {
  auto decompositions = decode_all(path);
  if (!decompositions) return decompositions.status().in(fmt::format("map {}", path));
  return decompositions;
}

}  // namespace penstock::bench
