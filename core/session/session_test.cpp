// Tests of sessions on one rank: create, put, commit, open, get, reopen, and what is refused.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>

#include <penstock/file.hpp>

#include "core/format/format.hpp"
#include "core/session/methods.hpp"
#include "core/storage/refused_call.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;
const ElementType f64{Kind::f64}, i32{Kind::i32};

Decomposition whole(const Dims& shape) { return *Decomposition::replicated(shape); }
Decomposition rows(int64_t total, int64_t first, int64_t count, int64_t width) {
  return *Decomposition::block({total, width}, {first, 0}, {count, width});
}

std::vector<double> numbers(int64_t n, double first = 0) {
  std::vector<double> list(static_cast<size_t>(n));
  std::iota(list.begin(), list.end(), first);
  return list;
}

// Each format by each transport and placement.
class Session : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string name = fs::current_path() / "session-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    const std::string_view format = std::string_view(GetParam()).substr(0, GetParam().find('/'));
    path_ = folder_ + "/f." + std::string(find_format(format)->extension());
  }
  void TearDown() override { fs::remove_all(folder_); }

  Result<File> create() { return File::create(comm_, path_, GetParam()); }
  Result<File> open() { return File::open(comm_, path_); }
  Result<File> reopen() { return File::reopen(comm_, path_, GetParam()); }
  void make(int64_t n = 12) {
    auto file = create();
    ASSERT_TRUE(file.ok()) << file.status().message();
    const auto data = numbers(n);
    ASSERT_TRUE(file->put("data", f64, whole({n}), data.data()).ok());
    ASSERT_TRUE(file->set_attribute("data", text_attribute("units", "m")).ok());
    const Status status = file->close();
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::vector<double> read(const char* name, const Dims& shape) {
    auto file = open();
    EXPECT_TRUE(file.ok()) << file.status().message();
    const auto part = whole(shape);
    std::vector<double> data(static_cast<size_t>(part.elements()), -1);
    if (!file.ok()) return data;
    Status status = file->get(name, f64, part, data.data());
    EXPECT_TRUE(status.ok()) << status.message();
    status = file->close();
    EXPECT_TRUE(status.ok()) << status.message();
    return data;
  }
  // A set of files is written anew, never changed: that is refused by name, and leaves it as it is.
  bool refused(const Status& status) const {
    const bool set = GetParam().find("placement=") != std::string::npos;
    EXPECT_EQ(status.code(), set ? Code::unsupported : Code::ok) << status.message();
    return set;
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string folder_, path_;
  Communicator comm_ = serial_communicator();
};

// A variable of the environment for the time of a test.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Setting() { ::unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

TEST_P(Session, ThePlanOfTheEnvironmentWinsOverTheCodes) {
  const Setting setting("PENSTOCK_PLAN", GetParam());
  auto file = File::create(comm_, path_, "two_phase:writers=3");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->plan(), parse_plan(GetParam(), "hdf5", catalog())->text(catalog()));
  const auto data = numbers(12);
  ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
  const Status status = file->close();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read("data", {12}), data);
}

TEST_P(Session, AMistakeInTheFileOfPlansIsNamed) {
  const std::string plans = folder_ + "/plans.toml";
  std::ofstream(plans) << "[[plan]]\npattern = \"f.*\"\nplan = \"hdf5/nonsense\"\n";
  const Setting setting("PENSTOCK_PLANS", plans);
  EXPECT_NE(create().status().message().find("there is no transport 'nonsense'"), std::string::npos);
  std::ofstream(plans) << "[[plan]]\n";
  EXPECT_NE(create().status().message().find(plans + ":1: this [[plan]]"), std::string::npos);
}

TEST_P(Session, StripesWhereThereAreNoneAreReported) {
  const std::string separator = GetParam().find(':') == std::string::npos ? ":" : ",";
  auto file = File::create(comm_, path_, GetParam() + separator + "stripe_count=4,stripe_bytes=1MiB");
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto data = numbers(12);
  ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_NE(file->report().filesystem.find("blocks of"), std::string::npos) << file->report().filesystem;
  if (file->report().filesystem.starts_with("lustre")) GTEST_SKIP() << "this is Lustre";
  ASSERT_EQ(file->report().warnings.size(), 1U);
  EXPECT_NE(file->report().warnings[0].find("stripe_count=4, stripe_bytes=1048576"), std::string::npos);
  EXPECT_NE(file->report().warnings[0].find("not applicable"), std::string::npos);
  ASSERT_TRUE(file->close().ok());
  EXPECT_EQ(File::create(comm_, path_, GetParam() + separator + "stripe_bytes=1000").status().code(), Code::invalid);
}

