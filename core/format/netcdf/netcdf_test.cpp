// Tests of format netcdf: random catalogues in both directions, hostile bytes, netCDF libraries, and foreign files.
#include "core/format/format.hpp"
#include "core/format/testing.hpp"
#include "core/netcdf/header.hpp"

namespace penstock {
const Format& netcdf_format();
namespace {

using namespace testing;

struct Made {
  Catalogue catalogue;
  std::vector<std::vector<std::byte>> data;  // in native order
};

Attribute random_attribute(std::mt19937_64& random, const std::string& name) {
  const double values[4] = {1.5, -2, 1e300, 0};
  const std::string texts[] = {"one", "", "three"};
  switch (random() % 6) {
    case 0: return text_attribute(name, "m s-1");
    case 1: return text_attribute(name, texts);
    case 2: return make_attribute(name, {Kind::u64}, values, -1);
    case 3: return make_attribute(name, {Kind::f32}, values, 1);
    case 4: return make_attribute(name, {Kind::complex128}, values, static_cast<int64_t>(random() % 3));
    default: return make_attribute(name, {Kind::i16}, values, static_cast<int64_t>(random() % 4));
  }
}

// Names with escapes, every type, zero extents, growing datasets of two lengths, attributes everywhere.
Made random_catalogue(uint64_t seed) {
  std::mt19937_64 random(seed);
  const char* names[] = {"a", "b c",      "fluid/rho",         "fluid/u_x", "x__y", "%",
                         "-", "group/_z", "\xc3\xa9t\xc3\xa9", "q#1",       "t."};
  const auto types = every_type();
  Made made;
  for (const char* name : names) {
    if (random() % 4 == 0) continue;
    Dataset dataset{name, types[random() % types.size()], {}, false};
    for (uint64_t rank = random() % 4; rank > 0; --rank) dataset.shape.push_back(static_cast<int64_t>(random() % 6));
    dataset.unlimited = dataset.shape.rank() > 0 && random() % 2 == 0;
    if (dataset.unlimited) dataset.shape[0] = random() % 3 == 0 ? 2 : 4;
    made.catalogue.datasets.push_back(dataset);
    if (random() % 2 == 0) made.catalogue.attributes[name]["kept"] = random_attribute(random, "kept");
    if (random() % 4 == 0) made.catalogue.attributes[name]["units"] = text_attribute("units", "K");
  }
  sort(made.catalogue);
  for (const char* object : {"", "fluid", "group/of"})
    for (const char* name : {"x", "_penstock", "a__b", "Conventions"})
      if (random() % 3 == 0) made.catalogue.attributes[object][name] = random_attribute(random, name);
  for (const Dataset& dataset : made.catalogue.datasets) made.data.push_back(random_bytes(bytes(dataset), random()));
  return made;
}

std::vector<std::byte> swapped(std::vector<std::byte> data, int64_t unit) {
  for (size_t at = 0; at < data.size(); at += static_cast<size_t>(unit))
    std::reverse(data.begin() + static_cast<std::ptrdiff_t>(at), data.begin() + static_cast<std::ptrdiff_t>(at) + unit);
  return data;
}

// Calls MOVE(offset in the file, offset in the data, bytes) for each packed run.
template <typename Move>
void for_rows(int64_t base, int64_t stride, const Dataset& dataset, Move move) {
  const int64_t size = bytes(dataset);
  if (size == 0) return;
  const int64_t rows = stride == 0 ? 1 : dataset.shape[0];
  for (int64_t row = 0; row < rows; ++row) move(base + row * stride, row * (size / rows), size / rows);
}

void write(const std::string& path, const Made& made, int64_t block) {
  const auto layout = netcdf_format().layout(made.catalogue, {block});
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  write_layout(path, *layout, {}, true);
  const int fd = ::open(path.c_str(), O_RDWR);
  for (size_t i = 0; i < made.data.size(); ++i) {
    const Dataset& dataset = made.catalogue.datasets[i];
    const StoredBlock& place = layout->blocks[i];
    const auto stored = place.swapped ? swapped(made.data[i], scalar_bytes(dataset.type)) : made.data[i];
    for_rows(place.base, place.row_stride, dataset, [&](int64_t offset, int64_t at, int64_t size) {
      pwrite_all(fd, offset, std::span(stored).subspan(static_cast<size_t>(at), static_cast<size_t>(size)));
    });
  }
  ::close(fd);
}

std::vector<std::byte> read_dataset(const Contents& contents, size_t index) {
  const Dataset& dataset = contents.catalogue.datasets[index];
  std::vector<std::byte> data(static_cast<size_t>(bytes(dataset)));
  if (data.empty()) return data;
  const StoredBlock& block = contents.blocks[index].at(0);
  const std::string file = read_text(contents.parts[0]);
  for_rows(block.base, block.row_stride, dataset, [&](int64_t offset, int64_t at, int64_t size) {
    std::memcpy(data.data() + at, file.data() + offset, static_cast<size_t>(size));
  });
  return block.swapped ? swapped(std::move(data), scalar_bytes(dataset.type)) : data;
}

void expect_same(const Made& made, const Contents& contents) {
  ASSERT_EQ(contents.catalogue.datasets, made.catalogue.datasets);
  auto attributes = contents.catalogue.attributes, wanted = made.catalogue.attributes;
  std::erase_if(attributes, [](const auto& entry) { return entry.second.empty(); });
  ASSERT_EQ(attributes, wanted);
  for (size_t i = 0; i < made.data.size(); ++i)
    EXPECT_EQ(read_dataset(contents, i), made.data[i]) << made.catalogue.datasets[i].name;
  EXPECT_EQ(contents.left_out, "");
}

bool have(const char* program) {
  int status = 0;
  shell(std::string("command -v ") + program, status);
  return status == 0;
}

TEST(Netcdf, RandomCataloguesReadBack) {
  const Scratch scratch;
  const bool validate = have("ncvalidator"), dump = have("ncdump");
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Made made = random_catalogue(seed);
    const std::string path = scratch.path("f.nc");
    write(path, made, seed % 2 == 0 ? 4096 : 64);
    if (HasFatalFailure()) return;
    const auto contents = netcdf_format().read(path);
    ASSERT_TRUE(contents.ok()) << contents.status().message();
    expect_same(made, *contents);
    if (HasFatalFailure()) return;
    int status = 0;
    if (validate && seed < 60) {
      const std::string said = shell("ncvalidator " + path, status);
      ASSERT_EQ(status, 0) << said;
    }
    if (dump && seed < 60) {
      const std::string said = shell("ncdump " + path, status);
      ASSERT_EQ(status, 0) << said;
    }
  }
  if (!validate || !dump) GTEST_SKIP() << "read back, but ncvalidator (pnetcdf-bin) or ncdump (netcdf-bin) is missing";
}

TEST(Netcdf, EveryCutIsDamagedAndNoFlipCrashes) {
  const Scratch scratch;
  const std::string path = scratch.path("f.nc"), bad = scratch.path("bad.nc");
  for (const uint64_t seed : {4u, 9u}) {
    const Made made = random_catalogue(seed);
    write(path, made, 64);
    const std::string file = read_text(path);
    const auto whole = netcdf_format().read(path);
    ASSERT_TRUE(whole.ok());
    int64_t needed = 0;
    for (size_t i = 0; i < whole->blocks.size(); ++i)
      for (const StoredBlock& block : whole->blocks[i])
        needed = std::max(needed, block.base + span_bytes(block, bytes(whole->catalogue.datasets[i].type)));
    for (size_t cut = 4; cut < static_cast<size_t>(needed); ++cut) {
      write_text(bad, std::string_view(file).substr(0, cut));
      ASSERT_EQ(netcdf_format().read(bad).status().code(), Code::damaged) << cut;
    }
    const int64_t header = netcdf::decode_header(std::as_bytes(std::span(file)))->bytes;
    for (int64_t at = 0; at < header; ++at)
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string flipped = file;
        flipped[static_cast<size_t>(at)] = static_cast<char>(flipped[static_cast<size_t>(at)] ^ flip);
        write_text(bad, flipped);
        const auto contents = netcdf_format().read(bad);
        if (!contents.ok()) {
          EXPECT_EQ(contents.status().code(), Code::damaged) << contents.status().message();
          continue;
        }
        for (size_t i = 0; i < contents->blocks.size(); ++i)
          for (const StoredBlock& block : contents->blocks[i]) {
            EXPECT_LE(block.base + span_bytes(block, bytes(contents->catalogue.datasets[i].type)),
                      static_cast<int64_t>(flipped.size()));
          }
      }
  }
}

