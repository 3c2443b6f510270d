// Tests of counts for small jobs, compared with messages counted by hand.
#include "bench/count/count.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <functional>
#include <memory>

#include "core/methods/methods.hpp"
#include "core/plan/plan.hpp"

namespace penstock::bench {
namespace {

constexpr int64_t mebibyte = 1 << 20;

// 1024 x 1024 real64 in 2 x 2 blocks: rows of 8 KiB, 4 KiB per rank. The file's header takes the first MiB, the rows of
// ranks 0 and 1 the next 4, those of ranks 2 and 3 the last 4.
CountRequest four_ranks(const std::string& parameters, int ranks_per_node) {
  CaseWords words;
  words.workload = "block2d";
  words.total = "8MiB";
  words.methods = {"hdf5/two_phase" + parameters};
  auto made = make_case(words);
  EXPECT_TRUE(made.ok()) << made.status().message();
  CountRequest request{*std::move(made), {4}};
  request.ranks_per_node = ranks_per_node;
  return request;
}

CountRow count_one(const CountRequest& request) {
  EXPECT_TRUE(check(request).ok()) << check(request).message();
  const auto rows = count_all(request);
  EXPECT_TRUE(rows.ok()) << rows.status().message();
  return (*rows)[0];
}

// Two writers, ranks 0 and 2, own 5 and 4 MiB: rank 1 sends to rank 0 and rank 3 to rank 2, 4 windows each.
TEST(Count, TwoPhaseOnFourNodes) {
  const Costs ours = count_one(four_ranks(":writers=2,buffer_bytes=1MiB", 1)).ours;
  EXPECT_EQ(ours.writers, 2);
  EXPECT_EQ(ours.plan_messages.mean, 0.5);
  EXPECT_EQ(ours.plan_messages.most, 1);
  EXPECT_EQ(ours.data_messages.mean, 2);
  EXPECT_EQ(ours.data_messages.most, 4);
  EXPECT_EQ(ours.far_messages.mean, 2);
  EXPECT_EQ(ours.messages.mean, 2.5);
  EXPECT_EQ(ours.messages.most, 5);
  EXPECT_EQ(ours.far_bytes, 4 * mebibyte);
  EXPECT_EQ(ours.moved_per_byte(), 1.5);
  EXPECT_GT(ours.plan_received, 0);
  EXPECT_EQ(ours.plan_bytes.most, ours.plan_received);
  EXPECT_EQ(ours.plan_bytes.mean, static_cast<double>(ours.plan_received) / 2);
  EXPECT_EQ(ours.stripe_conflicts, 0);
  EXPECT_EQ(ours.metadata.total(), 1 + 1 + 3 + 2 + 3 + 1 + 1 + 1 + 1);
}

TEST(Count, NeighboursAreReachedWithoutMessages) {
  const Costs shared = count_one(four_ranks(":writers=2,buffer_bytes=1MiB", 2)).ours;
  EXPECT_EQ(shared.data_messages.mean, 2);
  EXPECT_EQ(shared.far_messages.mean, 0);
  EXPECT_EQ(shared.messages.mean, 0.5);
  EXPECT_EQ(shared.moved_per_byte(), 1);
  EXPECT_GT(shared.near_bytes, 8 * mebibyte);  // metadata too
  EXPECT_LT(shared.near_bytes, 9 * mebibyte);
  EXPECT_EQ(count_one(four_ranks(":writers=2,buffer_bytes=1MiB,neighbours=messages", 2)).ours.messages.mean, 2.5);
}

// Writers meet at 5 MiB, in the middle of a 2 MiB stripe; the plan's block separates them.
TEST(Count, StripesThatWritersShare) {
  CountRequest request = four_ranks(":writers=2,block=1MiB", 2);
  request.stripe = 2 * mebibyte;
  EXPECT_EQ(count_one(request).ours.stripe_conflicts, 1);
  EXPECT_EQ(count_one(request).ours.block_conflicts, 0);
  request = four_ranks(":writers=2", 2);
  request.stripe = 2 * mebibyte;
  EXPECT_EQ(count_one(request).ours.stripe_conflicts, 0);
}

// Two aggregators, ranks 0 and 2, own 4.5 MiB each: 448 of the first 512 rows belong to rank 0's domain. So lists go
// from 0 to 2 with 64 runs, from 1 to 0 and 2 with 448 and 64, from 3 to 2 with 512, and the data of each list in one
// round.
TEST(Count, TextbookOnTwoNodes) {
  const Costs textbook = count_one(four_ranks("", 2)).textbook;
  EXPECT_EQ(textbook.writers, 2);
  EXPECT_EQ(textbook.plan_messages.mean, 3 + 1);
  EXPECT_EQ(textbook.plan_messages.most, 3 + 2);
  EXPECT_EQ(textbook.plan_bytes.mean, 16 * (64 + 512 + 512) / 4.0);
  EXPECT_EQ(textbook.plan_bytes.most, 16 * 512);
  EXPECT_EQ(textbook.plan_received, 16 * (64 + 64 + 512));
  EXPECT_EQ(textbook.data_messages.mean, 1);
  EXPECT_EQ(textbook.data_messages.most, 2);
  EXPECT_EQ(textbook.far_messages.mean, 0.5);
  EXPECT_EQ(textbook.messages.mean, 5);
  EXPECT_EQ(textbook.far_bytes, 128 * 4096);
  EXPECT_EQ(textbook.stripe_conflicts, 1);
  EXPECT_EQ(textbook.metadata.total(), 1 + 4 + 4 + 5);
}

TEST(Count, AloneNobodyIsToldAnything) {
  CountRequest request = four_ranks("", 1);
  request.ranks = {1};
  const CountRow row = count_one(request);
  EXPECT_EQ(row.ours.messages.most, 0);
  EXPECT_EQ(row.textbook.messages.most, 0);
  EXPECT_EQ(row.textbook.plan_bytes.most, 0);
}

TEST(Count, AUnitThatThreeWritersShareIsOne) {
  Tally tally(4, true);
  tally.write(0, {0, 150});
  tally.write(1, {150, 160});
  tally.write(2, {160, 250});
  tally.write(3, {250, 300});
  EXPECT_EQ(tally.conflicts(100), 2);
  EXPECT_EQ(tally.conflicts(1000), 1);
  EXPECT_EQ(tally.conflicts(10), 0);
}

TEST(Count, WhatHasNoPlanIsRefused) {
  CountRequest request = four_ranks("", 1);
  for (const char* label : {"hdf5/independent", "raw/two_phase", "hdf5/two_phase:placement=per_rank", "phdf5"}) {
    auto method = make_method(label, Regime::durable);
    if (!method) continue;  // not built
    request.what.methods = {*std::move(method)};
    EXPECT_EQ(check(request).code(), Code::invalid) << label;
  }
}

std::shared_ptr<const Workload> workload_of(const char* name, int64_t bytes_per_rank, int ranks) {
  WorkloadRequest words;
  words.bytes_per_rank = bytes_per_rank;
  words.ranks = ranks;
  auto made = make_workload(name, words);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? *std::move(made) : nullptr;
}

// As many ranks as make even distances whole nodes.
TEST(Count, SomeRanksStandForAll) {
  const auto workload = workload_of("block2d", 64 << 10, 8161);
  ASSERT_NE(workload, nullptr);
  const auto all = VirtualJob::make(*workload, *find_format("raw"), {8161, 16, mebibyte, 0});
  const auto some = VirtualJob::make(*workload, *find_format("raw"), {8161, 16, mebibyte, 256});
  ASSERT_TRUE(all.ok() && some.ok());
  const std::vector<int>& visited = some->counted();
  EXPECT_EQ(visited.size(), 256);
  EXPECT_EQ(visited.front(), 0);
  EXPECT_EQ(visited.back(), 8160);
  EXPECT_EQ(std::ranges::adjacent_find(visited, std::greater_equal<>()), visited.end()) << "in order, none twice";
  const auto whole = count_textbook(*all, true, mebibyte), part = count_textbook(*some, true, mebibyte);
  ASSERT_TRUE(whole.ok() && part.ok());
  EXPECT_NEAR(static_cast<double>(part->far_bytes), static_cast<double>(whole->far_bytes),
              0.05 * static_cast<double>(whole->far_bytes));
  EXPECT_NEAR(part->far_messages.mean, whole->far_messages.mean, 0.05 * whole->far_messages.mean);
}

TEST(Count, SomeNodesStandForAll) {
  const auto workload = workload_of("block3d", 1 << 20, 4095);
  ASSERT_NE(workload, nullptr);
  const auto plan = parse_plan("hdf5/two_phase", "hdf5", vocabulary());
  ASSERT_TRUE(plan.ok());
  PerRank found[2];
  for (const int most : {0, 256}) {
    const auto job = VirtualJob::make(*workload, *find_format("hdf5"), {4095, 16, mebibyte, most});
    ASSERT_TRUE(job.ok()) << job.status().message();
    EXPECT_EQ(job->counted_nodes().size(), most == 0 ? 256 : 8);
    const auto costs = count_two_phase(*job, plan->settings, mebibyte);
    ASSERT_TRUE(costs.ok()) << costs.status().message();
    found[most > 0] = costs->far_messages;
  }
  EXPECT_GT(found[0].mean, 1);
  EXPECT_NEAR(found[1].mean, found[0].mean, 0.2 * found[0].mean);
}

}  // namespace
}  // namespace penstock::bench
