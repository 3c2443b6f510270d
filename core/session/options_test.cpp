// Tests of set_options: how single datasets are stored, by each way to give elements, in each format.
#include <bit>
#include <limits>
#include <random>

#include "core/codec/codec.hpp"
#include "core/commit/automatic.hpp"
#include "core/session/testing.hpp"

namespace penstock {
namespace {

using test::f64, test::i32, test::name_of_method, test::whole;
namespace fs = std::filesystem;
using Options = test::Session;

constexpr ElementType f32{Kind::f32}, i16{Kind::i16};

std::vector<double> tenths(int64_t n) {
  std::vector<double> list = test::numbers(n);
  for (double& value : list) value = value / 10;
  return list;
}

template <typename T>
std::vector<T> read_as(File& file, const char* name, const Dims& shape) {
  std::vector<T> data(static_cast<size_t>(elements(shape)));
  EXPECT_TRUE(file.get(name, type_of<T>(), whole(shape), data.data()).ok());
  const Status status = file.commit();
  EXPECT_TRUE(status.ok()) << status.message();
  return data;
}

TEST_P(Options, EachWayToGiveElementsIsConverted) {
  const int64_t n = 20000;  // more than is converted at once
  const auto data = tenths(2 * n);
  std::vector<float> all(static_cast<size_t>(n)), even(static_cast<size_t>(n));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(data[i]);
  for (size_t i = 0; i < even.size(); ++i) even[i] = static_cast<float>(data[2 * i]);
  auto file = create();
  ASSERT_TRUE(file.ok());
  for (const char* name : {"put", "lent", "strided", "supplied"}) ASSERT_TRUE(file->set_options(name, "type=f32").ok());
  const auto block = *Decomposition::block({n}, {0}, {n});
  ASSERT_TRUE(file->put("put", f64, block, data.data()).ok());
  ASSERT_TRUE(file->lend("lent", f64, block, data.data()).ok());
  ASSERT_TRUE(file->lend("strided", f64, block, data.data(), Memory::strided({2})).ok());
  const auto supply = [&](int64_t first, std::span<std::byte> out) -> Status {
    std::memcpy(out.data(), data.data() + first, out.size());
    return {};
  };
  const bool supplies = file->supply("supplied", f64, block, supply).ok();
  const Status status = file->close();
  ASSERT_TRUE(status.ok()) << status.message();
  auto again = open();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(read_as<float>(*again, "put", {n}), all);
  EXPECT_EQ(read_as<float>(*again, "lent", {n}), all);
  EXPECT_EQ(read_as<float>(*again, "strided", {n}), even);
  if (supplies) {
    EXPECT_EQ(read_as<float>(*again, "supplied", {n}), all);
  }
  const auto verified = again->verify();
  ASSERT_TRUE(verified.ok()) << verified.status().message();
  EXPECT_TRUE(verified->verdict("f").ok());
}

TEST_P(Options, LossesAreWarningsAndReadersLearnOfPacking) {
  auto file = create();
  ASSERT_TRUE(file.ok());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> data{1.0, 1e300, nan, -0.5};
  ASSERT_TRUE(file->set_options("single", "type=f32").ok());
  ASSERT_TRUE(file->set_options("packed", "type=i16,scale=0.5,offset=1").ok());
  ASSERT_TRUE(file->put("single", f64, whole({4}), data.data()).ok());
  ASSERT_TRUE(file->put("packed", f64, whole({4}), data.data()).ok());
  Status status = file->commit();
  ASSERT_TRUE(status.ok()) << status.message();
  std::string warnings;
  for (const std::string& warning : file->report().warnings) warnings += warning + "\n";
  EXPECT_NE(warnings.find("'single': values beyond the range of f32, stored as infinite: 1"), std::string::npos);
  EXPECT_NE(warnings.find("'packed': values beyond the range of i16, stored as the end of it: 1"), std::string::npos);
  EXPECT_NE(warnings.find("'packed': values that are not a number"), std::string::npos) << warnings;
  EXPECT_EQ(read_as<int16_t>(*file, "packed", {4}), (std::vector<int16_t>{0, INT16_MAX, INT16_MIN, -3}));
  const auto scale = file->attribute("packed", "scale_factor");
  ASSERT_TRUE(scale.ok());
  double factor = 0;
  std::memcpy(&factor, scale->value.data(), sizeof factor);
  EXPECT_EQ(factor, 0.5);
  EXPECT_EQ(file->attribute("packed", "_FillValue")->type, i16);
  EXPECT_FALSE(file->attribute("single", "scale_factor").ok());
  ASSERT_TRUE(file->close().ok());
}

TEST_P(Options, ThePlansBitsAreForFloatingPointAndOptionsComeFirst) {
  const std::string plan = GetParam() + (GetParam().find(':') == std::string::npos ? ":" : ",") + "keep_bits=4";
  auto file = File::create(comm_, path_, plan);
  ASSERT_TRUE(file.ok()) << file.status().message();
  const std::vector<double> data{1.0 / 3, 2.0 / 3};
  const std::vector<int32_t> integers{123456789};
  ASSERT_TRUE(file->put("few", f64, whole({2}), data.data()).ok());
  ASSERT_TRUE(file->set_options("fewer", "keep_bits=1").ok());
  ASSERT_TRUE(file->put("fewer", f64, whole({2}), data.data()).ok());
  ASSERT_TRUE(file->set_options("packed", "type=i16,scale=0.001").ok());
  ASSERT_TRUE(file->put("packed", f64, whole({2}), data.data()).ok());
  ASSERT_TRUE(file->put("whole", i32, whole({1}), integers.data()).ok());
  Status status = file->commit();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read_as<double>(*file, "few", {2}), (std::vector<double>{21.0 / 64, 21.0 / 32}));
  EXPECT_EQ(read_as<double>(*file, "fewer", {2}), (std::vector<double>{0.375, 0.75}));
  EXPECT_EQ(read_as<int16_t>(*file, "packed", {2}), (std::vector<int16_t>{333, 667}));
  EXPECT_EQ(read_as<int32_t>(*file, "whole", {1}), integers);
  EXPECT_TRUE(file->attribute("few", "_QuantizeBitRoundNumberOfSignificantBits").ok());
  ASSERT_TRUE(file->close().ok());
}

TEST_P(Options, WrongOnesAreRefusedByName) {
  auto file = create();
  ASSERT_TRUE(file.ok());
  file->set_forgetful(true);
  const auto message = [&](const char* options) {
    const Status status = file->set_options("a", options);
    EXPECT_FALSE(status.ok()) << options;
    return status.message();
  };
  EXPECT_NE(message("type=f16").find("'f16' is no element type"), std::string::npos);
  EXPECT_NE(message("keepbits=3").find("did you mean 'keep_bits'"), std::string::npos);
  EXPECT_NE(message("scale=0").find("divided"), std::string::npos);
  EXPECT_NE(message("offset=inf").find("offset=inf is no number"), std::string::npos);
  EXPECT_NE(message("level=3").find("name the codec"), std::string::npos);
  EXPECT_NE(message("compression=none,level=3").find("name the codec"), std::string::npos);
  const std::vector<double> data{1};
  ASSERT_TRUE(file->set_options("a", "keep_bits=5").ok());
  EXPECT_NE(file->put("a", i32, whole({1}), data.data()).message().find("no mantissa"), std::string::npos);
  ASSERT_TRUE(file->put("a", f64, whole({1}), data.data()).ok());
  EXPECT_NE(message("keep_bits=6").find("before it is put"), std::string::npos);
  EXPECT_TRUE(file->set_options("a", "keep_bits=5").ok()) << "the same again";
  EXPECT_TRUE(file->close().ok());
}

TEST_P(Options, OneDatasetMayBeCompressedAndAnotherNot) {
  const int64_t n = 20000;
  const auto data = tenths(n);
  const bool encodes = !GetParam().starts_with("netcdf") && GetParam().find("per_rank") == std::string::npos;
  if (!encodes) {
    EXPECT_EQ(create()->set_options("a", "compression=deflate").code(), Code::unsupported);
    return;
  }
  for (const std::string& plan : {GetParam(), GetParam() + ":compression=deflate"}) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    auto file = File::create(comm_, path_, plan);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->set_options("no", "compression=none").ok());
    const Status yes = file->set_options("yes", "compression=deflate,level=1");
    if (yes.code() == Code::unsupported) GTEST_SKIP() << yes.message();
    for (const char* name : {"no", "yes"}) ASSERT_TRUE(file->put(name, f64, whole({n}), data.data()).ok());
    ASSERT_TRUE(file->close().ok());
    uintmax_t size = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) size += entry.file_size();
    EXPECT_LT(size, 14 * n);
    EXPECT_GT(size, 8 * n) << "one of two is stored as it is";
    EXPECT_EQ(read("no", {n}), data);
    EXPECT_EQ(read("yes", {n}), data);
  }
}

