// decodes: how often chunks of another program's file are decoded when all ranks want a part of each: a filter counts.
#include <hdf5.h>

#include <algorithm>
#include <atomic>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "tests/harness/slice.hpp"
#include "tests/harness/values.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {
namespace {

const ElementType i32{Kind::i32};
const Dims shape{2048, 1500}, chunk{64, 125};
constexpr int64_t chunks = 2048 / 64 * 1500 / 125;

constexpr H5Z_filter_t counting = 300;  // of the range for tests
std::atomic<int64_t> decoded = 0;

size_t count(unsigned flags, size_t, const unsigned*, size_t bytes, size_t*, void**) {
  if ((flags & H5Z_FLAG_REVERSE) != 0) ++decoded;
  return bytes;
}

bool add_filter() {
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, counting, 1, 1, "counts", nullptr, nullptr, count};
  return H5Zregister(&filter) >= 0;
}

void write(const std::string& path) {
  const hsize_t extents[] = {2048, 1500}, chunk_extents[] = {64, 125};
  const Slice all = block(shape, {{0, 0}, shape});
  const auto values = filled(all, i32, 1);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, extents, nullptr);
  H5Pset_chunk(creation, 2, chunk_extents);
  H5Pset_filter(creation, counting, H5Z_FLAG_MANDATORY, 0, nullptr);
  const hid_t dataset = H5Dcreate2(file, "x", H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  CHECK(H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0, "writing");
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(creation);
  CHECK(H5Fclose(file) >= 0, "closing");
}

// Chunks at the edges are stored without their filters, as a creator may ask for.
void write_raw_edges(const std::string& path) {
  const hsize_t extents[] = {2048, 1500}, chunk_extents[] = {100, 130};
  const auto values = filled(block(shape, {{0, 0}, shape}), i32, 1);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, extents, nullptr);
  H5Pset_chunk(creation, 2, chunk_extents);
  CHECK(H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) >= 0, "options of chunks");
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 1);
  const hid_t dataset = H5Dcreate2(file, "x", H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  CHECK(H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0, "writing");
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(creation);
  H5Pclose(access);
  CHECK(H5Fclose(file) >= 0, "closing");
}

void read_raw_edges(World& world, const std::string& path) {
  about("raw edges");
  const Slice mine = grid(shape, {world.size(), 1}, world.rank());
  const std::string changed = path + ".changed.h5";
  CHECK_OK(File::copy(world.comm(), path, changed, "hdf5/two_phase:compression=deflate,compression_level=1"), "copy");
  for (const std::string& one : {path, changed}) {
    auto memory = blank(mine, i32);
    auto file = File::open(world.comm(), one);
    if (!CHECK_OK(file.status(), "open")) return;
    CHECK_OK(file->get("x", i32, mine.part, memory.data(), mine.memory), "get");
    CHECK_OK(file->close(), "read");
    int64_t wrong = 0;
    CHECK(differences(mine, i32, 1, memory, wrong) == 0, fmt::format("element {} differs", wrong));
  }
}

void read(World& world, const std::string& path, const std::string& plan, const Dims& processes) {
  about(plan + " " + fmt::format("{}x{}", processes[0], processes[1]));
  const Slice mine = grid(shape, processes, world.rank());
  auto memory = blank(mine, i32);
  decoded = 0;
  auto file = File::open(world.comm(), path, plan);
  if (!CHECK_OK(file.status(), "open")) return;
  CHECK_OK(file->get("x", i32, mine.part, memory.data(), mine.memory), "get");
  CHECK_OK(file->commit(), "read");
  CHECK_OK(file->close(), "close");
  int64_t wrong = 0;
  CHECK(differences(mine, i32, 1, memory, wrong) == 0, fmt::format("element {} differs", wrong));
  int64_t all = decoded;
  CHECK_OK(world.comm()->all_reduce_sum(std::span(&all, 1)), "sum");
  // Where the shares of two ranks meet inside a tile, both decode the chunks there: a row of them.
  const int64_t shared = (world.size() - 1) * (1500 / 125);
  CHECK(all >= chunks && all <= chunks + shared,
        fmt::format("{} chunks were decoded {} times, {} more are expected at most", chunks, all, shared));
  if (world.rank() == 0) say(fmt::format("{}: {} chunks decoded {} times", plan, chunks, all));
}

int run(World& world) {
  const std::string path = world.folder() + "/others.h5";
  CHECK(add_filter(), "registering a filter");
  if (world.rank() == 0) write(path);
  CHECK_OK(world.comm()->barrier(), "barrier");
  for (const char* plan : {"hdf5/two_phase", "hdf5/independent"})
    for (const Dims& processes : {Dims{1, world.size()}, Dims{world.size(), 1}}) read(world, path, plan, processes);
  const std::string raw_edges = world.folder() + "/raw_edges.h5";
  if (world.rank() == 0) write_raw_edges(raw_edges);
  CHECK_OK(world.comm()->barrier(), "barrier");
  read_raw_edges(world, raw_edges);
  return world.finish("decodes");
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  penstock::test::World world(&argc, &argv);
  return penstock::test::run(world);
}
