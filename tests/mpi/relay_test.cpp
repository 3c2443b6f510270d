// relay: with max_concurrent_writers=K at most K ranks are between their first call on a file and its close, and still
// everything is written.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include <fmt/format.h>

#include "core/methods/methods.hpp"
#include "core/transport/transport.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

// Shared by all ranks of this node: how many have files open, and the most that ever had.
struct Occupancy {
  std::atomic<int> now, most;
};

class Watched : public StorageFile {
 public:
  Watched(StorageFilePtr inner, Occupancy* occupancy) : inner_(std::move(inner)), occupancy_(occupancy) {
    const int now = ++occupancy_->now;
    for (int most = occupancy_->most; most < now && !occupancy_->most.compare_exchange_weak(most, now);) {
    }
    ::usleep(3000);  // long enough to be seen by the others
  }
  Status write(int64_t offset, std::span<const std::byte> bytes) override { return inner_->write(offset, bytes); }
  Status read(int64_t offset, std::span<std::byte> bytes) override { return inner_->read(offset, bytes); }
  Status sync() override { return inner_->sync(); }
  Status close() override {
    --occupancy_->now;
    return inner_->close();
  }

 private:
  StorageFilePtr inner_;
  Occupancy* occupancy_;
};

class WatchedStorage : public CountedStorage {
 public:
  explicit WatchedStorage(Occupancy* occupancy) : CountedStorage(posix_storage()), occupancy_(occupancy) {}
  Result<StorageFilePtr> open(const std::string& path, IoMode mode, bool writable) override {
    PENSTOCK_ASSIGN(StorageFilePtr file, CountedStorage::open(path, mode, writable));
    return StorageFilePtr(std::make_unique<Watched>(std::move(file), occupancy_));
  }

 private:
  Occupancy* occupancy_;
};

Occupancy* shared_occupancy(World& world) {
  const std::string path = world.folder() + "/occupancy";
  const int fd = ::open(path.c_str(), O_CREAT | O_RDWR, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(Occupancy)) != 0) return nullptr;
  void* at = ::mmap(nullptr, sizeof(Occupancy), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return at == MAP_FAILED ? nullptr : static_cast<Occupancy*>(at);
}

constexpr int64_t row = 10000;

// Moves one row for each rank; whether the transfer ended well.
bool move(World& world, Occupancy* occupancy, const std::string& transport, int most, Direction direction,
          std::vector<std::byte>& data) {
  const auto plan = parse_plan(fmt::format("raw/{}:max_concurrent_writers={}", transport, most), "raw", vocabulary());
  if (!CHECK_OK(plan.status(), "plan")) return false;
  Job job;
  PhaseTimes phases;
  job.direction = direction;
  job.comm = world.comm();
  job.files = std::make_shared<WatchedStorage>(occupancy);
  const int64_t bytes = (world.size() * row + 4095) / 4096 * 4096;
  job.parts = {{world.folder() + "/part", bytes, 0}};
  job.phases = &phases;
  const Dims shape{world.size(), row};
  job.pieces = {{0, 0, 1, 0, Selection::of_box(shape, Box{Dims{world.rank(), 0}, Dims{1, row}}), data.data()}};
  auto transfer = find_transport(transport)->begin(job, plan->settings);
  if (!CHECK_OK(agree(world.comm(), transfer.status()), "begin")) return false;
  (void)(*transfer)->progress(0);
  return CHECK_OK(agree(world.comm(), (*transfer)->finish()), "finish");
}

void run(World& world, Occupancy* occupancy, const std::string& transport, int most) {
  about(fmt::format("{} with at most {}", transport, most));
  if (world.rank() == 0) {
    occupancy->now = occupancy->most = 0;
    std::filesystem::remove(world.folder() + "/part");
    const auto created =
        posix_storage()->create(world.folder() + "/part", (world.size() * row + 4095) / 4096 * 4096, Io::buffered);
    CHECK_OK(created.status(), "create");
  }
  CHECK_OK(world.comm()->barrier(), "barrier");
  std::vector<std::byte> data(row, static_cast<std::byte>(world.rank() + 1)), back(row);
  if (!move(world, occupancy, transport, most, Direction::write, data)) return;
  if (!move(world, occupancy, transport, most, Direction::read, back)) return;
  CHECK(back == data, "other bytes came back");
  const int seen = occupancy->most;
  CHECK(seen >= 1, "nobody opened a file");
  CHECK(most == 0 || seen <= most, fmt::format("{} ranks had files open at once", seen));
  if (most == 0 && transport == "independent")
    CHECK(world.size() == 1 || seen > 1, "without a limit nobody overlapped: the test sees nothing");
  CHECK_OK(world.comm()->barrier(), "barrier");
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  Occupancy* occupancy = shared_occupancy(world);
  if (CHECK(occupancy != nullptr, "no shared counter"))
    for (const char* transport : {"independent", "two_phase"})
      for (const int most : {0, 1, 2, 3, 100}) run(world, occupancy, transport, most);
  return world.finish("relay");
}
