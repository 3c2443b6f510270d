// The communicator under MPI: collectives, agreement, sparse exchange and point to point, on any number of ranks.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <penstock/communicator.hpp>

#include "core/comm/share.hpp"
#include "tests/harness/slice.hpp"
#include "tests/harness/values.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

std::vector<std::byte> pattern(size_t bytes, uint64_t seed) {
  std::vector<std::byte> out(bytes);
  for (size_t i = 0; i < bytes; ++i) out[i] = std::byte(mix(seed, i) & 0xff);
  return out;
}

void reductions(const Communicator& comm) {
  about("reductions");
  const int64_t rank = comm->rank(), size = comm->size();
  int64_t least[] = {rank, -rank, INT64_MIN}, most[] = {rank, -rank, INT64_MAX}, sum[] = {rank, 1, int64_t{1} << 40};
  CHECK_OK(comm->all_reduce_min(least), "min");
  CHECK_OK(comm->all_reduce_max(most), "max");
  CHECK_OK(comm->all_reduce_sum(sum), "sum");
  CHECK(least[0] == 0 && least[1] == 1 - size && least[2] == INT64_MIN, "min");
  CHECK(most[0] == size - 1 && most[1] == 0 && most[2] == INT64_MAX, "max");
  CHECK(sum[0] == size * (size - 1) / 2 && sum[1] == size && sum[2] == size << 40, "sum");
  int64_t all[] = {rank + 1, 10}, before[2];
  CHECK_OK(comm->exclusive_sum(all, before), "exclusive sum");
  CHECK(all[0] == size * (size + 1) / 2 && all[1] == 10 * size, "exclusive sum, all");
  CHECK(before[0] == rank * (rank + 1) / 2 && before[1] == 10 * rank, "exclusive sum, before");
  // More than a library sends before somebody has asked for it.
  for (const size_t count : {size_t{10}, size_t{600}, size_t{20000}, size_t{1} << 18}) {
    std::vector<int64_t> many(count), bits(count), all(count), below(count);
    for (size_t i = 0; i < count; ++i) {
      many[i] = all[i] = rank * static_cast<int64_t>(i);
      bits[i] = int64_t{1} << (rank + static_cast<int64_t>(i) % 7);
    }
    std::vector<int64_t> many_too = many, bits_too = bits;
    CHECK_OK(comm->all_reduce_sum_xor(many_too, std::span(bits_too).first(count / 2)), "sum and xor of many");
    CHECK_OK(comm->all_reduce_sum(many), "sum of many");
    CHECK_OK(comm->all_reduce_xor(bits), "xor of many");
    CHECK(many_too == many && std::equal(bits.begin(), bits.begin() + count / 2, bits_too.begin()), "both in one");
    CHECK_OK(comm->exclusive_sum(all, below), "exclusive sum of many");
    CHECK(all == many, "exclusive sum of many, all");
    bool right = true;
    for (size_t i = 0; i < count; ++i)
      right = right && many[i] == size * (size - 1) / 2 * static_cast<int64_t>(i) &&
              bits[i] == ((int64_t{1} << size) - 1) << (i % 7) &&
              below[i] == rank * (rank - 1) / 2 * static_cast<int64_t>(i);
    CHECK(right, "reductions of " + std::to_string(count));
  }
  CHECK_OK(comm->all_reduce_sum({}), "a sum of nothing");
  CHECK_OK(comm->exclusive_sum({}, {}), "an exclusive sum of nothing");
}

void broadcast_and_gather(const Communicator& comm) {
  about("broadcast and gather");
  const int rank = comm->rank(), size = comm->size();
  for (int root : {0, size - 1, size / 2})
    for (size_t bytes : {size_t{0}, size_t{1}, size_t{5000}, size_t{3000000}}) {
      auto data = rank == root ? pattern(bytes, 11) : std::vector<std::byte>(17);
      CHECK_OK(comm->broadcast(data, root), "broadcast");
      CHECK(data == pattern(bytes, 11), "broadcast of " + std::to_string(bytes));
      const auto mine = pattern(bytes == 0 ? 0 : bytes % 1000 + static_cast<size_t>(rank), static_cast<uint64_t>(rank));
      const auto all = comm->gather(mine, root);
      if (!CHECK_OK(all.status(), "gather")) continue;
      CHECK(all->size() == (rank == root ? static_cast<size_t>(size) : 0),
            "gather: one entry a rank, at the root only");
      for (size_t r = 0; r < all->size(); ++r)
        CHECK((*all)[r] == pattern(bytes == 0 ? 0 : bytes % 1000 + r, r), "gather: bytes of a rank");
    }
}

