// Here: movements of one rank alone, and the pieces that reading asks for.
#include "core/access/here.hpp"

#include <algorithm>

#include "core/access/decoded.hpp"
#include "core/base/units.hpp"
#include "core/methods/methods.hpp"
#include "core/transport/move.hpp"

namespace penstock {

std::vector<Part> parts_of(const Contents& contents, std::span<const int> datasets, int64_t block) {
  std::vector<Part> parts;
  for (const std::string& path : contents.parts) parts.push_back({path, 0, 0});
  for (const int d : datasets)
    for (const StoredBlock& stored : contents.blocks[static_cast<size_t>(d)]) {
      const ElementType& type = contents.catalogue.datasets[static_cast<size_t>(d)].type;
      int64_t& size = parts[static_cast<size_t>(stored.part)].bytes;
      size = std::max(size, stored.base + span_bytes(stored, bytes(type)));
    }
  int64_t base = 0;
  for (Part& part : parts) {
    part.virtual_base = base;
    base += round_up(part.bytes, block);
  }
  return parts;
}

void add_pieces(const Contents& contents, const std::vector<Part>& parts, int index, const Claim& claim,
                std::vector<Piece>& pieces) {
  const auto d = static_cast<size_t>(index);
  const ElementType& type = contents.catalogue.datasets[d].type;
  add_pieces(contents.blocks[d], parts, type, claim, pieces);
  int64_t stored_elements = 0;
  for (const StoredBlock& stored : contents.blocks[d]) stored_elements += stored.where.count();
  if (stored_elements >= elements(contents.catalogue.datasets[d].shape)) return;  // they tile it
  const int64_t size = bytes(type);
  const std::vector<std::byte> zeros(static_cast<size_t>(std::min<int64_t>(claim.selection.count() * size, 1 << 20)));
  const Piece hole{0, 0, size, 0, claim.selection, claim.memory};
  SliceCursor cursor(hole, 0, INT64_MAX / 2);
  for (Slice slice; cursor.next(slice);)
    for (int64_t at = 0; at < slice.bytes;) {
      Slice part = slice;
      part.skip = slice.skip + at;
      part.bytes = std::min<int64_t>(slice.bytes - at, static_cast<int64_t>(zeros.size()));
      copy_slice(hole, part, const_cast<std::byte*>(zeros.data()), Direction::read);
      at += part.bytes;
    }
}

Status move_pieces_here(Direction direction, std::vector<Part> parts, std::vector<Piece> pieces,
                        const std::shared_ptr<Files>& files) {
  PENSTOCK_ASSIGN(const Plan plan, parse_plan("independent", "raw", vocabulary()));
  Job job;
  PhaseTimes phases;
  job.direction = direction;
  job.comm = serial_communicator();
  job.files = files;
  job.sync = false;
  job.parts = std::move(parts);
  job.pieces = std::move(pieces);
  job.phases = &phases;
  PENSTOCK_ASSIGN(const auto transfer, find_transport("independent")->begin(job, plan.settings));
  return transfer->finish();
}

namespace {

Status move_here(Direction direction, const Contents& contents, std::span<const Claim> claims,
                 const std::shared_ptr<Files>& files) {
  std::vector<int> named;
  for (const Claim& claim : claims)
    if (named.empty() || named.back() != claim.dataset) named.push_back(claim.dataset);
  std::vector<Part> parts = parts_of(contents, named, Job().block);
  std::vector<Piece> pieces;
  for (const Claim& claim : claims)
    if (!contents.foreign[static_cast<size_t>(claim.dataset)])
      add_pieces(contents, parts, claim.dataset, claim, pieces);
  return move_pieces_here(direction, std::move(parts), std::move(pieces), files);
}

}  // namespace

Status read_here(const Contents& contents, const std::string& path, std::span<const Claim> claims,
                 const std::shared_ptr<Files>& files) {
  std::vector<int> asked;
  std::vector<Claim> foreign;
  for (const Claim& claim : claims) {
    if (!contents.foreign[static_cast<size_t>(claim.dataset)]) continue;
    if (asked.empty() || asked.back() != claim.dataset) asked.push_back(claim.dataset);
    foreign.push_back(claim);
    foreign.back().dataset = static_cast<int>(asked.size()) - 1;
  }
  PhaseTimes phases;
  if (!foreign.empty())
    PENSTOCK_TRY(read_decoded(serial_communicator(), contents, path, asked, foreign, phases).status());
  return move_here(Direction::read, contents, claims, files);
}

Status write_here(const Contents& contents, std::span<const Claim> claims, const std::shared_ptr<Files>& files) {
  return move_here(Direction::write, contents, claims, files);
}

}  // namespace penstock
