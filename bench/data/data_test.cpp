// Tests of data: the same wherever a stretch begins, different in each run, and with the properties that it is for.
#include <gtest/gtest.h>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <random>
#include <set>

#include "bench/data/data.hpp"
#include "bench/workload/element.hpp"
#include "core/model/catalogue.hpp"

namespace penstock::bench {
namespace {

Field field_of(const char* name, Dims shape, Kind kind = Kind::f64) {
  return {.name = name, .shape = shape, .type = {kind}, .elements = elements(shape)};
}

std::vector<std::byte> contents(const Values& data, const Field& field, int index = 0, uint64_t key = 1) {
  std::vector<std::byte> all(static_cast<size_t>(field.elements * bytes(field.type)));
  data.fill(key, index, 0, all);
  return all;
}

std::vector<double> doubles(const Values& data, const Field& field, int index = 0) {
  const std::vector<std::byte> all = contents(data, field, index);
  std::vector<double> values(all.size() / sizeof(double));
  std::memcpy(values.data(), all.data(), all.size());
  return values;
}

// While it lives, the sample is looked for in FOLDER.
class SampleIn {
 public:
  explicit SampleIn(const char* folder) {
    if (const char* chosen = std::getenv("PENSTOCK_DATA")) before_ = chosen;
    ::setenv("PENSTOCK_DATA", folder, 1);
  }
  ~SampleIn() { before_ ? ::setenv("PENSTOCK_DATA", before_->c_str(), 1) : ::unsetenv("PENSTOCK_DATA"); }
  SampleIn(const SampleIn&) = delete;
  SampleIn& operator=(const SampleIn&) = delete;

