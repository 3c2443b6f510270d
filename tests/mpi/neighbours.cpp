// neighbours: ranks of a node reach the writers' windows without messages, in bounded memory; else by messages.
//
//   neighbours [alone | one | tiny | hidden | nameless]
//
//   alone      no rank sees the others' files in memory
//   one        one rank does not
//   tiny       /dev/shm has no room
//   hidden     no rank sees the others' processes
//   nameless   nothing of ours may have a name in /dev/shm
//
// Each of these needs root.
#include <sched.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <numeric>
#include <string_view>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "core/base/owner.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

constexpr int64_t rows = 96, columns = 4096;
const ElementType type{Kind::i64};

// Columns by rank, cut after FIRST of the even share, so that every window has bytes of every rank.
Decomposition columns_of(const World& world, int64_t shift) {
  const auto edge = [&](int rank) {
    return rank == 0 ? 0 : rank == world.size() ? columns : columns * rank / world.size() + shift;
  };
  const int64_t from = edge(world.rank()), to = edge(world.rank() + 1);
  return *Decomposition::block(Dims{rows, columns}, Dims{0, from}, Dims{rows, to - from});
}

std::vector<int64_t> numbers(const Decomposition& part) {
  const Box& box = part.box_list().front();
  std::vector<int64_t> values;
  for (int64_t r = 0; r < box.count[0]; ++r)
    for (int64_t c = 0; c < box.count[1]; ++c) values.push_back(r * columns + box.start[1] + c);
  return values;
}

// Of all ranks.
int64_t sum(const World& world, int64_t value) {
  CHECK_OK(world.comm()->all_reduce_sum(std::span(&value, 1)), "sum");
  return value;
}

struct Cost {
  int64_t messages = 0;  // of all ranks
  bool warned = false;
  int64_t memory_peak = 0;  // of this one
};

int64_t nodes(const World& world) { return sum(world, world.comm()->node_rank() == 0); }

Cost cost(const World& world, const File& file) {
  return {sum(world, file.report().messages), !file.report().warnings.empty(), file.report().memory_peak};
}

Cost write(World& world, const std::string& plan, int64_t shift) {
  const Decomposition part = columns_of(world, shift);
  const auto values = numbers(part);
  auto file = File::create(world.comm(), world.folder() + "/file.h5", plan);
  if (!CHECK_OK(file.status(), plan)) return {};
  CHECK_OK(file->lend("numbers", type, part, values.data()), plan);
  CHECK_OK(file->commit(), plan);
  const Cost spent = cost(world, *file);
  CHECK_OK(file->close(), plan);
  return spent;
}

Cost read(World& world, const std::string& plan, int64_t shift) {
  const Decomposition part = columns_of(world, shift);
  std::vector<int64_t> values(static_cast<size_t>(part.elements()), -1);
  auto file = File::open(world.comm(), world.folder() + "/file.h5", plan);
  if (!CHECK_OK(file.status(), plan)) return {};
  CHECK_OK(file->get("numbers", type, part, values.data()), plan);
  CHECK_OK(file->commit(), plan);
  CHECK(values == numbers(part), plan + ": values");
  const Cost spent = cost(world, *file);
  CHECK_OK(file->close(), plan);
  return spent;
}

// Every window has bytes of every rank, and there are dozens of rounds.
const std::string small = "two_phase:writers=2,buffer_bytes=16KiB";

void without_messages(World& world) {
  about("shared");
  write(world, small, 0);
  read(world, "independent", 5);
  const Cost again = write(world, small, 0);
  CHECK(!again.warned && (again.messages == 0) == (nodes(world) == 1), "the second time, nothing is sent in a node");
  read(world, small, 3);
  CHECK((read(world, small, 3).messages == 0) == (nodes(world) == 1), "nor in reading");
  if (world.size() > 1) {
    CHECK(write(world, small, 7).messages > 0, "another decomposition is told to the writers");
    CHECK(write(world, small + ",neighbours=messages", 7).messages > 0, "messages are messages");
  }
  read(world, small + ",neighbours=messages", 1);
}

