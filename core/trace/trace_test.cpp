// Tests of Trace: the file's contents after each way to end; the traced calls never fail.
#include "core/trace/trace.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

namespace penstock {
namespace {

struct Block {
  std::string kind, payload;
};

class TraceTest : public testing::Test {
 protected:
  const std::string& folder() const { return folder_; }
  void TearDown() override { std::filesystem::remove_all(folder()); }

  // The complete blocks of the only file in the folder.
  std::vector<Block> blocks() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) files.push_back(entry.path());
    EXPECT_EQ(files.size(), 1U);
    std::ifstream file(files.at(0), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(text.substr(0, 8), std::string("PENSTRC\x01", 8));
    std::vector<Block> list;
    for (size_t at = 8; at + 16 <= text.size();) {
      uint64_t size = 0;
      std::memcpy(&size, text.data() + at + 8, 8);
      EXPECT_LE(at + 16 + size, text.size());
      list.push_back({text.substr(at, 4), text.substr(at + 16, size)});
      at += 16 + size;
    }
    return list;
  }
  static std::vector<TracedCall> calls(const std::vector<Block>& blocks) {
    std::vector<TracedCall> list;
    for (const Block& block : blocks) {
      if (block.kind != "CALL") continue;
      const size_t count = block.payload.size() / sizeof(TracedCall);
      list.resize(list.size() + count);
      std::memcpy(list.data() + list.size() - count, block.payload.data(), block.payload.size());
    }
    return list;
  }
  const std::string folder_ = testing::TempDir() + "trace_test_" + std::to_string(::getpid());

  static TracedCall write_of(uint32_t path, int64_t offset, int64_t length) {
    TracedCall call;
    call.operation = Operation::write;
    call.path = path;
    call.offset = offset;
    call.length = length;
    return call;
  }
};

TEST_F(TraceTest, CallsAndStepsComeBackInOrder) {
  {
    Trace trace(folder());
    trace.identify(3, 5, "some library");
    const uint32_t path = trace.path_number("a.h5");
    EXPECT_EQ(trace.path_number("a.h5"), path);
    for (int i = 0; i < 40'000; ++i) trace.add(write_of(path, int64_t{10} * i, 10));
    trace.add_step(R"({"plan":"p"})", trace.time());
  }
  const auto list = blocks();
  EXPECT_EQ(list.front().kind, "JOB ");
  const auto job = nlohmann::json::parse(list.front().payload);
  EXPECT_EQ(job["rank"], 3);
  EXPECT_EQ(job["ranks"], 5);
  EXPECT_EQ(job["library"], "some library");
  EXPECT_EQ(list.at(list.size() - 2).payload, R"({"plan":"p"})");
  EXPECT_EQ(nlohmann::json::parse(list.back().payload)["calls"], 40'000);
  const auto all = calls(list);
  ASSERT_EQ(all.size(), 40'000U);
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i].offset, static_cast<int64_t>(i) * 10);
}

TEST_F(TraceTest, MoreCallsThanAllowedAreCounted) {
  {
    Trace trace(folder(), 10);
    for (int i = 0; i < 25; ++i) trace.add(write_of(trace.path_number("a"), i, 1));
  }
  const auto list = blocks();
  EXPECT_EQ(calls(list).size(), 10U);
  EXPECT_EQ(nlohmann::json::parse(list.back().payload)["calls_lost"], 15);
}

TEST_F(TraceTest, AKilledProgramLeavesItsStepsAndTheirCalls) {
  const pid_t child = ::fork();
  if (child == 0) {
    Trace trace(folder());
    trace.add(write_of(trace.path_number("a"), 0, 7));
    trace.add_step("{}", trace.time());
    trace.add(write_of(0, 7, 7));
    (void)::raise(SIGKILL);
  }
  int how = 0;
  ASSERT_EQ(::waitpid(child, &how, 0), child);
  ASSERT_TRUE(WIFSIGNALED(how));
  const auto list = blocks();
  EXPECT_EQ(list.back().kind, "STEP");
  EXPECT_EQ(calls(list).size(), 1U);
}

TEST_F(TraceTest, AForkedChildWritesNothingOfItsParents) {
  {
    Trace trace(folder());
    trace.add(write_of(trace.path_number("a"), 0, 7));
    trace.flush();
    trace.add(write_of(0, 7, 7));
    const pid_t child = ::fork();
    if (child == 0) {
      trace.flush();
      trace.end();
      ::_exit(0);
    }
    int how = 0;
    ASSERT_EQ(::waitpid(child, &how, 0), child);
  }
  EXPECT_EQ(calls(blocks()).size(), 2U);
}

TEST_F(TraceTest, AFolderThatCannotBeIsSaidEachTime) {
  std::ofstream(folder()) << "a file";
  Trace trace(folder());
  trace.add_step("{}", trace.time());
  const std::string said = trace.trouble();
  EXPECT_NE(said.find("PENSTOCK_TRACE"), std::string::npos) << said;
  EXPECT_NE(said.find(folder()), std::string::npos) << said;
  trace.add_step("{}", trace.time());
  trace.flush();
  EXPECT_EQ(trace.trouble(), said);
}

TEST_F(TraceTest, PhasesHaveTheirTimesUnlessTheyAreTooShort) {
  {
    Trace trace(folder());
    const double start = now();
    trace.add_phase(Phase::write, start + 1, start + 1.25);
    trace.add_phase(Phase::sync, start + 2, start + 2 + 1e-6);
    trace.add_phase(Phase::sync, start + 3, start + 3.5);
  }
  const auto all = calls(blocks());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(static_cast<int>(all[0].operation), static_cast<int>(Operation::phase) + static_cast<int>(Phase::write));
  EXPECT_NEAR(static_cast<double>(all[0].nanoseconds), 0.25e9, 1e4);
  EXPECT_NEAR(static_cast<double>(all[1].nanoseconds), 0.5e9, 1e4);
  EXPECT_NEAR(static_cast<double>(all[1].start - all[0].start), 2e9, 1e4);
  EXPECT_GE(all[0].start, 1'000'000'000);  // since the trace began
  EXPECT_LT(all[0].start, 60'000'000'000);
}

TEST_F(TraceTest, WhatTracingTakesIsCounted) {
  {
    Trace trace(folder());
    for (int i = 0; i < 40'000; ++i) Tracing(&trace, Operation::write, "a", i, 1).done();
    trace.add_step("{}", trace.time());
  }
  const auto end = nlohmann::json::parse(blocks().back().payload);
  EXPECT_GT(end["recorder"], 0);
  EXPECT_LT(end["recorder"], end["time"]);
}

TEST_F(TraceTest, NothingTracedMakesNoFile) {
  {
    Trace trace(folder());
  }
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

}  // namespace
}  // namespace penstock
