// What methods ask of a machine, counted by hand, and the time of what a single resource limits.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "bench/simulate/demand.hpp"
#include "bench/simulate/library.hpp"
#include "bench/simulate/machine.hpp"
#include "bench/simulate/recorded.hpp"
#include "bench/simulate/run.hpp"
#include "bench/simulate/wise.hpp"

namespace penstock::bench {
namespace {

constexpr int64_t MiB = 1 << 20;

nlohmann::json described() {
  return nlohmann::json::parse(R"({
    "name": "M",
    "nodes": {"count": 64, "cores": 4, "memory_rate": 1e12, "link_rate": 1e12, "message_seconds": 1e-9},
    "servers": {"count": 2, "rate": 1e12},
    "targets": {"count": 4, "write_rate": 1e8, "read_rate": 2e8, "call_seconds": 0},
    "file_system": {"kind": "gpfs", "block": 1048576, "smallest": 4096, "stripe_count": 0, "call_seconds": 1e-9,
                    "lock_servers": 1, "grant_seconds": 0, "lock_seconds": 0},
    "metadata": {"create_seconds": 0, "open_seconds": 0, "entries": 1000}})");
}

Machine machine() { return *read_machine(described()); }

// Blocks of 64 ranks, 4 on a node, 1 MiB each.
Demand demand(const std::string& method, const Machine& on, bool write = true,
              const std::string& workload = "block2d") {
  CaseWords words;
  words.workload = workload;
  words.per_rank = "1MiB";
  words.methods = {method};
  words.given.request.ranks_per_node = 4;
  const Case what = *make_case(words);
  auto found = demand_of({what, 64, 4, write}, what.methods[0], on);
  EXPECT_TRUE(found.ok()) << found.status().message();
  return found ? *found : Demand{};
}

Demand of_nodes(int64_t nodes, int64_t movers) {
  Demand d;
  d.ranks = d.nodes = nodes;
  d.movers = movers;
  d.bytes = d.file_bytes = 1e10;
  d.calls = 10000;
  d.targets = 4;
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
  Demand d = of_nodes(16, 16);
  d.calls = 16 * 100;
  const auto apart = simulate(d, m, true);
  d.in_step = true;
  const auto in_step = simulate(d, m, true);
  ASSERT_TRUE(apart.ok() && in_step.ok());
  EXPECT_NEAR(apart->seconds, 1e10 / 4e8, 0.1);
  EXPECT_NEAR(in_step->seconds, 1e10 / 4e8 + 1, 0.1);
  m.link_rate = 1e9;
  const auto passing = simulate(d, m, true);
  ASSERT_TRUE(passing.ok());
  EXPECT_NEAR(passing->seconds - in_step->seconds, 100 * (1 << 20) / 1e9, 1e-2) << "the last block of each call";
}

TEST(Simulation, CallsOfAllTakeAsLongAsTheSlowest) {
  Machine m = machine();
  m.spread = 0.5;
  Demand d = of_nodes(16, 16);
  d.calls = 16 * 100;
  const auto apart = simulate(d, m, true);
  d.in_step = true;
  const auto in_step = simulate(d, m, true);
  ASSERT_TRUE(apart.ok() && in_step.ok());
  EXPECT_NEAR(apart->seconds, 25, 0.1);
  double beyond_mean = 0;  // by which the largest of 16 exceeds it
  for (int i = 2; i <= 16; ++i) beyond_mean += 1.0 / i;
  EXPECT_NEAR(in_step->seconds, 25 * (1 + 0.5 * beyond_mean / std::sqrt(1e10 / d.calls / MiB)), 0.5);
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

TEST(Wise, OnlySingleFilesOfOursHaveNamesInWisdom) {
  const auto name = [](const std::string& label, Regime regime = Regime::durable) {
    Machine m = machine();
    m.kind = "lustre";
    return wise_transport({{}, 8, 4, true}, *make_method(label, regime), m);
  };
  EXPECT_EQ(name("hdf5/two_phase"), "two_phase");
  EXPECT_EQ(name("hdf5/two_phase", Regime::cached), "two_phase");
  EXPECT_EQ(name("raw/two_phase:writers=8"), "two_phase:writers=8");
  EXPECT_EQ(name("netcdf/mpiio:coordination=independent"), "mpiio:coordination=independent");
  EXPECT_EQ(name("raw/mpiio:hint.cb_nodes=4"), "") << "wisdom has no hints";
  EXPECT_EQ(name("raw/two_phase:io=direct"), "") << "a file system may refuse it";
  EXPECT_EQ(name("raw/two_phase:stripe_count=4"), "two_phase:stripe_count=4");
  EXPECT_EQ(name("raw/two_phase:stripe_bytes=1MiB"), "") << "not the transport's";
  for (const char* other : {"raw/independent:layout=chunks", "raw/per_process", "phdf5"})
    EXPECT_EQ(name(other), "") << other;
}

TEST(Wise, AProblemIsWhatTheSessionSays) {
  CaseWords words;
  words.workload = "block2d";
  words.per_rank = "1MiB";
  words.methods = {"hdf5/two_phase"};
  const Case what = *make_case(words);
  // 886 x 886 doubles in 3 x 2 blocks.
  const auto problem = problem_of({what, 6, 4, true}, what.methods[0], machine());
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  EXPECT_EQ(*problem, nlohmann::json::parse(R"({
    "operation": "write", "format": "hdf5", "placement": "single", "durable": true, "in_memory": false, "ranks": 6,
    "ranks_per_node": 4, "bytes_per_rank": 1049024, "blocks_per_rank": 1, "run_bytes": 3544, "filesystem": "gpfs",
    "mpi": ""})"));
  const auto of_reading = problem_of({what, 3, 4, false}, what.methods[0], machine());
  EXPECT_EQ((*of_reading)["operation"], "read");
  EXPECT_EQ((*of_reading)["placement"], "");
  EXPECT_EQ((*of_reading)["ranks_per_node"], 3) << "fewer than a node has room for";
}

TEST(Wise, PlansToTryBeginWithTheDefault) {
  Machine m = machine();
  m.kind = "lustre";
  const auto methods = methods_to_try({{}, 8, 4, true}, "raw", m);
  ASSERT_TRUE(methods.ok()) << methods.status().message();
  EXPECT_EQ(methods->front().label, default_method("raw"));
  EXPECT_EQ(methods->back().label, "raw/two_phase:stripe_count=4");
  for (const Method& method : *methods) {
    EXPECT_NE(wise_transport({{}, 8, 4, true}, method, m), "") << method.label;
    const bool everywhere = method.label.find("stripe_count") == std::string::npos;
    EXPECT_EQ(wise_transport({{}, 8, 4, false}, method, m) != "", everywhere) << method.label;
    EXPECT_EQ(wise_transport({{}, 8, 4, true}, method, machine()) != "", everywhere) << method.label;
    EXPECT_GT(demand(method.label, m).calls, 0) << method.label;
  }
  const auto reading = methods_to_try({{}, 8, 4, false}, "raw", m),
             elsewhere = methods_to_try({{}, 8, 4, true}, "raw", machine());
  ASSERT_TRUE(reading.ok() && elsewhere.ok());
  EXPECT_EQ(reading->size() + 4, methods->size()) << "a file that is read has its stripes";
  EXPECT_EQ(elsewhere->size() + 4, methods->size());
}

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