Catalogue catalogue_of(std::vector<Dataset> datasets) {
  Catalogue catalogue;
  catalogue.datasets = std::move(datasets);
  sort(catalogue);
  return catalogue;
}

void name_dimensions(Catalogue& catalogue, const char* dataset, const char* names) {
  catalogue.attributes[dataset]["dimensions"] = text_attribute("dimensions", names);
}

netcdf::Header header_of(const Catalogue& catalogue) {
  const auto layout = netcdf_format().layout(catalogue, {});
  EXPECT_TRUE(layout.ok()) << layout.status().message();
  return layout.ok() ? *netcdf::decode_header(layout->metadata[0].bytes) : netcdf::Header{};
}

std::string dimensions_of(const netcdf::Header& header, const char* variable) {
  std::string all;
  const netcdf::Variable* found = header.find(variable);
  if (found == nullptr) return "none";
  for (const int64_t id : found->dimensions) all += header.dimensions[static_cast<size_t>(id)].name + " ";
  return all;
}

TEST(NetcdfDimensions, NamesComeFromTheUserFromCoordinatesOrFromLengths) {
  Catalogue catalogue = catalogue_of({{"t", {Kind::f64}, {10, 20}, false},
                                      {"lat", {Kind::f64}, {10}, false},
                                      {"lon", {Kind::f64}, {21}, false},
                                      {"square", {Kind::f32}, {7, 7}, false},
                                      {"word", {Kind::text, 3}, {}, false}});
  name_dimensions(catalogue, "t", "lat  lon_edge");
  catalogue.attributes["t"]["units"] = text_attribute("units", "K");
  const auto header = header_of(catalogue);
  EXPECT_EQ(dimensions_of(header, "t"), "lat lon_edge ");
  EXPECT_EQ(dimensions_of(header, "lat"), "lat ");
  EXPECT_EQ(dimensions_of(header, "lon"), "dim_21 ");
  EXPECT_EQ(dimensions_of(header, "square"), "dim_7 dim_7_2 ");
  EXPECT_EQ(dimensions_of(header, "word"), "string3 ");
  EXPECT_EQ(text(*header.attribute("Conventions")), "CF-1.11");
}

