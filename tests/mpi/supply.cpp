// supply: what a function of the program makes piece by piece is in the file as if it had been put, by every method.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <penstock/config.h>
#include <penstock/file.hpp>

#include "tests/harness/slice.hpp"
#include "tests/harness/values.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {
namespace {

namespace fs = std::filesystem;
const ElementType f64{Kind::f64}, i16{Kind::i16}, c64{Kind::complex64}, i32{Kind::i32};

// What was asked of the suppliers of this rank.
struct Asked {
  int64_t elements = 0, largest = 0;  // the latter in bytes
};

// Made element by element when it is asked for: only where the elements lie is kept.
Status supply(File& file, std::string_view name, const ElementType& type, const Slice& slice, uint64_t seed,
              Asked* asked = nullptr) {
  std::vector<int64_t> offsets(static_cast<size_t>(slice.part.elements()));
  each_element(slice, [&](int64_t offset, int64_t memory) { offsets[static_cast<size_t>(memory)] = offset; });
  return file.supply(
      name, type, slice.part,
      [type, seed, asked, offsets = std::move(offsets)](int64_t first, std::span<std::byte> out) -> Status {
        const int64_t size = bytes(type), count = std::ssize(out) / size;
        if (first < 0 || first + count > std::ssize(offsets)) return {Code::internal, "beyond the block"};
        for (int64_t i = 0; i < count; ++i)
          make_element(out.data() + i * size, type, seed, offsets[static_cast<size_t>(first + i)]);
        if (asked != nullptr) {
          asked->elements += count;
          asked->largest = std::max(asked->largest, std::ssize(out));
        }
        return {};
      });
}

Slice columns(const World& world, const Dims& shape) { return grid(shape, {1, world.size()}, world.rank()); }

// Rank r has r rows, rank 0 none.
Slice list(const World& world) {
  const int64_t r = world.rank(), n = world.size();
  return ragged(r * (r - 1) / 2, r, n * (n - 1) / 2, {3});
}

Slice one_run(const Dims& shape, Run run) {
  return runs(shape, run.length > 0 ? std::vector{run} : std::vector<Run>());
}

Slice own_runs(const World& world) {
  Random random(7);
  const std::vector<Run> all = split_runs(5000, 40, random);
  std::vector<Run> mine;
  for (size_t i = 0; i < all.size(); ++i)
    if (static_cast<int>(i) % world.size() == world.rank()) mine.push_back(all[i]);
  return runs({50, 100}, mine);
}

Slice own_boxes(const World& world) {
  Random random(9);
  const std::vector<Box> all = split_boxes({20, 30, 40}, 3 * world.size(), random);
  std::vector<Box> mine;
  for (size_t i = 0; i < all.size(); ++i)
    if (static_cast<int>(i) % world.size() == world.rank()) mine.push_back(all[i]);
  return boxes({20, 30, 40}, mine);
}

Status write(World& world, const std::string& path, const std::string& plan) {
  auto file = File::create(world.comm(), path, plan);
  if (!file) return file.status();
  const Slice put_too = columns(world, {64, 10 * world.size()});
  const auto memory = filled(put_too, f64, 6);
  CHECK_OK(supply(*file, "a/columns", f64, columns(world, {300, 70 * world.size()}), 1), "supply");
  CHECK_OK(supply(*file, "b/list", i16, list(world), 2), "supply");
  CHECK_OK(supply(*file, "c/rank", c64, per_rank({5}, world.rank(), world.size()), 3), "supply");
  CHECK_OK(supply(*file, "d/runs", f64, own_runs(world), 4), "supply");
  CHECK_OK(supply(*file, "e/boxes", i32, own_boxes(world), 5), "supply");
  CHECK_OK(file->put("f/put", f64, put_too.part, memory.data(), put_too.memory), "put");
  return file->close();
}

void check_dataset(World& world, File& file, std::string_view name, const ElementType& type, const Dims& shape,
                   uint64_t seed) {
  const Slice rows = grid(
      shape,
      [&] {
        Dims cut = Dims::filled(shape.rank(), 1);
        cut[0] = world.size();
        return cut;
      }(),
      world.rank());
  auto memory = blank(rows, type);
  CHECK_OK(file.get(name, type, rows.part, memory.data(), rows.memory), "get");
  if (!CHECK_OK(file.commit(), "read")) return;
  int64_t wrong = 0;
  CHECK(differences(rows, type, seed, memory, wrong) == 0, fmt::format("'{}' differs from element {} on", name, wrong));
}

void check_file(World& world, const std::string& path) {
  const int64_t n = world.size();
  auto file = File::open(world.comm(), path);
  if (!CHECK_OK(file.status(), "open")) return;
  check_dataset(world, *file, "a/columns", f64, {300, 70 * n}, 1);
  check_dataset(world, *file, "b/list", i16, {n * (n - 1) / 2, 3}, 2);
  check_dataset(world, *file, "c/rank", c64, {n, 5}, 3);
  check_dataset(world, *file, "d/runs", f64, {50, 100}, 4);
  check_dataset(world, *file, "e/boxes", i32, {20, 30, 40}, 5);
  check_dataset(world, *file, "f/put", f64, {64, 10 * n}, 6);
  const auto found = file->verify();
  if (CHECK_OK(found.status(), "verify")) {
    CHECK(found->damages.empty(), found->damages.empty() ? "" : found->damages[0].what);
    CHECK(found->unchecked.empty(), "all of it has checksums");
  }
  CHECK_OK(file->close(), "close");
}

// Some chunks are filled by one rank's supplier, some by two, some by no supplier.
constexpr const char* compressed = "hdf5/two_phase:compression=deflate,chunk_bytes=4KiB";

const char* const plans[] = {
    "hdf5/two_phase:memory_bytes=64KiB",
    "hdf5/two_phase:io=direct",
    compressed,
    "hdf5/independent:compression=deflate,chunk_bytes=64,memory_bytes=64KiB",
    "hdf5/two_phase:placement=parts,parts=2",
    "hdf5/independent:placement=per_rank,memory_bytes=64KiB",
    "netcdf/two_phase:memory_bytes=64KiB",
    "netcdf/independent:placement=per_rank",
    "raw/two_phase",
    "raw/two_phase:placement=parts,parts=3,parity=1",
    "hdf5/servers",
#if PENSTOCK_HAVE_MPI
    "raw/mpiio",
#endif
    "phdf5",
    "phdf5:chunked=true,collective=true",
    "netcdf4",
    "pnetcdf",
};

std::string path_of(const World& world, const std::string& folder, const std::string& plan) {
  const bool netcdf = plan.starts_with("netcdf/") || plan.starts_with("pnetcdf");
  (void)world;
  return folder + (netcdf ? "/file.nc" : plan.starts_with("raw/") ? "/file.raw" : "/file.h5");
}

void remove_all(World& world) {
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0)
    for (const auto& entry : fs::directory_iterator(world.folder())) fs::remove_all(entry.path());
  CHECK_OK(world.comm()->barrier(), "barrier");
}

