// readers: a master distributes work, workers repeatedly read small pieces of six netCDF-4 files (LRZ 2016): serially
// through netCDF as in the original, and through the node's shared memory.
#include <fcntl.h>
#include <netcdf.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <thread>

#include <penstock/shared_reader.hpp>

#include "bench/measure/scratch.hpp"
#include "bench/measure/timed.hpp"
#include "bench/program/program.hpp"
#include "bench/shared_status.hpp"
#include "core/base/file_descriptor.hpp"
#include "core/base/units.hpp"

namespace penstock::bench {

namespace {

constexpr std::array<int64_t, 6> study_gigabytes = {70, 70, 104, 104, 70, 104};
constexpr double times_read = 2.7;
constexpr int64_t round_bytes = 32 << 20;  // read by all workers between two verifications
constexpr int64_t slack_bytes = 64 << 20;  // of the disk, for other users
constexpr int64_t round_items = 4;         // at least per worker, so that none waits for the end of a round
constexpr int64_t side = 64;               // of a plane
constexpr int64_t plane_bytes = side * side * 8;
constexpr int64_t max_piece = 64 << 20, min_memory = 1 << 20;
constexpr const char* variable = "load";
constexpr std::array<const char*, 2> ways = {"netcdf", "penstock"};
enum Tag { ask, answer };

Status failed(int error, const std::string& what) {
  return Status(Code::io, fmt::format("netCDF cannot {}: {}", what, nc_strerror(error)));
}

// Planes [FIRST, FIRST + COUNT) of FILE.
struct Item {
  int32_t file = 0;
  int64_t first = 0, count = 0;
};

// The values of a plane's elements: all of a repetition differ.
double value(int file, int64_t index) { return static_cast<double>(index) + static_cast<double>(file) * 0x1p40; }

// Bytes that this process has read by system calls, from files or anything else; -1 if the kernel does not report it.
int64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  int64_t bytes = -1;
  return file >> name >> bytes && name == "rchar:" ? bytes : -1;
}

// A method of reading.
class Way {
 public:
  virtual ~Way() = default;
  virtual Status read(const Item& item, double* into) = 0;
  virtual int64_t fetched() const { return 0; }  // counted by the method itself
};

class ByNetcdf : public Way {
 public:
  // Local.
  Status open(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      int id = 0;
      if (const int error = nc_open(path.c_str(), NC_NOWRITE, &id); error != NC_NOERR)
        return failed(error, "open " + path);
      ids_.push_back(id);
    }
    return {};
  }
  ~ByNetcdf() override {
    for (const int id : ids_) nc_close(id);
  }
  Status read(const Item& item, double* into) override {
    const size_t start[] = {static_cast<size_t>(item.first), 0, 0},
                 count[] = {static_cast<size_t>(item.count), side, side};
    const int error = nc_get_vara_double(ids_[static_cast<size_t>(item.file)], 0, start, count, into);
    return error == NC_NOERR ? Status() : failed(error, "read");
  }

 private:
  std::vector<int> ids_;
};

class ByPenstock : public Way {
 public:
  // Collective. NODE_MEMORY is divided among the files by their length.
  Status open(const Communicator& comm, const std::vector<std::string>& paths, const std::vector<int64_t>& planes,
              int64_t node_memory) {
    planes_ = planes;
    const int64_t each = node_memory / std::accumulate(planes.begin(), planes.end(), int64_t{0});
    for (size_t file = 0; file < paths.size(); ++file) {
      const int64_t own = std::max(each * planes[file], min_memory);
      PENSTOCK_ASSIGN(SharedReader reader, SharedReader::open(comm, paths[file], {.memory_bytes = own}));
      readers_.push_back(std::move(reader));
    }
    return {};
  }
  Status read(const Item& item, double* into) override {
    const Dims shape{planes_[static_cast<size_t>(item.file)], side, side};
    PENSTOCK_ASSIGN(const Decomposition part,
                    Decomposition::block(shape, Dims{item.first, 0, 0}, Dims{item.count, side, side}));
    return readers_[static_cast<size_t>(item.file)].get(variable, ElementType{Kind::f64}, part, into);
  }
  int64_t fetched() const override {
    return std::accumulate(readers_.begin(), readers_.end(), int64_t{0},
                           [](int64_t sum, const SharedReader& reader) { return sum + reader.fetched_bytes(); });
  }

 private:
  std::vector<SharedReader> readers_;
  std::vector<int64_t> planes_;
};

