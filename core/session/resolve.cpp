// Resolve: combines all ranks' puts to one catalogue and this rank's selections.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/base/crc64.hpp"
#include "core/session/state.hpp"
#include "core/transport/move.hpp"

namespace penstock {
namespace {

int64_t digest_of(const Pending& pending) {
  Pending copy = pending;
  const int64_t length = pending.part.elements() * bytes(pending.type);
  if (pending.memory.stride.rank() > 0 && capture(copy).ok())
    return static_cast<int64_t>(crc64(std::span(copy.data, static_cast<size_t>(length))) >> 2);
  const std::byte* data = pending.data + pending.memory.offset * bytes(pending.type);
  return static_cast<int64_t>(crc64(std::span(data, static_cast<size_t>(length))) >> 2);
}

struct RowCounts {
  std::map<std::string, size_t> index;  // of ragged datasets, in the order of the vectors
  std::vector<int64_t> before, total;
};

Result<RowCounts> count_rows(const File::State& state, const std::vector<Pending>& pending, const Definitions& agreed) {
  RowCounts rows;
  for (const auto& [name, definition] : agreed.datasets)
    if (definition.sharing == Sharing::ragged) rows.index.emplace(name, rows.index.size());
  if (rows.index.empty()) return rows;
  rows.total.assign(rows.index.size(), 0);
  for (const Pending& p : pending)
    if (const auto at = rows.index.find(p.name); at != rows.index.end()) rows.total[at->second] += p.part.rows();
  rows.before = rows.total;
  PENSTOCK_TRY(state.target.comm->exclusive_sum(rows.before));
  PENSTOCK_TRY(state.target.comm->all_reduce_sum(rows.total));
  return rows;
}

// The lowest rank with a replicated dataset is its speaker; ranks with a different copy report it.
Status compare_replicas(const File::State& state, const std::vector<Pending>& pending, const Definitions& agreed,
                        Direction direction, std::map<std::string, int>& speaker) {
  std::map<std::string, size_t> index;
  for (const auto& [name, definition] : agreed.datasets)
    if (definition.sharing == Sharing::replicated) index.emplace(name, index.size());
  if (index.empty()) return {};
  std::vector<int64_t> values(3 * index.size(), INT64_MIN);  // digest, -digest, -rank
  for (const Pending& p : pending) {
    const auto at = index.find(p.name);
    if (at == index.end()) continue;
    const int64_t digest = direction == Direction::write ? digest_of(p) : 0;
    int64_t* mine = values.data() + 3 * at->second;
    mine[0] = std::max(mine[0], digest);
    mine[1] = std::max(mine[1], -digest);
    mine[2] = -state.target.comm->rank();
  }
  const std::vector<int64_t> own = values;
  PENSTOCK_TRY(state.target.comm->all_reduce_max(values));
  for (const auto& [name, i] : index) {
    speaker[name] = static_cast<int>(-values[3 * i + 2]);
    if (values[3 * i] == -values[3 * i + 1]) continue;
    // Names a pair: all compare with the speaker's digest.
    std::vector<std::byte> bytes(sizeof(int64_t));
    std::memcpy(bytes.data(), &own[3 * i], sizeof(int64_t));
    PENSTOCK_TRY(state.target.comm->broadcast(bytes, speaker[name]));
    int64_t measure = 0;
    std::memcpy(&measure, bytes.data(), sizeof measure);
    const bool differs = own[3 * i] != INT64_MIN && own[3 * i] != measure;
    const bool twice = own[3 * i] != -own[3 * i + 1] && own[3 * i] != INT64_MIN;
    Status mine;
    if (twice)
      mine = {Code::mismatch,
              fmt::format("replicated dataset '{}' was put twice, with different values: put it once", name)};
    else if (differs)
      mine = {Code::mismatch, fmt::format("replicated dataset '{}' has other values here than on rank {}: "
                                          "give it alike on all ranks, or partition it",
                                          name, speaker[name])};
    PENSTOCK_TRY(agree(state.target.comm, mine));
  }
  return {};
}

Dims final_shape(const Definition& definition, const std::string& name, const RowCounts& rows, int ranks) {
  if (definition.sharing != Sharing::ragged && definition.sharing != Sharing::per_rank) return definition.shape;
  Dims shape{definition.sharing == Sharing::per_rank ? ranks : rows.total[rows.index.at(name)]};
  for (const int64_t extent : definition.shape) shape.push_back(extent);
  return shape;
}

}  // namespace

Result<Definitions> local_definitions(const File::State& state, const std::vector<Pending>& pending) {
  Definitions mine;
  const int rank = state.target.comm->rank();
  for (const Pending& p : pending) {
    const bool stays = state.file && !is_among(p.name, state.removed);
    const Dataset* there = stays ? state.file->contents.catalogue.find(p.name) : nullptr;
    const bool unlimited = (there != nullptr && there->unlimited) || state.unlimited.contains(p.name);
    PENSTOCK_TRY(add(mine, p.name, {p.type, sharing_of(p.part), p.part.shape(), unlimited, rank, p.meant}));
  }
  mine.unlimited = state.unlimited;
  mine.named = state.named;
  mine.groups = state.groups;
  mine.removed = state.removed;
  return mine;
}

Result<Resolved> resolve(File::State& state, std::vector<Pending>& pending, Definitions agreed, Direction direction) {
  Resolved out;
  PENSTOCK_ASSIGN(RowCounts rows, count_rows(state, pending, agreed));
  PENSTOCK_TRY(compare_replicas(state, pending, agreed, direction, out.speaker));
  out.catalogue.datasets.reserve(agreed.datasets.size());
  for (const auto& [name, definition] : agreed.datasets) {
    const Dims shape = final_shape(definition, name, rows, state.target.comm->size());
    if (const Status legal = check_shape(definition.type, shape); !legal.ok())
      return legal.in(fmt::format("'{}'", name));
    out.catalogue.datasets.push_back(
        {name, definition.type, shape, definition.unlimited || agreed.unlimited.contains(name)});
    out.sharing.push_back(definition.sharing);
  }
  out.unlimited = std::move(agreed.unlimited);
  out.removed = std::move(agreed.removed);
  out.named = std::move(agreed.named);
  out.catalogue.attributes = std::move(agreed.attributes);
  out.groups = std::move(agreed.groups);

  std::set<std::string> spoken;
  for (Pending& p : pending) {
    const int index = out.catalogue.index_of(p.name);
    RowStart start{0, state.target.comm->rank()};
    if (const auto at = rows.index.find(p.name); at != rows.index.end()) {
      start.ragged = rows.before[at->second];
      rows.before[at->second] += p.part.rows();
    }
    if (p.part.form() == Decomposition::Form::replicated)
      if (out.speaker[p.name] != state.target.comm->rank() || !spoken.insert(p.name).second) continue;
    for (Selection& selection : selections(p, out.catalogue.datasets[static_cast<size_t>(index)].shape, start))
      out.claims.push_back({index, std::move(selection), p.data, p.supplier ? &p.supplier : nullptr});
  }
  return out;
}

}  // namespace penstock
