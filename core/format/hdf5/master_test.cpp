// Tests of a set's master: penstock reads its index, h5py and libhdf5 its virtual datasets, from any working directory.
#include "core/format/testing.hpp"
#include "core/hdf5/handles.hpp"

namespace penstock {
const Format& hdf5_format();
namespace {

using namespace testing;

// A set of two parts: "t" (8, 6) in three boxes, two of them in part 1; "r" in runs; "s" a scalar; "e" without
// elements; "h" put in part and "none" not at all; "a#1" and "100%b" with special characters of the rules.
class Set {
 public:
  explicit Set(const std::string& folder) : folder_(folder) {
    contents_.format = "hdf5";
    contents_.generation = "g1";
    for (const char* part : {"set.g1.0", "set.g1.1"}) contents_.parts.push_back(folder + "/" + part);
    add({"100%b", {Kind::f64, 0}, Dims{4}, false}, {{0, whole(Dims{4})}});
    add({"a", {Kind::f64, 0}, Dims{4}, false},
        {{0, box(Dims{4}, Dims{0}, Dims{2})}, {0, box(Dims{4}, Dims{2}, Dims{2})}});
    add({"a#1", {Kind::f64, 0}, Dims{4}, false}, {{0, whole(Dims{4})}});
    add({"deep/t", {Kind::f64, 0}, Dims{8, 6}, true}, {{0, box(Dims{8, 6}, Dims{0, 0}, Dims{8, 2})},
                                                       {1, box(Dims{8, 6}, Dims{0, 2}, Dims{4, 4})},
                                                       {1, box(Dims{8, 6}, Dims{4, 2}, Dims{4, 4})}});
    add({"e", {Kind::f64, 0}, Dims{0, 3}, false}, {});
    add({"h", {Kind::f64, 0}, Dims{4}, false}, {{1, box(Dims{4}, Dims{2}, Dims{2})}});
    add({"none", {Kind::f64, 0}, Dims{3}, false}, {});
    const penstock::Run first[] = {{0, 2}, {4, 1}}, second[] = {{2, 2}};
    add({"r", {Kind::f64, 0}, Dims{5}, false},
        {{0, Selection::of_runs(Dims{5}, first)}, {1, Selection::of_runs(Dims{5}, second)}});
    add({"s", {Kind::f64, 0}, Dims{}, false}, {{1, whole(Dims{})}});
    add({"w\xc3\xa4rme", {Kind::f64, 0}, Dims{4}, false}, {{0, whole(Dims{4})}});
    contents_.catalogue.attributes["deep/t"]["units"] = text_attribute("units", std::string_view("K"));
    contents_.catalogue.attributes["deep"]["what"] = text_attribute("what", std::string_view("group"));
    write_parts();
  }

  const Contents& contents() const { return contents_; }

 private:
  struct Piece {
    int32_t part;
    Selection where;
  };
  static Selection whole(const Dims& shape) { return Selection::whole(shape); }
  static Selection box(const Dims& shape, const Dims& start, const Dims& count) {
    return Selection::of_box(shape, {start, count});
  }

  void add(const Dataset& dataset, const std::vector<Piece>& pieces) {
    contents_.catalogue.datasets.push_back(dataset);
    contents_.foreign.push_back(false);
    contents_.blocks.emplace_back();
    for (const Piece& piece : pieces) contents_.blocks.back().push_back({piece.part, -1, false, piece.where});
  }

  // Each element contains its linear offset.
  static std::vector<std::byte> values(const Selection& where) {
    std::vector<double> out;
    Cursor cursor(where);
    for (Segment s; cursor.next(s);)
      for (int64_t i = 0; i < s.length; ++i) out.push_back(static_cast<double>(s.offset + i));
    const auto bytes = std::as_bytes(std::span(out));
    return {bytes.begin(), bytes.end()};
  }

  void write_parts() {
    for (int32_t part = 0; part < 2; ++part) {
      struct Local {
        Dataset dataset;
        StoredBlock* block;
      };
      std::vector<Local> locals;
      for (size_t i = 0; i < contents_.blocks.size(); ++i) {
        int64_t k = 0;
        for (StoredBlock& block : contents_.blocks[i]) {
          if (block.part != part) continue;
          const Dataset& whole = contents_.catalogue.datasets[i];
          locals.push_back(
              {{part_dataset_name(whole.name, k++), whole.type, packed_shape(block.where), false}, &block});
        }
      }
      std::sort(locals.begin(), locals.end(),
                [](const Local& a, const Local& b) { return a.dataset.name < b.dataset.name; });
      Catalogue catalogue;
      std::vector<std::vector<std::byte>> data;
      for (const Local& local : locals) {
        catalogue.datasets.push_back(local.dataset);
        data.push_back(values(local.block->where));
      }
      const auto layout = hdf5_format().layout(catalogue, {512});
      ASSERT_TRUE(layout.ok()) << layout.status().message();
      for (size_t i = 0; i < locals.size(); ++i) locals[i].block->base = layout->blocks[i].base;
      write_layout(contents_.parts[static_cast<size_t>(part)], *layout, data, true);
    }
  }

