// Tests of the table of methods.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/format/format.hpp"
#include "core/methods/methods.hpp"
#include "core/methods/predict.hpp"

namespace penstock {
namespace {

TEST(Methods, TheCatalogIsWhatThePlanParserReads) {
  const Vocabulary& all = vocabulary();
  EXPECT_GE(all.formats.size(), 2u);
  EXPECT_GE(all.transports.size(), 2u);
  EXPECT_GE(all.placements.size(), 2u);
  for (const Descriptor* format : all.formats)
    for (const Descriptor* transport : all.transports) {
      const auto plan = parse_plan(std::string(format->name) + "/" + std::string(transport->name), "hdf5", all);
      EXPECT_TRUE(plan.ok() || plan.status().code() == Code::unsupported) << plan.status().message();
      for (const Parameter& parameter : transport->parameters) {
        EXPECT_FALSE(parameter.help.empty()) << parameter.name;
        Settings settings;
        EXPECT_TRUE(settings.set(parameter, parameter.fallback).ok()) << parameter.name;
      }
    }
  EXPECT_EQ(format_of_path("a.raw"), "raw");
  EXPECT_EQ(format_of_path("a.json"), "raw");
  EXPECT_EQ(format_of_path("a.h5"), "hdf5");
  EXPECT_EQ(format_of_path("a"), "hdf5");
  EXPECT_EQ(format_of_path("a.nc"), "netcdf");
  EXPECT_EQ(format_of_path("a.cdf"), "netcdf");
  EXPECT_EQ(format_of_path("a.nc.json"), "netcdf");
  EXPECT_EQ(format_of_path("a.nc4"), "hdf5");
  EXPECT_EQ(format_of_path("run.d/a.H5"), "hdf5");
  EXPECT_EQ(format_of_path("run.d/a"), "hdf5");
  EXPECT_EQ(format_of_path("a.000100"), "hdf5");
  EXPECT_EQ(format_of_path("a.nc.0001"), "netcdf");
  EXPECT_EQ(format_of_path("a.raw.7"), "raw");
  EXPECT_EQ(format_of_path("a.H5.3.7"), "hdf5");
  EXPECT_EQ(format_of_path("m.dat.7"), "");
  EXPECT_EQ(format_of_path(".hidden"), "hdf5");
  EXPECT_EQ(format_of_path("m.dat"), "");
  EXPECT_EQ(format_of_path("a.h5.tmp"), "");
}

TEST(Methods, EveryRowIsAPlanOrSaysWhyNot) {
  const auto rows = method_table();
  EXPECT_GT(rows.size(), 20u);
  for (const MethodRow& row : rows) {
    EXPECT_FALSE(row.summary.empty()) << row.plan;
    EXPECT_TRUE(!row.refused.empty() || parse_plan(row.plan, "raw", vocabulary()).ok()) << row.plan;
  }
}

// A plan names each parameter once, whichever of its parts has it.
TEST(Methods, NoParameterBelongsToTwoPartsOfAPlan) {
  const Vocabulary& all = vocabulary();
  for (const Descriptor* format : all.formats)
    for (const Descriptor* placement : all.placements)
      for (const Descriptor* transport : all.transports) {
        std::set<std::string_view> names;
        for (const Descriptor* part : {all.common, format, placement, transport})
          for (const Parameter& parameter : part->parameters)
            EXPECT_TRUE(names.insert(parameter.name).second)
                << parameter.name << " of " << format->name << ", " << placement->name << ", " << transport->name;
      }
  for (const Descriptor* engine : all.engines)
    for (const Parameter& parameter : engine->parameters)
      EXPECT_TRUE(std::ranges::find(all.engine_common->parameters, parameter.name, &Parameter::name) ==
                  all.engine_common->parameters.end())
          << parameter.name << " of " << engine->name;
}

TEST(Predict, TheDefaultIsFirstAndStaysUnlessAnotherIsMuchFaster) {
  Problem problem;
  problem.write = false;
  problem.in_memory = true;
  problem.format = "hdf5";
  problem.ranks = problem.ranks_per_node = 4;
  problem.bytes = 64 << 20;
  problem.blocks = 1;
  problem.run_bytes = problem.bytes;
  const Plan plan = *parse_plan("hdf5", "hdf5", vocabulary());
  Machine machine = usual_machine();
  machine.ranks = 4;
  const auto reads = predict(plan, problem, machine);
  ASSERT_FALSE(reads.empty());
  EXPECT_EQ(reads[0].transport, "two_phase");
  for (const Prediction& one : reads) {
    EXPECT_FALSE(one.transport.starts_with("mpiio")) << "a library is not predicted";
    EXPECT_GT(one.estimate.seconds(), 0) << one.transport;
  }
  EXPECT_EQ(best_of(reads).transport, "independent") << "one copy instead of two";
  problem.run_bytes = 8;
  EXPECT_EQ(best_of(predict(plan, problem, machine)).transport, "two_phase") << "a call for each run";
  problem.write = true;
  problem.run_bytes = problem.bytes;
  EXPECT_EQ(best_of(predict(plan, problem, machine)).transport, "two_phase") << "not by much";
  for (const std::string& transport : plans_to_try(1)) {
    EXPECT_TRUE(with_transport(plan, transport, vocabulary()).ok()) << transport;
    EXPECT_NE(transport, "two_phase:writers=1") << "the default on one rank";
  }
}

TEST(Plans, MayHaveOtherStripesUnlessTheyNameSome) {
  for (const std::string& transport : stripes_to_try()) {
    const auto chosen = with_transport(*parse_plan(":durability=none", "raw", vocabulary()), transport, vocabulary());
    ASSERT_TRUE(chosen.ok()) << chosen.status().message();
    EXPECT_EQ(chosen->text(vocabulary()).find("raw/two_phase:durability=none,stripe_count="), 0U);
  }
  const Plan asked = *parse_plan(":stripe_count=8", "raw", vocabulary());
  EXPECT_EQ(with_transport(asked, "two_phase:stripe_count=4", vocabulary())->text(vocabulary()),
            "raw/two_phase:stripe_count=8");
  EXPECT_EQ(with_transport(asked, "two_phase:stripe_bytes=1MiB", vocabulary()).status().code(), Code::invalid);
}

TEST(Engines, ThatAreNotBuiltAreListedAndSayWhatTheyNeed) {
  const auto& engines = vocabulary().engines;
  const auto adios2 =
      std::find_if(engines.begin(), engines.end(), [](const Descriptor* d) { return d->name == "adios2"; });
  ASSERT_NE(adios2, engines.end());
  const auto plan = parse_plan("adios2:aggregators=2", "hdf5", vocabulary());
  EXPECT_EQ(plan.ok(), (*adios2)->missing.empty());
  if (plan.ok()) GTEST_SKIP() << "adios2 is built";
  EXPECT_EQ((*adios2)->missing, "needs an MPI build of ADIOS2");
  EXPECT_EQ(plan.status().code(), Code::unsupported);
  EXPECT_NE(plan.status().message().find("needs an MPI build of ADIOS2"), std::string::npos) << plan.status().message();
}

}  // namespace
}  // namespace penstock
