// Tests of sessions on one rank: put, commit, get, reopen, and what is refused.
#include <filesystem>
#include <fstream>

#include "core/session/testing.hpp"

namespace penstock {
namespace {

using namespace test;

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

// A writer's buffers have held other bytes before, which are nobody's business.
TEST_P(Session, HolesAreZeroInBuffersThatWereUsedBefore) {
  constexpr int64_t window = 4096, windows = 8, each = window / 8, all = windows * each;
  const std::string plan = GetParam() + (GetParam().find(':') == std::string::npos ? ":" : ",") + "buffer_bytes=4096";
  auto file = File::create(comm_, path_, plan);
  ASSERT_TRUE(file.ok());
  file->set_partial(true);
  std::vector<penstock::Run> put{{0, 4 * each}};  // then a little at both ends of each window
  for (int64_t at = 4 * each; at < all; at += each) put.insert(put.end(), {{at, 3}, {at + each - 3, 3}});
  const auto part = *Decomposition::runs({all}, put);
  const std::vector<double> data(static_cast<size_t>(part.elements()), -7);
  ASSERT_TRUE(file->put("data", f64, part, data.data()).ok());
  ASSERT_TRUE(file->close().ok());
  std::vector<double> expected(static_cast<size_t>(all), 0);
  for (const penstock::Run& run : put) std::fill_n(expected.begin() + run.offset, run.length, -7);
  EXPECT_EQ(read("data", {all}), expected);
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

}  // namespace
}  // namespace penstock
