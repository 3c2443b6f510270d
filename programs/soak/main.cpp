// penstock-soak: restarts from its newest checkpoint and writes more of them, by different methods in turn, until its
// time is over or it is killed. The command `penstock soak` does both, and reads its JSON lines.
#include <dirent.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "programs/program.hpp"

namespace {

using namespace penstock;  // NOLINT(google-build-using-namespace): this is a main

using program::print;

constexpr int kept = 3;  // checkpoints
const ElementType f64{Kind::f64}, i64{Kind::i64};

struct Way {
  const char* plan;
  const char* extension;
};
constexpr Way ways[] = {
    {"hdf5/two_phase", "h5"},
    {"hdf5/two_phase:placement=parts,parts=2", "h5"},
    {"hdf5/independent:placement=per_rank", "h5"},
    {"hdf5/independent", "h5"},
    {"hdf5/servers", "h5"},
    {"netcdf/two_phase", "nc"},
    {"raw/two_phase", "raw"},
    {"raw/two_phase:io=buffered,writers=1", "raw"},
    {"raw/independent:placement=per_rank", "raw"},
    {"hdf5/two_phase:durability=none", "h5"},
};

uint64_t mixed(uint64_t n) {  // splitmix64
  n += 0x9E3779B97F4A7C15;
  n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9;
  n = (n ^ (n >> 27)) * 0x94D049BB133111EB;
  return n ^ (n >> 31);
}

// A different size at each step, up to about 10 MiB.
Dims shape_at(int64_t step) { return {1 + static_cast<int64_t>(mixed(static_cast<uint64_t>(step)) % 1300), 1000}; }

double value_at(int64_t step, int64_t element) {
  return static_cast<double>(step) * 1e9 + static_cast<double>(element);
}

// The share of rank RANK of RANKS in COUNT.
Run share(int64_t count, int rank, int ranks) {
  const int64_t begin = count * rank / ranks, end = count * (rank + 1) / ranks;
  return {begin, end - begin};
}

struct Piece {
  Decomposition part;
  Box box;
};

// By columns at odd steps, by rows at even ones.
Result<Piece> piece_of(const Communicator& comm, const Dims& shape, bool columns) {
  Box box{{0, 0}, shape};
  const int axis = columns ? 1 : 0;
  const Run mine = share(shape[axis], comm->rank(), comm->size());
  box.start[axis] = mine.offset;
  box.count[axis] = mine.length;
  PENSTOCK_ASSIGN(Decomposition part, Decomposition::block(shape, box.start, box.count));
  return Piece{std::move(part), box};
}

template <typename F>
void each(const Dims& shape, const Box& box, F f) {
  size_t at = 0;
  for (int64_t y = box.start[0]; y < box.start[0] + box.count[0]; ++y)
    for (int64_t x = box.start[1]; x < box.start[1] + box.count[1]; ++x) f(at++, y * shape[1] + x);
}

Status write(const Communicator& comm, const std::string& folder, int64_t step, uint64_t seed) {
  const Way& way = ways[mixed(seed + static_cast<uint64_t>(step)) % std::size(ways)];
  const Dims shape = shape_at(step);
  PENSTOCK_ASSIGN(const Piece piece, piece_of(comm, shape, step % 2 == 1));
  std::vector<double> data(static_cast<size_t>(piece.box.count[0] * piece.box.count[1]));
  each(shape, piece.box, [&](size_t at, int64_t element) { data[at] = value_at(step, element); });
  PENSTOCK_ASSIGN(const Decomposition one, Decomposition::replicated({1}));
  PENSTOCK_ASSIGN(File file,
                  File::create(comm, fmt::format("{}/soak-{}.{}", folder, step % kept, way.extension), way.plan));
  PENSTOCK_TRY(file.put("step", i64, one, &step));
  PENSTOCK_TRY(file.lend("field", f64, piece.part, data.data()));
  if (step % 3 == 0) {
    PENSTOCK_TRY(file.commit_start());
    PENSTOCK_TRY(file.commit_wait());
  }
  return file.close();
}

// The step of the newest checkpoint, after comparing all its values; 0 if there is none.
Result<int64_t> restart(const Communicator& comm, const std::string& folder, std::vector<std::string>& warnings) {
  auto opened = File::open_latest(comm, folder + "/soak-?.*");
  if (opened.status().code() == Code::not_found) return int64_t{0};
  PENSTOCK_ASSIGN(File file, std::move(opened));
  warnings = file.report().warnings;
  int64_t step = 0;
  PENSTOCK_ASSIGN(const Decomposition one, Decomposition::replicated({1}));
  PENSTOCK_TRY(file.get("step", i64, one, &step));
  PENSTOCK_TRY(file.commit());
  const Dims shape = shape_at(step);
  PENSTOCK_ASSIGN(const Piece piece, piece_of(comm, shape, step % 2 == 0));
  std::vector<double> data(static_cast<size_t>(piece.box.count[0] * piece.box.count[1]));
  PENSTOCK_TRY(file.get("field", f64, piece.part, data.data()));
  PENSTOCK_TRY(file.close());
  int64_t wrong = 0;
  each(shape, piece.box, [&](size_t at, int64_t element) { wrong += data[at] != value_at(step, element); });
  PENSTOCK_TRY(comm->all_reduce_sum(std::span(&wrong, 1)));
  if (wrong > 0)
    return Status(Code::damaged, fmt::format("'{}': {} elements of step {} are wrong", file.path(), wrong, step));
  return step;
}

int64_t resident_kibibytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6);
  return 0;
}

int64_t open_files() {
  int64_t count = 0;
  if (DIR* dir = ::opendir("/proc/self/fd")) {
    while (::readdir(dir) != nullptr) ++count;
    ::closedir(dir);
  }
  return count;
}

Status soak(const Communicator& comm, const std::string& folder, double seconds, uint64_t seed) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::vector<std::string> warnings;
  PENSTOCK_ASSIGN(int64_t step, restart(comm, folder, warnings));
  const bool root = comm->rank() == 0;
  if (root) print({{"restarted_at", step}, {"ranks", comm->size()}, {"passed_over", warnings}});
  for (int64_t go = 1; go != 0;) {
    PENSTOCK_TRY(write(comm, folder, ++step, seed));
    int64_t most[3] = {resident_kibibytes(), open_files(), 0};
    most[2] = root && std::chrono::duration<double>(Clock::now() - begin).count() < seconds;
    PENSTOCK_TRY(comm->all_reduce_max(most));
    go = most[2];
    if (root) print({{"committed", step}, {"resident_kib", most[0]}, {"open_files", most[1]}});
    if (step % 10 == 0) {
      PENSTOCK_ASSIGN(const int64_t seen, restart(comm, folder, warnings));
      if (seen != step)
        return {Code::internal, fmt::format("step {} was committed, the newest that can be read is {}", step, seen)};
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  return program::run(argc, argv, {"penstock-soak", "FOLDER SECONDS SEED", 3, 3},
                      [](const Communicator& comm, std::span<char*> arguments) {
                        const Status status =
                            soak(comm, arguments[0], std::atof(arguments[1]), std::strtoull(arguments[2], nullptr, 10));
                        if (!status.ok() && comm->rank() == 0) print({{"error", status.message()}});
                        return status.ok() ? program::success : program::failure;
                      });
}