TEST(NetcdfDimensions, UnitsOrCoordinatesMakeAFileOneOfTheConventions) {
  for (const char* name : {"units", "coordinates", "long_name"}) {
    Catalogue catalogue = catalogue_of({{"t", {Kind::f64}, {10}, false}});
    catalogue.attributes["t"][name] = text_attribute(name, "time");
    EXPECT_EQ(header_of(catalogue).attribute("Conventions") != nullptr, name != std::string_view("long_name")) << name;
  }
}

TEST(NetcdfDimensions, GrowingDatasetsOfTheSameDimensionAreRecords) {
  Catalogue catalogue = catalogue_of({{"t", {Kind::f64}, {5, 3}, true},
                                      {"time", {Kind::f64}, {5}, true},
                                      {"steps", {Kind::i32}, {5}, false},
                                      {"other", {Kind::f64}, {4}, true}});
  name_dimensions(catalogue, "t", "time x");
  name_dimensions(catalogue, "steps", "time");
  const auto header = header_of(catalogue);
  EXPECT_EQ(header.records, 5);
  for (const char* name : {"t", "time", "steps"}) EXPECT_TRUE(header.find(name)->record) << name;
  EXPECT_FALSE(header.find("other")->record);
  EXPECT_EQ(dimensions_of(header, "time"), "time ");
}