void agreement(const Communicator& comm) {
  about("agree");
  const int rank = comm->rank(), size = comm->size();
  CHECK_OK(agree(comm, {}), "all is well");
  // One rank alone has the cause; all others only heard of it.
  for (int culprit : {0, size - 1, size / 2}) {
    Status mine = rank == culprit ? Status(Code::no_space, "writing 'rho': disk full")
                                  : Status(Code::elsewhere, "another rank failed");
    if (rank == culprit + 1) mine = {};
    const Status all = agree(comm, mine);
    CHECK(all.code() == Code::no_space, "the cause wins over elsewhere");
    CHECK(all.message().find("writing 'rho': disk full") != std::string::npos,
          "the message is the cause's: " + all.message());
    if (size > 1)
      CHECK(all.message().find(fmt::format("rank {}", culprit)) != std::string::npos,
            "its rank is named: " + all.message());
  }
  // Several causes: the lowest rank's, everywhere.
  const Status several = agree(comm, rank >= size / 2 ? Status(Code::denied, fmt::format("cause {}", rank)) : Status());
  CHECK(
      several.code() == Code::denied && several.message().find(fmt::format("cause {}", size / 2)) != std::string::npos,
      "the lowest rank's cause: " + several.message());
  // Nobody has a cause of his own, and yet it failed.
  CHECK(!agree(comm, rank == size - 1 ? Status(Code::elsewhere, "who knows") : Status()).ok(),
        "elsewhere alone is a failure");
  const std::string text = "long " + std::string(100000, 'x');
  CHECK(agree(comm, rank == size - 1 ? Status(Code::io, text) : Status()).message().ends_with(text),
        "a long message is whole");
}

void sharing(const Communicator& comm) {
  about("sharing");
  const int rank = comm->rank(), size = comm->size();
  const auto told = from_rank_0(comm, [&](Encoder& out) -> Status {
    CHECK(rank == 0, "rank 0 alone is asked");
    out.text("what rank 0 knows");
    return {};
  });
  CHECK(told.ok() && Decoder(*told).text() == "what rank 0 knows", told.status().message());
  const Status failed = from_rank_0(comm, [](Encoder&) -> Status { return {Code::denied, "not for you"}; }).status();
  CHECK(failed.code() == Code::denied && failed.message() == "not for you", failed.message());
  const Status thrown =
      from_rank_0(comm, [](Encoder&) -> Status { throw std::runtime_error("it was thrown"); }).status();
  CHECK(thrown.code() == Code::internal && thrown.message() == "it was thrown", thrown.message());

  Encoder own;  // as many numbers as the rank has before it
  for (int32_t i = 0; i < rank; ++i) own.value(i);
  const auto all = from_all_ranks(comm, own.take());
  if (CHECK_OK(all.status(), "from_all_ranks")) {
    Decoder in(*all);
    int64_t wrong = 0;
    for (int32_t r = 0; r < size; ++r)
      for (int32_t i = 0; i < r; ++i) wrong += in.value<int32_t>() != i;
    CHECK(wrong == 0 && in.ok() && in.done(), "all ranks' bytes in the order of ranks");
  }

  const auto same = [&](std::string_view text) {
    return agree_same(comm, std::as_bytes(std::span(text)), [](std::span<const std::byte> of_rank_0) -> Status {
      return {Code::mismatch, fmt::format("{} bytes on rank 0", of_rank_0.size())};
    });
  };
  CHECK_OK(same("alike"), "all the same");
  if (size == 1) return;
  const Status differ = same(rank == size - 1 ? "other" : "first bytes");
  CHECK(differ.code() == Code::mismatch, name(differ.code()));
  CHECK(differ.message() == fmt::format("rank {}: 11 bytes on rank 0", size - 1), differ.message());
}

// Who sends what to whom is a function of the round, so that each rank can say what it must get.
void sparse(const Communicator& comm) {
  about("sparse exchange");
  const int rank = comm->rank(), size = comm->size();
  for (uint64_t round = 0; round < 30; ++round) {
    const auto count = [&](int from, int to) -> uint64_t {
      const uint64_t bits = mix(round, static_cast<uint64_t>(from * 1000 + to));
      if (round == 3) return 0;                         // nobody sends
      if (round == 4) return to == 0 ? 1 : 0;           // all to one
      if (round == 5) return from == size - 1 ? 1 : 0;  // one to all, itself too
      return bits % 5 == 0 ? 1 + bits % 2 : 0;
    };
    const auto bytes = [&](int from, int to, uint64_t i) {
      return mix(round * 7 + i, static_cast<uint64_t>(from + 37 * to)) % (round % 10 == 9 ? 400000 : 300);
    };
    const auto seed = [&](int from, int to, uint64_t i) {
      return round + 100 * static_cast<uint64_t>(from) + 10000 * static_cast<uint64_t>(to) + 1000000 * i;
    };
    std::vector<Message> out;
    for (int to = size - 1; to >= 0; --to)
      for (uint64_t i = 0; i < count(rank, to); ++i)
        out.push_back({to, pattern(i == 1 ? 0 : bytes(rank, to, i), seed(rank, to, i))});
    const auto in = comm->sparse_exchange(std::move(out));
    if (!CHECK_OK(in.status(), "exchange")) continue;
    size_t expected = 0;
    for (int from = 0; from < size; ++from) expected += count(from, rank);
    CHECK(in->size() == expected, fmt::format("round {}: {} messages, not {}", round, in->size(), expected));
    CHECK(std::is_sorted(in->begin(), in->end(), [](const Message& a, const Message& b) { return a.peer < b.peer; }),
          "by ascending peer");
    std::map<int, uint64_t> seen;
    for (const Message& message : *in) {
      // Two messages between one pair may come in any order: the empty one is the second.
      const uint64_t i = message.bytes.empty() ? 1 : 0;
      ++seen[message.peer];
      CHECK(message.bytes ==
                pattern(message.bytes.empty() ? 0 : bytes(message.peer, rank, i), seed(message.peer, rank, i)),
            "the bytes of a message");
    }
    for (const auto& [from, n] : seen) CHECK(n == count(from, rank), "as many as were sent");
  }
}

