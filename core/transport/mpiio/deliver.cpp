// Deliver: one sparse exchange of requests, as selections, and one of the bytes.
#include "core/transport/mpiio/deliver.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "core/base/encode.hpp"
#include "core/transport/move.hpp"

namespace penstock::mpiio {
namespace {

constexpr int64_t max_held = 256 << 20;  // by all ranks of one round

// For functions that copy in either direction, and from here.
std::byte* readable(std::span<const std::byte> bytes) { return const_cast<std::byte*>(bytes.data()); }

using Pieces = std::vector<const Piece*>;

Pieces meeting(const Pieces& pieces, const Holding& holding) {
  Pieces found;
  for (const Piece* piece : pieces)
    if (piece->selection.count() > 0 && first_address(*piece) < holding.end && last_address(*piece) > holding.begin &&
        bytes_in(*piece, holding.begin, holding.end) > 0)
      found.push_back(piece);
  return found;
}

std::vector<std::byte> ask(const Pieces& pieces, const Holding& holding) {
  Encoder out;
  out.value(static_cast<int64_t>(pieces.size()));
  for (const Piece* piece : pieces) {
    out.value(piece->address);
    out.value(piece->element_bytes);
    out.value(piece->row_stride);
    piece->selection.packed(element_floor(*piece, holding.begin), element_floor(*piece, holding.end - 1) + 1)
        .encode(out);
  }
  return out.take();
}

Result<std::vector<std::byte>> answer(const Message& question, const Holding& holding,
                                      std::span<const std::byte> mine) {
  Decoder in(question.bytes);
  std::vector<std::byte> bytes;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    Piece piece;
    piece.address = in.value<int64_t>();
    piece.element_bytes = in.value<int64_t>();
    piece.row_stride = in.value<int64_t>();
    piece.selection = Selection::decode(in);
    if (!in.ok() || mine.empty()) break;
    const size_t before = bytes.size();
    bytes.resize(before + static_cast<size_t>(bytes_in(piece, holding.begin, holding.end)));
    copy_between(piece, {holding.begin, holding.end}, bytes.data() + before, readable(mine), Direction::read);
  }
  if (!in.ok()) return Status(Code::internal, "what another rank wants cannot be decoded");
  return bytes;
}

// BYTES are the packed elements of PIECES in HOLDING.
Status unpack(const Pieces& pieces, const Holding& holding, std::span<const std::byte> bytes) {
  for (const Piece* piece : pieces) {
    const auto size = static_cast<size_t>(bytes_in(*piece, holding.begin, holding.end));
    if (bytes.size() < size) return {Code::elsewhere, "another rank could not read what this one wants"};
    copy_packed(*piece, {holding.begin, holding.end}, readable(bytes), Direction::read);
    bytes = bytes.subspan(size);
  }
  return {};
}

}  // namespace

int64_t holding_bytes(const Job& job, int64_t wanted) {
  return std::clamp<int64_t>(max_held / job.comm->size(), 4096, std::max<int64_t>(wanted, 4096));
}

Status deliver(const Job& job, const std::vector<const Piece*>& pieces, std::span<const Holding> holdings,
               std::span<const std::byte> mine) {
  PhaseTimer timer(*job.phases, Phase::exchange);
  const int rank = job.comm->rank();
  Holding own;
  Status status;
  std::map<int, std::pair<Holding, Pieces>> wanted;
  std::vector<Message> questions;
  for (const Holding& holding : holdings) {
    if (holding.rank == rank) own = holding;
    Pieces met = meeting(pieces, holding);
    if (met.empty()) continue;
    if (holding.rank == rank) {
      for (const Piece* piece : met)
        if (!mine.empty()) copy_window(*piece, {holding.begin, holding.end}, readable(mine), Direction::read);
      continue;
    }
    questions.push_back({holding.rank, ask(met, holding)});
    wanted.emplace(holding.rank, std::pair(holding, std::move(met)));
  }
  PENSTOCK_ASSIGN(const auto asked, job.comm->sparse_exchange(std::move(questions)));
  std::vector<Message> answers;
  for (const Message& question : asked) {
    auto bytes = answer(question, own, mine);
    if (!bytes.ok() && status.ok()) status = bytes.status();
    answers.push_back({question.peer, bytes.ok() ? *std::move(bytes) : std::vector<std::byte>()});
  }
  PENSTOCK_ASSIGN(const auto answered, job.comm->sparse_exchange(std::move(answers)));
  for (const Message& message : answered) {
    const auto& [holding, met] = wanted.at(message.peer);
    const Status unpacked = unpack(met, holding, message.bytes);
    if (status.ok()) status = unpacked;
  }
  return status;
}

}  // namespace penstock::mpiio