TEST(NetcdfDimensions, ATextThatNamesNoneIsAnAttribute) {
  for (const char* text : {"x y z", "x", ""}) {
    Catalogue catalogue = catalogue_of({{"a", {Kind::f64}, {5, 3}, false}});
    name_dimensions(catalogue, "a", text);
    const netcdf::Header header = header_of(catalogue);
    EXPECT_EQ(dimensions_of(header, "a"), "dim_5 dim_3 ");
    ASSERT_EQ(header.find("a")->attributes.size(), 1u) << text;
    EXPECT_EQ(header.find("a")->attributes[0].name, "dimensions");
  }
}

TEST(NetcdfDimensions, ContradictionsAreNamed) {
  Catalogue catalogue = catalogue_of({{"a", {Kind::f64}, {5, 3}, false},
                                      {"b", {Kind::f64}, {4}, false},
                                      {"g", {Kind::f64}, {5}, true},
                                      {"h", {Kind::f64}, {2, 5}, false}});
  name_dimensions(catalogue, "a", "x y");
  name_dimensions(catalogue, "b", "x");
  EXPECT_NE(netcdf_format().check(catalogue).message().find("'x' has length 5 in 'a' but 4 in 'b'"), std::string::npos);
  catalogue.attributes.erase("b");
  name_dimensions(catalogue, "a", "x y");
  name_dimensions(catalogue, "h", "z g");
  EXPECT_NE(netcdf_format().check(catalogue).message().find("it can only be the first"), std::string::npos);
  catalogue.attributes.clear();
  EXPECT_TRUE(netcdf_format().check(catalogue).ok());
  const auto refused = netcdf_format().check(catalogue_of({{std::string(300, 'n'), {Kind::i8}, {1}, false}}));
  EXPECT_EQ(refused.code(), Code::unsupported);
}

TEST(Netcdf, OffsetsBeyondFourGigabytes) {
  const int64_t large = int64_t{3} << 30;
  const Catalogue catalogue = catalogue_of({{"a", {Kind::i8}, {large}, false},
                                            {"b", {Kind::f64}, {large / 8 + 1}, false},
                                            {"c", {Kind::i16}, {3}, false},
                                            {"r", {Kind::f64}, {large / 800, 100}, true},
                                            {"s", {Kind::i16}, {large / 800}, true}});
  const auto layout = netcdf_format().layout(catalogue, {});
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->blocks[1].base % 4096, 0);
  EXPECT_GT(layout->blocks[2].base, int64_t{6} << 30);
  EXPECT_EQ(layout->blocks[3].row_stride, 804);
  const Scratch scratch;
  write_layout(scratch.path("f.nc"), *layout, {}, false);  // sparse
  const auto contents = netcdf_format().read(scratch.path("f.nc"));
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  EXPECT_EQ(contents->catalogue.datasets, catalogue.datasets);
  EXPECT_EQ(contents->blocks[4][0].base, layout->blocks[4].base);
  const Catalogue huge =
      catalogue_of({{"a", {Kind::i8}, {INT64_MAX / 2}, false}, {"b", {Kind::i8}, {INT64_MAX / 2 + 1}, false}});
  EXPECT_EQ(netcdf_format().layout(huge, {}).status().code(), Code::invalid);
  if (!have("ncvalidator")) GTEST_SKIP() << "laid out, but ncvalidator is missing (pnetcdf-bin)";
  int status = 0;
  const std::string said = shell("ncvalidator " + scratch.path("f.nc"), status);
  EXPECT_EQ(status, 0) << said;
}

// Files of the libraries: interleaved records in all versions, with ascending values.
constexpr const char* cdl = R"(netcdf other {
dimensions: time = unlimited; x = 3; two words = 2;
variables: double t(time, x); short s(time); byte b(time, two\ words); int fixed(x); char word(x); char letters(time);
  t:units = "K"; :title = "other";
data: t = 0,1,2,3,4,5; s = 0,1; b = 0,1,2,3; fixed = 0,1,2; word = "abc"; letters = "xy";
})";

