// disk: streams on a disk that fills up (by with_small_disk.sh), and with --large a stream of more than 2 GiB.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <penstock/stream.hpp>

#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

namespace fs = std::filesystem;
constexpr int64_t mib = 1 << 20, gib = 1 << 30;

std::set<std::string> listing(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

std::vector<std::byte> bytes_of(int64_t size, uint64_t seed) {
  std::vector<std::byte> data(static_cast<size_t>(size));
  for (size_t i = 0; i + 8 <= data.size(); i += 8) {
    const uint64_t value = (seed << 56) + i;
    std::memcpy(&data[i], &value, 8);
  }
  return data;
}

Status write(World& world, const std::string& path, const std::string& options, int64_t size, uint64_t seed) {
  auto stream = Stream::create(world.comm(), path, options);
  if (!stream) return stream.status();
  const auto data = bytes_of(size, seed);
  for (size_t at = 0; at < data.size(); at += 300001)  // a failure shows here, or at close, and always at close
    (void)stream->write(std::span(data).subspan(at, std::min<size_t>(300001, data.size() - at)));
  return stream->close();
}

void check_old(World& world, const std::string& path, int64_t size, uint64_t seed) {
  auto stream = Stream::open(world.comm(), path);
  if (!CHECK_OK(stream.status(), "open the old container")) return;
  std::vector<std::byte> back(static_cast<size_t>(size) + 1);
  const auto got = stream->read(world.rank(), 0, back);
  if (CHECK_OK(got.status(), "read the old container")) {
    back.resize(static_cast<size_t>(*got));
    CHECK(back == bytes_of(size, seed), "the old container has other bytes");
  }
  CHECK_OK(stream->close(), "close");
}

// SIZE bytes of each rank do not fit; what was there before does.
void does_not_fit(World& world, const std::string& disk, const std::string& options, int64_t size) {
  about(fmt::format("a full disk: {}", options));
  const std::string path = disk + "/c.pstream";
  constexpr int64_t old_size = 5000;
  if (!CHECK_OK(write(world, path, options, old_size, 1), "the old container")) return;
  CHECK_OK(world.comm()->barrier(), "barrier");
  const auto before = listing(disk);
  const Status status = write(world, path, options, size, 2);
  CHECK(status.code() == Code::no_space, fmt::format("is '{}': {}", name(status.code()), status.message()));
  CHECK(status.message().find("c.pstream") != std::string::npos, status.message());
  say(fmt::format("{}: {}", options, status.message()));
  int64_t codes[] = {static_cast<int64_t>(status.code()), -static_cast<int64_t>(status.code())};
  CHECK_OK(world.comm()->all_reduce_max(codes), "compare");
  CHECK(codes[0] == -codes[1], "the ranks have different statuses");
  CHECK(listing(disk) == before, "something was left over, or lost");
  check_old(world, path, old_size, 1);
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0)
    for (const std::string& entry : listing(disk)) fs::remove_all(disk + "/" + entry);
  CHECK_OK(world.comm()->barrier(), "barrier");
}

// More than 2 GiB in one call, and more than 4 GiB of offsets in one file.
void large(World& world, const std::string& folder) {
  about("a stream of more than 2 GiB");
  const std::string path = folder + "/large.pstream";
  const int64_t size = world.rank() == 0 ? 2 * gib + gib / 5 + 12345 : 100;
  std::vector<std::byte> data = bytes_of(size, 7);
  auto stream = Stream::create(world.comm(), path, "files=1,durability=none,chunk_bytes=5GiB");
  if (!CHECK_OK(stream.status(), "create")) return;
  CHECK_OK(stream->write(data), "write");
  CHECK_OK(stream->close(), "close");
  stream = Stream::open(world.comm(), path);
  if (!CHECK_OK(stream.status(), "open")) return;
  std::vector<std::byte> back(data.size() + 10);
  const auto got = stream->read(world.rank(), 0, back);
  CHECK(got.ok() && *got == size, "the length");
  CHECK(std::memcmp(back.data(), data.data(), data.size()) == 0, "the bytes");
  CHECK_OK(stream->close(), "close");
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  if (argc > 1 && std::string_view(argv[1]) == "--large") {
    if (std::filesystem::space(".").available < 4 * gib) return world.skip("less than 4 GiB of disk are free");
    large(world, world.folder());
    return world.finish("large streams");
  }
  const char* disk = std::getenv("PENSTOCK_SMALL_DISK");
  if (disk == nullptr) return world.skip("PENSTOCK_SMALL_DISK names no disk: run by with_small_disk.sh");
  const int64_t size = 32 * mib / world.size();
  for (const char* options :
       {"files=1", "files=2", "files=4,io=direct", "files=2,durability=none", "files=1,buffer_bytes=64MiB"})
    does_not_fit(world, disk, options, size);
  about("");
  return world.finish("streams on a full disk");
}