class Readers : public Program {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--total", total_text_, "bytes of the six files together")->capture_default_str();
    app.add_option("--piece", piece_text_, "bytes of one read: whole planes of 64 x 64 doubles")->capture_default_str();
    app.add_option("--node-memory", node_memory_text_,
                   "bytes of the six files that a node keeps for its ranks; 0: a quarter of its memory")
        ->capture_default_str();
    app.add_option("--chunked", chunked_, "planes of a chunk; 0: contiguous files")->capture_default_str();
  }

  Status prepare(const Communicator& comm, const std::string& folder, const RunWords& words) override {
    PENSTOCK_TRY(agree(comm, understand(words.seed)));
    PENSTOCK_TRY(from_root(comm, comm->rank() == 0 ? check_room(folder) : Status()));
    make_items();
    for (size_t file = 0; file < study_gigabytes.size(); ++file)
      paths_.push_back(fmt::format("{}/file{}.nc", folder, file));
    return from_root(comm, comm->rank() == 0 ? make_files() : Status());
  }

  std::vector<std::string> turns() const override { return {ways.begin(), ways.end()}; }

  std::vector<TimedCase> cases() const override {
    TimedCase one{.name = "readers",
                  .workload = {{"name", "readers"},
                               {"files", paths_.size()},
                               {"total_bytes", unique_bytes_},
                               {"pieces", items_.size()},
                               {"times_read", static_cast<double>(read_bytes_) / static_cast<double>(unique_bytes_)}},
                  .baseline = ways[0],
                  .operations = {}};
    for (const char* way : ways) one.find(way, "read").bytes = read_bytes_;
    return {std::move(one)};
  }

  // Verification is not timed: the pieces are distributed in rounds.
  Status take(const Communicator& comm, size_t turn, int repetition, TimedRun& run) override {
    std::shuffle(items_.begin(), items_.end(), random_);
    PENSTOCK_TRY(from_root(comm, comm->rank() == 0 ? drop_cache() : Status()));
    PENSTOCK_TRY(comm->barrier());
    const int64_t before = bytes_read();
    double seconds = 0;
    const auto timed = [&](auto act) {
      const double start = now();
      Status status = act();
      seconds += now() - start;
      return status;
    };
    std::unique_ptr<Way> way;
    Status all = agree(comm, timed([&] { return open(comm, turn, way); }));
    for (size_t first = 0, last = 0; all.ok() && first < items_.size(); first = last) {
      last = end_of_round(first, comm->size());
      taken_.clear();
      PENSTOCK_TRY(comm->barrier());
      Status status = timed([&] { return share_out(comm, *way, first, last); });
      if (status.ok()) status = check_taken();
      all = agree(comm, status);
    }
    int64_t counted = all.ok() ? way->fetched() : 0;
    (void)timed([&] {
      way.reset();
      return Status();
    });
    const int64_t after = bytes_read();
    TimedOperation& operation = run.cases[0].find(ways[turn], "read");
    if (!all.ok()) {
      operation.error = all;
      return {};
    }
    int64_t read = before < 0 || after < 0 ? 0 : after - before;
    PENSTOCK_TRY(comm->all_reduce_sum(std::span(&read, 1)));
    PENSTOCK_TRY(comm->all_reduce_sum(std::span(&counted, 1)));
    int64_t nodes = comm->node_rank() == 0;
    PENSTOCK_TRY(comm->all_reduce_sum(std::span(&nodes, 1)));
    const auto unique = static_cast<double>(unique_bytes_ * nodes);
    operation.more = {
        {"unique_bytes", unique_bytes_},
        {"nodes", nodes},
        {"system_call_bytes", read},  // of all ranks, by /proc/self/io, including messages of MPI libraries
        {"system_call_bytes_per_unique", static_cast<double>(read) / unique}};
    if (turn == 1) {
      operation.more["fetched_bytes"] = counted;
      operation.more["fetched_per_unique"] = static_cast<double>(counted) / unique;
      operation.more["node_memory_bytes"] = node_memory_;
    }
    return record(comm, repetition, seconds, operation);
  }

 private:
  Status understand(uint64_t seed) {
    random_.seed(seed);
    PENSTOCK_ASSIGN(const int64_t total, parse_bytes(total_text_));
    PENSTOCK_ASSIGN(node_memory_, parse_bytes(node_memory_text_));
    if (node_memory_ == 0) node_memory_ = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE) / 4;
    PENSTOCK_ASSIGN(const int64_t piece, parse_bytes(piece_text_));
    const int64_t sum = std::accumulate(study_gigabytes.begin(), study_gigabytes.end(), int64_t{0});
    if (total < sum * plane_bytes / 8)
      return Status(Code::invalid, fmt::format("--total is at least {}", format_bytes(sum * plane_bytes / 8)));
    if (piece < plane_bytes || piece > max_piece)
      return Status(Code::invalid, fmt::format("--piece is at least a plane of {}, and at most {}",
                                               format_bytes(plane_bytes), format_bytes(max_piece)));
    if (chunked_ < 0) return Status(Code::invalid, "--chunked is a number of planes");
    per_item_ = piece / plane_bytes;
    for (const int64_t gigabytes : study_gigabytes) {
      planes_.push_back(total / sum * gigabytes / plane_bytes);
      unique_bytes_ += planes_.back() * plane_bytes;
    }
    return {};
  }

  Status check_room(const std::string& folder) const {
    PENSTOCK_ASSIGN(const int64_t free, free_bytes(folder));
    if (free - slack_bytes >= unique_bytes_) return {};
    return Status(Code::no_space, fmt::format("{} has {} free, --total {} needs {} and {}", folder, format_bytes(free),
                                              total_text_, format_bytes(unique_bytes_), format_bytes(slack_bytes)));
  }

  // Each piece twice, and seven of ten a third time.
  void make_items() {
    for (int32_t file = 0; file < static_cast<int32_t>(planes_.size()); ++file)
      for (int64_t first = 0; first < planes_[static_cast<size_t>(file)]; first += per_item_)
        items_.push_back({file, first, std::min(per_item_, planes_[static_cast<size_t>(file)] - first)});
    const size_t once = items_.size();
    std::vector<Item> third(items_.begin(), items_.end());
    std::shuffle(third.begin(), third.end(), random_);
    third.resize(static_cast<size_t>(static_cast<double>(once) * (times_read - 2)));
    items_.insert(items_.end(), items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(once));
    items_.insert(items_.end(), third.begin(), third.end());
    for (const Item& item : items_) read_bytes_ += item.count * plane_bytes;
  }

  Status make_files() const {
    for (size_t file = 0; file < paths_.size(); ++file)
      PENSTOCK_TRY(make_file(static_cast<int>(file)).in(fmt::format("writing {}", paths_[file])));
    return {};
  }

  Status make_file(int number) const {
    const auto file = static_cast<size_t>(number);
    int id = 0, dimensions[3] = {}, field = 0;
    const size_t lengths[] = {static_cast<size_t>(planes_[file]), side, side};
    int error = nc_create(paths_[file].c_str(), NC_NETCDF4 | NC_CLOBBER, &id);
    if (error != NC_NOERR) return failed(error, "create it");
    for (size_t d = 0; d < 3 && error == NC_NOERR; ++d)
      error = nc_def_dim(id, std::array{"z", "y", "x"}[d], lengths[d], &dimensions[d]);
    if (error == NC_NOERR) error = nc_def_var(id, variable, NC_DOUBLE, 3, dimensions, &field);
    const size_t chunk[] = {static_cast<size_t>(std::min(chunked_, planes_[file])), side, side};
    if (error == NC_NOERR) error = nc_def_var_chunking(id, field, chunked_ > 0 ? NC_CHUNKED : NC_CONTIGUOUS, chunk);
    if (error == NC_NOERR) error = nc_enddef(id);
    std::vector<double> data(static_cast<size_t>(per_item_) * side * side);
    for (int64_t first = 0; first < planes_[file] && error == NC_NOERR; first += per_item_) {
      const size_t start[] = {static_cast<size_t>(first), 0, 0};
      const size_t count[] = {static_cast<size_t>(std::min(per_item_, planes_[file] - first)), side, side};
      for (size_t i = 0; i < data.size(); ++i) data[i] = value(number, first * side * side + static_cast<int64_t>(i));
      error = nc_put_vara_double(id, field, start, count, data.data());
    }
    const int closed = nc_close(id);
    return error == NC_NOERR && closed == NC_NOERR ? Status() : failed(error == NC_NOERR ? closed : error, "write");
  }

  // Data read before must be fetched again.
  Status drop_cache() const {
    for (const std::string& path : paths_) {
      const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      if (file.get() < 0) return Status::from_errno(errno, path);
      (void)::fdatasync(file.get());
      (void)::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
    }
    return {};
  }

  // Collective.
  Status open(const Communicator& comm, size_t turn, std::unique_ptr<Way>& way) const {
    if (turn == 0) {
      auto netcdf = std::make_unique<ByNetcdf>();
      const Status status = netcdf->open(paths_);
      way = std::move(netcdf);
      return status;
    }
    auto penstock = std::make_unique<ByPenstock>();
    const Status status = penstock->open(comm, paths_, planes_, node_memory_);
    way = std::move(penstock);
    return status;
  }

  int64_t elements_of_round(int ranks) const {
    return std::max(round_bytes / 8, round_items * std::max(ranks - 1, 1) * per_item_ * side * side);
  }

  size_t end_of_round(size_t first, int ranks) {
    const int64_t most = elements_of_round(ranks);
    if (!data_) data_ = std::make_unique_for_overwrite<double[]>(static_cast<size_t>(most));
    int64_t elements = 0;
    while (first < items_.size() && elements + items_[first].count * side * side <= most)
      elements += items_[first++].count * side * side;
    return first;
  }

  // Rank 0 is the master; with one rank it does the work itself.
  Status share_out(const Communicator& comm, Way& way, size_t first, size_t last) {
    if (comm->size() > 1) return comm->rank() == 0 ? hand_out(comm, first, last) : work(comm, way);
    for (; first < last; ++first) PENSTOCK_TRY(read_one(way, items_[first]));
    return {};
  }

  Status read_one(Way& way, const Item& item) {
    double* const into = taken_.empty() ? data_.get() : taken_.back().end;
    taken_.push_back({item, into + item.count * side * side});
    return way.read(item, into);
  }

  Status check_taken() const {
    const double* at = data_.get();
    for (const Taken& one : taken_)
      for (int64_t index = one.item.first * side * side; at < one.end; ++at, ++index)
        if (*at != value(one.item.file, index))
          return Status(Code::damaged, fmt::format("file {}, element {}: expected {}, found {}", one.item.file, index,
                                                   value(one.item.file, index), *at));
    return {};
  }

  static Status wait(Request& request) {
    for (;;) {
      PENSTOCK_ASSIGN(const bool done, request.test());
      if (done) return {};
      std::this_thread::yield();
    }
  }

  // Gives every worker the next piece on request, and finally none.
  static Status hand_out(const Communicator& comm, size_t first, size_t last) {
    const int workers = comm->size() - 1;
    std::vector<int64_t> asked(static_cast<size_t>(workers)), given(static_cast<size_t>(workers));
    std::vector<Request> requests;
    for (int worker = 0; worker < workers; ++worker) {
      PENSTOCK_ASSIGN(Request request, comm->receive(worker + 1, ask, bytes_of(asked[static_cast<size_t>(worker)])));
      requests.push_back(std::move(request));
    }
    auto next = static_cast<int64_t>(first);
    const auto end = static_cast<int64_t>(last);
    for (int left = workers; left > 0;) {
      for (size_t worker = 0; worker < requests.size(); ++worker) {
        if (given[worker] < 0) continue;
        PENSTOCK_ASSIGN(const bool ready, requests[worker].test());
        if (!ready) continue;
        given[worker] = next < end ? next++ : -1;
        const int rank = static_cast<int>(worker) + 1;
        PENSTOCK_ASSIGN(Request sent, comm->send(rank, answer, bytes_of(given[worker])));
        PENSTOCK_TRY(wait(sent));
        if (given[worker] < 0) {
          --left;
          continue;
        }
        PENSTOCK_ASSIGN(requests[worker], comm->receive(rank, ask, bytes_of(asked[worker])));
      }
      std::this_thread::yield();
    }
    return {};
  }

  // A worker that cannot read continues to request, so that the master does not wait for it.
  Status work(const Communicator& comm, Way& way) {
    Status status;
    for (;;) {
      int64_t asking = 1, given = -1;
      PENSTOCK_ASSIGN(Request received, comm->receive(0, answer, bytes_of(given)));
      PENSTOCK_ASSIGN(Request sent, comm->send(0, ask, bytes_of(asking)));
      PENSTOCK_TRY(wait(sent));
      PENSTOCK_TRY(wait(received));
      if (given < 0) return status;
      if (status.ok()) status = read_one(way, items_[static_cast<size_t>(given)]);
    }
  }

  static std::span<std::byte> bytes_of(int64_t& number) { return std::as_writable_bytes(std::span(&number, 1)); }

  std::string total_text_ = "256MiB", piece_text_ = "256KiB", node_memory_text_ = "0";
  int64_t node_memory_ = 0, chunked_ = 0, per_item_ = 1, unique_bytes_ = 0, read_bytes_ = 0;
  std::vector<int64_t> planes_;  // of each file
  std::vector<std::string> paths_;
  std::vector<Item> items_;  // in the same order on all ranks
  std::mt19937_64 random_;
  struct Taken {
    Item item;
    double* end;  // of its elements in data_, where the next ones begin
  };
  std::vector<Taken> taken_;        // in this round, by this rank
  std::unique_ptr<double[]> data_;  // for the pieces of a round: one worker may take them all
};

}  // namespace

std::unique_ptr<Program> make_readers() { return std::make_unique<Readers>(); }

}  // namespace penstock::bench