TEST_P(Session, AQueueDepthThatIsNotThereIsReported) {
  const std::string separator = GetParam().find(':') == std::string::npos ? ":" : ",";
  const auto warnings = [&](const std::string& depth) -> std::vector<std::string> {
    auto file = File::create(comm_, path_, GetParam() + separator + "queue_depth=" + depth);
    if (!file.ok()) return {file.status().message()};
    const auto data = numbers(12);
    EXPECT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
    EXPECT_TRUE(file->commit().ok());
    return file->report().warnings;
  };
  std::vector<std::string> four, one;
  const bool ran = with_refused(SYS_io_uring_setup, EPERM, [&] {
    four = warnings("4");
    one = warnings("1");
  });
  if (!ran) GTEST_SKIP() << "this kernel takes no seccomp filter";
  ASSERT_EQ(four.size(), 1U);
  EXPECT_NE(four[0].find("queue_depth=4 has no effect"), std::string::npos) << four[0];
  EXPECT_TRUE(one.empty());
}

TEST_P(Session, AnEnvironmentOtherThanThePlanWantsIsReported) {
  const std::string separator = GetParam().find(':') == std::string::npos ? ":" : ",";
  auto file = File::create(comm_, path_, GetParam() + separator + "env.PENSTOCK_NEVER_SET=1");
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto data = numbers(12);
  ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
  ASSERT_TRUE(file->commit().ok());
  ASSERT_EQ(file->report().warnings.size(), 1U);
  EXPECT_NE(file->report().warnings[0].find("PENSTOCK_NEVER_SET=1"), std::string::npos);
  ASSERT_TRUE(file->close().ok());
}

INSTANTIATE_TEST_SUITE_P(Methods, Session,
                         testing::Values("hdf5/two_phase", "hdf5/independent", "raw/two_phase", "raw/independent",
                                         "hdf5/independent:placement=per_rank", "raw/two_phase:placement=per_rank",
                                         "netcdf/two_phase", "netcdf/two_phase:placement=per_rank"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
                           return name;
                         });

TEST_P(Session, PutCloseOpenGet) {
  make();
  EXPECT_EQ(read("data", {12}), numbers(12));
  auto file = open();
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->datasets().size(), 1u);
  EXPECT_EQ(file->datasets()[0].name, "data");
  EXPECT_EQ(file->dataset("data")->shape, Dims{12});
  EXPECT_EQ(text(*file->attribute("data", "units")), "m");
  EXPECT_EQ(file->attributes("data").size(), 1u);
  EXPECT_TRUE(file->attributes("").empty());
  EXPECT_EQ(file->dataset("date").status().code(), Code::not_found);
  EXPECT_EQ(file->attribute("data", "unit").status().code(), Code::not_found);
}

TEST_P(Session, PutCopiesLendBorrows) {
  auto file = create();
  ASSERT_TRUE(file.ok());
  auto put = numbers(5, 100), lent = numbers(5, 200);
  ASSERT_TRUE(file->put("put", f64, whole({5}), put.data()).ok());
  ASSERT_TRUE(file->lend("lent", f64, whole({5}), lent.data()).ok());
  std::fill(put.begin(), put.end(), -1);
  std::fill(lent.begin(), lent.end(), 7);
  ASSERT_TRUE(file->close().ok());
  EXPECT_EQ(read("put", {5}), numbers(5, 100));
  EXPECT_EQ(read("lent", {5}), std::vector<double>(5, 7));
}

