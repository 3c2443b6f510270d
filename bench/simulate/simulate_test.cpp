// What methods ask of a machine, counted by hand, and the time of what a single resource limits.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "bench/simulate/described.hpp"
#include "bench/simulate/library.hpp"
#include "bench/simulate/run.hpp"

namespace penstock::bench {
namespace {

Demand of_nodes(int64_t nodes, int64_t movers) {
  Demand d;
  d.ranks = d.nodes = nodes;
  d.movers = movers;
  d.bytes = d.file_bytes = 1e10;
  d.calls = 10000;
  d.targets = 4;
  return d;
}

// 100 calls of each of 16 nodes.
Demand of_calls(bool in_step) {
  Demand d = of_nodes(16, 16);
  d.calls = 16 * 100;
  d.in_step = in_step;
  return d;
}

TEST(Machine, AMissingAndAnUnknownKeyAreNamed) {
  nlohmann::json json = described();
  json["nodes"].erase("cores");
  EXPECT_EQ(read_machine(json).status().message(), "[nodes] has no cores");
  json = described();
  json["nodes"]["corse"] = 4;
  EXPECT_EQ(read_machine(json).status().message(), "[nodes] has an unknown key corse");
  json = described();
  json["targets"]["write_rate"] = -1;
  EXPECT_EQ(read_machine(json).status().message(), "[targets] write_rate is a number from 1 to 1e+18, not -1");
  json = described();
  json["nodes"]["count"] = 4.5;
  EXPECT_EQ(read_machine(json).status().message(), "[nodes] count is a whole number from 1 to 10000000, not 4.5");
  json = described();
  json["mpi_io"]["cb"] = "on";
  EXPECT_EQ(read_machine(json).status().message(), "[mpi_io] cb is \"enable\" or \"automatic\"");
  json["mpi_io"] = {{"domains", "stripes"}};
  EXPECT_EQ(read_machine(json).status().message(), "[mpi_io] domains is \"blocks\" or \"bytes\"");
  json["mpi_io"] = {{"romio_year", 8}};
  EXPECT_EQ(read_machine(json).status().message(), "[mpi_io] romio_year is a whole number from 1998 to 9999, not 8");
  json["mpi_io"] = {{"aggregators", 8}};
  EXPECT_EQ(read_machine(json).status().message(),
            "[mpi_io] aggregators are those of one of the [forwarders], which are missing");
}

TEST(Demand, SeparateFilesAreCreatedByEachRank) {
  const Demand d = demand("raw/per_process", machine());
  EXPECT_EQ(d.creates, 64);
  EXPECT_EQ(d.file_bytes, d.bytes);
  EXPECT_EQ(d.far_bytes, 0);
  EXPECT_EQ(d.lock_moves + d.lock_grants, 0);
  EXPECT_EQ(demand("raw/per_process", machine(), false).opens, 64);
}

TEST(Demand, IndependentRanksMakeACallForEachRow) {
  const Demand d = demand("raw/independent", machine());  // 8 x 8 blocks of 362 x 362 doubles
  EXPECT_EQ(d.calls, 64 * 362);
  EXPECT_GT(d.lock_moves, 0.9 * d.calls);  // rows are shorter than a block of the file system
  EXPECT_EQ(d.creates, 1);
}

TEST(Demand, SievingReadsAndWritesWhatOthersHave) {
  const Demand with = demand("raw/mpiio:coordination=independent", machine());
  const Demand without = demand("raw/mpiio:coordination=independent,hint.romio_ds_write=disable", machine());
  EXPECT_NEAR(with.file_bytes / with.bytes, 2 * 8, 0.5);  // a rank's rows alternate with those of seven others
  EXPECT_LT(without.file_bytes, 6 * without.bytes);
  EXPECT_LT(with.calls, without.calls);
}

TEST(Demand, TwoPhaseMovesDataOnceToAFewWriters) {
  const Demand d = demand("raw/two_phase", machine());
  EXPECT_EQ(d.nodes, 16);
  EXPECT_EQ(d.lock_moves, 0);
  EXPECT_NEAR(d.far_bytes / d.bytes, 0.5, 0.1);  // a row of blocks is on two nodes, one of which writes it
  const Demand gathered = demand("raw/gather", machine());
  EXPECT_EQ(gathered.movers, 1);
  EXPECT_NEAR(gathered.far_bytes, 60.0 * MiB, MiB);  // all but the first node's
}

TEST(Demand, CollectiveBufferingIsAutomaticOrAsTheMachineSays) {
  Machine m = machine();
  EXPECT_GT(demand("raw/mpiio", m).far_bytes, 0);                                // rows of several ranks alternate
  EXPECT_EQ(demand("raw/mpiio:puts=apart", m, true, "particles").far_bytes, 0);  // each rank's part is contiguous
  EXPECT_GT(demand("raw/mpiio", m, true, "particles").far_bytes, 0);  // but not those of nine datasets in one call
  EXPECT_TRUE(demand("raw/mpiio:puts=apart", m, true, "particles").in_step) << "to know it, ranks wait in each call";
  EXPECT_FALSE(demand("raw/mpiio:puts=apart,hint.romio_cb_write=disable", m, true, "particles").in_step);
  EXPECT_EQ(demand("raw/mpiio:hint.romio_cb_write=disable", m).far_bytes, 0);
  m.buffers_always = true;
  EXPECT_GT(demand("raw/mpiio", m, true, "particles").gathered_bytes, 0);
}

TEST(Demand, AggregatorsOfEachCallMeetInsideBlocks) {
  Machine m = machine();
  m.buffers_always = true;
  const Demand once = demand("raw/mpiio", m, true, "particles"),
               apart = demand("phdf5:collective=true", m, true, "particles");
  EXPECT_EQ(once.movers, 16);
  EXPECT_EQ(once.lock_moves, 15);
  EXPECT_NEAR(apart.lock_moves, 9 * 16 - 1, 9) << "nine datasets in nine calls";
  EXPECT_GE(apart.rounds, 9);
  m.whole_blocks = true;
  EXPECT_EQ(demand("raw/mpiio", m, true, "particles").lock_moves, 0);
  EXPECT_EQ(demand("phdf5:collective=true", m, true, "particles").lock_moves, 8) << "where datasets meet";
  m.forwarded_nodes = 8;
  m.aggregators = 3;
  EXPECT_EQ(demand("raw/mpiio", m, true, "particles").movers, 6) << "of 16 nodes behind two forwarders";
}

TEST(Demand, ROMIOOf2007SievesCallsWithoutGapsThroughAFileView) {
  Machine m = machine();
  const auto with = [&](const std::string& more) {
    return demand("raw/mpiio:coordination=independent,puts=apart" + more, m, true, "ior").file_bytes / (64.0 * MiB);
  };
  EXPECT_EQ(with(",positioning=individual"), 1);
  m.romio_year = 2007;
  EXPECT_EQ(with(",positioning=individual"), 2) << "read and written";
  EXPECT_EQ(with(",positioning=individual,hint.romio_ds_write=disable"), 1);
  EXPECT_EQ(with(""), 1) << "no view";
  m.romio_year = 2009;
  EXPECT_EQ(with(",positioning=individual"), 1);
}

// As counted: see library.cpp.
TEST(Library, HDF5WritesAndReadsMetadataOfEachDataset) {
  for (const auto& [datasets, writes, places] : {std::tuple{4, 16, 1}, {16, 32, 3}, {64, 92, 14}}) {
    Demand d;
    add_hdf5(d, datasets, true);
    EXPECT_NEAR(d.metadata_writes, writes, 1) << datasets;
    EXPECT_NEAR(d.metadata_places, places, 1) << datasets;
    EXPECT_TRUE(d.sets_size);
  }
  EXPECT_EQ(demand("phdf5", machine(), false).metadata_writes, 0);
  EXPECT_FALSE(demand("phdf5", machine(), false).sets_size);
}

TEST(Library, EveryNodeReadsTheMetadataOfHDF5) {
  Machine m = machine();
  m.target_call_seconds = 1e-3;
  const Demand d = demand("phdf5", m, false);
  Demand without = d;
  without.metadata_places = 0;
  EXPECT_NEAR(library_seconds(d, m, false), 16 * 1e-3, 1e-6) << "one place";
  EXPECT_EQ(library_seconds(without, m, false), 0);
  EXPECT_EQ(demand("raw/mpiio", m, false).metadata_places, 0);
  const auto all = simulate(d, m, false), data = simulate(without, m, false);
  ASSERT_TRUE(all.ok() && data.ok());
  EXPECT_NEAR(all->seconds - data->seconds, 16 * 1e-3, 1e-6) << "before its data";
}

TEST(Library, ALockFromTheNewSizeOnIsOfEachTarget) {
  Machine m = machine();
  Demand d = demand("phdf5", m);
  d.metadata_writes = 0;
  m.lock_seconds = 1;
  EXPECT_NEAR(library_seconds(d, m, true), 1, 1e-6) << "one lock server";
  m.lock_servers = 0;
  EXPECT_NEAR(library_seconds(d, m, true), 4, 1e-6);
  d.nodes = 1;
  EXPECT_NEAR(library_seconds(d, m, true), 0, 1e-6);
}

TEST(Library, PnetCDFOpensTwiceIfIndependent) {
  EXPECT_EQ(demand("pnetcdf", machine()).opens, 64);
  EXPECT_EQ(demand("pnetcdf:mode=independent", machine()).opens, 128);
  EXPECT_EQ(demand("pnetcdf", machine()).metadata_places, 0) << "rank 0 has read it for all";
}

TEST(Simulation, LatencyAddsIfRanksWaitForEachOther) {
  Machine m = machine();
  m.call_seconds = 1e-2;
  const auto apart = simulate(of_calls(false), m, true), in_step = simulate(of_calls(true), m, true);
  ASSERT_TRUE(apart.ok() && in_step.ok());
  EXPECT_NEAR(apart->seconds, 1e10 / 4e8, 0.1);
  EXPECT_NEAR(in_step->seconds, 1e10 / 4e8 + 1, 0.1);
  m.link_rate = 1e9;
  const auto passing = simulate(of_calls(true), m, true);
  ASSERT_TRUE(passing.ok());
  EXPECT_NEAR(passing->seconds - in_step->seconds, 100 * (1 << 20) / 1e9, 1e-2) << "the last block of each call";
}

TEST(Simulation, CallsOfAllTakeAsLongAsTheSlowest) {
  Machine m = machine();
  m.spread = 0.5;
  const auto apart = simulate(of_calls(false), m, true), in_step = simulate(of_calls(true), m, true);
  ASSERT_TRUE(apart.ok() && in_step.ok());
  EXPECT_NEAR(apart->seconds, 25, 0.1);
  double beyond_mean = 0;  // by which the largest of 16 exceeds it
  for (int i = 2; i <= 16; ++i) beyond_mean += 1.0 / i;
  EXPECT_NEAR(in_step->seconds, 25 * (1 + 0.5 * beyond_mean / std::sqrt(1e10 / 1600 / MiB)), 0.5);
}

TEST(Simulation, WhatIsExchangedPassesTheLinksOfThoseThatWrite) {
  Machine m = machine();
  m.link_rate = 1e9;
  m.write_rate = 1e12;
  Demand d = of_nodes(16, 2);
  d.far_bytes = 1e10;
  const auto written = simulate(d, m, true);
  ASSERT_TRUE(written.ok());
  EXPECT_NEAR(written->seconds, 5 + 5, 0.1) << "in, then out";
}

TEST(Simulation, WhatIsExchangedWhileOtherDataIsWrittenSharesTheLinks) {
  Machine m = machine();
  m.link_rate = 1e9;
  m.write_rate = m.read_rate = 1e12;
  m.forwarded_nodes = 8;
  m.forwarder_rate = 1e12;
  for (const bool write : {true, false}) {
    Demand d = of_nodes(16, 16);
    d.overlaps = true;
    const auto none = simulate(d, m, write);
    d.far_bytes = 1e10;
    const auto all = simulate(d, m, write);
    d.movers = 1;
    const auto by_one = simulate(d, m, write);
    ASSERT_TRUE(none.ok() && all.ok() && by_one.ok());
    EXPECT_NEAR(none->seconds, 10.0 / 16, 0.02);
    EXPECT_NEAR(all->seconds, 20.0 / 16, 0.1) << "each node sends both";
    EXPECT_EQ(all->limit, "the links of the nodes that write");
    EXPECT_NEAR(by_one->seconds, 10 + 10.0 / 8, 0.2) << "one gets it while it writes, but the first step";
  }
}

TEST(Simulation, OthersWaitForTheNodeThatMovesMost) {
  Machine m = machine();
  m.link_rate = 1e9;
  m.write_rate = 1e12;
  for (const int64_t movers : {16, 2}) {
    Demand d = of_nodes(16, movers);
    d.busiest = 1.5;
    const auto written = simulate(d, m, true);
    ASSERT_TRUE(written.ok()) << written.status().message();
    EXPECT_NEAR(written->seconds, 1.5 * 10 / static_cast<double>(movers), 0.05);
    EXPECT_EQ(written->limit, "the links of the nodes that write");
  }
  m = machine();
  m.targets = m.servers = 64;
  Demand d = of_nodes(16, 16);
  d.targets = 64;
  for (const double busiest : {1.0, 1.5, 4.0}) {
    d.busiest = busiest;
    const auto written = simulate(d, m, true);
    ASSERT_TRUE(written.ok()) << written.status().message();
    EXPECT_NEAR(written->seconds, 1e10 / 64e8, 0.2 * 1e10 / 64e8) << "it reaches more targets than the others";
  }
}

TEST(Demand, SomeNodesHaveMoreParticlesThanOthers) {
  Machine m = machine();
  m.block = 4096;
  const auto busiest = [&](const char* method) { return demand(method, m, true, "particles").busiest; };
  const double by_rank = busiest("raw/per_process");
  EXPECT_GT(by_rank, 1.2);
  EXPECT_EQ(busiest("raw/independent"), by_rank);
  EXPECT_NEAR(busiest("raw/two_phase"), by_rank, 0.1) << "domains follow nodes";
  EXPECT_LT(busiest("raw/two_phase:domains=ranges"), 1.1);
  EXPECT_EQ(busiest("raw/gather"), 1);
  EXPECT_NEAR(demand("raw/per_process", m).busiest, 1, 0.01) << "blocks of equal size";
}

TEST(Simulation, TargetsLimitAtTheirRate) {
  const Machine m = machine();
  const Demand d = demand("raw/per_process", m);
  const auto written = simulate(d, m, true), read_back = simulate(demand("raw/per_process", m, false), m, false);
  ASSERT_TRUE(written.ok() && read_back.ok());
  EXPECT_NEAR(written->seconds, 64 * MiB / 4e8, 0.05 * 64 * MiB / 4e8);
  EXPECT_NEAR(read_back->seconds, 64 * MiB / 8e8, 0.05 * 64 * MiB / 8e8);
  EXPECT_EQ(written->limit, "the targets");
}

TEST(Simulation, OneThreadCopiesItsPartOfWhatANodeDoes) {
  nlohmann::json json = described();
  json["nodes"]["memory_rate"] = 1e9;
  Demand d = of_nodes(1, 1);
  d.gathered_bytes = 1e10;
  const auto all_cores = simulate(d, *read_machine(json), true);
  json["nodes"]["memory_threads"] = 2;
  const auto two = simulate(d, *read_machine(json), true);
  ASSERT_TRUE(all_cores.ok() && two.ok());
  EXPECT_NEAR(all_cores->seconds, 4 * 10 + 25, 1);
  EXPECT_NEAR(two->seconds, 2 * 10 + 25, 1);
}

TEST(Simulation, AForwarderIsSharedByItsNodes) {
  Machine m = machine();
  m.forwarded_nodes = 8;
  m.forwarder_rate = 1e7;
  const auto written = simulate(demand("raw/per_process", m), m, true);
  ASSERT_TRUE(written.ok());
  EXPECT_NEAR(written->seconds, 64 * MiB / 2e7, 0.05 * 64 * MiB / 2e7);  // 16 nodes behind two
  EXPECT_EQ(written->limit, "the forwarders");
}

TEST(Simulation, CreationsInOneFolderSlowDown) {
  Machine m = machine();
  m.create_seconds = 1;
  m.entries = 32;
  const auto written = simulate(demand("raw/per_process", m), m, true);
  ASSERT_TRUE(written.ok());
  EXPECT_NEAR(written->seconds, 64 * (1 + 1), 1);
  EXPECT_EQ(written->limit, "the metadata server");
}

TEST(Simulation, LocksOfOneFileAreGivenOneAfterTheOther) {
  Machine m = machine();
  m.lock_seconds = 1e-2;
  const Demand d = demand("raw/independent", m);
  const auto written = simulate(d, m, true);
  ASSERT_TRUE(written.ok());
  EXPECT_NEAR(written->seconds, d.lock_moves * 1e-2, 0.05 * d.lock_moves * 1e-2);
  EXPECT_EQ(written->limit, "locks");
}

TEST(Simulation, ManyNodesAreSimulatedInGroups) {
  Machine m = machine();
  m.nodes = 10000;
  for (const int64_t nodes : {2048, 2049, 10000}) {
    const auto written = simulate(of_nodes(nodes, nodes), m, true);
    ASSERT_TRUE(written.ok()) << written.status().message();
    EXPECT_NEAR(written->seconds, 1e10 / 4e8, 1) << nodes;
  }
}

TEST(Simulation, OneNodeOfAGroupHasItsOwnLinkOnly) {
  Machine m = machine();
  m.link_rate = 1e8;
  m.forwarded_nodes = 3;
  m.forwarder_rate = 5e7;
  for (const int64_t nodes : {3, 2048, 2049, 10000}) {
    const auto written = simulate(of_nodes(nodes, 1), m, true);
    ASSERT_TRUE(written.ok()) << written.status().message();
    EXPECT_NEAR(written->seconds, 1e10 / 5e7, 4) << nodes;
  }
}

TEST(Simulation, AFewWritersReachAllTargets) {
  Machine m = machine();
  m.servers = m.targets = 64;
  for (const int64_t movers : {1, 16, 32, 60, 64, 1024}) {
    Demand d = of_nodes(1024, movers);
    d.targets = 64;
    const auto written = simulate(d, m, true);
    ASSERT_TRUE(written.ok()) << written.status().message();
    EXPECT_LT(written->seconds, 1.5 * 1e10 / 64e8) << movers;
  }
}

}  // namespace
}  // namespace penstock::bench
