// The transport mpiio with hand-made jobs: every access of the MPI standard writes and reads random selections, and
// plain system calls find what was written.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "tests/mpi/mpiio_jobs.hpp"

// The files that this rank opened, by how many ranks opened them with it.
static std::map<int, int> opened;

extern "C" int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  ++opened[ranks];
  return PMPI_File_open(comm, name, mode, info, file);
}

namespace penstock::test {

namespace {

const Transport& mpiio() { return *find_transport("mpiio"); }

// What the library at hand is known to break is refused by name; what is told once.
bool refused(const Status& status, const std::string& reproducer) {
  if (status.code() != Code::unsupported ||
      status.message().find("docs/reproducers/" + reproducer) == std::string::npos)
    return false;
  static int told = 0;
  if (told++ == 0) say("refused: " + status.message());
  return true;
}

void write_and_read(World& world, const Words& words, uint64_t seed, bool swapped) {
  Random random(seed);
  const Settings settings = settings_of(words);
  for (int turn = 0; turn < 4; ++turn) {
    Setting s = random_setting(world, random, 1 + turn % 2, swapped);
    s.keep = turn == 2;
    s.idle = turn == 3;
    create_parts(s);
    auto shares = deal_out(s, random, false);
    PhaseTimes phases;
    const Job job = job_of(s, Direction::write, shares, phases);
    const Status status = move(job, settings);
    if (refused(status, "nonblocking_collective.c") || !CHECK_OK(status, "write")) return;
    check_parts(s);
    read_all(s, settings, random);
  }
}

// Each rank has its own parts, and none but itself knows them.
void own_parts(World& world, const Words& words) {
  Random random(static_cast<uint64_t>(world.rank()) + 5);
  const Settings settings = settings_of(words);
  Setting s{world, "", {}, {}, false, true, false};
  const ElementType f64{Kind::f64};
  const int count = world.rank() % 3;  // files of this rank
  for (int32_t p = 0; p < count; ++p) {
    const Array a{p, (world.rank() * 3 + p) * 65536, f64, {20, 30 + p}, 9, false};
    s.arrays.push_back(a);
    s.parts.push_back({fmt::format("{}/own{}_{}", world.folder(), world.rank(), p), 8192, a.address});
    const int fd = open(s.parts.back().path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(ftruncate(fd, 8192) == 0 && close(fd) == 0, "create a part");
  }
  std::vector<Share> shares;
  for (const Array& a : s.arrays) {
    Slice slice = transposed(a.shape, {{0, 0}, a.shape}, 2);
    auto memory = filled(slice, a.type, a.seed);
    shares.push_back({&a, std::move(slice), std::move(memory)});
  }
  PhaseTimes phases;
  const Job job = job_of(s, Direction::write, shares, phases);
  const Status status = move(job, settings);
  if (refused(status, "nonblocking_collective.c") || !CHECK_OK(status, "write")) return;
  for (int32_t p = 0; p < count; ++p) {
    const auto meant = expected(s, p);
    std::vector<std::byte> there(meant.size());
    const int fd = open(s.parts[static_cast<size_t>(p)].path.c_str(), O_RDONLY);
    CHECK(pread(fd, there.data(), there.size(), 0) == 8192 && there == meant, "a part of one rank");
    close(fd);
  }
}

// Within a rank, what was put later wins.
void overlaps(World& world, const Words& words) {
  const Settings settings = settings_of(words);
  Setting s{world, "", {}, {}, false, false, false};
  const ElementType i32{Kind::i32};
  const int64_t rows = 10, columns = 64, own = rows * columns * 4;
  s.parts = {{world.folder() + "/overlaps", round_up(own * world.size(), 4096), 0}};
  create_parts(s);
  const Array first{0, own * world.rank(), i32, {rows, columns}, 1, false},
      second{0, own * world.rank(), i32, {rows, columns}, 2, false};
  std::vector<Share> shares;
  const auto add = [&](const Array& a, const Box& box) {
    Slice slice = block(a.shape, box);
    auto memory = filled(slice, a.type, a.seed);
    shares.push_back({&a, std::move(slice), std::move(memory)});
  };
  add(first, {{0, 0}, {rows, columns}});
  add(second, {{0, 5}, {rows, 20}});
  add(first, {{2, 10}, {3, 30}});
  PhaseTimes phases;
  const Job job = job_of(s, Direction::write, shares, phases);
  const Status status = move(job, settings);
  if (refused(status, "nonblocking_collective.c") || !CHECK_OK(status, "write")) return;
  std::vector<int32_t> there(static_cast<size_t>(rows * columns));
  const int fd = open(s.parts[0].path.c_str(), O_RDONLY);
  CHECK(pread(fd, there.data(), static_cast<size_t>(own), own * world.rank()) == own, "read");
  close(fd);
  int64_t wrong = 0;
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int64_t row = i / columns, column = i % columns;
    const bool third = row >= 2 && row < 5 && column >= 10 && column < 40;
    int32_t value = 0;
    make_element(reinterpret_cast<std::byte*>(&value), i32, !third && column >= 5 && column < 25 ? 2 : 1, i);
    wrong += value != there[static_cast<size_t>(i)];
  }
  CHECK(wrong == 0, fmt::format("{} elements are not what was written last", wrong));
}

// Each rank's block of each array contiguous, in the order of ranks; some ranks have none.
void ordered(World& world, const Words& words, uint64_t seed) {
  Random random(seed);
  const Settings settings = settings_of(words);
  for (int turn = 0; turn < 3; ++turn) {
    Setting s{world, "", {}, {}, false, true, false};
    const ElementType types[] = {{Kind::f64}, {Kind::i16}, {Kind::complex128}, {Kind::u8}};
    int64_t end = turn == 0 ? 0 : 512;
    std::vector<int> owners;
    for (int i = 0; i < 4; ++i)
      for (int r = 0; r < world.size(); ++r) {
        if (draw(random, 4) == 0) continue;  // nothing of this array
        const Dims shape =
            draw(random, 2) == 0 ? Dims{1 + draw(random, 5000)} : Dims{1 + draw(random, 30), 1 + draw(random, 40)};
        if (turn == 1) end = round_up(end, 4096);
        s.arrays.push_back({0, end, types[i], shape, random() % 1000, turn == 2 && i < 2});
        owners.push_back(r);
        end += product(shape) * bytes(types[i]);
      }
    s.parts = {{world.folder() + "/ordered", round_up(end, 4096), 0}};
    create_parts(s);
    std::vector<Share> shares;
    for (size_t i = 0; i < s.arrays.size(); ++i) {
      const Array& a = s.arrays[i];
      Slice slice = random_slice(a.shape, {Dims::filled(a.shape.rank(), 0), a.shape}, random);
      if (owners[i] != world.rank()) continue;
      auto memory = filled(slice, a.type, a.seed);
      shares.push_back({&a, std::move(slice), std::move(memory)});
    }
    PhaseTimes phases;
    const Job job = job_of(s, Direction::write, shares, phases);
    if (!CHECK_OK(move(job, settings), "write")) return;
    check_parts(s);
    read_all(s, settings, random);
  }
}

// Blocks in slots, written in any order; what the transport says of the order is what the file holds.
void records(World& world, const Words& words) {
  const Settings settings = settings_of(words);
  const Slots slots = mpiio().slots(settings);
  if (!CHECK(slots.header == 64 && slots.payload == 4096, "slots")) return;
  const int64_t slot = slots.header + slots.payload, blocks = 5 * world.size() + 3;
  Setting s{world, "", {{world.folder() + "/records", round_up(blocks * slot, 4096), 0}}, {}, false, true, false};
  const ElementType f32{Kind::f32};
  for (int64_t k = 0; k < blocks; ++k)
    s.arrays.push_back({0,
                        k * slot + slots.header,
                        f32,
                        {k % 4 == 0 ? 1024 : 1 + k % 700},
                        50 + static_cast<uint64_t>(k),
                        k % 3 == 0});
  create_parts(s);
  std::vector<Share> shares;
  for (int64_t k = 0; k < blocks; ++k) {
    if (k % 7 % world.size() != world.rank()) continue;
    const Array& a = s.arrays[static_cast<size_t>(k)];
    Slice slice = k % 2 == 0 ? transposed(a.shape, {{0}, a.shape}, 3) : block(a.shape, {{0}, a.shape});
    auto memory = filled(slice, a.type, a.seed);
    shares.push_back({&a, std::move(slice), std::move(memory)});
  }
  PhaseTimes phases;
  const Job job = job_of(s, Direction::write, shares, phases);
  std::vector<int64_t> order;
  if (!CHECK_OK(move(job, settings, &order), "write")) return;
  std::vector<std::byte> told(order.size() * 8);
  if (!told.empty()) std::memcpy(told.data(), order.data(), told.size());
  CHECK_OK(world.comm()->broadcast(told, 0), "broadcast");
  order.resize(told.size() / 8);
  if (!told.empty()) std::memcpy(order.data(), told.data(), told.size());
  if (!CHECK(static_cast<int64_t>(order.size()) == blocks, "the order of slots")) return;
  const auto before = s.arrays;
  for (size_t place = 0; place < order.size(); ++place) {
    Array a = before[static_cast<size_t>(order[place])];
    a.address = static_cast<int64_t>(place) * slot + slots.header;
    s.arrays[place] = a;
  }
  Random random(3);
  read_all(s, settings, random);
  // By plain offsets too, since the index says where the blocks are.
  read_all(s, settings_of({{"coordination", "independent"}}), random);

  // Another file has no records.
  Setting other = random_setting(world, random, 1, false);
  create_parts(other);
  auto wanted = deal_out(other, random, false);
  const Job reading = job_of(other, Direction::read, wanted, phases);
  CHECK(move(reading, settings).code() == Code::unsupported, "a file without records is refused");
}

void refusals() {
  const auto file = [](std::string_view format, std::string_view placement) {
    return FileKind{format, format == "netcdf", format == "raw", placement == "rank_order"};
  };
  const auto refused = [&](const Words& words, std::string_view format, std::string_view placement, Direction direction,
                           std::string_view reason) {
    const Status status = mpiio().check(settings_of(words), file(format, placement), direction);
    CHECK(status.code() == Code::unsupported && status.message().find(reason) != std::string::npos,
          fmt::format("{} is answered: {}", text(words), status.message()));
  };
  const auto w = Direction::write, r = Direction::read;
  refused({{"synchronism", "split"}, {"coordination", "independent"}}, "raw", "single", w, "no split independent");
  refused({{"synchronism", "split"}, {"level", "2"}}, "raw", "single", r, "no split independent");
  refused({{"synchronism", "nonblocking"}, {"positioning", "shared"}}, "raw", "rank_order", w,
          "no non-blocking ordered");
  refused({{"positioning", "shared"}}, "hdf5", "single", w, "layout=chunks");
  refused({{"positioning", "shared"}, {"coordination", "independent"}}, "hdf5", "rank_order", w, "format raw");
  refused({{"puts", "apart"}, {"positioning", "shared"}}, "raw", "rank_order", w, "puts=apart");
  refused({{"datarep", "external32"}}, "hdf5", "single", w, "format netcdf");
  refused({{"datarep", "internal"}, {"positioning", "shared"}}, "raw", "rank_order", w, "datarep=native");
  CHECK_OK(mpiio().check(settings_of({}), file("hdf5", "single"), w), "the fallbacks");
  CHECK_OK(mpiio().check(settings_of({{"positioning", "shared"}}), file("hdf5", "single"), r),
           "ordered reading of any file");
}

// A part that is not there is the same error on all ranks.
void absent(World& world, const Words& words) {
  Random random(11);
  Setting s = random_setting(world, random, 1, false);
  s.parts[0].path += "-absent";
  auto shares = deal_out(s, random, false);
  PhaseTimes phases;
  const Job job = job_of(s, Direction::read, shares, phases);
  const Code code = move(job, settings_of(words)).code();
  CHECK(code == Code::not_found, fmt::format("an absent file is '{}'", name(code)));
}

// A file shorter than what is asked for is an error, not silence.
void short_file(World& world, const Words& words) {
  Random random(12);
  Setting s = random_setting(world, random, 1, false);
  create_parts(s);
  if (world.rank() == 0) CHECK(truncate(s.parts[0].path.c_str(), 100) == 0, "truncate");
  CHECK_OK(world.comm()->barrier(), "barrier");
  auto shares = deal_out(s, random, false);
  PhaseTimes phases;
  const Job job = job_of(s, Direction::read, shares, phases);
  const Status status = move(job, settings_of(words));
  CHECK(!status.ok(), "a short file is read without an error");
}

// A set has a file of each rank, known to all. Few readers of a file open it alone; where all ranks read it, all open
// it together, unless they read independently.
void sets(World& world, const Words& words, bool independent) {
  const int ranks = world.size(), next = (world.rank() + 1) % ranks;
  Setting s{world, "", {}, {}, false, true, false};
  for (int32_t p = 0; p < ranks; ++p) {
    s.arrays.push_back({p, p * 4096, {Kind::f64}, {32}, static_cast<uint64_t>(p), false});
    s.parts.push_back({fmt::format("{}/set{}", world.folder(), p), 4096, p * 4096});
  }
  create_parts(s);
  const auto move_mine = [&](Direction direction, const Setting& whole, int reader, int first, int last) {
    std::vector<Share> shares;
    if (world.rank() == reader)
      for (int p = first; p < last; ++p) {
        const Array& a = whole.arrays[static_cast<size_t>(p)];
        Slice slice = block(a.shape, {{0}, a.shape});
        auto memory = direction == Direction::write ? filled(slice, a.type, a.seed) : blank(slice, a.type);
        shares.push_back({&a, std::move(slice), std::move(memory)});
      }
    PhaseTimes phases;
    const Job job = job_of(whole, direction, shares, phases);
    opened.clear();
    CHECK_OK(move(job, settings_of(words)), direction == Direction::write ? "write" : "read");
    int64_t wrong = 0, where = 0;
    for (const Share& share : shares)
      wrong += differences(share.slice, share.array->type, share.array->seed, share.memory, where);
    CHECK(wrong == 0, fmt::format("{} elements are wrong", wrong));
  };
  move_mine(Direction::write, s, world.rank(), world.rank(), world.rank() + 1);
  check_parts(s);
  using Opened = std::map<int, int>;
  if (ranks == 1) return;
  move_mine(Direction::read, s, world.rank(), next, next + 1);
  CHECK(opened == (Opened{{1, 1}}), "the file of the next rank is opened alone");
  move_mine(Direction::read, s, 0, 0, ranks);
  CHECK(opened == (world.rank() == 0 ? Opened{{1, ranks}} : Opened{}), "one rank that reads all opens them alone");
  move_mine(Direction::read, s, world.rank(), 0, ranks);
  CHECK(opened == (Opened{{independent ? 1 : ranks, ranks}}), "files that all ranks read");
}

// Two variables of records, whose rows alternate in the file, and each rank has columns of both.
void alternating_rows(World& world, std::string_view plan) {
  const int64_t rows = 6, columns = 4;
  const std::string path = world.folder() + "/records.nc";
  const auto part = *Decomposition::block({rows, columns * world.size()}, {0, columns * world.rank()}, {rows, columns});
  std::vector<double> values(static_cast<size_t>(rows * columns)), a(values.size()), b(values.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1000.0 * world.rank() + static_cast<double>(i);
  auto file = File::create(world.comm(), path);
  if (!CHECK_OK(file.status(), "create")) return;
  for (const char* name : {"a", "b"}) {
    CHECK_OK(file->put(name, {Kind::f64}, part, values.data()), "put");
    CHECK_OK(file->set_unlimited(name), "unlimited");
  }
  CHECK_OK(file->close(), "close");
  auto back = File::open(world.comm(), path, plan);
  if (!CHECK_OK(back.status(), "open")) return;
  CHECK_OK(back->get("a", {Kind::f64}, part, a.data()), "get");
  CHECK_OK(back->get("b", {Kind::f64}, part, b.data()), "get");
  CHECK_OK(back->close(), "read");
  CHECK(a == values && b == values, fmt::format("{} reads other values", plan));
}

std::vector<Words> cells() {
  std::vector<Words> list;
  for (const char* positioning : {"explicit", "individual"})
    for (const char* coordination : {"independent", "collective"})
      for (const char* synchronism : {"blocking", "nonblocking", "split"})
        for (const char* request : {"per_run", "datatype"})
          if (std::string_view(synchronism) != "split" || std::string_view(coordination) == "collective")
            list.push_back({{"positioning", positioning},
                            {"coordination", coordination},
                            {"synchronism", synchronism},
                            {"request", request}});
  return list;
}

bool begins_with_any(const std::string& what, const char* only) {
  return only == nullptr || what.find(only) != std::string::npos;
}

}  // namespace

void run(World& world, const char* only) {
  const auto begin = [&](std::string what) {
    if (!begins_with_any(what, only)) return false;
    if (std::getenv("MPIIO_TEST_TRACE") != nullptr) say(what);
    about(std::move(what));
    return true;
  };
  if (begin("refusals")) refusals();
  for (const char* coordination : {"independent", "collective"})
    if (const Words words{{"coordination", coordination}}; begin("sets " + text(words)))
      sets(world, words, std::string_view(coordination) == "independent");
  for (const char* plan : {"mpiio", "mpiio:positioning=shared", "mpiio:positioning=shared,buffer_bytes=4096"})
    if (begin(fmt::format("alternating rows {}", plan))) alternating_rows(world, plan);
  for (const Words& cell : cells()) {
    if (begin("cell " + text(cell))) write_and_read(world, cell, 1, true);
    Words small = cell;
    small["round_runs"] = "1";
    small["round_bytes"] = small["buffer_bytes"] = "4096";
    if (begin("small rounds " + text(cell))) write_and_read(world, small, 2, true);
    Words apart = cell;
    apart["puts"] = "apart";
    if (begin("apart " + text(cell))) write_and_read(world, apart, 3, true);
    if (begin("apart, overlaps " + text(cell))) overlaps(world, apart);
    if (begin("own parts " + text(cell))) own_parts(world, cell);
    if (begin("overlaps " + text(cell))) overlaps(world, cell);
    if (begin("absent " + text(cell))) absent(world, cell);
    if (begin("short file " + text(cell))) short_file(world, cell);
  }
  for (const char* request : {"per_run", "datatype"}) {
    for (const char* synchronism : {"blocking", "split"}) {
      Words words{{"positioning", "shared"}, {"synchronism", synchronism}, {"request", request}};
      if (begin("ordered " + text(words))) ordered(world, words, 4);
      words["round_bytes"] = words["buffer_bytes"] = "4096";
      if (begin("ordered, small rounds " + text(words))) ordered(world, words, 5);
      if (begin("ordered, short file " + text(words))) short_file(world, words);
    }
    for (const char* synchronism : {"blocking", "nonblocking"}) {
      const Words words{{"positioning", "shared"},
                        {"coordination", "independent"},
                        {"synchronism", synchronism},
                        {"request", request},
                        {"record_bytes", "4096"}};
      if (begin("records " + text(words))) records(world, words);
    }
  }
}

// What the library at hand has of data representations and atomicity: right, or refused by name.
void optional_features(World& world, const char* only) {
  for (const Words& extra :
       {Words{{"datarep", "internal"}}, Words{{"datarep", "external32"}}, Words{{"atomicity", "true"}}}) {
    int refused = 0;
    for (Words cell : cells()) {
      cell.insert(extra.begin(), extra.end());
      const std::string what = "optional " + text(cell);
      if (!begins_with_any(what, only)) continue;
      about(what);
      Random random(21);
      Setting s = random_setting(world, random, 1, true);
      create_parts(s);
      auto shares = deal_out(s, random, false);
      PhaseTimes phases;
      const Job job = job_of(s, Direction::write, shares, phases);
      const Status status = move(job, settings_of(cell));
      if (status.code() == Code::unsupported) {
        if (refused++ == 0) say(fmt::format("refused: {}: {}", text(extra), status.message()));
        continue;
      }
      if (!CHECK_OK(status, "write")) continue;
      check_parts(s);
      read_all(s, settings_of(cell), random);
    }
    say(fmt::format("{}: {} of {} cells refused", text(extra), refused, cells().size()));
  }
}

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  const char* only = argc > 1 ? argv[1] : nullptr;
  run(world, only);
  optional_features(world, only);
  about("");
  return world.finish("mpiio_test");
}