// Whether a file of smooth and of random numbers, with compression=auto, becomes smaller.
std::string reason_on(const std::string& folder, double bytes_per_second, bool* smaller) {
  fs::create_directories(folder);
  const std::string path = fs::absolute(folder) / "f.h5";
  Target target;
  target.path = path;
  note_rate(target, 8 << 20, (8 << 20) / bytes_per_second);
  const int64_t n = 100000;
  const auto smooth = test::numbers(n);
  std::vector<double> noise(static_cast<size_t>(n));
  std::mt19937_64 random(1);
  for (double& value : noise) value = std::bit_cast<double>((random() >> 2) | (uint64_t{1} << 61));
  auto file = File::create(serial_communicator(), path, "hdf5/two_phase:compression=auto");
  EXPECT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE(file->put("smooth", f64, whole({n}), smooth.data()).ok());
  EXPECT_TRUE(file->put("noise", f64, whole({n}), noise.data()).ok());
  const Status status = file->commit();
  EXPECT_TRUE(status.ok()) << status.message();
  std::string reason = file->report().reason;
  EXPECT_EQ(read_as<double>(*file, "smooth", {n}), smooth);
  EXPECT_EQ(read_as<double>(*file, "noise", {n}), noise);
  EXPECT_TRUE(file->close().ok());
  *smaller = static_cast<int64_t>(fs::file_size(path)) < 16 * n;
  if (*smaller) {  // what stays keeps its codec, though nothing of it is at hand now
    auto again = File::reopen(serial_communicator(), path, "hdf5/two_phase:compression=auto");
    EXPECT_TRUE(again.ok());
    EXPECT_TRUE(again->put("more", f64, whole({10}), smooth.data()).ok());
    EXPECT_TRUE(again->close().ok());
    EXPECT_LT(static_cast<int64_t>(fs::file_size(path)), 16 * n);
  }
  EXPECT_GT(fs::file_size(path), 8 * n) << "noise cannot be made smaller";
  fs::remove_all(folder);
  return reason;
}

