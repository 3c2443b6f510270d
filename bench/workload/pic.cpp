// pic: LRZ's particle-in-cell code: fields in slabs, with one writer per node, for several steps; and its particles.
//
// The published case has (52, 52, 66560) points of 8 bytes, 6 fields and 10 steps, 82 GiB in all; the long extent is
// chosen by the total size. Particles are ragged lists of 9 arrays, 38 bytes each; some ranks have none.
#include <fmt/format.h>

#include "bench/workload/rows.hpp"

namespace penstock::bench {

namespace {

constexpr int64_t across = 52;
constexpr const char* field_names[] = {"Bx", "By", "Bz", "Ex", "Ey", "Ez"};

struct Array {
  const char* name;
  Kind kind;
};
constexpr Array arrays[] = {{"id", Kind::i64}, {"px", Kind::f32},      {"py", Kind::f32},
                            {"pz", Kind::f32}, {"species", Kind::i16}, {"weight", Kind::f32},
                            {"x", Kind::f32},  {"y", Kind::f32},       {"z", Kind::f32}};
constexpr int64_t particle_bytes = 38;

// EXTENT in even parts over the first rank of every node; other ranks have nothing.
std::vector<int64_t> slabs(int64_t extent, int ranks, int ranks_per_node) {
  const int writers = (ranks + ranks_per_node - 1) / ranks_per_node;
  std::vector<int64_t> counts(static_cast<size_t>(ranks));
  for (int w = 0; w < writers; ++w)
    counts[static_cast<size_t>(w * ranks_per_node)] = extent / writers + (w < extent % writers ? 1 : 0);
  return counts;
}

}  // namespace

Result<std::unique_ptr<Workload>> make_pic(const WorkloadRequest& request) {
  if (request.steps < 1) return Status(Code::invalid, "pic: --steps must be at least 1");
  if (request.ranks_per_node < 1) return Status(Code::invalid, "pic: --tasks-per-node must be at least 1");
  const auto names = static_cast<int64_t>(std::size(field_names));
  const int64_t plane = across * across * bytes(request.type);
  const int64_t length = request.total_bytes / (plane * names * request.steps);
  if (length < 1)
    return Status(Code::invalid,
                  fmt::format("pic: --total is less than one plane of {} x {} for each of {} fields in {} "
                              "steps",
                              across, across, names, request.steps));
  const std::vector<int64_t> counts = slabs(length, request.ranks, request.ranks_per_node);
  std::vector<RowsField> fields;
  for (int step = 0; step < request.steps; ++step)
    for (const char* name : field_names)
      fields.push_back({fmt::format("step{:04}_{}", step, name), request.type, Dims{across, across}, counts});
  nlohmann::json description{{"shape", {length, across, across}},
                             {"order", "C"},
                             {"steps", request.steps},
                             {"fields", names},
                             {"writers", (request.ranks + request.ranks_per_node - 1) / request.ranks_per_node},
                             {"tasksPerNode", request.ranks_per_node}};
  return std::unique_ptr<Workload>(std::make_unique<Rows>(std::move(fields), std::move(description)));
}

Result<std::unique_ptr<Workload>> make_particles(const WorkloadRequest& request) {
  const int64_t mean = request.total_bytes / particle_bytes / request.ranks;
  if (mean < 1) return Status(Code::invalid, "particles: --total is less than one particle on each rank");
  // From zero to twice the mean, in an order shuffled by multiplication with the golden ratio.
  std::vector<int64_t> counts;
  for (int rank = 0; rank < request.ranks; ++rank) {
    const uint64_t mixed = static_cast<uint64_t>(rank) * 0x9e3779b97f4a7c15u >> 54;  // 10 bits
    counts.push_back(request.ranks == 1 ? mean : mean / 512 * static_cast<int64_t>(mixed) + mean % 512);
  }
  if (request.ranks > 1) counts[0] = 0;
  std::vector<RowsField> fields;
  for (const Array& array : arrays)
    fields.push_back({fmt::format("particles_{}", array.name), ElementType{array.kind}, {}, counts});
  nlohmann::json description{{"shape", nullptr},
                             {"order", "C"},
                             {"arrays", std::size(arrays)},
                             {"bytes_per_particle", particle_bytes},
                             {"counts", counts}};
  return std::unique_ptr<Workload>(std::make_unique<Rows>(std::move(fields), std::move(description)));
}

}  // namespace penstock::bench