void in_bounded_memory(World& world) {
  about("memory");
  for (const std::string more : {"", ",neighbours=messages"}) {
    const std::string plan = "two_phase:memory_bytes=256KiB" + more;
    CHECK(write(world, plan, 0).memory_peak <= 256 << 10, plan + ": peak of writing");
    CHECK(read(world, plan, 1).memory_peak <= 256 << 10, plan + ": peak of reading");
  }
  const int64_t peak = write(world, small, 0).memory_peak;
  CHECK(sum(world, peak) > 0, "something is counted");
}

// What every rank asks for is read from the file once, by whatever rank, and handed on.
void each_byte_once(World& world) {
  about("read once");
  const Dims shape{rows, columns};
  const int64_t bytes = rows * columns * static_cast<int64_t>(sizeof(int64_t));
  std::vector<int64_t> expected(rows * columns);
  std::iota(expected.begin(), expected.end(), 0);
  write(world, "two_phase", 0);
  for (const std::string& plan : {small, small + ",neighbours=messages"})
    for (const auto& whole : {*Decomposition::block(shape, Dims{0, 0}, shape), *Decomposition::replicated(shape)}) {
      std::vector<int64_t> values(rows * columns);
      auto file = File::open(world.comm(), world.folder() + "/file.h5", plan);
      if (!CHECK_OK(file.status(), plan)) return;
      CHECK_OK(file->get("numbers", type, whole, values.data()), plan);
      CHECK_OK(file->commit(), plan);
      CHECK(values == expected, plan + ": values");
      const int64_t from_file = sum(world, file->report().file_bytes);
      CHECK(from_file >= bytes && from_file <= bytes + (64 << 10), fmt::format("{}: {} bytes read", plan, from_file));
      const int64_t sent = sum(world, file->report().message_bytes), most = nodes(world) * bytes + (1 << 20);
      if (plan == small) CHECK(sent <= most, fmt::format("{} bytes in messages: more than once to a node", sent));
      CHECK_OK(file->close(), plan);
    }
}

// Rounds of a change first read what stays. What other nodes have for a round may arrive before that.
void what_stays(World& world) {
  about("a change");
  const std::string path = world.folder() + "/file.h5";
  const Decomposition part = columns_of(world, 5);
  const Box box = part.box_list().front();
  const int64_t changed = box.count[1] / 2;
  const Decomposition half = *Decomposition::block(Dims{rows, columns}, box.start, Dims{rows, changed});
  write(world, small, 0);
  for (int64_t turn = 1; turn <= 8; ++turn)
    for (const std::string& plan : {small, small + ",neighbours=messages"}) {
      auto values = numbers(half), expected = numbers(part);
      for (int64_t& value : values) value -= turn;
      for (int64_t i = 0; i < std::ssize(expected); ++i)
        if (i % box.count[1] < changed) expected[static_cast<size_t>(i)] -= turn;
      auto file = File::reopen(world.comm(), path, plan);
      if (!CHECK_OK(file.status(), plan)) return;
      CHECK_OK(file->lend("numbers", type, half, values.data()), plan);
      CHECK_OK(file->close(), plan);
      std::vector<int64_t> found(expected.size());
      auto again = File::open(world.comm(), path, "independent");
      if (!CHECK_OK(again.status(), "open")) return;
      CHECK_OK(again->get("numbers", type, part, found.data()), "get");
      CHECK_OK(again->close(), "close");
      CHECK(found == expected, plan + ": values after a change");
    }
}

