// Tests of encoded datasets in HDF5 files: libhdf5 finds each chunk, and zeros where there is none.
#include <algorithm>
#include <numeric>
#include <utility>

#include "core/format/testing.hpp"
#include "core/hdf5/handles.hpp"

namespace penstock {
const Format& hdf5_format();
namespace {

using namespace testing;

// Of one dataset of i64 whose chunks have one row of ten elements. The only filter was applied to none of them.
struct Made {
  Catalogue catalogue;
  std::vector<Encoding> encodings;
  std::vector<int64_t> values;   // as they should be read
  std::vector<std::byte> bytes;  // of the chunks that are there
  size_t chunked = 0;            // the number of the dataset
};

// ALONE: without datasets that are not encoded.
template <typename IsThere>
Made make(int64_t rows, const IsThere& is_there, bool alone = false) {
  Made made;
  made.catalogue.datasets = {{"chunked/x", {Kind::i64}, {rows, 10}}};
  if (!alone) {
    made.catalogue.datasets.insert(made.catalogue.datasets.begin(), {"a", {Kind::f32}, {3}});
    made.catalogue.datasets.push_back({"z", {Kind::f32}, {5}});
    made.chunked = 1;
  }
  made.encodings.resize(made.catalogue.datasets.size());
  Encoding& encoding = made.encodings[made.chunked];
  encoding = {{1, 10}, {{2, {8}}}, 0, {}};
  made.values.resize(static_cast<size_t>(rows) * 10, 0);
  for (int64_t row = 0; row < rows; ++row) {
    if (!is_there(row)) continue;
    int64_t* const first = made.values.data() + row * 10;
    std::iota(first, first + 10, row * 1000);
    const auto* const bytes = reinterpret_cast<const std::byte*>(first);
    encoding.chunks.push_back({row, encoding.bytes, 80, 1});
    encoding.bytes += 80;
    made.bytes.insert(made.bytes.end(), bytes, bytes + 80);
  }
  return made;
}

// No byte of the file belongs to two of its metadata, indexes and datasets.
void expect_apart(const Layout& layout, const Made& made) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const auto& metadata : layout.metadata)
    ranges.emplace_back(metadata.offset, metadata.offset + std::ssize(metadata.bytes));
  const LayoutOptions options{1, made.encodings};
  for (size_t d = 0; d < layout.blocks.size(); ++d)
    if (const int64_t size = options.stored_bytes(made.catalogue, d); size > 0)
      ranges.emplace_back(layout.blocks[d].base, layout.blocks[d].base + size);
  std::ranges::sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i) EXPECT_LE(ranges[i - 1].second, ranges[i].first);
  EXPECT_LE(ranges.back().second, layout.end);
}

void expect_read(const Made& made, int64_t block) {
  const Scratch scratch;
  const auto layout = hdf5_format().layout(made.catalogue, {block, made.encodings});
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  expect_apart(*layout, made);
  const std::string path = scratch.path("file.h5");
  std::vector<std::vector<std::byte>> data(made.catalogue.datasets.size());
  data[made.chunked] = made.bytes;
  write_layout(path, *layout, data, true);
  const hdf5::File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  const hdf5::DatasetHandle dataset(H5Dopen2(file, "chunked/x", H5P_DEFAULT));
  ASSERT_TRUE(dataset.ok());
  std::vector<int64_t> read(made.values.size(), -1);
  ASSERT_GE(H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
  EXPECT_EQ(read, made.values);
  hsize_t chunks = 0;
  const hdf5::Space space(H5Dget_space(dataset));
  ASSERT_GE(H5Dget_num_chunks(dataset, space, &chunks), 0);
  EXPECT_EQ(chunks, made.encodings[made.chunked].chunks.size());
}

TEST(ChunkIndex, IsReadByTheLibraryWithOneTwoThreeAndFourLevels) {
  for (const int64_t rows : {1, 63, 64, 65, 4095, 4096, 4097, 270'000})
    expect_read(make(rows, [](int64_t) { return true; }), rows == 65 ? 512 : 4096);
}

TEST(ChunkIndex, LiesBehindTheHeadWhereNothingIsBetween) {
  for (const int64_t rows : {1, 64, 65, 1100, 5000})
    for (const int64_t block : {1, 512, 4096, 1 << 20})
      expect_read(make(rows, [](int64_t) { return true; }, true), block);
}

TEST(ChunkIndex, LeavesOutChunksThatAreNotThere) {
  for (const int64_t rows : {2, 100, 10'000}) {
    expect_read(make(rows, [](int64_t row) { return row % 3 == 1; }), 4096);
    expect_read(make(rows, [&](int64_t row) { return row == rows - 1; }), 4096);
    expect_read(make(rows, [](int64_t) { return false; }), 4096);
  }
}

// Chunks between all that are there: each of our nodes is full or nearly so, and is split.
TEST(ChunkIndex, CanBeExtendedByTheLibrary) {
  Made made = make(5000, [](int64_t row) { return row % 2 == 0; });
  const Scratch scratch;
  const auto layout = hdf5_format().layout(made.catalogue, {4096, made.encodings});
  ASSERT_TRUE(layout.ok());
  const std::string path = scratch.path("file.h5");
  write_layout(path, *layout, {{}, made.bytes, {}}, true);
  std::vector<int64_t> more;
  for (size_t i = 0; i < made.values.size(); ++i) {
    if (i / 10 % 2 == 0) continue;
    made.values[i] = static_cast<int64_t>(i);
    more.push_back(made.values[i]);
  }
  {
    const hdf5::File file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    const hdf5::DatasetHandle dataset(H5Dopen2(file, "chunked/x", H5P_DEFAULT));
    const hdf5::Space odd_rows(H5Dget_space(dataset));
    const hsize_t start[] = {1, 0}, stride[] = {2, 1}, count[] = {2500, 10}, packed[] = {25'000};
    ASSERT_GE(H5Sselect_hyperslab(odd_rows, H5S_SELECT_SET, start, stride, count, nullptr), 0);
    const hdf5::Space memory(H5Screate_simple(1, packed, nullptr));
    ASSERT_GE(H5Dwrite(dataset, H5T_NATIVE_INT64, memory, odd_rows, H5P_DEFAULT, more.data()), 0);
  }
  const hdf5::File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  const hdf5::DatasetHandle dataset(H5Dopen2(file, "chunked/x", H5P_DEFAULT));
  std::vector<int64_t> read(made.values.size());
  ASSERT_GE(H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
  EXPECT_EQ(read, made.values);
}

}  // namespace
}  // namespace penstock
