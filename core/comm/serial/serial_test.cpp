// Tests of the one-rank communicator: it fulfils the same contract as MPI's.
#include <gtest/gtest.h>
#include <sched.h>

#include <penstock/communicator.hpp>

#include "core/comm/cores.hpp"

namespace penstock {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

TEST(Serial, CollectivesOfOne) {
  const Communicator comm = serial_communicator();
  EXPECT_EQ(comm->rank(), 0);
  EXPECT_EQ(comm->size(), 1);
  EXPECT_EQ(comm->node_size(), 1);
  EXPECT_TRUE(comm->barrier().ok());
  int64_t values[] = {5, -7};
  EXPECT_TRUE(comm->all_reduce_min(values).ok());
  EXPECT_TRUE(comm->all_reduce_max(values).ok());
  EXPECT_TRUE(comm->all_reduce_sum(values).ok());
  EXPECT_EQ(values[0], 5);
  EXPECT_EQ(values[1], -7);
  int64_t before[] = {1, 2};
  EXPECT_TRUE(comm->exclusive_sum(values, before).ok());
  EXPECT_EQ(values[0], 5);
  EXPECT_EQ(values[1], -7);
  EXPECT_EQ(before[0], 0);
  EXPECT_EQ(before[1], 0);
  auto data = bytes_of("abc");
  EXPECT_TRUE(comm->broadcast(data, 0).ok());
  EXPECT_EQ(data, bytes_of("abc"));
  const auto gathered = comm->gather(data, 0);
  ASSERT_TRUE(gathered.ok());
  ASSERT_EQ(gathered->size(), 1u);
  EXPECT_EQ((*gathered)[0], data);
}

TEST(Serial, AgreeKeepsCodeAndMessage) {
  const Communicator comm = serial_communicator();
  EXPECT_TRUE(agree(comm, {}).ok());
  const Status status = agree(comm, {Code::denied, "no"});
  EXPECT_EQ(status.code(), Code::denied);
  EXPECT_NE(status.message().find("no"), std::string::npos);
  EXPECT_FALSE(agree(comm, {Code::elsewhere, "x"}).ok());
}

TEST(Serial, MessagesToItself) {
  const Communicator comm = serial_communicator();
  std::vector<Message> messages;
  messages.push_back({0, bytes_of("one")});
  messages.push_back({0, {}});
  const auto received = comm->sparse_exchange(messages);
  ASSERT_TRUE(received.ok());
  ASSERT_EQ(received->size(), 2u);
  EXPECT_EQ((*received)[0].bytes, bytes_of("one"));
  EXPECT_TRUE(comm->sparse_exchange({})->empty());
  EXPECT_FALSE(comm->sparse_exchange({{1, {}}}).ok());
}

TEST(Serial, ReceivesMatchTagsInOrderWhicheverComesFirst) {
  const Communicator comm = serial_communicator();
  std::vector<std::byte> a(3), b(3), c(1);
  std::vector<Request> requests;
  requests.push_back(*comm->receive(0, 4, a));  // before its send
  requests.push_back(*comm->receive(0, 4, b));
  EXPECT_FALSE(*requests[0].test());
  const auto first = bytes_of("abc"), second = bytes_of("def"), other = bytes_of("x");
  requests.push_back(*comm->send(0, 9, other));
  requests.push_back(*comm->send(0, 4, first));
  requests.push_back(*comm->send(0, 4, second));
  requests.push_back(*comm->receive(0, 9, c));
  EXPECT_TRUE(wait_all(requests).ok());
  EXPECT_EQ(a, first);
  EXPECT_EQ(b, second);
  EXPECT_EQ(c, other);
  EXPECT_EQ(comm->messages_sent(), 3);
  EXPECT_EQ(comm->bytes_sent(), 7);
  EXPECT_FALSE(comm->send(1, 0, a).ok());
}

TEST(Serial, Split) {
  const Communicator comm = serial_communicator();
  EXPECT_EQ((*comm->split(3))->size(), 1);
  EXPECT_EQ(*comm->split(-1), nullptr);
}

TEST(Cores, OneProcessMayUseThoseThatItIsBoundTo) {
  const Communicator comm = serial_communicator();
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(workers_of(comm), CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(workers_of(comm), 1);
  EXPECT_EQ(share_of_cores(comm), 1.0);
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace penstock