TEST(Automatic, CompressesWhatPaysOnThisStorage) {
  if (find_codec("zstd")->describe().missing != "") GTEST_SKIP() << find_codec("zstd")->describe().missing;
  bool smaller = false;
  const std::string slow = reason_on("automatic-slow", 1e4, &smaller);
  EXPECT_TRUE(smaller) << slow;
  EXPECT_NE(slow.find("none for 1 dataset"), std::string::npos) << slow;
  EXPECT_NE(slow.find("as storage took"), std::string::npos) << slow;
  const std::string fast = reason_on("automatic-fast", 1e15, &smaller);
  EXPECT_FALSE(smaller) << fast;
  EXPECT_NE(fast.find("none for 2 datasets"), std::string::npos) << fast;
}

TEST(Automatic, CountsOnWritingMeanwhileWhereChunksAreWrittenAhead) {
  if (find_codec("zstd")->describe().missing != "") GTEST_SKIP() << find_codec("zstd")->describe().missing;
  const std::string folder = "automatic-ahead";
  fs::create_directories(folder);
  const std::string path = fs::absolute(folder) / "f.h5";
  const auto data = test::numbers(2'000'000);
  const auto reason = [&](const std::string& more, int64_t n) {
    for (const bool durable : {true, false}) {
      Target target;
      target.path = path;
      target.durable = durable;
      note_rate(target, 8 << 20, 100);
    }
    auto file = File::create(serial_communicator(), path, "hdf5/two_phase:compression=auto" + more);
    EXPECT_TRUE(file.ok()) << file.status().message();
    EXPECT_TRUE(file->put("a", f64, whole({n}), data.data()).ok());
    const Status status = file->close();
    EXPECT_TRUE(status.ok()) << status.message();
    return file->report().reason;
  };
  const std::string words = "while other chunks are compressed";
  EXPECT_NE(reason("", 2'000'000).find(words), std::string::npos);
  EXPECT_EQ(reason("", 500'000).find(words), std::string::npos) << "too little to be written ahead";
  EXPECT_EQ(reason(",io=buffered", 2'000'000).find(words), std::string::npos);
  EXPECT_EQ(reason(",durability=none", 2'000'000).find(words), std::string::npos);
  EXPECT_EQ(reason(",writers=1", 2'000'000).find(words), std::string::npos);
  fs::remove_all(folder);
}

TEST(Automatic, LearnsHowFastStorageIsFromFilesOfAllFormats) {
  const auto data = test::numbers(2'000'000);
  for (const std::string format : {"hdf5", "raw"}) {
    const std::string folder = "automatic-" + format;
    fs::create_directories(folder);
    std::string reason;
    for (const std::string plan : {"/two_phase", "/two_phase:compression=auto"}) {
      auto file = File::create(serial_communicator(), fs::absolute(folder) / ("f." + format), format + plan);
      ASSERT_TRUE(file.ok()) << file.status().message();
      ASSERT_TRUE(file->put("a", f64, whole({2'000'000}), data.data()).ok());
      ASSERT_TRUE(file->close().ok());
      reason = file->report().reason;
    }
    EXPECT_NE(reason.find("as storage took"), std::string::npos) << format << ": " << reason;
    fs::remove_all(folder);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Options, ::testing::ValuesIn(test::methods), name_of_method);

}  // namespace
}  // namespace penstock
