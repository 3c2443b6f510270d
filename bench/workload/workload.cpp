// Workload: the table of workloads, and functions common to all.
#include "bench/workload/workload.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/model/catalogue.hpp"

namespace penstock::bench {

namespace {

constexpr WorkloadKind table[] = {
    {"block2d", "one square 2-D array in the squarest grid of blocks (Haefele's test)", make_block2d},
    {"block3d", "one 3-D array, a cube, in the most cubic grid of blocks", make_block3d},
    {"columns", "--datasets 2-D arrays, of which each rank has columns; --row-bytes is what is contiguous",
     make_columns},
    {"checkpoint", "--variables cubes in blocks; with --compute, between phases of the program (LRZ)", make_checkpoint},
    {"ior", "segments of one block for each rank, transfer by transfer (IOR)", make_ior,
     "--block-size and --segment-count"},
    {"many", "hundreds of small 2-D arrays in blocks, slabs of rows and slabs of columns in turn", make_many,
     "--datasets and --dataset-bytes"},
    {"map", "irregular runs of elements from an E3SM decomposition map", make_map, "--map and --variables"},
    {"pencil", "three cubes of velocity, long in y, cut in x and z (ESIO)", make_pencil},
    {"pic", "6 fields in many steps, in slabs of one writer for each node (LRZ)", make_pic},
    {"particles", "ragged lists of particles, 9 arrays of 38 bytes in all; some ranks have none (LRZ)", make_particles,
     "", false},
    {"ramses-amr",
     "RAMSES' mesh: tables of all processes, then 8 structures of 156 bytes for each oct, level by level "
     "(IDRIS)",
     make_ramses_amr, "--domain", false},
    {"ramses-hydro", "RAMSES' fluid: 5 structures of 320 bytes for each oct, level by level (IDRIS)", make_ramses_hydro,
     "--domain", false},
};

}  // namespace

std::span<const WorkloadKind> workloads() { return table; }

Result<std::unique_ptr<Workload>> make_workload(std::string_view name, const WorkloadRequest& request) {
  WorkloadRequest sized = request;
  if (request.bytes_per_rank > 0) sized.total_bytes = request.bytes_per_rank * request.ranks;
  for (const WorkloadKind& kind : table)
    if (kind.name == name) return kind.make(sized);
  return Status(Code::not_found, fmt::format("no workload '{}'", name));
}

std::span<const Run> Workload::holes(int) const { return {}; }

Run Workload::source(int, int64_t offset) const { return {offset, INT64_MAX}; }

Result<std::vector<Portion>> Workload::portions(int rank, int size) const {
  std::vector<Portion> list;
  for (int field = 0; field < static_cast<int>(fields().size()); ++field) {
    PENSTOCK_ASSIGN(Decomposition own, part(field, rank, size));
    list.push_back({field, std::move(own)});
  }
  return list;
}

void number_elements(std::vector<Field>& fields) {
  int64_t first = 0;
  for (Field& field : fields) {
    field.first = first;
    field.elements = elements(field.shape);
    first += field.elements;
  }
}

int64_t cut(int64_t extent, int index, int count) {
  // Not extent * index / count, which overflows at 2^63 / count.
  return extent / count * index + std::min<int64_t>(index, extent % count);
}

int64_t total_elements(const Workload& workload) {
  int64_t sum = 0;
  for (const Field& field : workload.fields()) sum += field.elements;
  return sum;
}

int64_t total_bytes(const Workload& workload) {
  int64_t sum = 0;
  for (const Field& field : workload.fields()) sum += field.elements * bytes(field.type);
  return sum;
}

bool has_holes(const Workload& workload) {
  for (size_t i = 0; i < workload.fields().size(); ++i)
    if (!workload.holes(static_cast<int>(i)).empty()) return true;
  return false;
}

Slab slab(const Workload& workload, int field, int rank, int size) {
  const Field& f = workload.fields()[static_cast<size_t>(field)];
  if (f.elements == 0) return {};
  if (!workload.read_by_rows()) return {cut(f.elements, rank, size), cut(f.elements, rank + 1, size)};
  const int64_t row = f.elements / f.shape[0];
  return {cut(f.shape[0], rank, size) * row, cut(f.shape[0], rank + 1, size) * row};
}

Result<Decomposition> slab_decomposition(const Workload& workload, int field, const Slab& slab) {
  const Field& f = workload.fields()[static_cast<size_t>(field)];
  if (!workload.read_by_rows() || f.elements == 0) {
    const Run run{slab.begin, slab.end - slab.begin};
    return Decomposition::runs(f.shape, std::span(&run, run.length > 0 ? 1 : 0));
  }
  const int64_t row = f.elements / f.shape[0];
  Dims start = Dims::filled(f.shape.rank(), 0), count = f.shape;
  start[0] = slab.begin / row;
  count[0] = (slab.end - slab.begin) / row;
  return Decomposition::block(f.shape, start, count);
}

int owner(const Workload& workload, int field, int64_t offset, int size) {
  for (int rank = 0; rank < size; ++rank) {
    const auto part = workload.part(field, rank, size);
    if (!part) continue;
    bool found = false;
    for_each_run(*part, [&](int64_t first, int64_t length) { found |= first <= offset && offset < first + length; });
    if (found) return rank;
  }
  return -1;
}

}  // namespace penstock::bench
