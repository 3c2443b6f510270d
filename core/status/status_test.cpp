// Tests of the status page: its contents for another process, cases without a page, and child processes.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "core/status/status_page.hpp"

namespace penstock {
namespace {

int pages() {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    found += std::filesystem::read_symlink(entry, gone).string().starts_with("/memfd:penstock-status") ? 1 : 0;
  }
  return found;
}

StatusStep* step_of(std::string_view path) {
  StatusPage* page = status_page.load();
  for (StatusStep& step : page->steps)
    if (step.kind != StatusStep::Kind::none && path == step.path.data()) return &step;
  return nullptr;
}

TEST(Status, StepIsThereWhileItLasts) {
  show_status();
  show_status();
  ASSERT_NE(status_page.load(), nullptr);
  EXPECT_EQ(pages(), 1);
  StatusPage& page = *status_page;
  count_written(5);
  const int64_t commits = page.commits;
  {
    ShownStep shown;
    shown.begin({.writes = true,
                 .path = "/run/heat.h5",
                 .plan = "hdf5/two_phase",
                 .token = 7,
                 .rank = 1,
                 .ranks = 4,
                 .commit = 2,
                 .bytes = 100});
    shown.set_total(400);
    count_written(30);
    StatusStep* step = step_of("/run/heat.h5");
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(step->sequence % 2, 0U);
    EXPECT_EQ(step->token, 7U);
    EXPECT_EQ(step->total, 400);
    EXPECT_EQ(page.written - step->base, 30);
    EXPECT_STREQ(step->plan.data(), "hdf5/two_phase");
  }
  EXPECT_EQ(step_of("/run/heat.h5"), nullptr);
  EXPECT_EQ(page.commits, commits + 1);
}

TEST(Status, MoreStepsThanRoomAndLongPathsDoNoHarm) {
  show_status();
  const std::string path = "/" + std::string(4000, 'x');
  std::array<ShownStep, 10> shown;
  for (ShownStep& one : shown) one.begin({.path = path, .plan = path});
  for (const StatusStep& step : status_page.load()->steps) {
    EXPECT_EQ(step.kind, StatusStep::Kind::read);
    EXPECT_EQ(std::string(step.path.data()), path.substr(0, 511));
    EXPECT_EQ(step.path_bytes, path.size());
  }
  for (ShownStep& one : shown) one.end();
  EXPECT_TRUE(std::ranges::all_of(status_page.load()->steps,
                                  [](const StatusStep& step) { return step.kind == StatusStep::Kind::none; }));
}

TEST(Status, TimersShowTheirPhase) {
  show_status();
  PhaseBoard::Entry& entry = status_page.load()->phases.entries[static_cast<size_t>(Phase::sync)];
  const int64_t before = entry.nanoseconds;
  PhaseTimes times;
  {
    const PhaseTimer timer(times, Phase::sync);
    EXPECT_EQ(entry.inside, 1);
    ::usleep(1000);
  }
  EXPECT_EQ(entry.inside, 0);
  EXPECT_GE(entry.nanoseconds - before, 1'000'000);
}

TEST(Status, ChildHasAPageOfItsOwn) {
  show_status();
  StatusPage* const parents = status_page;
  const int64_t written = parents->written;
  ShownStep shown;
  shown.begin({.writes = true, .path = "/run/parent.h5"});
  const pid_t child = ::fork();
  if (child == 0) {
    shown.end();
    if (status_page.load() != nullptr) ::_exit(1);
    count_written(1000);
    show_status();
    StatusPage* const own = status_page;
    ::_exit(own != nullptr && own != parents && own->process == static_cast<uint32_t>(::getpid()) ? 0 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(parents->written, written);
  EXPECT_NE(step_of("/run/parent.h5"), nullptr) << "what the child has of it is none of the parent's";
}

TEST(Status, OffMeansOff) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("PENSTOCK_STATUS", "off", 1);
    show_status();
    ::_exit(status_page.load() == nullptr ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace penstock
