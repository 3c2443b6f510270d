// What recorded calls ask of a machine.
#include "bench/simulate/recorded.hpp"
#include "bench/simulate/described.hpp"

namespace penstock::bench {
namespace {

// Steps of each rank, in one file.
Recorded recorded(const std::vector<std::vector<Step>>& of_ranks) {
  Recorded made;
  for (const std::vector<Step>& steps : of_ranks) made.push_back({.name = "program", .steps = steps});
  return made;
}

Step write_at(int64_t offset, int64_t length, int32_t file = 0) { return {Act::write, file, offset, length}; }

TEST(Recorded, ANodeWithMoreDataIsTheBusiest) {
  const Recorded done = recorded({{write_at(0, 6 * MiB)}, {write_at(6 * MiB, MiB)}, {}, {write_at(7 * MiB, MiB)}, {}});
  const auto found = demand_of(done, 2, true, machine());
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->movers, 2);
  EXPECT_EQ(found->busiest, 7.0 / 4);
}

TEST(Recorded, CallsAreCountedAndStretchesTouchBlocks) {
  Machine m = machine();
  m.stripe_count = 1;
  // Rank 0 writes two blocks of 1 MiB in four calls; rank 1 half a block, and elsewhere the header of another file.
  const Recorded done = recorded({{write_at(0, MiB / 2), write_at(MiB / 2, MiB / 2), write_at(MiB, MiB)},
                                  {{Act::open, 0}, write_at(2 * MiB, MiB / 2), {Act::stat, 1}, write_at(0, 100, 1)},
                                  {{Act::read, 0, 0, MiB}}});
  const Demand d = *demand_of(done, 1, true, m);
  EXPECT_EQ(d.ranks, 3);
  EXPECT_EQ(d.nodes, 3);
  EXPECT_EQ(d.movers, 2) << "the third only reads";
  EXPECT_EQ(d.streams, 1);
  EXPECT_EQ(d.calls, 5);
  EXPECT_EQ(d.bytes, 2.5 * MiB + 100);
  EXPECT_EQ(d.file_bytes, 2.5 * MiB + 2 * 4096) << "less than 4 KiB is read and written";
  EXPECT_EQ(d.creates, 2);
  EXPECT_EQ(d.opens, 1 + 1 + 1 + 1) << "at the first access, where nobody opened it; and one stat";
  EXPECT_EQ(d.lock_moves, 2) << "half a block, and the header's";
  EXPECT_EQ(d.lock_grants, 2);
  EXPECT_EQ(d.targets, 2) << "two files of one stripe";
  EXPECT_EQ(demand_of(done, 4, true, m)->lock_moves, 0) << "one node";
  const Demand reads = *demand_of(done, 1, false, m);
  EXPECT_EQ(reads.calls, 1);
  EXPECT_EQ(reads.creates, 0);
  EXPECT_EQ(demand_of(recorded({{{Act::open, 0}}}), 1, true, m).status().message(), "the pattern writes nothing");
}

TEST(Recorded, ItsDataIsAWorkloadWithoutWhatNobodyTouched) {
  const Recorded done = recorded({{write_at(0, 10), write_at(30, 10), write_at(0, 1)}, {write_at(10, 10)}, {}});
  const auto data = data_of(done, true);
  ASSERT_TRUE(data.ok()) << data.status().message();
  ASSERT_EQ((*data)->fields().size(), 1U);
  EXPECT_EQ((*data)->fields()[0].elements, 30);
  const auto part = [&](int rank) {
    const auto of_rank = (*data)->part(0, rank, 3);
    return std::vector<penstock::Run>(of_rank->run_list().begin(), of_rank->run_list().end());
  };
  EXPECT_EQ(part(0), (std::vector<penstock::Run>{{0, 10}, {20, 10}}));
  EXPECT_EQ(part(1), (std::vector<penstock::Run>{{10, 10}}));
  EXPECT_TRUE(part(2).empty());
  const auto twice = data_of(recorded({{write_at(0, 10)}, {write_at(5, 10)}}), true);
  EXPECT_EQ(twice.status().message(),
            "25 % of its bytes are written more than once, so that other methods cannot be compared");
}

}  // namespace
}  // namespace penstock::bench
