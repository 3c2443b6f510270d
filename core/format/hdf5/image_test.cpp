// Tests of the HDF5 layout: libhdf5, h5dump and h5py read files made from it, and data and metadata do not overlap.
#include <chrono>

#include "core/format/hdf5/image.hpp"
#include "core/format/hdf5/metadata_size.hpp"
#include "core/format/testing.hpp"
#include "core/hdf5/dimension_scales.hpp"
#include "core/hdf5/handles.hpp"
#include "core/hdf5/types.hpp"

namespace penstock {
const Format& hdf5_format();
namespace {

using namespace testing;

Catalogue mixed(int count) {
  Catalogue catalogue;
  const auto types = every_type();
  for (int i = 0; i < count; ++i) {
    Dataset dataset;
    dataset.name = (i % 3 == 0 ? "group" + std::to_string(i % 7) + "/deep/" : "") + "d" + std::to_string(i);
    dataset.type = types[static_cast<size_t>(i) % types.size()];
    const int64_t n = i % 11 == 0 ? 0 : i % 5 == 0 ? 3000 + i : 1 + i % 40;
    dataset.shape = i % 13 == 1 ? Dims{} : i % 2 ? Dims{n} : Dims{n, 1 + i % 3};
    dataset.unlimited = dataset.shape.rank() > 0 && i % 17 == 0;
    const double value = i;
    auto& attributes = catalogue.attributes[dataset.name];
    attributes["index"] = make_attribute("index", {Kind::f64, 0}, &value, -1);
    attributes["units"] = text_attribute("units", std::string_view("m/s"));
    catalogue.datasets.push_back(dataset);
  }
  catalogue.attributes[""]["title"] = text_attribute("title", std::string_view("mixed"));
  sort(catalogue);
  return catalogue;
}

std::vector<std::vector<std::byte>> data_of(const Catalogue& catalogue) {
  std::vector<std::vector<std::byte>> data;
  for (size_t i = 0; i < catalogue.datasets.size(); ++i)
    data.push_back(random_bytes(bytes(catalogue.datasets[i]), i + 1));
  return data;
}

// Uses libhdf5.
void expect_data(const std::string& path, const Catalogue& catalogue, const std::vector<std::vector<std::byte>>& data) {
  const hdf5::File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  ASSERT_TRUE(file.ok());
  for (size_t i = 0; i < catalogue.datasets.size(); ++i) {
    const Dataset& dataset = catalogue.datasets[i];
    const hdf5::DatasetHandle handle(H5Dopen2(file, dataset.name.c_str(), H5P_DEFAULT));
    ASSERT_TRUE(handle.ok()) << dataset.name;
    const auto type = hdf5::library_type(dataset.type);
    std::vector<std::byte> read(data[i].size());
    if (!read.empty()) {
      ASSERT_GE(H5Dread(handle, *type, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0) << dataset.name;
    }
    ASSERT_EQ(read, data[i]) << dataset.name;
  }
}

void expect_contents(const std::string& path, const Catalogue& catalogue, const Layout& layout) {
  const auto contents = hdf5_format().read(path);
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  EXPECT_EQ(contents->catalogue.datasets, catalogue.datasets);
  EXPECT_EQ(contents->catalogue.attributes, catalogue.attributes);
  ASSERT_EQ(contents->blocks.size(), catalogue.datasets.size());
  for (size_t i = 0; i < contents->blocks.size(); ++i) {
    const Dataset& dataset = catalogue.datasets[i];
    EXPECT_FALSE(contents->foreign[i]) << dataset.name;
    if (bytes(dataset) == 0) {
      EXPECT_TRUE(contents->blocks[i].empty()) << dataset.name;
      continue;
    }
    ASSERT_EQ(contents->blocks[i].size(), 1u) << dataset.name;
    EXPECT_EQ(contents->blocks[i][0].base, layout.blocks[i].base) << dataset.name;
    EXPECT_EQ(contents->blocks[i][0].where.count(), elements(dataset.shape)) << dataset.name;
    EXPECT_FALSE(contents->blocks[i][0].swapped);
  }
}

void round_trip(const Catalogue& catalogue, int64_t block, Layout* made = nullptr) {
  const Scratch scratch;
  const auto layout = hdf5_format().layout(catalogue, {block});
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  ASSERT_EQ(layout->metadata.size(), 1u);
  expect_apart(catalogue, *layout);
  for (size_t i = 0; i < catalogue.datasets.size(); ++i)
    if (bytes(catalogue.datasets[i]) > 0) {
      EXPECT_GE(layout->blocks[i].base, static_cast<int64_t>(layout->metadata[0].bytes.size()));
    }
  const auto data = data_of(catalogue);
  const std::string path = scratch.path("file.h5");
  write_layout(path, *layout, data, true);
  expect_data(path, catalogue, data);
  expect_contents(path, catalogue, *layout);
  if (made != nullptr) *made = *layout;
}

TEST(Hdf5Image, ThousandMixedDatasetsKeepTheirDataAtEveryAlignment) {
  for (const int64_t block : {1, 512, 4096, 65536, 1 << 20}) {
    SCOPED_TRACE(block);
    Layout layout;
    round_trip(mixed(1000), block, &layout);
    const Catalogue catalogue = mixed(1000);
    for (size_t i = 0; i < catalogue.datasets.size() && !layout.blocks.empty(); ++i)
      if (bytes(catalogue.datasets[i]) >= block) {
        EXPECT_EQ(layout.blocks[i].base % block, 0) << catalogue.datasets[i].name;
      }
  }
}

TEST(Hdf5Image, EveryRankAndKind) {
  Catalogue catalogue;
  for (const ElementType& type : every_type())
    for (int rank = 0; rank <= max_rank; ++rank)
      for (const bool unlimited : {false, true}) {
        if (unlimited && rank == 0) continue;
        Dataset dataset{name(type) + "/" + std::to_string(rank) + (unlimited ? "u" : ""), type, Dims::filled(rank, 2),
                        unlimited};
        if (rank > 0) dataset.shape[0] = 3;
        catalogue.datasets.push_back(dataset);
      }
  sort(catalogue);
  round_trip(catalogue, 4096);
}

TEST(Hdf5Image, NothingAtAll) { round_trip({}, 4096); }

TEST(Hdf5Image, ZeroSizes) {
  Catalogue catalogue;
  catalogue.datasets = {{"a", {Kind::f64, 0}, Dims{0}, false},
                        {"b", {Kind::f64, 0}, Dims{5, 0, 3}, false},
                        {"c", {Kind::f64, 0}, Dims{0, 4}, true},
                        {"d", {Kind::f64, 0}, Dims{4, 0}, true}};
  round_trip(catalogue, 4096);
}

TEST(Hdf5Image, GroupsOfAttributesAndLargeOnes) {
  Catalogue catalogue;
  for (int i = 0; i < 40; ++i)
    catalogue.datasets.push_back(
        {"set/d" + std::to_string(10 + i), {Kind::f32, 0}, Dims{i % 3 ? 10 : 5000}, i % 10 == 9});
  const std::vector<double> large(40000, 1.5);  // 320 kB: too large for an object header
  const std::vector<double> medium(1000, 2.5);  // 8 kB: outside the header if there are more than 8
  const auto add = [&](const std::string& object, const std::string& name, const std::vector<double>& values) {
    catalogue.attributes[object][name] =
        make_attribute(name, {Kind::f64, 0}, values.data(), static_cast<int64_t>(values.size()));
  };
  add("", "large", large);
  add("set", "large", large);
  add("only/attributes/here", "large", large);
  for (const char* dataset : {"set/d13", "set/d19", "set/d30"}) add(dataset, "large", large);
  for (int i = 0; i < 12; ++i) add("set/d21", "m" + std::to_string(i), medium);
  for (int i = 0; i < 300; ++i) add("set/d22", "s" + std::to_string(i), {1.0 * i});
  for (const ElementType& type : every_type()) {
    const auto bytes_of = random_bytes(3 * bytes(type), 7);
    catalogue.attributes["set/d11"][name(type)] = make_attribute(name(type), type, bytes_of.data(), 3);
  }
  catalogue.attributes["set/d12"]["none"] = make_attribute("none", {Kind::f64, 0}, nullptr, 0);
  catalogue.attributes["set/d12"]["empty"] = text_attribute("empty", std::string_view());
  catalogue.attributes["set/d12"]["gr\xc3\xbc\xc3\x9f"] =
      text_attribute("gr\xc3\xbc\xc3\x9f", std::string_view("\xce\xb1\xff"));
  catalogue.attributes["set/d12"]["list"] = text_attribute("list", std::vector<std::string>{"one", "three", ""});
  for (const int64_t block : {1, 4096, 1 << 20}) {
    SCOPED_TRACE(block);
    round_trip(catalogue, block);
  }
}

// Names of dimensions: shared, with coordinates, of a group, of growing datasets, and unsuitable ones.
Catalogue named(int count) {
  Catalogue catalogue;
  const auto add = [&](const std::string& name, const Dims& shape, std::vector<std::string> names, bool unlimited) {
    catalogue.datasets.push_back({name, {Kind::f64, 0}, shape, unlimited});
    if (!names.empty()) catalogue.attributes[name]["dimensions"] = text_attribute("dimensions", names);
  };
  for (int i = 0; i < count; ++i) add("f" + std::to_string(10000 + i), Dims{5, 30}, {"y", "x"}, false);
  add("t", Dims{40, 30}, {"z", "x"}, false);
  add("x", Dims{30}, {}, false);
  add("z", Dims{40}, {"z"}, false);
  add("level_1/rho", Dims{8, 600}, {"level_1/y", "level_1/x"}, false);
  add("grows", Dims{7, 30}, {"time", "x"}, true);
  add("less", Dims{3, 5}, {"time", "y"}, true);
  add("time", Dims{7}, {}, true);
  add("square", Dims{4, 4}, {"n", "n"}, false);
  add("none", Dims{0, 30}, {"nothing", "x"}, false);
  add("wrong/length", Dims{6, 30}, {"y", "x"}, false);
  add("wrong/name", Dims{40, 30}, {"t", "x"}, false);
  add("wrong/number", Dims{5, 30}, {"y"}, false);
  add("wrong/group", Dims{8}, {"level_1/y"}, false);
  catalogue.attributes["f10000"]["units"] = text_attribute("units", std::string_view("K"));
  sort(catalogue);
  return catalogue;
}

TEST(Hdf5Image, NamesOfDimensionsAreScalesAndReadBack) {
  for (const int count : {1, 200, 3000})
    for (const int64_t block : {1, 4096, 1 << 20}) {
      SCOPED_TRACE(std::to_string(count) + " on " + std::to_string(block));
      const Catalogue catalogue = named(count);
      Layout layout;
      round_trip(catalogue, block, &layout);
      if (block != 4096 || layout.metadata.empty()) continue;
      // A second attempt would have twice the metadata.
      const auto all = hdf5::with_scales(catalogue, scales_of(catalogue));
      EXPECT_LE(static_cast<int64_t>(layout.metadata[0].bytes.size()),
                hdf5::estimate_metadata_bytes(all) + hdf5::heap_bytes(scales_of(catalogue)) + int64_t{4} * 4096);
      const auto again = hdf5_format().layout(catalogue, {block});
      ASSERT_TRUE(again.ok());
      EXPECT_EQ(again->metadata[0].bytes, layout.metadata[0].bytes);
    }
}

TEST(Hdf5Image, OtherToolsFollowScales) {
  const std::string python = python_with("h5py");
  if (python.empty()) GTEST_SKIP() << "no Python with h5py (PENSTOCK_TEST_PYTHON)";
  const Scratch scratch;
  const Catalogue catalogue = named(3);
  const auto layout = hdf5_format().layout(catalogue, {4096});
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  write_layout(scratch.path("file.h5"), *layout, data_of(catalogue), true);
  write_text(scratch.path("check.py"),
             "import h5py, sys\n"
             "f = h5py.File(sys.argv[1], 'r')\n"
             "names = lambda d: [f[d].dims[i][0].name for i in range(f[d].ndim)]\n"
             "assert names('f10001') == ['/y', '/x'], names('f10001')\n"
             "assert names('t') == ['/z', '/x'] and names('square') == ['/n', '/n']\n"
             "assert names('grows') == ['/time', '/x'] and names('less') == ['/time', '/y']\n"
             "assert names('level_1/rho') == ['/level_1/y', '/level_1/x']\n"
             "assert all(f[s].is_scale for s in ('x', 'y', 'z', 'time', 'level_1/y'))\n"
             "assert 'dimensions' not in f['t'].attrs and f['f10000'].attrs['units'] == b'K'\n"
             "assert f['y'].shape == (5,) and f['time'].maxshape == (None,)\n"
             "assert not any('DIMENSION_LIST' in d.attrs for d in f['wrong'].values())\n"
             "users = f['y'].attrs['REFERENCE_LIST']\n"
             "assert [f[u[0]].name for u in users] == ['/f10000', '/f10001', '/f10002', '/less'], users\n");
  int status = 0;
  const std::string output =
      shell("cd / && " + python + " " + scratch.path("check.py") + " " + scratch.path("file.h5"), status);
  EXPECT_EQ(status, 0) << output;
}

TEST(Hdf5Image, SameInputSameBytes) {
  const Catalogue catalogue = mixed(100);
  const auto a = hdf5_format().layout(catalogue, {4096});
  const auto b = hdf5_format().layout(catalogue, {4096});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->metadata[0].bytes, b->metadata[0].bytes);
  EXPECT_EQ(a->end, b->end);
}

TEST(Hdf5Image, MoreThanFourGiBInOneDataset) {
  Catalogue catalogue;
  catalogue.datasets = {{"big", {Kind::f64, 0}, Dims{int64_t{3} << 30, 7}, false},
                        {"grows", {Kind::f64, 0}, Dims{1000003, 1031}, true},  // 8.2 GB: several chunks, odd rows
                        {"small", {Kind::i32, 0}, Dims{3}, false}};
  const auto layout = hdf5_format().layout(catalogue, {4096});
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  expect_apart(catalogue, *layout);
  const Scratch scratch;
  const std::string path = scratch.path("big.h5");
  write_layout(path, *layout, {}, false);  // sparse
  expect_contents(path, catalogue, *layout);
  const int fd = ::open(path.c_str(), O_RDWR);
  const double value = 42.5;
  const int64_t last = 1000003LL * 1031 - 1;
  pwrite_all(fd, layout->blocks[1].base + last * 8, std::as_bytes(std::span(&value, 1)));
  ::close(fd);
  double read = 0;
  const Status status =
      testing::read_foreign(hdf5_format(), path, catalogue.datasets[1], {Dims{1000002, 1030}, Dims{1, 1}},
                            std::as_writable_bytes(std::span(&read, 1)));
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read, value);
}

TEST(Hdf5Image, RefusesWhatItCannotHold) {
  Catalogue catalogue;
  catalogue.datasets = {{"row", {Kind::f64, 0}, Dims{2, int64_t{1} << 30}, true}};
  EXPECT_EQ(hdf5_format().check(catalogue).code(), Code::unsupported);
  catalogue.datasets = {{"scalar", {Kind::f64, 0}, Dims{}, true}};
  EXPECT_EQ(hdf5_format().check(catalogue).code(), Code::invalid);
  catalogue.datasets.clear();
  catalogue.attributes[""][""] = text_attribute("", std::string_view("x"));
  EXPECT_EQ(hdf5_format().check(catalogue).code(), Code::invalid);
}

TEST(Hdf5Image, TheFirstEstimateIsEnoughAndNotFarOff) {
  for (const int count : {1, 8, 9, 30, 100, 300, 1000, 3000}) {
    const Catalogue catalogue = mixed(count);
    const auto layout = hdf5_format().layout(catalogue, {4096});
    ASSERT_TRUE(layout.ok()) << layout.status().message();
    const auto& head = layout->metadata[0].bytes;
    const auto used = std::find_if(head.rbegin(), head.rend(), [](std::byte b) { return b != std::byte{0}; });
    RecordProperty("used_of_" + std::to_string(count), static_cast<int>(head.rend() - used));
    const int64_t estimate = hdf5::estimate_metadata_bytes(catalogue);
    // Twice the estimate at the start would mean a second attempt.
    EXPECT_LE(static_cast<int64_t>(head.size()), estimate + int64_t{3} * 4096) << count;
    EXPECT_LE(estimate, 2 * (head.rend() - used) + 8192) << count;
  }
}

// 100 datasets of COUNT attributes each, with values of VALUE bytes.
Catalogue attributed(int count, int value) {
  Catalogue catalogue;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "set/d" + std::to_string(1000 + i);
    catalogue.datasets.push_back({name, {Kind::f64, 0}, Dims{2, 3}, false});
    for (int a = 0; a < count; ++a) {
      const std::string attribute = "attribute_" + std::to_string(a);
      catalogue.attributes[name][attribute] = text_attribute(attribute, std::string(static_cast<size_t>(value), 'x'));
    }
  }
  return catalogue;
}

