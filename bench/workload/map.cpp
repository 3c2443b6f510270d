// map: arrays over the irregular decompositions of an E3SM map, on any number of ranks.
//
// A map was made for a fixed number of processes. With fewer ranks each takes a contiguous group of them; with more
// ranks some have no data. Runs that E3SM fills are written like the others. If runs overlap, the one that begins first
// keeps the elements. Elements in no run are holes. The record counts both.
#include <fmt/format.h>
#include <algorithm>

#include "bench/workload/map_file.hpp"
#include "bench/workload/workload.hpp"
#include "core/model/catalogue.hpp"

namespace penstock::bench {

namespace {

// A run and its origin, so that it can be shortened in place.
struct Named {
  Run* run;
  size_t order;
};

// Shortens runs that overlap others. Returns the number of removed elements, and in HOLES the elements in no run.
int64_t make_disjoint(MapDecomposition& map, std::vector<Run>& holes) {
  std::vector<Named> all;
  for (std::vector<Run>& runs : map.processes)
    for (Run& run : runs) all.push_back({&run, all.size()});
  std::sort(all.begin(), all.end(), [](const Named& a, const Named& b) {
    return std::pair(a.run->offset, a.order) < std::pair(b.run->offset, b.order);
  });
  int64_t end = 0, dropped = 0;
  for (const Named& named : all) {
    Run& run = *named.run;
    const int64_t inside = std::clamp<int64_t>(end - run.offset, 0, run.length);
    dropped += inside;
    run.offset += inside;
    run.length -= inside;
    if (run.length == 0) continue;
    if (run.offset > end) holes.push_back({end, run.offset - end});
    end = run.offset + run.length;
  }
  if (const int64_t count = elements(map.shape); end < count) holes.push_back({end, count - end});
  for (std::vector<Run>& runs : map.processes) std::erase_if(runs, [](const Run& run) { return run.length == 0; });
  return dropped;
}

class Map : public Workload {
 public:
  Map(std::vector<MapDecomposition> maps, int variables, ElementType type) : maps_(std::move(maps)) {
    std::vector<std::pair<Field, size_t>> all;  // with the index of its map
    for (size_t m = 0; m < maps_.size(); ++m) {
      holes_.emplace_back();
      dropped_.push_back(make_disjoint(maps_[m], holes_.back()));
      for (int v = 0; v < variables; ++v)
        all.push_back({{fmt::format("{}_{:04}", maps_[m].name, v), maps_[m].shape, type}, m});
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first.name < b.first.name; });
    for (auto& [field, map] : all) {
      fields_.push_back(std::move(field));
      map_of_.push_back(map);
    }
    number_elements(fields_);
  }

  const std::vector<Field>& fields() const override { return fields_; }

  Result<Decomposition> part(int field, int rank, int size) const override {
    const MapDecomposition& map = map_of(field);
    const auto processes = static_cast<int64_t>(map.processes.size());
    std::vector<Run> runs;
    for (int64_t p = cut(processes, rank, size); p < cut(processes, rank + 1, size); ++p) {
      const std::vector<Run>& own = map.processes[static_cast<size_t>(p)];
      runs.insert(runs.end(), own.begin(), own.end());
    }
    return Decomposition::runs(map.shape, runs);
  }

  std::span<const Run> holes(int field) const override { return holes_[map_of_[static_cast<size_t>(field)]]; }

  bool read_by_rows() const override { return false; }

  nlohmann::json describe(int size) const override {
    nlohmann::json list = nlohmann::json::array();
    for (size_t m = 0; m < maps_.size(); ++m) {
      const MapDecomposition& map = maps_[m];
      int64_t runs = 0, holes = 0;
      for (const std::vector<Run>& own : map.processes) runs += static_cast<int64_t>(own.size());
      for (const Run& hole : holes_[m]) holes += hole.length;
      list.push_back({{"name", map.name},
                      {"shape", std::vector<int64_t>(map.shape.begin(), map.shape.end())},
                      {"runs", runs},
                      {"elements", elements(map.shape)},
                      {"fill_elements", map.fill_elements},
                      {"holes", holes},
                      {"overlapping_elements_dropped", dropped_[m]}});
    }
    const size_t processes = maps_.empty() ? 0 : maps_[0].processes.size();
    return {{"shape", nullptr},
            {"order", "C"},
            {"map_processes", processes},
            {"dealing", fmt::format("{} processes in contiguous groups on {} ranks", processes, size)},
            {"decompositions", std::move(list)}};
  }

 private:
  const MapDecomposition& map_of(int field) const { return maps_[map_of_[static_cast<size_t>(field)]]; }

  std::vector<MapDecomposition> maps_;
  std::vector<std::vector<Run>> holes_;  // of each map
  std::vector<int64_t> dropped_;
  std::vector<Field> fields_;
  std::vector<size_t> map_of_;  // of each field
};

}  // namespace

Result<std::unique_ptr<Workload>> make_map(const WorkloadRequest& request) {
  if (request.map.empty()) return Status(Code::invalid, "map: needs --map FILE");
  PENSTOCK_ASSIGN(std::vector<MapDecomposition> maps, read_map_file(request.map));
  for (const std::string& wanted : request.decompositions) {
    if (std::ranges::count(maps, wanted, &MapDecomposition::name) == 0)
      return Status(Code::invalid,
                    fmt::format("{} has no decomposition '{}'; it has D1 to D{}", request.map, wanted, maps.size()));
  }
  if (!request.decompositions.empty())
    std::erase_if(
        maps, [&](const MapDecomposition& map) { return std::ranges::count(request.decompositions, map.name) == 0; });
  return std::unique_ptr<Workload>(std::make_unique<Map>(std::move(maps), request.variables, request.type));
}

}  // namespace penstock::bench
