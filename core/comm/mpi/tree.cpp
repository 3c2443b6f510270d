// Tree: reductions and prefix sums by recursive doubling, broadcasts down, gathers to the root.
#include "core/comm/mpi/tree.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/comm/mpi/native.hpp"
#include "core/comm/patience.hpp"

namespace penstock {
namespace {

// Each with the next number for data after a frame. Above those of send, receive and sparse_exchange.
constexpr int tag_up = 1030, tag_down = 1032, tag_gather = 1036, tag_pieces = 1038;
constexpr unsigned looks_before_yield = 64;  // yielding at each poll makes four ranks on two cores six times as slow
constexpr size_t piece_bytes = 256 << 10;

int64_t at(std::span<const std::byte> numbers, size_t i) {
  int64_t value = 0;
  std::memcpy(&value, numbers.data() + i * sizeof value, sizeof value);
  return value;
}

// Sums and differences of any numbers, as of unsigned ones.
void add(int64_t& to, int64_t value) {
  to = static_cast<int64_t>(static_cast<uint64_t>(to) + static_cast<uint64_t>(value));
}
void subtract(std::span<int64_t> from, std::span<const std::byte> numbers) {
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<int64_t>(static_cast<uint64_t>(from[i]) - static_cast<uint64_t>(at(numbers, i)));
}

// THEIRS: those of ranks above or, FROM_BELOW, below.
void combine(std::span<int64_t> values, std::span<const std::byte> theirs, Tree::Kind kind, size_t sums,
             bool from_below) {
  using Kind = Tree::Kind;
  const size_t half = values.size() / 2, count = kind == Kind::exclusive_sum ? half : values.size();
  for (size_t i = 0; i < count; ++i) {
    const int64_t other = at(theirs, i);
    switch (kind == Kind::sum_bits ? (i < sums ? Kind::sum : Kind::bits) : kind) {
      case Kind::min: values[i] = std::min(values[i], other); break;
      case Kind::max: values[i] = std::max(values[i], other); break;
      case Kind::bits: values[i] ^= other; break;
      default: add(values[i], other);
    }
    if (kind == Kind::exclusive_sum && from_below) add(values[half + i], other);
  }
}

}  // namespace

Tree::Tree(MPI_Comm comm, int rank, int size, Watch& watch, CallOf call)
    : comm_(comm), rank_(rank), size_(size), watch_(watch), call_(std::move(call)) {
  size_t levels = 1;
  while ((size_t{1} << levels) < static_cast<size_t>(size)) ++levels;
  in_.resize(levels);
}

int Tree::parent(int root) const {
  const int v = virtual_rank(root);
  return v == 0 ? -1 : ((v & (v - 1)) + root) % size_;
}

std::vector<int> Tree::children(int root) const {
  const int v = virtual_rank(root);
  std::vector<int> list;
  for (int step = 1; (v == 0 || step < (v & -v)) && v + step < size_; step *= 2)
    list.push_back((v + step + root) % size_);
  std::ranges::reverse(list);  // those with the largest subtree first
  return list;
}

template <typename Body>
Status Tree::call(Kind kind, int root, size_t bytes, Body body) {
  PENSTOCK_TRY(watch_.usable());
  head_ = {kind, root, ++number_, call_().key, static_cast<int64_t>(bytes)};
  watch_.begins();
  has_waited_ = size_ == 1;
  Status status = size_ == 1 ? Status() : body();
  // All messages for a late rank may have arrived, and the others' verdict too.
  if (status.ok() && (!has_waited_ || call_().in_doubt)) status = watch_.heard(call_());
  watch_.ended();
  if (!status.ok()) take_back_receives();
  return status;
}

// Receives that have started stay, with their buffers.
void Tree::take_back_receives() {
  for (size_t i = 0; i < requests_.size(); ++i) {
    if (!receives_[i] || requests_[i] == MPI_REQUEST_NULL) continue;
    int done = 0;
    MPI_Cancel(&requests_[i]);
    MPI_Test(&requests_[i], &done, MPI_STATUS_IGNORE);
  }
}

void Tree::fill(Slot& slot, std::span<const std::byte> data) {
  slot.frame.head = head_;
  slot.frame.head.bytes = static_cast<int64_t>(data.size());
  if (data.size() > slot.frame.data.size())
    slot.more.assign(data.begin(), data.end());
  else if (!data.empty())
    std::memcpy(slot.frame.data.data(), data.data(), data.size());
}

Status Tree::send(Slot& slot, int peer, int tag) {
  const auto bytes = static_cast<size_t>(slot.frame.head.bytes);
  const bool more = bytes > slot.frame.data.size();
  PENSTOCK_TRY(begin(Way::send, slot.frame.bytes().first(sizeof(Head) + (more ? 0 : bytes)), peer, tag));
  return more && head_.kind != Kind::broadcast ? begin(Way::send, slot.more, peer, tag + 1) : Status();
}

Status Tree::begin(Way way, std::span<std::byte> bytes, int peer, int tag) {
  const Status begun = begin_message(way, bytes, peer, tag, comm_, requests_);
  receives_.resize(requests_.size(), way == Way::receive);
  return begun.ok() ? begun : watch_.failed(begun, call_());
}

Result<double> Tree::waited(double idle, std::string_view what) { return watch_.waited(idle, what, call_()); }

Status Tree::await(size_t from) {
  size_t left = requests_.size() - from;
  indices_.resize(left);
  const auto look = [&]() -> Result<bool> {
    int done = 0;
    const int error = MPI_Testsome(static_cast<int>(requests_.size() - from), requests_.data() + from, &done,
                                   indices_.data(), MPI_STATUSES_IGNORE);
    if (error != MPI_SUCCESS) return watch_.failed(check_mpi(error, "MPI_Testsome"), call_());
    if (done == MPI_UNDEFINED)
      left = 0;
    else
      left -= static_cast<size_t>(done);
    if (done == 0) has_waited_ = true;
    return done != 0;
  };
  for (unsigned looks = 0; left > 0 && looks < looks_before_yield; ++looks) PENSTOCK_TRY(look().status());
  Patience patience;
  while (left > 0) {
    PENSTOCK_ASSIGN(const bool moved, look());
    if (moved) {
      patience.moved();
      continue;
    }
    PENSTOCK_TRY(patience.wait(*this, "a collective call"));
  }
  requests_.resize(from);
  receives_.resize(from);
  return {};
}

// Does not wait for this rank's sends: the receiver may first need this rank's frame, and may be sending the same way
// itself.
Status Tree::receive_frames(std::span<const int> peers, int tag, std::span<Slot> slots) {
  const size_t sends = requests_.size();
  for (size_t i = 0; i < peers.size(); ++i) PENSTOCK_TRY(begin(Way::receive, slots[i].frame.bytes(), peers[i], tag));
  PENSTOCK_TRY(await(sends));
  for (size_t i = 0; i < peers.size(); ++i) {
    const Head& theirs = slots[i].frame.head;
    const bool same_length = head_.kind == Kind::broadcast || head_.kind == Kind::gather || theirs.bytes == head_.bytes;
    if (theirs.kind != head_.kind || theirs.root != head_.root || theirs.number != head_.number ||
        theirs.key != head_.key || !same_length)
      return watch_.differs(peers[i], call_());
  }
  return {};
}

Status Tree::receive(std::span<const int> peers, int tag, std::span<Slot> slots) {
  PENSTOCK_TRY(receive_frames(peers, tag, slots));
  for (size_t i = 0; i < peers.size(); ++i) {
    const auto bytes = static_cast<size_t>(slots[i].frame.head.bytes);
    if (bytes <= slots[i].frame.data.size()) continue;
    slots[i].more.resize(bytes);
    PENSTOCK_TRY(begin(Way::receive, slots[i].more, peers[i], tag + 1));
  }
  return await();
}

// By recursive doubling, which takes half as many steps as up and down a tree. Groups of neighbours join.
// Of P ranks, 2^n <= P < 2^(n + 1), the first P - 2^n pairs are represented by their second rank.
Status Tree::reduce(std::span<int64_t> values, Kind kind, int sums) {
  const auto join = [&](int peer) { combine(values, in_[0].data(), kind, static_cast<size_t>(sums), peer < rank_); };
  return call(kind, sums, values.size_bytes(), [&]() -> Status {
    int most = 1;
    while (2 * most <= size_) most *= 2;
    const int pairs = size_ - most;
    const bool paired = rank_ < 2 * pairs;
    const auto take = [&](int peer, int tag) { return receive(std::span(&peer, 1), tag, in_); };
    if (paired && rank_ % 2 == 0) {
      fill(up_, std::as_bytes(values));
      PENSTOCK_TRY(send(up_, rank_ + 1, tag_up));
      PENSTOCK_TRY(take(rank_ + 1, tag_down));
      if (!values.empty()) std::memcpy(values.data(), in_[0].data().data(), values.size_bytes());
      if (kind == Kind::exclusive_sum) subtract(values.subspan(values.size() / 2), up_.data());  // own is not before
      return {};
    }
    if (paired) {
      PENSTOCK_TRY(take(rank_ - 1, tag_up));
      join(rank_ - 1);
    }
    const int group = paired ? rank_ / 2 : rank_ - pairs;
    for (int distance = 1; distance < most; distance *= 2) {
      const int other = group ^ distance, peer = other < pairs ? 2 * other + 1 : other + pairs;
      fill(up_, std::as_bytes(values));
      PENSTOCK_TRY(send(up_, peer, tag_up));
      PENSTOCK_TRY(take(peer, tag_up));
      join(peer);
    }
    if (!paired) return {};
    fill(down_, std::as_bytes(values));
    PENSTOCK_TRY(send(down_, rank_ - 1, tag_down));
    return await();
  });
}

Status Tree::exclusive_sum(std::span<int64_t> values, std::span<int64_t> before) {
  std::vector<int64_t> both(values.begin(), values.end());
  both.resize(2 * values.size());
  PENSTOCK_TRY(reduce(both, Kind::exclusive_sum));
  std::copy_n(both.begin(), values.size(), values.begin());
  std::copy_n(both.begin() + std::ssize(values), values.size(), before.begin());
  return {};
}

Status Tree::broadcast(std::vector<std::byte>& bytes, int root) {
  const Status status = call(Kind::broadcast, root, bytes.size(), [&]() -> Status {
    const int above = parent(root);
    if (above >= 0) {
      PENSTOCK_TRY(receive_frames(std::span(&above, 1), tag_down, in_));
      down_.frame = in_[0].frame;
      bytes.resize(static_cast<size_t>(down_.frame.head.bytes));
    } else {
      down_.frame.head = head_;
      std::ranges::copy(std::span(bytes).first(std::min(bytes.size(), down_.frame.data.size())),
                        down_.frame.data.begin());
    }
    for (const int child : children(root)) PENSTOCK_TRY(send(down_, child, tag_down));
    PENSTOCK_TRY(await());
    if (bytes.size() > down_.frame.data.size()) return pass_on(bytes, root);
    std::ranges::copy(std::span(down_.frame.data).first(bytes.size()), bytes.begin());
    return {};
  });
  if (!status.ok()) keep_for_ever(std::make_shared<std::vector<std::byte>>(std::move(bytes)));
  return status;
}

// A rank passes a piece on while it receives the next.
Status Tree::pass_on(std::span<std::byte> bytes, int root) {
  const int v = virtual_rank(root);
  const auto rank_at = [&](int at) { return (at + root) % size_; };
  const auto piece = [&](size_t at) { return bytes.subspan(at, std::min(piece_bytes, bytes.size() - at)); };
  std::vector<int> below;
  for (const int child : {2 * v + 1, 2 * v + 2})
    if (child < size_) below.push_back(rank_at(child));
  const auto take = [&](size_t at) {
    if (v == 0 || at >= bytes.size()) return Status();
    return begin(Way::receive, piece(at), rank_at((v - 1) / 2), tag_pieces);
  };
  PENSTOCK_TRY(take(0));
  for (size_t at = 0; at < bytes.size(); at += piece_bytes) {
    PENSTOCK_TRY(await());
    PENSTOCK_TRY(take(at + piece_bytes));
    for (const int child : below) PENSTOCK_TRY(begin(Way::send, piece(at), child, tag_pieces));
  }
  return await();
}

Result<std::vector<std::vector<std::byte>>> Tree::gather(std::span<const std::byte> bytes, int root) {
  std::vector<std::vector<std::byte>> all(rank_ == root ? static_cast<size_t>(size_) : 0);
  PENSTOCK_TRY(call(Kind::gather, root, bytes.size(), [&]() -> Status {
    if (rank_ != root) {
      fill(up_, bytes);
      PENSTOCK_TRY(send(up_, root, tag_gather));
      return await();
    }
    std::vector<int> peers;
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) peers.push_back(peer);
    gathered_.resize(peers.size());
    PENSTOCK_TRY(receive(peers, tag_gather, gathered_));
    for (size_t i = 0; i < peers.size(); ++i) {
      const auto data = gathered_[i].data();
      all[static_cast<size_t>(peers[i])].assign(data.begin(), data.end());
    }
    gathered_ = {};
    return {};
  }));
  if (rank_ == root) all[static_cast<size_t>(root)].assign(bytes.begin(), bytes.end());
  return all;
}

}  // namespace penstock