TEST(Hdf5Image, TheEstimateHoldsForAnyNumberOfAttributes) {
  for (const int count : {1, 3, 8, 9, 20, 64, 65, 120})
    for (const int value : {1, 40, 600, 3000}) {
      SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(value));
      const Catalogue catalogue = attributed(count, value);
      const auto layout = hdf5_format().layout(catalogue, {4096});
      ASSERT_TRUE(layout.ok()) << layout.status().message();
      const auto& head = layout->metadata[0].bytes;
      const auto used = std::find_if(head.rbegin(), head.rend(), [](std::byte b) { return b != std::byte{0}; });
      const int64_t estimate = hdf5::estimate_metadata_bytes(catalogue);
      EXPECT_LE(static_cast<int64_t>(head.size()), estimate + int64_t{3} * 4096);
      EXPECT_LE(estimate, 2 * (head.rend() - used) + 8192);
    }
}

TEST(Hdf5Image, AttributesStayInTheirObjectsHeader) {
  const auto bytes_with = [](int count) {
    const auto layout = hdf5_format().layout(attributed(count, 8), {4096});
    EXPECT_TRUE(layout.ok()) << layout.status().message();
    const auto& head = layout->metadata[0].bytes;
    return head.rend() - std::find_if(head.rbegin(), head.rend(), [](std::byte b) { return b != std::byte{0}; });
  };
  // A heap and its B-tree would be 1.5 KiB for each of the 100 objects.
  EXPECT_LT(bytes_with(16) - bytes_with(8), 100 * 8 * 80);
}