void every_way(World& world) {
  for (const std::string plan : plans) {
    about(plan);
    const std::string path = path_of(world, world.folder(), plan);
    const Status status = write(world, path, plan);
    if (status.code() == Code::unsupported)
      say(fmt::format("not here: {}: {}", plan, status.message()));
    else if (CHECK_OK(status, "write"))
      check_file(world, path);
    remove_all(world);
  }
}

// 32 MiB of each rank through a 256 KiB window, each element once.
void memory_is_bounded(World& world) {
  about("memory");
  const std::string path = world.folder() + "/large.h5";
  auto file = File::create(world.comm(), path, "hdf5/two_phase:memory_bytes=1MiB");
  if (!CHECK_OK(file.status(), "create")) return;
  int64_t asked = 0, largest = 0, next = 0;
  const int64_t each = 4 << 20;
  CHECK_OK(file->supply("x", f64, *Decomposition::block({each * world.size()}, {each * world.rank()}, {each}),
                        [&](int64_t first, std::span<std::byte> out) -> Status {
                          if (first != next) return {Code::internal, "not in order"};
                          next = first + std::ssize(out) / 8;
                          asked += std::ssize(out);
                          largest = std::max(largest, std::ssize(out));
                          std::memset(out.data(), 1, out.size());
                          return {};
                        }),
           "supply");
  CHECK_OK(file->commit(), "commit");
  CHECK(asked == each * 8, "each element is asked for once");
  CHECK(largest <= 256 << 10, fmt::format("pieces of {} bytes", largest));
  CHECK(file->report().memory_peak <= 3 << 20, fmt::format("{} bytes at once", file->report().memory_peak));
  CHECK_OK(file->close(), "close");
  remove_all(world);
}

