// Jobs made by hand: dealing, creating, comparing.
#include "tests/mpi/mpiio_jobs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "core/methods/methods.hpp"

namespace penstock::test {

namespace {

const Transport& mpiio() { return *find_transport("mpiio"); }

Piece piece_of(Share& share) {
  const Array& a = *share.array;
  Selection selection = share.slice.runs.empty() && !share.slice.boxes.empty()
                            ? Selection::of_box(a.shape, share.slice.boxes[0], share.slice.memory)
                            : Selection::of_runs(a.shape, share.slice.runs);
  return {a.part,
          a.address,
          bytes(a.type),
          a.swapped ? scalar_bytes(a.type) : 0,
          std::move(selection),
          share.memory.data()};
}

constexpr std::byte kept{0x33};

}  // namespace

std::vector<std::byte> expected(const Setting& s, int32_t part) {
  const Part& p = s.parts[static_cast<size_t>(part)];
  std::vector<std::byte> bytes(static_cast<size_t>(p.bytes), s.keep ? kept : std::byte{0});
  for (const Array& a : s.arrays) {
    if (a.part != part) continue;
    const int64_t size = penstock::bytes(a.type), unit = a.swapped ? scalar_bytes(a.type) : 1;
    for (int64_t i = 0, n = product(a.shape); i < n; ++i) {
      std::byte* at = &bytes[static_cast<size_t>(a.address - p.virtual_base + i * size)];
      make_element(at, a.type, a.seed, i);
      for (int64_t k = 0; k < size && unit > 1; k += unit) std::reverse(at + k, at + k + unit);
    }
  }
  return bytes;
}

Slice random_slice(const Dims& shape, const Box& box, Random& random) {
  switch (draw(random, 4)) {
    case 0: return transposed(shape, box, 1 + draw(random, 3));
    case 1: return ghosted(shape, box, 1);
    default: return block(shape, box);
  }
}

Settings settings_of(const Words& words) {
  Settings settings;
  for (const Descriptor* table : {vocabulary().common, &mpiio().describe()})
    for (const Parameter& p : table->parameters) {
      const auto found = words.find(std::string(p.name));
      CHECK_OK(settings.set(p, found == words.end() ? p.fallback : std::string_view(found->second)), "a parameter");
    }
  return settings;
}

std::string text(const Words& words) {
  std::string out;
  for (const auto& [name, value] : words) out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, value);
  return out;
}

