// Which simulated methods wisdom has names for, and what problem they solve.
#include "bench/simulate/wise.hpp"
#include "bench/simulate/described.hpp"

namespace penstock::bench {
namespace {

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

}  // namespace
}  // namespace penstock::bench