 private:
  std::optional<std::string> before_;
};
constexpr const char* in_the_tree = PENSTOCK_SOURCE_DIR "/tests/data";

class EveryData : public testing::TestWithParam<const char*> {
 protected:
  static std::shared_ptr<const Values> make(const std::vector<Field>& fields) {
    const SampleIn tree(in_the_tree);
    return *find_data(GetParam())->make(fields);
  }
};

TEST_P(EveryData, IsTheSameWhereverAStretchBegins) {
  std::mt19937 random(7);
  for (int k = 0; k < static_cast<int>(Kind::text); ++k)
    for (const Dims& shape : {Dims{5000}, Dims{3, 1500}, Dims{9, 11, 40}, Dims{700, 8}, Dims{1}}) {
      const Field field = field_of("field", shape, static_cast<Kind>(k));
      const auto data = make({field});
      const std::vector<std::byte> all = contents(*data, field);
      const int64_t size = bytes(field.type);
      for (int i = 0; i < 20; ++i) {
        const auto from = std::uniform_int_distribution<int64_t>(0, field.elements - 1)(random);
        const auto count = std::uniform_int_distribution<int64_t>(1, field.elements - from)(random);
        std::vector<std::byte> part(static_cast<size_t>(count * size));
        data->fill(1, 0, from, part);
        ASSERT_EQ(std::memcmp(part.data(), &all[static_cast<size_t>(from * size)], part.size()), 0)
            << element_word(field.type.kind) << " from " << from << ", " << count;
      }
    }
}

TEST_P(EveryData, DiffersInRunsAndDatasets) {
  for (const Kind kind : {Kind::f64, Kind::f32, Kind::i32, Kind::u64, Kind::complex64}) {
    const Field field = field_of("field", Dims{100, 100}, kind), other = field_of("other", Dims{100, 100}, kind);
    const auto data = make({field, other});
    const std::vector<std::byte> first = contents(*data, field, 0, data_key(1, 0));
    EXPECT_NE(first, contents(*data, field, 0, data_key(2, 0))) << element_word(kind);
    EXPECT_NE(first, contents(*data, field, 0, data_key(1, 1))) << element_word(kind);
    EXPECT_NE(first, contents(*data, other, 1, data_key(1, 0))) << element_word(kind);
  }
}

TEST_P(EveryData, HasFiniteValues) {
  const Field wide = field_of("wide", Dims{64, 64, 64}), narrow = field_of("narrow", Dims{100000}, Kind::f32);
  const auto data = make({wide, narrow});
  for (const double value : doubles(*data, wide))
    ASSERT_TRUE(std::isfinite(value) && std::fpclassify(value) != FP_SUBNORMAL);
  const std::vector<std::byte> bytes = contents(*data, narrow, 1);
  for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, &bytes[at], sizeof value);
    ASSERT_TRUE(std::isfinite(value));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryData, testing::Values("smooth", "turbulence", "particles", "ramses", "random"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Data, NumbersAreTheFirstKindAndHaveNoOther) {
  EXPECT_EQ(data_kinds()[0].name, "numbers");
  EXPECT_EQ(*data_kinds()[0].make({}), nullptr);
  EXPECT_EQ(find_data("noise"), nullptr);
}

// Of VALUES, in wave numbers from BEGIN to END.
double energy(const std::vector<double>& values, int begin, int end) {
  double sum = 0;
  for (int k = begin; k < end; ++k) {
    std::complex<double> amplitude;
    for (size_t i = 0; i < values.size(); ++i)
      amplitude += std::polar(values[i],
                              -2 * std::numbers::pi * k * static_cast<double>(i) / static_cast<double>(values.size()));
    sum += std::norm(amplitude / static_cast<double>(values.size()));
  }
  return sum;
}

TEST(Turbulence, HasKolmogorovsSpectrum) {
  const Field line = field_of("u", Dims{2048});
  const std::vector<double> values = doubles(**make_turbulence({line}), line);
  const double octaves = energy(values, 8, 64) / energy(values, 64, 512);
  EXPECT_NEAR(octaves, 4, 1.2) << "k^(-5/3), integrated over a factor of 8, falls by 8^(2/3)";
  double square = 0;
  for (const double value : values) square += value * value / 2048;
  EXPECT_NEAR(square, 1, 0.3);
}

TEST(Turbulence, IsPeriodicAndRoughInEveryDimension) {
  const Field cube = field_of("u", Dims{64, 64, 64});
  const std::vector<double> values = doubles(**make_turbulence({cube}), cube);
  for (const size_t stride : {size_t{1}, size_t{64}, size_t{64 * 64}}) {
    double within = 0, around = 0, any = 0;
    int steps = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t place = i / stride % 64;
      const size_t next = place == 63 ? i - 63 * stride : i + stride;
      const double step = std::abs(values[next] - values[i]);
      (place == 63 ? around : within) += step;
      steps += place == 63 ? 1 : 0;
      any += std::abs(values[(i * 7919) % values.size()] - values[i]);
    }
    EXPECT_NEAR(around / steps / (within / (steps * 63)), 1, 0.2) << "the last element is a neighbour of the first";
    EXPECT_LT(within / (steps * 63), any / static_cast<double>(values.size())) << "neighbours are alike";
    EXPECT_GT(within / (steps * 63), 0.01) << "but not equal";
  }
}

TEST(Smooth, IsMuchSmootherThanTurbulence) {
  const Field cube = field_of("rho", Dims{64, 64, 64});
  const auto roughness = [&](const Values& data) {
    const std::vector<double> values = doubles(data, cube);
    double sum = 0;
    for (size_t i = 1; i < values.size(); ++i) sum += std::abs(values[i] - values[i - 1]);
    return sum / static_cast<double>(values.size());
  };
  EXPECT_LT(10 * roughness(**make_smooth({cube})), roughness(**make_turbulence({cube})));
  std::set<int64_t> lowest;  // the last 16 bits of the mantissa
  for (const double value : doubles(**make_smooth({cube}), cube)) lowest.insert(std::bit_cast<int64_t>(value) & 0xffff);
  EXPECT_GT(lowest.size(), 60000u);
}

TEST(Particles, AreNeighboursInSpaceIfTheyAreInTheIndex) {
  const Field x = field_of("particles_x", Dims{50000}), speed = field_of("particles_px", Dims{50000});
  const auto data = *make_clusters({x, speed});
  const std::vector<double> positions = doubles(*data, x), speeds = doubles(*data, speed, 1);
  double sum = 0;
  for (size_t i = 0; i < positions.size(); ++i) {
    ASSERT_TRUE(positions[i] >= 0 && positions[i] < 1);
    if (i > 0) sum += std::abs(positions[i] - positions[i - 1]);
  }
  EXPECT_LT(sum / 50000, 0.02) << "a third, if they were anywhere";
  double mean = 0, square = 0;
  for (size_t i = 0; i < 4096; ++i) mean += speeds[i] / 4096;
  for (size_t i = 0; i < 4096; ++i) square += (speeds[i] - mean) * (speeds[i] - mean) / 4096;
  EXPECT_NEAR(std::sqrt(square), 0.3, 0.02) << "the thermal part";
}

TEST(Particles, HaveIdsOfTheirOwnAndAFewSpecies) {
  const Field id = field_of("particles_id", Dims{10000}, Kind::i64),
              species = field_of("particles_species", Dims{10000}, Kind::i16);
  const auto data = *make_clusters({id, species});
  const auto values = [&]<typename T>(const Field& field, int index, T) {
    const std::vector<std::byte> bytes = contents(*data, field, index);
    std::set<T> all;
    for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, &bytes[at], sizeof value);
      all.insert(value);
    }
    return all;
  };
  EXPECT_EQ(values(id, 0, int64_t{}).size(), 10000u);
  EXPECT_EQ(values(species, 1, int16_t{}), (std::set<int16_t>{0, 1, 2, 3}));
}