TEST(Hdf5Image, TenThousandDatasetsAreQuick) {
  const Catalogue catalogue = mixed(10000);
  const auto start = std::chrono::steady_clock::now();
  const auto layout = hdf5_format().layout(catalogue, {4096});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  std::printf("%.1f us and %.0f metadata bytes per dataset\n", took.count() * 100,
              static_cast<double>(layout->metadata[0].bytes.size()) / 1e4);
  EXPECT_LT(took.count(), 60);
}

TEST(Hdf5Image, LeavesTheCallersErrorStackAlone) {
  H5E_auto2_t before = nullptr, after = nullptr;
  void *data_before = nullptr, *data_after = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data_before);
  ASSERT_TRUE(hdf5_format().layout({}, {4096}).ok());
  EXPECT_FALSE(hdf5_format().read("/nonexistent").ok());
  H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
  EXPECT_EQ(before, after);
  EXPECT_EQ(data_before, data_after);
}

TEST(Hdf5Image, OtherToolsReadIt) {
  const Scratch scratch;
  Catalogue catalogue = mixed(60);
  catalogue.datasets.push_back({"w\xc3\xa4rme", {Kind::f64, 0}, Dims{2}, false});
  sort(catalogue);
  const auto layout = hdf5_format().layout(catalogue, {4096});
  ASSERT_TRUE(layout.ok());
  write_layout(scratch.path("file.h5"), *layout, data_of(catalogue), true);
  int status = 0;
  shell("command -v h5dump", status);
  if (status == 0) {
    const std::string output = shell("h5dump " + scratch.path("file.h5") + " > " + scratch.path("dump"), status);
    EXPECT_EQ(status, 0) << output;
  }
  const std::string python = python_with("h5py");
  if (python.empty()) GTEST_SKIP() << "no Python with h5py (PENSTOCK_TEST_PYTHON)";
  write_text(scratch.path("check.py"),
             "import h5py, sys\n"
             "f = h5py.File(sys.argv[1], 'r')\n"
             "n = []\n"
             "f.visititems(lambda k, v: n.append(v[()] if isinstance(v, h5py.Dataset) else None))\n"
             "assert sum(x is not None for x in n) == 61, len(n)\n"
             "assert f.id.links.get_info('w\\u00e4rme'.encode()).cset == h5py.h5t.CSET_UTF8\n"
             "assert f.id.links.get_info(b'd1').cset == h5py.h5t.CSET_ASCII\n"
             "assert f['d1'].attrs['index'] == 1.0 and f['d1'].attrs['units'] == b'm/s'\n");
  const std::string output =
      shell("cd / && " + python + " " + scratch.path("check.py") + " " + scratch.path("file.h5"), status);
  EXPECT_EQ(status, 0) << output;
}

}  // namespace
}  // namespace penstock
