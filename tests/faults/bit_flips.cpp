// bit_flips: flips single bits anywhere in finished files: checksums find those of data and of headers, and nobody who
// opens such a file crashes or hangs.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "core/access/recognise.hpp"
#include "core/access/record.hpp"
#include "tests/harness/slice.hpp"
#include "tests/harness/values.hpp"

namespace penstock::test {
namespace {

namespace fs = std::filesystem;

enum Outcome { agrees, found, refused, wrong, crashed, hung, outcomes };
constexpr const char* outcome_names[] = {"unnoticed", "found", "refused", "WRONG", "CRASHED", "HUNG"};
constexpr unsigned max_seconds = 30;

Status write(const std::string& path, const std::string& plan) {
  PENSTOCK_ASSIGN(File file, File::create(serial_communicator(), path, plan));
  const auto put = [&](const char* name, const ElementType& type, const Dims& shape) {
    const Slice slice = replicated(shape);
    const auto memory = filled(slice, type, 1);
    return file.put(name, type, slice.part, memory.data());
  };
  PENSTOCK_TRY(put("flow/velocity", {Kind::f64}, {3, 40, 50, 30}));
  PENSTOCK_TRY(put("flow/flag", {Kind::u8}, {40, 50, 30}));
  PENSTOCK_TRY(put("time", {Kind::f64}, {}));
  PENSTOCK_TRY(put("wave", {Kind::complex64}, {1000}));
  for (int i = 0; i < 20; ++i) PENSTOCK_TRY(put(fmt::format("many/d{:02}", i).c_str(), {Kind::i32}, {i + 1}));
  PENSTOCK_TRY(file.set_attribute("flow/velocity", text_attribute("units", "m/s")));
  PENSTOCK_TRY(file.set_unlimited("wave"));
  return file.close();
}

// In a process of its own: opens, verifies, reads all.
int look_at(const std::string& path) {
  auto file = File::open(serial_communicator(), path);
  if (!file) return refused;
  const auto seen = file->verify();
  if (!seen.ok()) return refused;
  if (!seen->verdict(path).ok()) return found;
  std::vector<std::vector<std::byte>> memory;
  for (const DatasetInfo& dataset : file->datasets()) {
    const auto part = Decomposition::replicated(dataset.shape);
    if (!part.ok()) return refused;
    memory.emplace_back(static_cast<size_t>(part->elements() * bytes(dataset.type)) + 1);
    if (!file->get(dataset.name, dataset.type, *part, memory.back().data()).ok()) return refused;
  }
  return file->close().ok() ? agrees : refused;
}

Outcome outcome_of(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(max_seconds);
    ::_exit(look_at(path));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) return static_cast<Outcome>(WEXITSTATUS(status));
  return WTERMSIG(status) == SIGALRM ? hung : crashed;
}

void flip(const std::string& path, int64_t bit) {
  const int fd = ::open(path.c_str(), O_RDWR);
  unsigned char byte = 0;
  if (fd < 0 || ::pread(fd, &byte, 1, bit / 8) != 1) std::abort();
  byte = static_cast<unsigned char>(byte ^ (1U << (bit % 8)));
  if (::pwrite(fd, &byte, 1, bit / 8) != 1) std::abort();
  ::close(fd);
}

struct Range {
  std::string path;
  int64_t begin = 0, end = 0;  // bytes
};

Contents contents_of(const std::string& path) {
  auto contents = recognise_and_read(*posix_storage(), path);
  if (!contents.ok()) std::abort();
  return *std::move(contents);
}

// Where the elements of all datasets lie.
std::vector<Range> data_of(const std::string& path) {
  std::vector<Range> ranges;
  const Contents contents = contents_of(path);
  for (size_t d = 0; d < contents.blocks.size(); ++d)
    for (const StoredBlock& block : contents.blocks[d]) {
      const int64_t size = block.where.count() * bytes(contents.catalogue.datasets[d].type);
      if (block.row_stride == 0)
        ranges.push_back({contents.parts[static_cast<size_t>(block.part)], block.base, block.base + size});
    }
  return ranges;
}

// What lies before the data: of a single file, or of the parts of a set.
std::vector<Range> headers_of(const std::string& path) {
  std::vector<Range> ranges;
  Contents contents = contents_of(path);
  take_record_apart(contents);
  for (size_t p = 0; p < contents.heads.size(); ++p) ranges.push_back({contents.parts[p], 0, contents.heads[p].bytes});
  const auto record = load_record(contents, path, posix_storage());
  if (!record.ok()) std::abort();
  if (record->metadata_bytes > 0) ranges.push_back({path, 0, record->metadata_bytes});
  return ranges;
}

bool lies_in(const std::vector<Range>& ranges, const std::string& path, int64_t byte) {
  return std::ranges::any_of(ranges, [&](const Range& r) { return r.path == path && byte >= r.begin && byte < r.end; });
}

using Tally = std::map<Outcome, int>;

struct Tallies {
  Tally data, headers, others;
};

std::string text(const Tally& tally) {
  std::string line;
  for (const auto& [outcome, count] : tally) line += fmt::format(" {} {}", count, outcome_names[outcome]);
  return line;
}

void add(Tally& all, const Tally& some) {
  for (const auto& [outcome, count] : some) all[outcome] += count;
}

// True where all is as it must be.
bool report(const std::string& plan, const Tallies& of) {
  fmt::print("{:42} data:{}; headers:{}; anything else:{}\n", plan, text(of.data), text(of.headers), text(of.others));
  std::fflush(stdout);
  const auto none = [](const Tally& tally, Outcome outcome) {
    return !tally.contains(outcome) || tally.at(outcome) == 0;
  };
  bool good = none(of.data, agrees) && none(of.headers, agrees);
  for (const Outcome bad : {wrong, crashed, hung})
    good = good && none(of.data, bad) && none(of.headers, bad) && none(of.others, bad);
  return good;
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  const int64_t flips = argc > 1 ? std::atoll(argv[1]) : 1000;
  const char* const plans[] = {"hdf5/independent",
                               "hdf5/independent:placement=per_rank",
                               "hdf5/two_phase:placement=parts,parts=3",
                               "netcdf/independent",
                               "raw/independent",
                               "netcdf/independent:placement=per_rank"};
  Random random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  std::string folder = fs::current_path() / "bit-flips-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return 1;
  Tallies all;
  bool good = true;
  for (const std::string plan : plans) {
    const std::string path = fmt::format("{}/f.{}", folder,
                                         plan.substr(0, plan.find('/')) == "hdf5" ? "h5"
                                         : plan.starts_with("netcdf")             ? "nc"
                                                                                  : "raw");
    if (const auto status = write(path, plan); !status.ok()) {
      fmt::print("{}: {}\n", plan, status.message());
      return 1;
    }
    const std::string master = fs::exists(path) ? path : path + ".json";
    const std::vector<Range> ranges = data_of(master), headers = headers_of(master);
    std::vector<Range> files;
    for (const auto& entry : fs::directory_iterator(folder))
      files.push_back({entry.path(), 0, static_cast<int64_t>(entry.file_size())});
    if (outcome_of(master) != agrees) {
      fmt::print("{}: not whole before anything was done to it\n", plan);
      return 1;
    }
    Tallies of;
    const int64_t share = flips / static_cast<int64_t>(std::size(plans)) + 1;
    for (int64_t i = 0; i < share; ++i) {
      // Every dataset and every file as often as any other, whatever its size; headers, which are short, get half of
      // the rest.
      const bool in_data = i % 2 == 0;
      const Range& range = in_data ? ranges[static_cast<size_t>(draw(random, std::ssize(ranges)))]
                                   : files[static_cast<size_t>(draw(random, std::ssize(files)))];
      const int64_t end = !in_data && i % 4 == 1 ? std::min<int64_t>(range.end, 8192) : range.end;
      const int64_t bit = 8 * range.begin + draw(random, 8 * (end - range.begin));
      const bool hits_data = lies_in(ranges, range.path, bit / 8);
      const bool hits_header = lies_in(headers, range.path, bit / 8);
      flip(range.path, bit);
      const Outcome outcome = outcome_of(master);
      flip(range.path, bit);
      ++(hits_data ? of.data : hits_header ? of.headers : of.others)[outcome];
      if (((hits_data || hits_header) && outcome == agrees) || outcome >= wrong)
        fmt::print("  {} of '{}', bit {} of byte {}\n", outcome_names[outcome], range.path, bit % 8, bit / 8);
    }
    good = report(plan, of) && good;
    add(all.data, of.data);
    add(all.headers, of.headers);
    add(all.others, of.others);
    for (const auto& entry : fs::directory_iterator(folder)) fs::remove_all(entry.path());
  }
  fs::remove_all(folder);
  return report("all", all) && good ? 0 : 1;
}