void point_to_point(const Communicator& comm) {
  about("point to point");
  const int rank = comm->rank(), size = comm->size();
  const int64_t sent = comm->messages_sent(), sent_bytes = comm->bytes_sent();
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;  // itself, where it is alone
  std::vector<std::vector<std::byte>> out, in;
  std::vector<Request> requests;
  const size_t lengths[] = {0, 1, 4096, 1000000};
  for (size_t i = 0; i < 4; ++i)
    out.push_back(pattern(lengths[i], static_cast<uint64_t>(rank) + i)), in.emplace_back(lengths[i]);
  const int tags[] = {1023, 0, 5, 5};  // of one tag in order
  for (size_t i = 0; i < 4; ++i) {
    auto receive = comm->receive(from, tags[i], in[i]);
    auto send = comm->send(to, tags[i], out[i]);
    if (!CHECK_OK(receive.status(), "receive") || !CHECK_OK(send.status(), "send")) return;
    requests.push_back(*std::move(receive));
    requests.push_back(*std::move(send));
  }
  CHECK_OK(wait_all(requests), "wait");
  for (size_t i = 0; i < 4; ++i) CHECK(in[i] == pattern(lengths[i], static_cast<uint64_t>(from) + i), "bytes received");
  CHECK(comm->messages_sent() - sent == 4, "messages are counted");
  CHECK(comm->bytes_sent() - sent_bytes == 1004097, "bytes are counted");
  Request nothing;
  CHECK(*nothing.test(), "an empty request is done");
}

void splits(const Communicator& comm) {
  about("split");
  const int rank = comm->rank(), size = comm->size();
  const auto halves = comm->split(rank % 2);
  if (!CHECK_OK(halves.status(), "split")) return;
  CHECK((*halves)->rank() == rank / 2, "ranks keep their order");
  CHECK((*halves)->size() == (size + 1 - rank % 2) / 2, "size");
  int64_t sum = rank;
  CHECK_OK((*halves)->all_reduce_sum(std::span(&sum, 1)), "sum in a part");
  int64_t expected = 0;
  for (int r = rank % 2; r < size; r += 2) expected += r;
  CHECK(sum == expected, "sum in a part");
  sparse(*halves);
  const auto some = comm->split(rank == 0 ? 4 : -1);
  if (CHECK_OK(some.status(), "split with a colour below 0"))
    CHECK((*some == nullptr) == (rank != 0), "a colour below 0 gives none");
  CHECK(comm->node_size() >= 1 && comm->node_size() <= size, "ranks of a node");
}

void nodes_of_two(const Communicator& comm) {
  about("PENSTOCK_NODE_SIZE");
  const int all = comm->node_size(), rank = comm->node_rank();
  if (all == 1) return;
  ::setenv("PENSTOCK_NODE_SIZE", "2", 1);
  const auto pairs = comm->duplicate();
  if (CHECK_OK(pairs.status(), "nodes of two")) {
    const auto node = (*pairs)->node();
    const int mates = rank / 2 * 2 + 1 < all ? 2 : 1;
    CHECK((*pairs)->node_size() == mates && (*pairs)->node_rank() == rank % 2, "nodes of two");
    if (CHECK_OK(node.status(), "a node of two")) CHECK((*node)->size() == mates, "a node of two");
  }
  for (const char* wrong : {"0", "-1", "two", "2.5", "2 "}) {
    ::setenv("PENSTOCK_NODE_SIZE", wrong, 1);
    const auto none = comm->duplicate();
    CHECK(none.status().code() == Code::invalid, wrong);
    CHECK(none.status().message().find("PENSTOCK_NODE_SIZE=") != std::string::npos, wrong);
  }
  ::unsetenv("PENSTOCK_NODE_SIZE");
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  reductions(world.comm());
  broadcast_and_gather(world.comm());
  agreement(world.comm());
  sharing(world.comm());
  sparse(world.comm());
  point_to_point(world.comm());
  splits(world.comm());
  nodes_of_two(world.comm());
  about("");
  CHECK_OK(world.comm()->barrier(), "barrier");
  return world.finish("comm_test");
}
