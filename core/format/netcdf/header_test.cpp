// Tests of the classic netCDF header: E3SM's real maps, small files made by ncgen, and every way to truncate or flip
// one.
#include "core/netcdf/header.hpp"

#include "core/format/testing.hpp"

namespace penstock {
namespace {

using namespace testing;

std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string data_folder() {
  if (const char* chosen = std::getenv("PENSTOCK_DATA")) return chosen;
  return PENSTOCK_SOURCE_DIR "/../shared/data";
}

TEST(NetcdfHeader, ReadsE3smMaps) {
  const std::string folder = data_folder() + "/e3sm";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no folder " << folder << " (PENSTOCK_DATA)";
  const std::pair<const char*, int> maps[] = {
      {"map_f_case_16p.nc", 3}, {"map_g_case_16p.nc", 6}, {"map_i_case_16p.nc", 5}};
  for (const auto& [name, decompositions] : maps) {
    SCOPED_TRACE(name);
    const std::string file = read_text(folder + "/" + name);
    const auto header = netcdf::decode_header(as_bytes(file));
    ASSERT_TRUE(header.ok()) << header.status().message();
    EXPECT_EQ(header->version, 5);
    EXPECT_EQ(*header->dimension("num_decomp"), decompositions);
    EXPECT_EQ(*header->dimension("decomp_nprocs"), 16);
    for (int k = 1; k <= decompositions; ++k) {
      const std::string d = "D" + std::to_string(k) + ".";
      const auto counts = netcdf::integers(*header, as_bytes(file), d + "nreqs");
      const auto offsets = netcdf::integers(*header, as_bytes(file), d + "offsets");
      const auto lengths = netcdf::integers(*header, as_bytes(file), d + "lengths");
      ASSERT_TRUE(counts.ok() && offsets.ok() && lengths.ok());
      ASSERT_EQ(counts->size(), 16u);
      int64_t sum = 0;
      for (const int64_t n : *counts) sum += n;
      EXPECT_EQ(sum, static_cast<int64_t>(offsets->size()));
      EXPECT_EQ(sum, *header->dimension(d + "total_nreqs"));
      const Attribute* dims = header->attribute(d + "dims");
      ASSERT_NE(dims, nullptr);
      int64_t total = 1, covered = 0;
      for (const int64_t n : netcdf::integers(*dims)) total *= n;
      for (size_t i = 0; i < lengths->size(); ++i) {
        covered += (*lengths)[i];
        ASSERT_LE((*offsets)[i] + (*lengths)[i], total);
      }
      if (text(*header->attribute(d + "fully_covered")) == "true") {
        EXPECT_EQ(covered, total);
      }
    }
  }
}

constexpr const char* cdl = R"(netcdf sample {
dimensions: time = unlimited; x = 3; y = 4;
variables:
  double t(time, x, y); t:units = "K"; t:range = 1., 2.;
  int count(x); short one(y); char word(x);
  :title = "sample"; :numbers = 1, 2, 3; :single = 7;
data:
  count = 5, -6, 7; one = 1, 2, 3, 4; word = "abc";
  t = 1,2,3,4,5,6,7,8,9,10,11,12;
})";

// "" if ncgen is not installed.
std::string sample(const Scratch& scratch, int version) {
  write_text(scratch.path("sample.cdl"), cdl);
  int status = 0;
  shell("ncgen -k" + std::to_string(version) + " -o " + scratch.path("sample.nc") + " " + scratch.path("sample.cdl"),
        status);
  return status == 0 ? read_text(scratch.path("sample.nc")) : "";
}

TEST(NetcdfHeader, ReadsEveryVersion) {
  const Scratch scratch;
  for (const int version : {1, 2, 5}) {
    const std::string file = sample(scratch, version);
    if (file.empty()) GTEST_SKIP() << "no ncgen";
    const auto header = netcdf::decode_header(as_bytes(file));
    ASSERT_TRUE(header.ok()) << header.status().message();
    EXPECT_EQ(header->version, version);
    EXPECT_EQ(header->records, 1);
    EXPECT_EQ(header->dimensions.size(), 3u);
    ASSERT_EQ(header->variables.size(), 4u);
    EXPECT_TRUE(header->find("t")->record);
    EXPECT_EQ(text(header->find("t")->attributes[0]), "K");
    EXPECT_EQ(text(*header->attribute("title")), "sample");
    EXPECT_EQ(netcdf::integers(*header->attribute("numbers")), (std::vector<int64_t>{1, 2, 3}));
    EXPECT_EQ(header->attribute("single")->shape.rank(), 0);
    EXPECT_EQ(*netcdf::integers(*header, as_bytes(file), "count"), (std::vector<int64_t>{5, -6, 7}));
    EXPECT_EQ(netcdf::integers(*header, as_bytes(file), "t").status().code(), Code::unsupported);
    EXPECT_EQ(netcdf::integers(*header, as_bytes(file), "none").status().code(), Code::not_found);
  }
}

TEST(NetcdfHeader, SurvivesEveryCutAndFlip) {
  const Scratch scratch;
  for (const int version : {1, 2, 5}) {
    const std::string file = sample(scratch, version);
    if (file.empty()) GTEST_SKIP() << "no ncgen";
    const int64_t size = netcdf::decode_header(as_bytes(file))->bytes;
    for (int64_t cut = 0; cut < size; ++cut)
      EXPECT_EQ(netcdf::decode_header(as_bytes(file).first(static_cast<size_t>(cut))).status().code(), Code::damaged);
    for (int64_t at = 0; at < size; ++at)
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string bad = file;
        bad[static_cast<size_t>(at)] = static_cast<char>(bad[static_cast<size_t>(at)] ^ flip);
        const auto header = netcdf::decode_header(as_bytes(bad));
        if (!header.ok()) continue;
        for (const auto& variable : header->variables) (void)netcdf::integers(*header, as_bytes(bad), variable.name);
      }
  }
  EXPECT_EQ(netcdf::decode_header(as_bytes(std::string("CDF\x03zzzz"))).status().code(), Code::damaged);
}

}  // namespace
}  // namespace penstock