// What was given up leaves windows behind in which the others may still be.
void after_one_given_up(World& world) {
  about("given up");
  for (int turn = 0; turn < 3; ++turn) {
    const Decomposition part = columns_of(world, 0);
    const auto values = numbers(part);
    {
      auto file = File::create(world.comm(), world.folder() + "/dropped.h5", small);
      if (!CHECK_OK(file.status(), "create")) return;
      CHECK_OK(file->lend("numbers", type, part, values.data()), "lend");
      CHECK_OK(file->commit_start(), "start");
    }
    write(world, small, turn);
    read(world, small, turn + 1);
  }
}

bool mount_over(std::initializer_list<const char*> folders) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return std::ranges::all_of(folders, [](const char* at) { return ::mount("tmpfs", at, "tmpfs", 0, "size=16k") == 0; });
}

void with_messages(World& world) {
  about("alone");
  for (int turn = 0; turn < 2; ++turn) {  // plans are told in messages, the first time
    const Cost spent = write(world, small, 0);
    if (world.size() == 1) continue;
    if (turn > 0) CHECK(spent.messages > 0, "data went by messages");
    CHECK(spent.warned, "and the report says why");
    read(world, small, 3);
  }
}

// The names that files get in /dev/shm while it lives.
class NamesGiven {
 public:
  NamesGiven() : watch_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    CHECK(::inotify_add_watch(watch_, "/dev/shm", IN_CREATE | IN_MOVED_TO) >= 0, "inotify");
  }
  ~NamesGiven() { ::close(watch_); }
  NamesGiven(const NamesGiven&) = delete;
  NamesGiven& operator=(const NamesGiven&) = delete;

  std::vector<std::string> take() {
    std::vector<std::string> names;
    alignas(inotify_event) std::array<char, 16384> events{};
    for (ssize_t size; (size = ::read(watch_, events.data(), events.size())) > 0;)
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
        if (event->len > 0) names.emplace_back(event->name);
        at += static_cast<ssize_t>(sizeof *event + event->len);
      }
    return names;
  }

 private:
  int watch_;
};

// At no moment is there a name that a kill could leave behind.
void without_names(World& world) {
  NamesGiven given;
  without_messages(world);
  for (const std::string& name : given.take())
    CHECK(name.find("penstock") == std::string::npos, "named in /dev/shm: " + name);
}

// Who looks by name learns whose it is, as `penstock clean` does.
void with_names(World& world) {
  NamesGiven given;
  without_messages(world);
  int64_t own = 0;
  for (const std::string& name : given.take()) {
    const auto parsed = parse_partial(name);
    if (!parsed || parsed->base != "penstock" || parsed->owner.pid != ::getpid()) continue;
    ++own;
    CHECK(!std::filesystem::exists("/dev/shm/" + name), "still there: " + name);
  }
  CHECK(sum(world, own) > 0, "a name that says whose it is");
}

int run(int argc, char** argv) {
  World world(&argc, &argv);
  if (argc > 1) {
    const std::string_view how = argv[1];
    int64_t all = true;
    if (how == "nameless" && std::getenv("PENSTOCK_OWN_SHM") == nullptr)
      return world.skip("PENSTOCK_OWN_SHM is not set: run by with_small_disk.sh");
    if (how == "tiny") all = mount_over({"/dev/shm"});
    if (how == "hidden") all = mount_over({"/proc"});
    if (how == "alone" || (how == "one" && world.rank() == world.size() - 1)) all = mount_over({"/dev/shm", "/proc"});
    if (!CHECK_OK(world.comm()->all_reduce_min(std::span(&all, 1)), "min")) return 1;
    if (all == 0) return world.skip("a mount of its own needs root");
    if (how == "tiny")
      without_messages(world);
    else if (how == "hidden")
      with_names(world);
    else if (how == "nameless")
      without_names(world);
    else
      with_messages(world);
  } else {
    without_messages(world);
    in_bounded_memory(world);
    each_byte_once(world);
    what_stays(world);
    after_one_given_up(world);
  }
  return world.finish("neighbours");
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) { return penstock::test::run(argc, argv); }