TEST(Netcdf, FilesOfOthersWithInterleavedRecords) {
  if (!have("ncgen")) GTEST_SKIP() << "no ncgen (netcdf-bin)";
  const Scratch scratch;
  std::string text = cdl;
  text.replace(text.find("two words"), 9, "two\\ words");
  write_text(scratch.path("f.cdl"), text);
  for (const char* version : {"1", "2", "5"}) {
    SCOPED_TRACE(version);
    int status = 0;
    const std::string said =
        shell(std::string("ncgen -k") + version + " -o " + scratch.path("f.nc") + " " + scratch.path("f.cdl"), status);
    ASSERT_EQ(status, 0) << said;
    const auto contents = netcdf_format().read(scratch.path("f.nc"));
    ASSERT_TRUE(contents.ok()) << contents.status().message();
    const Catalogue& c = contents->catalogue;
    ASSERT_EQ(c.datasets.size(), 6u);
    EXPECT_EQ(*c.find("t"), (Dataset{"t", {Kind::f64}, {2, 3}, true}));
    EXPECT_EQ(*c.find("word"), (Dataset{"word", {Kind::text, 3}, {}, false}));
    EXPECT_EQ(*c.find("letters"), (Dataset{"letters", {Kind::text, 1}, {2}, true}));
    const auto values = read_dataset(*contents, static_cast<size_t>(c.index_of("t")));
    for (int i = 0; i < 6; ++i) EXPECT_EQ(reinterpret_cast<const double*>(values.data())[i], i);
    const auto shorts = read_dataset(*contents, static_cast<size_t>(c.index_of("s")));
    EXPECT_EQ(reinterpret_cast<const int16_t*>(shorts.data())[1], 1);
    EXPECT_EQ(static_cast<char>(read_dataset(*contents, static_cast<size_t>(c.index_of("b")))[3]), 3);
    EXPECT_EQ(penstock::text(c.attributes.at("").at("title")), "other");
    const std::string names[] = {"time", "two words"};
    EXPECT_EQ(c.attributes.at("b").at("dimensions"), text_attribute("dimensions", names));
    EXPECT_TRUE(netcdf_format().check(c).ok());
    EXPECT_EQ(dimensions_of(header_of(c), "b"), "time two words ");
  }
}

TEST(Netcdf, OpensE3smMaps) {
  const char* chosen = std::getenv("PENSTOCK_DATA");
  const std::string folder = std::string(chosen != nullptr ? chosen : PENSTOCK_SOURCE_DIR "/../shared/data") + "/e3sm";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no folder " << folder << " (PENSTOCK_DATA)";
  for (const char* name : {"map_f_case_16p.nc", "map_g_case_16p.nc", "map_i_case_16p.nc"}) {
    SCOPED_TRACE(name);
    const std::string file = read_text(folder + "/" + name);
    const auto header = netcdf::decode_header(std::as_bytes(std::span(file)));
    const auto contents = netcdf_format().read(folder + "/" + name);
    ASSERT_TRUE(contents.ok()) << contents.status().message();
    ASSERT_EQ(contents->catalogue.datasets.size(), header->variables.size());
    for (size_t i = 0; i < contents->catalogue.datasets.size(); ++i) {
      const Dataset& dataset = contents->catalogue.datasets[i];
      const auto expected = netcdf::integers(*header, std::as_bytes(std::span(file)), dataset.name);
      ASSERT_TRUE(expected.ok());
      const auto data = read_dataset(*contents, i);
      ASSERT_EQ(data.size(), 4 * expected->size()) << dataset.name;
      for (size_t k = 0; k < expected->size(); ++k)
        ASSERT_EQ(reinterpret_cast<const int32_t*>(data.data())[k], (*expected)[k]) << dataset.name;
    }
  }
}

TEST(Netcdf, RecognisesItsFilesAndIndexes) {
  const auto is = [](std::string_view head) { return netcdf_format().recognises(std::as_bytes(std::span(head))); };
  EXPECT_TRUE(is(std::string_view("CDF\1....", 8)) && is(std::string_view("CDF\2....", 8)) &&
              is(std::string_view("CDF\5")));
  EXPECT_FALSE(is("CDF\3....") || is("CDF") || is("") || is("{}"));
  EXPECT_TRUE(is(R"({"schema": "penstock.index/1", "format": "netcdf", )"));
  EXPECT_FALSE(is(R"({"schema": "penstock.index/1", "format": "raw", )"));
}

}  // namespace
}  // namespace penstock
