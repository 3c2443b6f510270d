// Agreement: merges the ranks' blocks, and numbers this rank's claims.
#include "core/commit/agreement.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/crc64.hpp"
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

// Replaces the shapes of rows by those of all ranks' rows.
Status count_rows(const Communicator& comm, std::span<const Pending> pending, Agreement& agreement) {
  auto& datasets = agreement.definitions.datasets;
  std::map<std::string_view, size_t> index;  // of ragged datasets
  for (const auto& [name, definition] : datasets)
    if (definition.sharing == Sharing::ragged) index.emplace(name, index.size());
  std::vector<int64_t> total(index.size());
  for (const Pending& p : pending)
    if (const auto at = index.find(p.name); at != index.end()) total[at->second] += p.part.rows();
  std::vector<int64_t> before(total.size());
  if (!index.empty()) PENSTOCK_TRY(comm->exclusive_sum(total, before));
  for (auto& [name, definition] : datasets) {
    const auto ragged = index.find(name);
    if (ragged == index.end() && definition.sharing != Sharing::per_rank) continue;
    Dims shape{ragged == index.end() ? comm->size() : total[ragged->second]};
    for (const int64_t extent : definition.shape) shape.push_back(extent);
    definition.shape = shape;
    if (ragged != index.end()) agreement.first_row[name] = before[ragged->second];
  }
  return {};
}

// The lowest rank with a replicated dataset is its speaker; ranks with a different copy report it.
Status compare_replicas(const Communicator& comm, std::span<const Pending> pending, Direction direction,
                        Agreement& agreement) {
  std::map<std::string, int>& speaker = agreement.speaker;
  std::map<std::string, size_t> index;
  for (const auto& [name, definition] : agreement.definitions.datasets)
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
    mine[2] = -comm->rank();
  }
  const std::vector<int64_t> own = values;
  PENSTOCK_TRY(comm->all_reduce_max(values));
  for (const auto& [name, i] : index) {
    speaker[name] = static_cast<int>(-values[3 * i + 2]);
    if (values[3 * i] == -values[3 * i + 1]) continue;
    // Names a pair: all compare with the speaker's digest.
    std::vector<std::byte> bytes(sizeof(int64_t));
    std::memcpy(bytes.data(), &own[3 * i], sizeof(int64_t));
    PENSTOCK_TRY(comm->broadcast(bytes, speaker[name]));
    int64_t measure = 0;
    std::memcpy(&measure, bytes.data(), sizeof measure);
    const bool differs = own[3 * i] != INT64_MIN && own[3 * i] != measure;
    const bool twice = own[3 * i] != -own[3 * i + 1] && own[3 * i] != INT64_MIN;
    Status mine;
    if (twice)
      mine = {Code::mismatch,
              fmt::format("replicated dataset '{}' was put twice, with different values: put it once", name)};
    else if (differs)
      mine = {Code::mismatch, fmt::format("replicated dataset '{}' has different values here than on rank {}: "
                                          "give the same values on all ranks, or partition it",
                                          name, speaker[name])};
    PENSTOCK_TRY(agree(comm, mine));
  }
  return {};
}

}  // namespace

Result<Definitions> define(const Published* file, std::span<const Pending> pending, Definitions declared, int rank) {
  for (const Pending& p : pending) {
    const bool stays = file != nullptr && !is_among(p.name, declared.removed);
    const Dataset* there = stays ? file->contents.catalogue.find(p.name) : nullptr;
    const bool unlimited = (there != nullptr && there->unlimited) || declared.unlimited.contains(p.name);
    PENSTOCK_TRY(add(declared, p.name,
                     {p.type, sharing_of(p.part), p.part.shape(), unlimited, rank, p.meant, p.precision, p.subset}));
  }
  return declared;
}

Result<Agreement> agree_blocks(const Communicator& comm, std::span<const Pending> pending, Result<Definitions> mine,
                               const DefinitionBounds& maxima, Direction direction) {
  Agreement agreement;
  PENSTOCK_ASSIGN(agreement.definitions, agree_definitions(comm, std::move(mine), maxima));
  PENSTOCK_TRY(count_rows(comm, pending, agreement));
  PENSTOCK_TRY(compare_replicas(comm, pending, direction, agreement));
  for (const auto& [name, definition] : agreement.definitions.datasets)
    PENSTOCK_TRY(check_shape(definition.type, definition.shape).in(fmt::format("'{}'", name)));
  return agreement;
}

std::vector<Dataset> datasets_of(const Agreement& agreement) {
  const Definitions& all = agreement.definitions;
  std::vector<Dataset> list;
  list.reserve(all.datasets.size());
  for (const auto& [name, one] : all.datasets)
    list.push_back({name, one.type, one.shape, one.unlimited || all.unlimited.contains(name)});
  return list;
}

std::vector<Claim> claims_of(const Agreement& agreement, std::span<const Pending> pending, const Catalogue& catalogue,
                             int rank) {
  std::vector<Claim> claims;
  std::map<std::string, int64_t> next = agreement.first_row;
  std::set<std::string_view> spoken;
  SeenRuns seen;
  for (const Pending& p : pending) {
    const int index = catalogue.index_of(p.name);
    RowStart start{0, rank};
    if (const auto at = next.find(p.name); at != next.end()) {
      start.ragged = at->second;
      at->second += p.part.rows();
    }
    if (p.part.form() == Decomposition::Form::replicated)
      if (agreement.speaker.at(p.name) != rank || !spoken.insert(p.name).second) continue;
    for (Selection& selection : selections(p, agreement.definitions.datasets.at(p.name).shape, start, seen))
      claims.push_back({index, std::move(selection), p.data, p.supplier ? &p.supplier : nullptr});
  }
  return claims;
}

}  // namespace penstock