enum class Fails : uint8_t { with_status, by_throwing };

// On the last rank, at its second piece: all ranks hear of it, and what was there stays.
void failures_are_everybodys(World& world) {
  for (const std::string plan :
       {"hdf5/two_phase:memory_bytes=64KiB", "raw/independent:placement=per_rank", "phdf5", compressed})
    for (const Fails how : {Fails::with_status, Fails::by_throwing}) {
      about(plan + (how == Fails::with_status ? " fails" : " throws"));
      const std::string path = path_of(world, world.folder(), plan);
      const Status old = write(world, path, plan);
      if (old.code() == Code::unsupported) continue;
      CHECK_OK(old, "write");
      auto file = File::create(world.comm(), path, plan);
      if (!CHECK_OK(file.status(), "create")) return;
      CHECK_OK(file->supply("x", f64, *Decomposition::ragged(1000, {}),
                            [&](int64_t, std::span<std::byte> out) -> Status {
                              if (world.rank() == world.size() - 1) {
                                if (how == Fails::by_throwing) throw std::runtime_error("the tape is torn");
                                return {Code::io, "the tape is torn"};
                              }
                              std::memset(out.data(), 0, out.size());
                              return {};
                            }),
               "supply");
      const Status status = file->close();
      CHECK(!status.ok(), "it fails");
      CHECK(status.message().find("the tape is torn") != std::string::npos, status.message());
      check_file(world, path);
      remove_all(world);
    }
}

void what_is_refused(World& world) {
  about("refused");
  const std::string path = world.folder() + "/file.h5";
  const auto zeros = [](int64_t, std::span<std::byte> out) -> Status {
    std::memset(out.data(), 0, out.size());
    return {};
  };
  {
    auto file = File::create(world.comm(), path, "hdf5/two_phase:placement=rank_order");
    if (CHECK_OK(file.status(), "create")) {
      // One rank is enough for all to know.
      CHECK_OK(file->supply("x", f64, *Decomposition::ragged(3, {}), zeros), "supply");
      const Status status = file->close();
      CHECK(status.code() == Code::unsupported, status.message());
    }
  }
  auto file = File::create(world.comm(), path);
  if (!CHECK_OK(file.status(), "create")) return;
  CHECK(file->supply("x", f64, *Decomposition::replicated({3}), zeros).code() == Code::invalid, "replicated");
  CHECK(file->supply("x", f64, *Decomposition::ragged(3, {}), nullptr).code() == Code::invalid, "no function");
  CHECK(file->close().code() == Code::invalid, "what was refused fails the commit");
  remove_all(world);
}

