// More than 2 GiB in one call: a message, a broadcast, a put and a get; what a 32-bit count would lose is looked at.
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "tests/harness/values.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

constexpr int64_t gib = int64_t{1} << 30;
constexpr int64_t size_bytes = 2 * gib + gib / 5 + 12345;

// Cheap enough for gigabytes, and different for every 8 bytes, so that a shift or a wrap at 4 GiB shows.
void fill(std::vector<std::byte>& data, uint64_t seed) {
  for (size_t i = 0; i + 8 <= data.size(); i += 8) {
    const uint64_t value = (seed << 56) + i;
    std::memcpy(&data[i], &value, 8);
  }
  for (size_t i = data.size() / 8 * 8; i < data.size(); ++i) data[i] = std::byte{0x42};
}

int64_t first_difference(const std::vector<std::byte>& data, uint64_t seed) {
  for (size_t i = 0; i + 8 <= data.size(); i += 8) {
    uint64_t value = 0;
    std::memcpy(&value, &data[i], 8);
    if (value != (seed << 56) + i) return static_cast<int64_t>(i);
  }
  for (size_t i = data.size() / 8 * 8; i < data.size(); ++i)
    if (data[i] != std::byte{0x42}) return static_cast<int64_t>(i);
  return -1;
}

int64_t available_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string line;
  while (std::getline(meminfo, line))
    if (line.starts_with("MemAvailable:")) return std::stoll(line.substr(13)) * 1024;
  return 0;
}

void message(World& world) {
  about("a message of more than 2 GiB");
  std::vector<std::byte> data(static_cast<size_t>(size_bytes));
  if (world.size() > 1 && world.rank() < 2) {
    std::vector<Request> one;
    if (world.rank() == 0) fill(data, 1);
    auto request = world.rank() == 0 ? world.comm()->send(1, 3, data) : world.comm()->receive(0, 3, data);
    if (CHECK_OK(request.status(), "begin")) {
      one.push_back(*std::move(request));
      CHECK_OK(wait_all(one), "wait");
    }
    if (world.rank() == 1)
      CHECK(first_difference(data, 1) < 0, fmt::format("differs at {}", first_difference(data, 1)));
  }
  about("a broadcast of more than 2 GiB");
  if (world.rank() == 0) fill(data, 2);
  CHECK_OK(world.comm()->broadcast(data, 0), "broadcast");
  CHECK(static_cast<int64_t>(data.size()) == size_bytes && first_difference(data, 2) < 0,
        fmt::format("differs at {}", first_difference(data, 2)));
}

// Each rank lends its row of size_bytes; then gets its neighbour's.
void file(World& world, const std::string& plan, const std::string& extension) {
  about("a put of more than 2 GiB by " + plan);
  const std::string path = world.folder() + "/large" + extension;
  const ElementType i8{Kind::i8};
  const Dims shape{world.size(), size_bytes}, count{1, size_bytes};
  std::vector<std::byte> data(static_cast<size_t>(size_bytes));
  fill(data, static_cast<uint64_t>(world.rank()) + 3);
  {
    auto out = File::create(world.comm(), path, plan);
    if (!CHECK_OK(out.status(), "create")) return;
    const auto part = Decomposition::block(shape, {world.rank(), 0}, count);
    if (CHECK_OK(part.status(), "block")) CHECK_OK(out->lend("data", i8, *part, data.data()), "lend");
    if (!CHECK_OK(out->close(), "close")) return;
  }
  std::fill(data.begin(), data.end(), std::byte{0});
  const int neighbour = (world.rank() + 1) % world.size();
  auto in = File::open(world.comm(), path, plan.substr(plan.find('/') + 1));
  if (!CHECK_OK(in.status(), "open")) return;
  const auto part = Decomposition::block(shape, {neighbour, 0}, count);
  if (CHECK_OK(part.status(), "block")) CHECK_OK(in->get("data", i8, *part, data.data()), "get");
  if (CHECK_OK(in->close(), "close"))
    CHECK(first_difference(data, static_cast<uint64_t>(neighbour) + 3) < 0,
          fmt::format("differs at {}", first_difference(data, static_cast<uint64_t>(neighbour) + 3)));
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0) unlink(path.c_str());
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  const bool mpiio_only = argc > 1 && std::string_view(argv[1]) == "mpiio";
  struct statvfs disk{};
  statvfs(".", &disk);
  int64_t room[] = {available_bytes() / world.size(),
                    static_cast<int64_t>(disk.f_bavail * disk.f_frsize) / world.size()};
  if (!world.comm()->all_reduce_min(room)) return 1;
  if (room[0] < 3 * size_bytes) return world.skip("needs 7 GiB of memory for each rank");
  if (room[1] < 2 * size_bytes) return world.skip("needs 5 GiB of disk for each rank");
  if (mpiio_only) {
    file(world, argc > 2 ? argv[2] : "hdf5/mpiio:round_bytes=4GiB", ".h5");  // one call
  } else {
    message(world);
    file(world, "hdf5/two_phase", ".h5");
    file(world, "hdf5/independent", ".h5");
  }
  about("");
  return world.finish("large");
}