TEST_P(Session, NothingIsThereBeforeCommitAndTheOldFileUntilThen) {
  make();
  {
    auto file = create();
    ASSERT_TRUE(file.ok());
    const auto data = numbers(3, 50);
    ASSERT_TRUE(file->put("data", f64, whole({3}), data.data()).ok());
    EXPECT_EQ(read("data", {12}), numbers(12));
  }  // abandoned
  EXPECT_EQ(read("data", {12}), numbers(12));
  for (const std::string& name : entries()) EXPECT_FALSE(name.starts_with(".")) << name;
  make(4);
  EXPECT_EQ(read("data", {4}), numbers(4));
}

// Whether WORK, done by another process, which ends then, went well.
bool elsewhere(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_P(Session, AnotherJobsFileStaysAndTheLoserIsTold) {
  for (const bool there_before : {false, true}) {
    if (there_before) make(5);
    auto file = create();
    ASSERT_TRUE(file.ok()) << file.status().message();
    const auto ours = numbers(3, 50);
    ASSERT_TRUE(file->put("data", f64, whole({3}), ours.data()).ok());
    ASSERT_TRUE(elsewhere([&] {
      make(12);
      return !HasFailure();
    }));
    const auto before = entries();
    const Status status = file->close();
    EXPECT_EQ(status.code(), Code::exists) << status.message();
    EXPECT_NE(status.message().find("Another job writes it too"), std::string::npos) << status.message();
    EXPECT_EQ(entries(), before);
    EXPECT_EQ(read("data", {12}), numbers(12));
  }
  make(4);
  EXPECT_EQ(read("data", {4}), numbers(4));
}

TEST_P(Session, TwoFilesOfOneProgramMayHaveOneTarget) {
  auto first = create(), second = create();
  ASSERT_TRUE(first.ok() && second.ok());
  const auto a = numbers(3, 1), b = numbers(4, 2);
  ASSERT_TRUE(first->put("data", f64, whole({3}), a.data()).ok());
  ASSERT_TRUE(second->put("data", f64, whole({4}), b.data()).ok());
  EXPECT_TRUE(first->close().ok());
  const Status status = second->close();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read("data", {4}), b);
}

TEST_P(Session, WhatTheDeadLeftOfThisTargetIsReported) {
  make();
  ASSERT_TRUE(elsewhere([&] {  // killed while it writes
    auto file = create();
    const auto data = numbers(3);
    if (!file.ok() || !file->put("data", f64, whole({3}), data.data()).ok() || !file->commit_start().ok()) return false;
    for (const std::string& name : entries())
      if (name.starts_with(".")) ::_exit(0);
    return false;
  }));
  std::string partial;
  for (const std::string& name : entries())
    if (name.starts_with(".")) partial = name;
  ASSERT_NE(partial, "");
  for (const bool reopened : {false, true}) {
    auto file = reopened ? reopen() : create();
    ASSERT_TRUE(file.ok()) << file.status().message();
    const auto data = numbers(12);
    ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
    if (reopened && GetParam().find("placement=") != std::string::npos) continue;
    ASSERT_TRUE(file->commit().ok());
    ASSERT_EQ(file->report().warnings.size(), 1U);
    const std::string& warning = file->report().warnings[0];
    EXPECT_NE(warning.find(partial), std::string::npos) << warning;
    EXPECT_NE(warning.find("has ended"), std::string::npos) << warning;
  }
  EXPECT_TRUE(fs::exists(folder_ + "/" + partial));
}

TEST_P(Session, WhatIsPublishedPermitsWhatTheUmaskLets) {
  const mode_t before = ::umask(027);
  make();
  make(5);
  ::umask(before);
  for (const std::string& name : entries())
    EXPECT_EQ(fs::status(folder_ + "/" + name).permissions(), fs::perms(0640)) << name;
}

TEST_P(Session, AnEmptyFileIsAFile) {
  auto file = create();
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->close().ok());
  auto back = open();
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_TRUE(back->datasets().empty());
  EXPECT_TRUE(back->close().ok());
}

TEST_P(Session, SeveralCommitsOnOneFile) {
  auto file = create();
  ASSERT_TRUE(file.ok());
  const auto a = numbers(6, 1), b = numbers(4, 20);
  ASSERT_TRUE(file->put("a", f64, whole({6}), a.data()).ok());
  Status status = file->commit();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read("a", {6}), a);
  ASSERT_TRUE(file->put("b", f64, whole({4}), b.data()).ok());
  const bool was_refused = refused(file->close());
  EXPECT_EQ(read("a", {6}), a);
  if (!was_refused) {
    EXPECT_EQ(read("b", {4}), b);
  }
}

