// Tests of files cloned from a template, and of restart files, on one rank.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>

#include "core/session/testing.hpp"

namespace penstock {
namespace {

using namespace test;

class Restarts : public Session {
 protected:
  std::string name(int64_t index) const {
    const std::string master = open_name();
    const size_t dot = master.find('.');
    return folder_ + "/restart" + std::to_string(index) + master.substr(dot);
  }
  std::string pattern() const { return folder_ + "/restart#" + open_name().substr(open_name().find('.')); }
  // The file name of PATH_'s master.
  std::string open_name() const {
    auto file = File::create(comm_, folder_ + "/f" + path_.substr(path_.rfind('.')), GetParam());
    EXPECT_TRUE(file.ok()) << file.status().message();
    return file->path().substr(folder_.size() + 1);
  }
  Status rotate(double value, int64_t retain, const std::function<void(File&)>& before = {}) {
    PENSTOCK_ASSIGN(File file, create());
    const auto data = numbers(6, value);
    PENSTOCK_TRY(file.put("data", f64, whole({6}), data.data()));
    if (before) before(file);
    PENSTOCK_TRY(file.close_restart(pattern(), retain));
    EXPECT_EQ(file.path(), fs::canonical(name(0)).string());
    return {};
  }
  // The first number in the file of INDEX, -1 if there is none.
  double first(int64_t index) {
    if (!fs::exists(name(index))) return -1;
    auto file = File::open(comm_, name(index), "independent:verify=always");
    EXPECT_TRUE(file.ok()) << file.status().message();
    if (!file.ok()) return -2;
    std::vector<double> data(6, -3);
    EXPECT_TRUE(file->get("data", f64, whole({6}), data.data()).ok());
    const Status status = file->close();
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(data, numbers(6, data[0]));
    return data[0];
  }
};

TEST_P(Restarts, MoveUpAndTheOldestGoes) {
  for (int i = 1; i <= 6; ++i) {
    const Status status = rotate(i, 3);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int index = 0; index < 5; ++index)
      EXPECT_EQ(first(index), index < std::min(i, 3) ? i - index : -1) << i << " " << index;
  }
  EXPECT_FALSE(fs::exists(path_));
  // Three masters with as many parts each, and nothing else.
  const auto all = entries();
  EXPECT_EQ(all.size() % 3, 0u) << all.size();
  for (const std::string& name : all) EXPECT_FALSE(name.starts_with(".")) << name;
  auto latest = File::open_latest(comm_, folder_ + "/restart*");
  ASSERT_TRUE(latest.ok()) << latest.status().message();
  EXPECT_EQ(latest->path(), fs::canonical(name(0)).string());
  for (int index = 0; index < 3; ++index) {
    auto file = File::open(comm_, name(index));
    const auto found = file->verify();
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_TRUE(found->verdict(file->path()).ok() && !found->modified) << index;
  }
}

TEST_P(Restarts, AFolderThatCannotBeReadIsNotOneWithoutFiles) {
  ASSERT_TRUE(rotate(1, 2).ok());
  const std::string closed = folder_ + "/closed";
  fs::create_directory(closed);
  fs::permissions(closed, fs::perms::none);
  fs::permissions(folder_, fs::perms::all);
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const Status listing = File::open_latest(comm_, closed + "/restart*").status();
  const Status one = File::open_latest(comm_, closed + "/restart0.h5").status();
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  fs::permissions(closed, fs::perms::owner_all);
  for (const Status& status : {listing, one}) {
    EXPECT_EQ(status.code(), Code::denied) << status.message();
    EXPECT_NE(status.message().find("cannot be read: Permission denied"), std::string::npos) << status.message();
  }
  EXPECT_EQ(File::open_latest(comm_, closed + "/restart*").status().code(), Code::not_found);
}

TEST_P(Restarts, WhatWasCommittedBeforeIsRenamed) {
  ASSERT_TRUE(rotate(1, 2).ok());
  ASSERT_TRUE(rotate(2, 2, [](File& file) { EXPECT_TRUE(file.commit().ok()); }).ok());
  EXPECT_EQ(first(0), 2);
  EXPECT_EQ(first(1), 1);
  EXPECT_TRUE(rotate(3, 2, [](File& file) { EXPECT_TRUE(file.commit_start().ok()); }).ok());
  EXPECT_EQ(first(0), 3);
  EXPECT_EQ(first(1), 2);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(entries().size() % 2, 0u);
}

TEST_P(Restarts, UnderTheNameOfIndexZero) {
  path_ = folder_ + "/restart0" + path_.substr(path_.rfind('.'));
  for (int i = 1; i <= 4; ++i) {
    const Status status = rotate(i, 2);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(first(0), i);
    EXPECT_EQ(first(1), i == 1 ? -1 : i - 1);
  }
  make(6);  // replaces it in the ordinary way: the file that moved up keeps its parts
  EXPECT_EQ(first(0), 0);
  EXPECT_EQ(first(1), 3);
  make(6);
  EXPECT_EQ(first(1), 3);
}

TEST_P(Restarts, AGapIsFilled) {
  for (int i = 1; i <= 4; ++i) ASSERT_TRUE(rotate(i, 5).ok());
  fs::remove(name(1));
  ASSERT_TRUE(rotate(5, 5).ok());
  for (const auto& [index, value] : {std::pair{0, 5}, {1, 4}, {2, 2}, {3, 1}, {4, -1}}) EXPECT_EQ(first(index), value);
  // As after a kill: one file has two names.
  fs::create_hard_link(name(3), name(4));
  ASSERT_TRUE(rotate(6, 5).ok());
  for (const auto& [index, value] : {std::pair{0, 6}, {1, 5}, {2, 4}, {3, 2}, {4, 1}}) EXPECT_EQ(first(index), value);
  // Fewer are kept: index 3 is removed, higher ones stay.
  ASSERT_TRUE(rotate(7, 3).ok());
  for (const auto& [index, value] : {std::pair{0, 7}, {1, 6}, {2, 5}, {3, -1}, {4, 1}}) EXPECT_EQ(first(index), value);
}

TEST_P(Restarts, WrongArgumentsAreNamedAndNothingIsTouched) {
  ASSERT_TRUE(rotate(1, 2).ok());
  const auto before = entries();
  const auto refused = [&](const std::string& pattern, int64_t retain, Code code, const std::string& word) {
    auto file = create();
    const auto data = numbers(6, 9);
    ASSERT_TRUE(file->put("data", f64, whole({6}), data.data()).ok());
    const Status status = file->close_restart(pattern, retain);
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
    EXPECT_EQ(file->close().code(), Code::invalid);
  };
  refused(pattern(), 0, Code::invalid, "at least 1");
  refused(folder_ + "/restart.h5", 2, Code::invalid, "needs a '#'");
  refused("", 2, Code::invalid, "needs a '#'");
  refused(folder_ + "/#/restart#.h5", 2, Code::invalid, "folder");
  refused(folder_ + "/a#b#.h5", 2, Code::invalid, "two places");
  refused("/tmp/restart#.h5", 2, Code::invalid, "beside");
  refused(folder_ + "/none/restart#.h5", 2, Code::invalid, "beside");
  EXPECT_EQ(entries(), before);
  fs::create_directory(name(1));
  refused(pattern(), 2, Code::exists, "no regular file");
  fs::remove(name(1));
  fs::create_directory(name(2));
  refused(pattern(), 2, Code::exists, "passes through");
  fs::remove(name(2));
  auto read = File::open(comm_, name(0));
  EXPECT_EQ(read->close_restart(pattern(), 2).code(), Code::invalid);
  auto again = File::reopen(comm_, name(0), GetParam());
  if (again.ok()) {
    const Status status = again->close_restart(pattern(), 2);
    EXPECT_NE(status.message().find("already"), std::string::npos) << status.message();
  }
  EXPECT_EQ(entries(), before);
  EXPECT_EQ(first(0), 1);
}

TEST_P(Restarts, IndicesWithZerosBefore) {
  for (int i = 1; i <= 2; ++i) {
    auto file = create();
    const auto data = numbers(6, i);
    ASSERT_TRUE(file->put("data", f64, whole({6}), data.data()).ok());
    std::string wide = pattern();
    wide.insert(wide.find('#'), "#");
    ASSERT_TRUE(file->close_restart(wide, 2).ok());
  }
  std::string zero = name(0), one = name(1);
  zero.insert(zero.rfind("restart") + 7, "0"), one.insert(one.rfind("restart") + 7, "0");
  EXPECT_TRUE(fs::exists(zero) && fs::exists(one));
}

TEST_P(Restarts, ATemplateBeginsANewFile) {
  const std::string constant = folder_ + "/template" + path_.substr(path_.rfind('.'));
  {
    auto file = File::create(comm_, constant, GetParam());
    const auto grid = numbers(9, 100);
    ASSERT_TRUE(file->put("grid/x", f64, whole({9}), grid.data()).ok());
    ASSERT_TRUE(file->set_attribute("/", text_attribute("title", "constant")).ok());
    ASSERT_TRUE(file->set_attribute("grid", text_attribute("comment", "of a group")).ok());
    ASSERT_TRUE(file->close().ok());
  }
  std::string master = constant;
  if (!fs::exists(master)) master += ".json";
  const auto time = fs::last_write_time(master);
  for (int i = 1; i <= 3; ++i) {
    auto file = File::clone(comm_, constant, path_, GetParam());
    if (GetParam().find("placement=per_rank") != std::string::npos) {
      EXPECT_EQ(file.status().code(), Code::unsupported) << file.status().message();
      return;
    }
    ASSERT_TRUE(file.ok()) << file.status().message();
    std::vector<double> grid(9);
    ASSERT_TRUE(file->get("grid/x", f64, whole({9}), grid.data()).ok());  // from the template
    const auto data = numbers(6, i);
    ASSERT_TRUE(file->put("data", f64, whole({6}), data.data()).ok());
    ASSERT_TRUE(file->set_attribute("/", text_attribute("step", std::to_string(i))).ok());
    const Status status = file->close_restart(pattern(), 2);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(grid, numbers(9, 100));
    EXPECT_EQ(first(0), i);
    auto done = File::open(comm_, name(0));
    ASSERT_TRUE(done.ok()) << done.status().message();
    EXPECT_EQ(text(*done->attribute("/", "title")), "constant");
    EXPECT_EQ(text(*done->attribute("/", "step")), std::to_string(i));
    EXPECT_EQ(text(*done->attribute("grid", "comment")), "of a group");
    ASSERT_TRUE(done->get("grid/x", f64, whole({9}), grid.data()).ok());
    ASSERT_TRUE(done->close().ok());
    EXPECT_EQ(grid, numbers(9, 100));
  }
  EXPECT_EQ(fs::last_write_time(master), time);
  auto untouched = File::open(comm_, constant);
  EXPECT_EQ(untouched->datasets().size(), 1u);
  EXPECT_EQ(File::clone(comm_, constant, constant, GetParam()).status().code(), Code::invalid);
  EXPECT_EQ(File::clone(comm_, folder_ + "/none", path_, GetParam()).status().code(), Code::not_found);
}

TEST_P(Restarts, ATemplateThatChangesMeanwhileIsNoticed) {
  if (GetParam().find("placement=") != std::string::npos) return;
  make();
  auto file = File::clone(comm_, path_, folder_ + "/other" + path_.substr(path_.rfind('.')), GetParam());
  ASSERT_TRUE(file.ok()) << file.status().message();
  make(5);
  const Status status = file->close();
  EXPECT_EQ(status.code(), Code::mismatch) << status.message();
  EXPECT_NE(status.message().find("begin it again"), std::string::npos) << status.message();
}

INSTANTIATE_TEST_SUITE_P(Plans, Restarts,
                         ::testing::Values("hdf5/independent", "hdf5/two_phase", "netcdf/independent",
                                           "raw/independent", "hdf5/independent:placement=parts,parts=2",
                                           "hdf5/independent:placement=per_rank",
                                           "raw/two_phase:placement=parts,parts=3",
                                           "raw/independent:placement=per_rank,parity=1"));

}  // namespace
}  // namespace penstock