// What is kept of a file, what is put and what is supplied in one commit; and elements beyond what was there.
void over_what_is_there(World& world, const std::string& plan) {
  about("reopen: " + plan);
  const std::string path = world.folder() + "/file.h5";
  if (!CHECK_OK(write(world, path, plan), "write")) return;
  auto file = File::reopen(world.comm(), path, plan);
  if (!CHECK_OK(file.status(), "reopen")) return;
  CHECK_OK(supply(*file, "a/columns", f64, columns(world, {300, 70 * world.size()}), 1), "supply");
  Asked asked;
  CHECK_OK(supply(*file, "z/new", i16, list(world), 8, &asked), "supply");
  CHECK_OK(file->close(), "close");
  CHECK(asked.elements == 3 * world.rank(), "each element once");
  check_file(world, path);
  const int64_t n = world.size();
  auto back = File::open(world.comm(), path);
  if (!CHECK_OK(back.status(), "open")) return;
  check_dataset(world, *back, "z/new", i16, {n * (n - 1) / 2, 3}, 8);
  CHECK_OK(back->close(), "close");
  remove_all(world);
}

// Half of a dataset that stays, with other values: by suppliers alone, and over what is put in the same chunks.
void part_of_what_is_there(World& world, const std::string& plan) {
  about("a part: " + plan);
  const std::string path = path_of(world, world.folder(), plan);
  const int64_t each = 3000, all = each * world.size();
  const auto write = [&](bool again, uint64_t seed, int64_t count) -> Status {
    auto file = again ? File::reopen(world.comm(), path, plan) : File::create(world.comm(), path, plan);
    if (!file) return file.status();
    const Slice slice = one_run({all}, {each * world.rank(), count});
    CHECK_OK(supply(*file, "x", f64, slice, seed), "supply");
    return file->close();
  };
  if (!CHECK_OK(write(false, 1, each), "write") || !CHECK_OK(write(true, 2, each / 2), "again")) return;
  auto file = File::open(world.comm(), path);
  if (!CHECK_OK(file.status(), "open")) return;
  for (const bool second : {false, true}) {
    const Slice half = one_run({all}, {each * world.rank() + (second ? each / 2 : 0), each / 2});
    auto memory = blank(half, f64);
    CHECK_OK(file->get("x", f64, half.part, memory.data(), half.memory), "get");
    if (!CHECK_OK(file->commit(), "read")) return;
    int64_t wrong = 0;
    CHECK(differences(half, f64, second ? 1 : 2, memory, wrong) == 0, fmt::format("element {} is wrong", wrong));
  }
  CHECK_OK(file->close(), "close");
  remove_all(world);
}

// A chunk that a supplier fills on one rank, and of which another puts some elements.
void chunks_of_two(World& world) {
  if (world.size() < 2) return;
  about("supplied and put");
  const std::string path = world.folder() + "/file.h5";
  const int64_t all = 20000;
  auto file = File::create(world.comm(), path, compressed);
  if (!CHECK_OK(file.status(), "create")) return;
  file->set_partial(true);
  const Slice supplied = one_run({all}, {0, world.rank() == 0 ? all : 0});
  const Slice put = one_run({all}, {7, world.rank() == 1 ? 3 : 0});
  const auto memory = filled(put, f64, 1);
  CHECK_OK(supply(*file, "x", f64, supplied, 1), "supply");
  CHECK_OK(file->put("x", f64, put.part, memory.data(), put.memory), "put");
  CHECK_OK(file->close(), "close");
  auto back = File::open(world.comm(), path);
  if (!CHECK_OK(back.status(), "open")) return;
  check_dataset(world, *back, "x", f64, {all}, 1);
  CHECK_OK(back->close(), "close");
  remove_all(world);
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;  // NOLINT(google-build-using-namespace): this is a main
  World world(&argc, &argv);
  every_way(world);
  memory_is_bounded(world);
  failures_are_everybodys(world);
  what_is_refused(world);
  for (const char* plan : {"hdf5/two_phase", compressed}) over_what_is_there(world, plan);
  for (const char* plan : {"hdf5/two_phase", "raw/independent", compressed}) part_of_what_is_there(world, plan);
  chunks_of_two(world);
  return world.finish("supply");
}
