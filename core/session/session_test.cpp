// Tests of sessions on one rank: put, commit, get, reopen, and rejected calls.
#include <filesystem>

#include <fmt/format.h>

#include "core/session/state.hpp"
#include "core/session/testing.hpp"

namespace penstock {
namespace {

using namespace test;

INSTANTIATE_TEST_SUITE_P(Methods, Session, testing::ValuesIn(methods), name_of_method);

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

TEST(Extension, AnUnknownOneNeedsAFormat) {
  const Communicator comm = serial_communicator();
  for (const char* plan : {"", "two_phase", ":durability=none"}) {
    const Status status = File::create(comm, "session-test-m.dat", plan).status();
    EXPECT_EQ(status.code(), Code::invalid);
    EXPECT_NE(status.message().find("'session-test-m.dat'"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(".nc4"), std::string::npos) << status.message();
  }
  for (const char* plan : {"hdf5", "netcdf/two_phase"})
    EXPECT_TRUE(File::create(comm, "session-test-m.dat", plan).ok());
  const std::string path = "session-test-m.h5", plan = "two_phase:writrs=2";
  ASSERT_TRUE(File::create(comm, path)->close().ok());
  for (const Status& wrong : {File::create(comm, path, plan).status(), File::open(comm, path, plan).status(),
                              File::reopen(comm, path, plan).status()})
    for (const char* said : {"session-test-m.h5'", "'two_phase:writrs=2'", "did you mean 'writers'?"})
      EXPECT_NE(wrong.message().find(said), std::string::npos) << wrong.message();
  EXPECT_TRUE(std::filesystem::remove(path));
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

// Nothing of the old file is read or copied.
TEST_P(Session, WhatIsReplacedIsNotKept) {
  auto file = create();
  ASSERT_TRUE(file.ok());
  for (int step = 0; step < 3; ++step) {
    const auto data = numbers(50000, step);
    ASSERT_TRUE(file->lend("data", f64, whole({50000}), data.data()).ok());
    const Status status = file->commit();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_LT(file->report().file_bytes, 500000) << step;
    EXPECT_EQ(read("data", {50000}), data);
  }
  EXPECT_TRUE(file->close().ok());
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

TEST_P(Session, WidenedWhereThatIsAsked) {
  const std::vector<float> floats{0.1f, -2.5f, 1e30f, 4, 5, 6};
  const std::vector<int32_t> integers{-1, INT32_MAX, INT32_MIN, 0, 1, 2};
  auto made = create();
  ASSERT_TRUE(made.ok());
  ASSERT_TRUE(made->put("floats", {Kind::f32}, whole({2, 3}), floats.data()).ok());
  ASSERT_TRUE(made->put("integers", i32, whole({6}), integers.data()).ok());
  ASSERT_TRUE(made->close().ok());

  auto file = open();
  ASSERT_TRUE(file.ok());
  std::vector<double> all(6), some(2), strided(12, -7), from_integers(6);
  std::vector<float> same(6);
  const auto block = *Decomposition::block({2, 3}, {0, 0}, {2, 3});
  EXPECT_TRUE(file->get_widened("floats", f64, block, all.data()).ok());
  EXPECT_TRUE(file->get_widened("floats", f64, *Decomposition::block({2, 3}, {1, 1}, {1, 2}), some.data()).ok());
  EXPECT_TRUE(file->get_widened("floats", f64, block, strided.data(), Memory::strided({6, 2})).ok());
  EXPECT_TRUE(file->get_widened("integers", f64, whole({6}), from_integers.data()).ok());
  EXPECT_TRUE(file->get_widened("floats", {Kind::f32}, block, same.data()).ok());
  const Status status = file->commit();
  ASSERT_TRUE(status.ok()) << status.message();
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(all[i], static_cast<double>(floats[i]));
    EXPECT_EQ(strided[2 * i], static_cast<double>(floats[i]));
    EXPECT_EQ(strided[2 * i + 1], -7);
    EXPECT_EQ(from_integers[i], integers[i]);
  }
  EXPECT_EQ(some, (std::vector<double>{5, 6}));
  EXPECT_EQ(same, floats);

  std::vector<float> narrow(6);
  const Status refused_get = open()->get_widened("integers", {Kind::f32}, whole({6}), narrow.data());
  EXPECT_EQ(refused_get.code(), Code::mismatch);
  EXPECT_NE(refused_get.message().find("does not hold all of its values"), std::string::npos) << refused_get.message();
  const Status plain = open()->get("floats", f64, whole({2, 3}), all.data());
  EXPECT_EQ(plain.code(), Code::mismatch);
  EXPECT_NE(plain.message().find("precision.md"), std::string::npos) << plain.message();
  EXPECT_EQ(open()->get_widened("none", f64, whole({6}), all.data()).code(), Code::not_found);
}

TEST_P(Session, NoElementsHaveTheTypeOfTheOthers) {
  const std::vector<int32_t> data{1, 2};
  for (const bool first : {true, false}) {
    auto file = create();
    ASSERT_TRUE(file.ok()) << file.status().message();
    const auto put_none = [&] {
      EXPECT_TRUE(file->put("a", f64, *Decomposition::block({2}, {0}, {0}), data.data()).ok());
      file->set_meant("an empty list");
    };
    if (first) put_none();
    EXPECT_TRUE(file->put("a", i32, *Decomposition::block({2}, {0}, {2}), data.data()).ok());
    if (!first) put_none();
    const Status status = file->close();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(open()->dataset("a")->type, i32);
  }
}

TEST_P(Session, NamesOfDimensions) {
  const auto data = numbers(6);
  const auto write = [&](const std::vector<std::string>& t, const std::vector<std::string>& u) {
    auto file = create();
    EXPECT_TRUE(file.ok()) << file.status().message();
    EXPECT_TRUE(file->put("t", f64, whole({2, 3}), data.data()).ok());
    EXPECT_TRUE(file->put("g/u", f64, whole({3}), data.data()).ok());
    EXPECT_TRUE(file->put("x", f64, whole({3}), data.data()).ok());
    (void)file->set_dimensions("t", t);
    if (!u.empty()) (void)file->set_dimensions("g/u", u);
    return file->close();
  };
  Status status = write({"y", "x"}, {"x"});
  ASSERT_TRUE(status.ok()) << status.message();
  {
    auto file = open();
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(file->dimensions("t"), (std::vector<std::string>{"y", "x"}));
    EXPECT_EQ(file->dimensions("g/u"), std::vector<std::string>{"x"});
    EXPECT_TRUE(file->dimensions("x").empty());
    EXPECT_TRUE(file->dimensions("absent").empty());
    EXPECT_EQ(file->datasets().size(), 3u);
  }
  // Changed files keep them.
  auto again = reopen();
  ASSERT_TRUE(again.ok()) << again.status().message();
  ASSERT_TRUE(again->put("v", f64, whole({2}), data.data()).ok());
  if (!refused(again->close())) {
    EXPECT_EQ(open()->dimensions("t"), (std::vector<std::string>{"y", "x"}));
  }
  const auto wrong = [&](const Status& failed, const char* said) {
    EXPECT_EQ(failed.code(), Code::invalid) << failed.message();
    EXPECT_NE(failed.message().find(said), std::string::npos) << failed.message();
  };
  wrong(write({"y"}, {}), "'t' has 2 dimensions, but names of 1");
  wrong(write({"y", "y"}, {}), "different lengths");
  wrong(write({"x", "y"}, {}), "dataset 'x' of that name");
  wrong(write({"y", "g"}, {}), "group");
  wrong(write({"g/y", "x"}, {}), "not in group 'g'");
  wrong(write({"y", "z"}, {"y"}), "such as 'g/y'");
  wrong(write({"/y", "x"}, {}), "cannot be called '/y'");
  EXPECT_EQ(write({"y", "x"}, {"g/z"}).code(), Code::ok);
  EXPECT_EQ(open()->dimensions("g/u"), std::vector<std::string>{"g/z"});

  auto file = create();
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->put("temperature", f64, whole({2, 3}), data.data()).ok());
  ASSERT_TRUE(file->set_dimensions("Temperatur", std::vector<std::string>{"y", "x"}).ok());
  status = file->close();
  EXPECT_EQ(status.code(), Code::not_found);
  EXPECT_NE(status.message().find("the dimensions of 'Temperatur' have names"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("did you mean 'temperature'?"), std::string::npos) << status.message();
  const std::pair<std::string, std::string> of_scales[] = {
      {"CLASS", "x"}, {"NAME", "x"}, {"REFERENCE_LIST", "x"}, {"DIMENSION_LIST", "t"}, {"DIMENSION_LIST", "plain"}};
  for (const auto& [name, object] : of_scales) {
    auto scales = create();
    ASSERT_TRUE(scales.ok());
    ASSERT_TRUE(scales->put("t", f64, whole({3}), data.data()).ok());
    for (const std::string dataset : {"x", "plain"})
      ASSERT_TRUE(scales->put(dataset, f64, whole({3}), data.data()).ok());
    ASSERT_TRUE(scales->set_dimensions("t", std::vector<std::string>{"x"}).ok());
    ASSERT_TRUE(scales->set_attribute(object, text_attribute(name, "mine")).ok());
    const Status closed = scales->close();
    if (!GetParam().starts_with("hdf5")) {
      EXPECT_TRUE(closed.ok()) << closed.message();
      continue;
    }
    EXPECT_EQ(closed.code(), Code::invalid) << closed.message();
    EXPECT_NE(closed.message().find(fmt::format("attribute '{}' of '{}'", name, object)), std::string::npos)
        << closed.message();
  }
}

TEST_P(Session, AttributesBelongToWhatThereIs) {
  const auto data = numbers(3);
  const auto write = [&](const std::string& object, const std::string& group, const std::string& attribute = "units") {
    auto file = create();
    EXPECT_TRUE(file.ok()) << file.status().message();
    EXPECT_TRUE(file->put("g/sub/t", f64, whole({3}), data.data()).ok());
    if (!group.empty()) {
      EXPECT_TRUE(file->make_group(group).ok());
    }
    EXPECT_TRUE(file->set_attribute(object, text_attribute(attribute, "K")).ok());
    return file->close();
  };
  for (const char* object : {"", "/", "g", "g/sub", "g/sub/t"}) EXPECT_TRUE(write(object, "").ok()) << object;
  EXPECT_TRUE(write("h/deep", "h/deep/er").ok());
  const Status status = write("g/sub/T", "");
  EXPECT_EQ(status.code(), Code::not_found);
  EXPECT_NE(status.message().find("'units' of 'g/sub/T'"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("did you mean 'g/sub/t'?"), std::string::npos) << status.message();
  EXPECT_EQ(write("unlike/anything", "").message().find("did you mean"), std::string::npos);
  EXPECT_EQ(write("g/sub/t/below", "").code(), Code::not_found);
  EXPECT_EQ(write("g", "g/sub/t").code(), Code::invalid);

  // An explicit group, which stays, and the previous contents of the file.
  EXPECT_TRUE(write("empty/one", "empty/one").ok());
  EXPECT_TRUE(write("", "nothing").ok());
  {
    auto file = open();
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(file->datasets().size(), 1u);
  }
  for (const std::string object : {"nothing", "g"}) {
    auto file = reopen();
    ASSERT_TRUE(file.ok()) << file.status().message();
    ASSERT_TRUE(file->set_attribute(object, text_attribute("kind", "gas")).ok());
    if (!refused(file->close())) {
      EXPECT_EQ(text(*open()->attribute(object, "kind")), "gas");
    }
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

// A writer's buffers contain old bytes, which must not reach the file.
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

TEST_P(Session, WhatIsRemovedIsGoneAndMayBePutAnew) {
  make();
  auto file = reopen();
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto data = numbers(20, 3);
  ASSERT_TRUE(file->put("group/a", f64, whole({4}), data.data()).ok());
  ASSERT_TRUE(file->put("other", f64, whole({4}), data.data()).ok());
  ASSERT_TRUE(file->put("never", f64, whole({4}), data.data()).ok());
  ASSERT_TRUE(file->remove("never").ok());
  if (refused(file->close())) return;
  file = reopen();
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->remove("dat").code(), Code::not_found);
  file = reopen();
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->remove("data").ok());
  ASSERT_TRUE(file->remove("group").ok());
  ASSERT_TRUE(file->put("data", f64, rows(4, 0, 4, 5), data.data()).ok());  // of another shape
  const Status status = file->close();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read("data", {4, 5}), data);
  EXPECT_EQ(read("other", {4}), numbers(4, 3));
  auto back = File::open_to_check(serial_communicator(), path_);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->datasets().size(), 2u);
  EXPECT_TRUE(back->attributes("data").empty());
  const auto found = back->verify();
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_TRUE(found->verdict(path_).ok());
}

TEST_P(Session, AForgetfulFileGoesOn) {
  {
    auto file = create();
    ASSERT_TRUE(file.ok());
    file->set_forgetful(true);
    const auto data = numbers(12);
    ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
    file->set_capture_bytes(100);
    EXPECT_EQ(file->put("more", f64, whole({12}), data.data()).code(), Code::memory);
    EXPECT_TRUE(file->is_pending());
    EXPECT_EQ(file->refuse_get({Code::invalid, "mine"}).code(), Code::invalid);
    EXPECT_TRUE(file->is_pending());
    ASSERT_TRUE(file->close().ok());
  }
  auto file = open();
  ASSERT_TRUE(file.ok());
  file->set_forgetful(true);
  std::vector<double> first(12, -1), again(12, -1), none(12, -1);
  ASSERT_TRUE(file->get("data", f64, whole({12}), first.data()).ok());
  EXPECT_EQ(file->get_now("date", f64, whole({12}), none.data()).code(), Code::not_found);
  EXPECT_EQ(file->get_now("data", i32, whole({12}), none.data()).code(), Code::mismatch);
  EXPECT_EQ(first[3], -1);
  Status status = file->get_now("data", f64, whole({12}), again.data());
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(first, numbers(12));
  EXPECT_EQ(again, numbers(12));
  EXPECT_EQ(none[0], -1);
  EXPECT_FALSE(file->is_pending());
  EXPECT_TRUE(file->is_usable());
  EXPECT_TRUE(file->close().ok());
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
  EXPECT_EQ(file->close().code(), Code::memory);  // the rejected call is reported
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

}  // namespace
}  // namespace penstock
