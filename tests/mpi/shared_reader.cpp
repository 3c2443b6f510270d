// shared_reader: ranks that read a file each by turns of its own get what was put, and a node fetches each byte once.
#include <fmt/format.h>
#include <penstock/config.h>
#include <penstock/file.hpp>
#include <penstock/shared_reader.hpp>

#include "tests/harness/slice.hpp"
#include "tests/harness/values.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {
namespace {

const ElementType f64{Kind::f64}, i16{Kind::i16};
const Dims cube{40, 50, 60}, flat{7, 11};
constexpr int64_t small_blocks = 4096;

Status write(World& world, const std::string& path, const std::string& plan) {
  auto file = File::create(world.comm(), path, plan);
  if (!file) return file.status();
  const Slice big = grid(cube, {1, world.size(), 1}, world.rank()),
              little = grid(flat, {world.size(), 1}, world.rank());
  const auto first = filled(big, f64, 1), second = filled(little, i16, 2);
  CHECK_OK(file->put("big", f64, big.part, first.data(), big.memory), "put");
  CHECK_OK(file->put("group/little", i16, little.part, second.data(), little.memory), "put");
  return file->close();
}

void check_box(const SharedReader& reader, Random& random) {
  Dims start = Dims::filled(3, 0), count = start;
  for (int d = 0; d < 3; ++d) {
    start[d] = draw(random, cube[d]);
    count[d] = draw(random, cube[d] - start[d] + 1);
  }
  const Slice box = boxes(cube, std::vector<Box>{{start, count}});
  auto memory = blank(box, f64);
  CHECK_OK(reader.get("big", f64, box.part, memory.data()), "get");
  int64_t wrong = 0;
  CHECK(differences(box, f64, 1, memory, wrong) == 0, fmt::format("'big' differs from element {} on", wrong));
}

// Each rank as often as it likes, at once with the others.
void check_turns(World& world, const std::string& path, const SharedReading& how) {
  const auto reader = SharedReader::open(world.comm(), path, how);
  if (!CHECK_OK(reader.status(), "open")) return;
  Random random(static_cast<uint64_t>(world.rank()) + 5);
  for (int turn = 0; turn < 20 * (world.rank() + 1); ++turn) check_box(*reader, random);
  const Slice some = runs(flat, std::vector<Run>{{70, 7}, {3, 10}});
  auto memory = blank(some, i16);
  CHECK_OK(reader->get("group/little", i16, some.part, memory.data()), "get");
  int64_t wrong = 0;
  CHECK(differences(some, i16, 2, memory, wrong) == 0, "runs");
}

void check_counts(World& world, const std::string& path) {
  const auto reader = SharedReader::open(world.comm(), path, {.block_bytes = small_blocks});
  if (!CHECK_OK(reader.status(), "open")) return;
  CHECK(reader->holds_all(), "the node's memory is large enough");
  const Slice all = boxes(cube, std::vector<Box>{{Dims{0, 0, 0}, cube}});
  auto memory = blank(all, f64);
  for (int turn = 0; turn < 3; ++turn) CHECK_OK(reader->get("big", f64, all.part, memory.data()), "get");
  int64_t fetched[] = {reader->fetched_bytes()};
  CHECK_OK(world.comm()->all_reduce_sum(fetched), "sum");
  const int64_t unique = all.part.elements() * 8;
  CHECK(fetched[0] >= unique && fetched[0] <= unique + 2 * small_blocks,
        fmt::format("{} bytes were fetched for {} that were read {} times", fetched[0], unique, 3 * world.size()));
}

void check_little_memory(World& world, const std::string& path) {
  const auto reader =
      SharedReader::open(world.comm(), path, {.memory_bytes = 10 * small_blocks, .block_bytes = small_blocks});
  if (!CHECK_OK(reader.status(), "open")) return;
  CHECK(!reader->holds_all(), "ten blocks are less than the file");
  Random random(static_cast<uint64_t>(world.rank()) + 50);
  for (int turn = 0; turn < 10; ++turn) check_box(*reader, random);
}

void check_refusals(World& world, const std::string& path) {
  CHECK(SharedReader::open(world.comm(), path + ".none").status().code() == Code::not_found, "no file");
  CHECK(SharedReader::open(world.comm(), path, {.block_bytes = 1}).status().code() == Code::invalid, "block of a byte");
  CHECK(SharedReader::open(world.comm(), path, {.memory_bytes = -1}).status().code() == Code::invalid, "no memory");
  const auto reader = SharedReader::open(world.comm(), path);
  if (!CHECK_OK(reader.status(), "open")) return;
  const Slice all = boxes(flat, std::vector<Box>{{Dims{0, 0}, flat}});
  auto memory = blank(all, f64);
  CHECK(reader->get("none", i16, all.part, memory.data()).code() == Code::not_found, "no dataset");
  const Status other = reader->get("group/little", f64, all.part, memory.data());
  CHECK(other.code() == Code::mismatch, "another type");
  CHECK(other.message() == fmt::format("reading 'group/little' of '{}': it is i16 (7, 11), not f64 (7, 11)", path),
        other.message());
  CHECK(reader->get("big", f64, all.part, memory.data()).code() == Code::mismatch, "another shape");
  const auto copies = Decomposition::replicated(flat);
  if (copies.ok())
    CHECK(reader->get("group/little", i16, *copies, memory.data()).code() == Code::invalid, "replicated");
}

std::string_view extension(std::string_view plan) {
  const bool set = plan.find("placement") != std::string_view::npos;
  return plan.starts_with("raw")                            ? ".json"
         : plan.starts_with("netcdf/") || plan == "pnetcdf" ? ".nc"
         : set                                              ? ".json"
                                                            : ".h5";
}

void every_way(World& world) {
  const char* const plans[] = {"hdf5/two_phase",
                               "netcdf/two_phase",
                               "raw/two_phase",
                               "hdf5/two_phase:placement=parts,parts=2",
                               "raw/independent:placement=per_rank",
#if PENSTOCK_HAVE_MPI
                               "phdf5:chunked=true,collective=true",
                               "netcdf4",
                               "pnetcdf"
#endif
  };
  int number = 0;
  for (const std::string plan : plans) {
    about(plan);
    const std::string path = fmt::format("{}/{}{}", world.folder(), number++, extension(plan));
    const Status written = write(world, path, plan);
    if (written.code() == Code::unsupported) continue;  // an engine that this build has not
    if (!CHECK_OK(written, "write")) continue;
    check_turns(world, path, {});
    check_turns(world, path, {.block_bytes = small_blocks});
    if (plan == "hdf5/two_phase") {
      check_counts(world, path);
      check_little_memory(world, path);
      check_refusals(world, path);
    }
  }
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;  // NOLINT(google-build-using-namespace): this is a main
  World world(&argc, &argv);
  every_way(world);
  return world.finish("shared_reader");
}