TEST(RandomData, HasNoBitThatStaysButOneOfTheExponent) {
  for (const Kind kind : {Kind::f64, Kind::f32, Kind::i8, Kind::u64, Kind::complex64}) {
    const Field field = field_of("noise", Dims{4000}, kind);
    const std::vector<std::byte> bytes = contents(**make_random({field}), field);
    const auto word = static_cast<size_t>(scalar_bytes(field.type));
    for (size_t bit = 0; bit < word * 8; ++bit) {
      int ones = 0;
      for (size_t at = 0; at < bytes.size(); at += word) ones += static_cast<int>(bytes[at + bit / 8] >> (bit % 8)) & 1;
      const double share = static_cast<double>(ones * static_cast<int64_t>(word)) / static_cast<double>(bytes.size());
      const bool of_exponent = (kind == Kind::f64 && bit >= 52 && bit < 63) || (word == 4 && bit >= 23 && bit < 31);
      if (of_exponent) continue;
      EXPECT_NEAR(share, 0.5, 0.05) << element_word(kind) << ", bit " << bit;
    }
  }
}

TEST(RamsesSample, RepeatsItsSampleWithChanges) {
  const SampleIn tree(in_the_tree);
  const Field density = field_of("level_05_density", Dims{20000, 8}),
              velocity = field_of("octs_velocity_x", Dims{20000, 8});
  const auto data = *make_sample({density, velocity});
  const std::vector<double> values = doubles(*data, density), speeds = doubles(*data, velocity, 1);
  EXPECT_GT(*std::ranges::min_element(values), 0);
  const auto still = std::ranges::count(speeds, 0.0);
  EXPECT_GT(still, 0) << "in front of the blast nothing moves";
  EXPECT_LT(still, std::ssize(speeds));
  EXPECT_NE(*std::ranges::min_element(speeds), *std::ranges::max_element(speeds));
}

TEST(RamsesSample, WithoutItsSampleItIsNamed) {
  const SampleIn nowhere("/nowhere");
  const std::string said = make_sample({}).status().message();
  EXPECT_NE(said.find("there is no '/nowhere/ramses/sedov3d_amr_6p/hydro_00002.out00001'"), std::string::npos) << said;
}

}  // namespace
}  // namespace penstock::bench