void create_parts(const Setting& s) {
  if (s.world.rank() == 0)
    for (const Part& part : s.parts) {
      const int fd = open(part.path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
      const std::vector<std::byte> fill(static_cast<size_t>(part.bytes), kept);
      bool ok = ftruncate(fd, part.bytes) == 0;
      if (s.keep) ok = pwrite(fd, fill.data(), fill.size(), 0) == part.bytes;
      CHECK(ok && close(fd) == 0, "create a part");
    }
  CHECK_OK(s.world.comm()->barrier(), "barrier");
}

void check_parts(const Setting& s) {
  CHECK_OK(s.world.comm()->barrier(), "barrier");
  if (s.world.rank() != 0) return;
  for (size_t p = 0; p < s.parts.size(); ++p) {
    const auto meant = expected(s, static_cast<int32_t>(p));
    std::vector<std::byte> there(meant.size());
    const int fd = open(s.parts[p].path.c_str(), O_RDONLY);
    const bool read = pread(fd, there.data(), there.size(), 0) == static_cast<ssize_t>(there.size());
    close(fd);
    const auto at = std::mismatch(meant.begin(), meant.end(), there.begin());
    CHECK(read && at.first == meant.end(), fmt::format("part {} differs from byte {} on", p, at.first - meant.begin()));
  }
}

Job job_of(const Setting& s, Direction direction, std::vector<Share>& shares, PhaseTimes& phases) {
  Job job;
  job.direction = direction;
  job.comm = s.world.comm();
  job.files = posix_storage();
  job.parts = s.parts;
  for (Share& share : shares) job.pieces.push_back(piece_of(share));
  job.keep = s.keep;
  job.disjoint = s.disjoint && direction == Direction::write;
  job.phases = &phases;
  return job;
}

Status move(const Job& job, const Settings& settings, std::vector<int64_t>* order) {
  auto transfer = mpiio().begin(job, settings);
  PENSTOCK_TRY(agree(job.comm, transfer.status()));
  for (int i = 0; i < 3 + job.comm->rank(); ++i) {  // local: not as often on all ranks
    const auto done = (*transfer)->progress(0);
    PENSTOCK_TRY(done.status());
    if (*done) break;
  }
  const Status status = (*transfer)->finish();
  if (order != nullptr) *order = (*transfer)->moved().slot_order;
  return agree(job.comm, status);
}

std::vector<Share> deal_out(const Setting& s, Random& random, bool overlapping) {
  std::vector<Share> shares;
  const int size = s.world.size(), rank = s.world.rank();
  for (const Array& a : s.arrays) {
    const auto pieces = static_cast<int>(1 + draw(random, 2 * size + 2));
    const auto add = [&](Slice slice, int owner) {
      if (owner != rank) return;
      auto memory = filled(slice, a.type, a.seed);
      shares.push_back({&a, std::move(slice), std::move(memory)});
    };
    if (draw(random, 3) == 0) {
      const auto list = split_runs(product(a.shape), pieces, random);
      auto owners = deal(list.size(), size, random);
      if (s.idle) std::replace_if(owners.begin(), owners.end(), [&](int r) { return r % 2 == 0; }, size - 1);
      for (int r = 0; r < size; ++r) {
        std::vector<Run> mine;
        for (size_t i = 0; i < list.size(); ++i)
          if (owners[i] == r) mine.push_back(list[i]);
        if (!mine.empty()) add(runs(a.shape, mine), r);
      }
    } else {
      const auto list = split_boxes(a.shape, pieces, random);
      auto owners = deal(list.size(), size, random);
      if (s.idle) std::replace_if(owners.begin(), owners.end(), [&](int r) { return r % 2 == 0; }, size - 1);
      for (size_t i = 0; i < list.size(); ++i) {
        Slice slice = random_slice(a.shape, list[i], random);
        add(std::move(slice), owners[i]);
      }
    }
    // Something that was asked for already, by another rank too.
    if (overlapping)
      add(block(a.shape, {Dims::filled(a.shape.rank(), 0), a.shape}),
          s.idle ? size - 1 : static_cast<int>(draw(random, size)));
  }
  return shares;
}

void read_all(const Setting& s, const Settings& settings, Random& random) {
  auto shares = deal_out(s, random, true);
  for (Share& share : shares) share.memory = blank(share.slice, share.array->type);
  PhaseTimes phases;
  const Job job = job_of(s, Direction::read, shares, phases);
  if (!CHECK_OK(move(job, settings), "read")) return;
  for (const Share& share : shares) {
    int64_t wrong = 0;
    const int64_t n = differences(share.slice, share.array->type, share.array->seed, share.memory, wrong);
    CHECK(n == 0,
          fmt::format("{} of {} elements read are wrong, the first is {}", n, product(share.array->shape), wrong));
  }
}

int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

Setting random_setting(World& world, Random& random, int parts, bool swapped) {
  Setting s{world, "", {}, {}, false, true, false};
  const ElementType types[] = {{Kind::u8}, {Kind::i16}, {Kind::f32}, {Kind::f64}, {Kind::complex128}, {Kind::text, 5}};
  int64_t base = 0;
  for (int32_t p = 0; p < parts; ++p) {
    int64_t end = 64 + draw(random, 100);
    for (int i = 0; i < 4; ++i) {
      const ElementType type = types[draw(random, 6)];
      const Dims shape = draw(random, 4) == 0 ? Dims{1 + draw(random, 3000)}
                                              : Dims{1 + draw(random, 12), 1 + draw(random, 14), 1 + draw(random, 9)};
      end = round_up(end, 16);
      s.arrays.push_back({p, base + end, type, shape, random() % 1000, swapped && draw(random, 4) != 0});
      end += product(shape) * bytes(type) + draw(random, 2) * draw(random, 200);
    }
    const int64_t size = round_up(end, 4096);
    s.parts.push_back({fmt::format("{}/part{}", world.folder(), p), size, base});
    base += size;
  }
  return s;
}

}  // namespace penstock::test