TEST_P(Session, ReopenAddsChangesAndKeeps) {
  make();
  auto file = reopen();
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto more = numbers(5, 9), over = numbers(3, -3);
  ASSERT_TRUE(file->put("group/more", f64, whole({5}), more.data()).ok());
  ASSERT_TRUE(file->put("data", f64, *Decomposition::block({12}, {4}, {3}), over.data()).ok());
  ASSERT_TRUE(file->set_attribute("data", text_attribute("units", "km")).ok());
  if (refused(file->close())) {
    EXPECT_EQ(read("data", {12}), numbers(12));
    return;
  }
  auto expected = numbers(12);
  std::copy(over.begin(), over.end(), expected.begin() + 4);
  EXPECT_EQ(read("data", {12}), expected);
  EXPECT_EQ(read("group/more", {5}), more);
  EXPECT_EQ(text(*open()->attribute("data", "units")), "km");
}

TEST_P(Session, UnlimitedGrows) {
  auto file = create();
  ASSERT_TRUE(file.ok());
  const auto data = numbers(100);
  ASSERT_TRUE(file->put("series", f64, rows(4, 0, 4, 5), data.data()).ok());
  ASSERT_TRUE(file->set_unlimited("series").ok());
  Status status = file->close();
  ASSERT_TRUE(status.ok()) << status.message();
  for (const int64_t total : {6, 7, 20}) {
    auto again = reopen();
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(again->dataset("series")->unlimited);
    const int64_t from = again->dataset("series")->shape[0];
    ASSERT_TRUE(again->put("series", f64, rows(total, from, total - from, 5), data.data() + from * 5).ok());
    if (refused(again->close())) {
      EXPECT_EQ(read("series", {4, 5}), numbers(20));
      return;
    }
    EXPECT_EQ(read("series", {total, 5}), numbers(total * 5));
  }
}

TEST_P(Session, HolesOverlapsAndPartial) {
  const auto data = numbers(20, 1);
  for (const bool overlap : {false, true}) {
    auto file = create();
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->put("data", f64, rows(4, 0, 2, 5), data.data()).ok());
    ASSERT_TRUE(file->put("data", f64, rows(4, overlap ? 1 : 3, overlap ? 3 : 1, 5), data.data()).ok());
    const Status status = file->close();
    EXPECT_EQ(status.code(), overlap ? Code::overlap : Code::incomplete) << status.message();
    EXPECT_NE(status.message().find("data"), std::string::npos);
    EXPECT_NE(status.message().find(overlap ? "(1, 0)" : "(2, 0)"), std::string::npos) << status.message();
    EXPECT_TRUE(entries().empty());
  }
  auto file = create();
  ASSERT_TRUE(file.ok());
  file->set_partial(true);
  ASSERT_TRUE(file->put("data", f64, rows(4, 1, 1, 5), data.data()).ok());
  const Status status = file->close();
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<double> expected(20, 0);
  std::copy_n(data.begin(), 5, expected.begin() + 5);
  EXPECT_EQ(read("data", {4, 5}), expected);
}

TEST_P(Session, AfterAFailedCommitOnlyCloseIsLeft) {
  make();
  auto file = create();
  ASSERT_TRUE(file.ok());
  const double x = 1;
  ASSERT_TRUE(file->put("x", f64, *Decomposition::block({2}, {0}, {1}), &x).ok());
  EXPECT_EQ(file->commit().code(), Code::incomplete);
  EXPECT_FALSE(file->put("x", f64, *Decomposition::block({2}, {1}, {1}), &x).ok());
  EXPECT_FALSE(file->commit().ok());
  EXPECT_FALSE(file->close().ok());
  EXPECT_FALSE(file->close().ok());
  EXPECT_EQ(read("data", {12}), numbers(12));
}