  std::string folder_;
  Contents contents_;
};

TEST(Hdf5Master, IsReadByPenstockAndByOthers) {
  const Scratch scratch;
  const Set set(scratch.folder());
  const auto master = hdf5_format().master(set.contents());
  ASSERT_TRUE(master.ok()) << master.status().message();
  EXPECT_EQ(*master, *hdf5_format().master(set.contents()));
  const std::string path = scratch.path("set.h5");
  write_text(path, {reinterpret_cast<const char*>(master->data()), master->size()});

  const auto read = hdf5_format().read(path);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->catalogue.datasets, set.contents().catalogue.datasets);
  EXPECT_EQ(read->catalogue.attributes, set.contents().catalogue.attributes);
  EXPECT_EQ(read->parts, set.contents().parts);
  EXPECT_EQ(read->generation, "g1");
  for (size_t i = 0; i < read->blocks.size(); ++i) {
    ASSERT_EQ(read->blocks[i].size(), set.contents().blocks[i].size());
    for (size_t k = 0; k < read->blocks[i].size(); ++k)
      EXPECT_EQ(read->blocks[i][k].base, set.contents().blocks[i][k].base);
  }

  {
    const hdf5::File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const hdf5::DatasetHandle t(H5Dopen2(file, "deep/t", H5P_DEFAULT));
    std::vector<double> values(48);
    ASSERT_GE(H5Dread(t, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    for (int i = 0; i < 48; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], i);
  }

  const std::string python = python_with("h5py");
  if (python.empty()) GTEST_SKIP() << "no Python with h5py (PENSTOCK_TEST_PYTHON)";
  write_text(scratch.path("check.py"),
             "import h5py, numpy, sys\n"
             "f = h5py.File(sys.argv[1], 'r')\n"
             "assert numpy.array_equal(f['deep/t'][()].ravel(), numpy.arange(48)), f['deep/t'][()]\n"
             "for n in ('a', 'a#1', '100%b'): assert numpy.array_equal(f[n][()], numpy.arange(4)), (n, f[n][()])\n"
             "assert f['h'][()].tolist() == [0, 0, 2, 3] and f['none'][()].tolist() == [0, 0, 0]\n"
             "assert f.id.links.get_info('w\\u00e4rme'.encode()).cset == h5py.h5t.CSET_UTF8\n"
             "assert f.id.links.get_info(b'a').cset == h5py.h5t.CSET_ASCII\n"
             "assert f['e'].shape == (0, 3) and f['s'][()] == 0 and f['s'].shape == ()\n"
             "assert 'r' not in f and f['deep/t'].attrs['units'] == b'K' and f['deep'].attrs['what'] == b'group'\n"
             "assert bytes(f['_penstock/index'][()]).startswith(b'{\"schema\": \"penstock.index/1\"')\n");
  int status = 0;
  const std::string output = shell("cd / && " + python + " " + scratch.path("check.py") + " " + path, status);
  EXPECT_EQ(status, 0) << output;

  ASSERT_EQ(::truncate(set.contents().parts[1].c_str(), 100), 0);
  auto rest = hdf5_format().read(path);
  ASSERT_TRUE(rest.ok()) << rest.status().message();
  ASSERT_EQ(rest->lost.size(), 1u);
  EXPECT_EQ(rest->lost[0].why.code(), Code::damaged);
  EXPECT_FALSE(rest->lost[0].boxes.empty());
  ::unlink(set.contents().parts[1].c_str());
  rest = hdf5_format().read(path);
  ASSERT_TRUE(rest.ok()) << rest.status().message();
  ASSERT_EQ(rest->lost.size(), 1u);
  EXPECT_EQ(rest->lost[0].why.code(), Code::not_found);
}

TEST(PartDatasetName, NeverClashes) {
  EXPECT_EQ(part_dataset_name("a", 0), "a");
  EXPECT_EQ(part_dataset_name("a", 1), "a#000001");
  EXPECT_EQ(part_dataset_name("a#1", 0), "a##1");
  EXPECT_EQ(part_dataset_name("a#", 1), "a###000001");
}

}  // namespace
}  // namespace penstock
