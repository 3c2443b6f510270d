// Testing: files of one rank, for each format, transport and placement.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <penstock/file.hpp>

#include "core/format/format.hpp"

namespace penstock::test {

namespace fs = std::filesystem;
inline const ElementType f64{Kind::f64}, i32{Kind::i32};

inline Decomposition whole(const Dims& shape) { return *Decomposition::replicated(shape); }
inline Decomposition rows(int64_t total, int64_t first, int64_t count, int64_t width) {
  return *Decomposition::block({total, width}, {first, 0}, {count, width});
}

inline std::vector<double> numbers(int64_t n, double first = 0) {
  std::vector<double> list(static_cast<size_t>(n));
  std::iota(list.begin(), list.end(), first);
  return list;
}

// All combinations of format, transport and placement.
inline const std::vector<std::string> methods{"hdf5/two_phase",
                                              "hdf5/independent",
                                              "raw/two_phase",
                                              "raw/independent",
                                              "hdf5/independent:placement=per_rank",
                                              "raw/two_phase:placement=per_rank",
                                              "netcdf/two_phase",
                                              "netcdf/two_phase:placement=per_rank"};
inline std::string name_of_method(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

// A file that is written by one of them.
class Session : public ::testing::TestWithParam<std::string> {
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
  // A set of files is rewritten, never changed: a change is rejected by name and has no effect.
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

}  // namespace penstock::test