TEST_P(Session, CaptureLimit) {
  auto file = create();
  ASSERT_TRUE(file.ok());
  file->set_capture_bytes(100);
  const auto data = numbers(20);
  EXPECT_TRUE(file->put("a", f64, whole({10}), data.data()).ok());
  const Status status = file->put("b", f64, whole({10}), data.data());
  EXPECT_EQ(status.code(), Code::memory);
  EXPECT_NE(status.message().find("lend"), std::string::npos) << status.message();
  EXPECT_EQ(file->close().code(), Code::memory);  // what was refused is not lost in silence
  EXPECT_TRUE(entries().empty());
}

TEST_P(Session, TheReportSaysWhatWasDone) {
  auto file = create();
  ASSERT_TRUE(file.ok());
  const auto data = numbers(100000);
  ASSERT_TRUE(file->lend("data", f64, whole({100000}), data.data()).ok());
  ASSERT_TRUE(file->commit().ok());
  const Report& report = file->report();
  EXPECT_EQ(report.bytes, 800000);
  EXPECT_GE(report.file_bytes, 800000);
  EXPECT_GT(report.file_calls, 0);
  EXPECT_GT(report.metadata_calls, 0);
  EXPECT_EQ(report.writers, 1);
  EXPECT_EQ(report.plan, file->plan());
  EXPECT_TRUE(report.plan.starts_with(GetParam().substr(0, GetParam().find(':')))) << report.plan;
  EXPECT_GT(report.phases[Phase::write], 0.0);
  ASSERT_TRUE(file->close().ok());
}

TEST_P(Session, CutFilesAreDamagedNotBelieved) {
  make(5000);
  for (const std::string& name : entries()) {
    const std::string file = folder_ + "/" + name;
    const auto size = static_cast<int64_t>(fs::file_size(file));
    const std::string copy = folder_ + "/saved";
    fs::copy_file(file, copy);
    for (const int64_t length : {int64_t{0}, int64_t{1}, int64_t{100}, size / 2, size - 4096, size - 1}) {
      if (length < 0 || length >= size) continue;
      fs::copy_file(copy, file, fs::copy_options::overwrite_existing);
      fs::resize_file(file, static_cast<uintmax_t>(length));
      std::vector<double> data(5000, -1);
      auto opened = open();
      Status status = opened.status();
      if (opened.ok()) {
        status = opened->get("data", f64, whole({5000}), data.data());
        if (status.ok()) status = opened->close();
      }
      // The end of a file may be padding: then all is there.
      if (status.ok())
        EXPECT_EQ(data, numbers(5000)) << name << " cut to " << length;
      else
        EXPECT_FALSE(status.message().empty());
    }
    fs::copy_file(copy, file, fs::copy_options::overwrite_existing);
    fs::remove(copy);
  }
}

TEST(Methods, TheCatalogIsWhatThePlanParserReads) {
  const Catalog& all = catalog();
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
}

TEST(Methods, EveryRowIsAPlanOrSaysWhyNot) {
  const auto rows = method_table();
  EXPECT_GT(rows.size(), 20u);
  for (const MethodRow& row : rows) {
    EXPECT_FALSE(row.summary.empty()) << row.plan;
    EXPECT_TRUE(!row.refused.empty() || parse_plan(row.plan, "raw", catalog()).ok()) << row.plan;
  }
}

TEST(Engines, ThatAreNotBuiltAreListedAndSayWhatTheyNeed) {
  const auto& engines = catalog().engines;
  const auto adios2 =
      std::find_if(engines.begin(), engines.end(), [](const Descriptor* d) { return d->name == "adios2"; });
  ASSERT_NE(adios2, engines.end());
  const auto plan = parse_plan("adios2:aggregators=2", "hdf5", catalog());
  EXPECT_EQ(plan.ok(), (*adios2)->missing.empty());
  if (plan.ok()) GTEST_SKIP() << "adios2 is built";
  EXPECT_EQ((*adios2)->missing, "needs an MPI build of ADIOS2");
  EXPECT_EQ(plan.status().code(), Code::unsupported);
  EXPECT_NE(plan.status().message().find("needs an MPI build of ADIOS2"), std::string::npos) << plan.status().message();
}

}  // namespace
}  // namespace penstock
