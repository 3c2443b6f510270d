// machine: the rates of what every way of writing is made of: memory copies, messages, the page cache, the device, and
// calls without data. penstock tune --probe keeps them, and the library estimates plans by them.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>

#include <penstock/phase.hpp>

#include "bench/measure/warm_memory.hpp"
#include "bench/program/program.hpp"
#include "bench/shared_status.hpp"
#include "core/base/file_descriptor.hpp"
#include "core/base/units.hpp"
#include "core/comm/library.hpp"
#include "core/session/striping.hpp"

namespace penstock::bench {

namespace {

constexpr const char* name = "machine";  // of the case, and of its only method

constexpr int64_t call_bytes = 8 << 20;  // of a long call
constexpr int64_t huge_page = 2 << 20;
constexpr int64_t small_bytes = 4096;      // of a short call, in the page cache
constexpr int64_t small_calls = 512;       // of each rank
constexpr int64_t piece_bytes = 64;        // of a copy piece by piece
constexpr int64_t collectives = 64;        // of one turn
constexpr int64_t short_messages = 256;    // of one turn
constexpr int64_t long_message = 4 << 20;  // bytes
constexpr int64_t publications = 4;        // of one turn

enum class Who { one, all };
enum class Way { cache, device, synced };  // through the page cache; past it; through it, and then synced

class Machine : public Program {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--total", total_text_, "bytes of each measurement, of all ranks together")->capture_default_str();
  }

  Status prepare(const Communicator& comm, const std::string& folder, const RunWords&) override {
    path_ = folder + "/machine";
    const std::string about = find_file_system(folder).text;
    file_system_ = about.substr(0, about.find(','));
    PENSTOCK_ASSIGN(file_system_, from_root(comm, file_system_));
    PENSTOCK_ASSIGN(const int64_t total, parse_bytes(total_text_));
    share_ = round_up(std::max<int64_t>(total / comm->size(), 1), call_bytes);
    bytes_ = share_ * comm->size();
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(huge_page, static_cast<size_t>(2 * share_))));
    const Status status = memory_ != nullptr ? Status() : Status(Code::memory, "--total is more than memory has");
    PENSTOCK_TRY(agree(comm, status));
    (void)::madvise(memory_.get(), static_cast<size_t>(2 * share_), MADV_HUGEPAGE);  // as the windows of two_phase
    for (int64_t i = 0; i < 2 * share_; i += 8) {  // no zeros, which a device or file system may treat in another way
      const auto word = static_cast<uint64_t>(i + comm->rank()) * 0x9e3779b97f4a7c15;
      std::memcpy(memory_.get() + i, &word, sizeof word);
    }
    return {};
  }

  std::vector<std::string> turns() const override {
    std::vector<std::string> names;
    for (const Kind& kind : kinds()) names.emplace_back(kind.name);
    return names;
  }

  std::vector<TimedCase> cases() const override {
    TimedCase one{
        .name = name,
        .workload = {{"name", name}, {"total_bytes", bytes_}, {"filesystem", file_system_}, {"mpi", message_library()}},
        .baseline = name,
        .operations = {}};
    for (const Kind& kind : kinds()) one.find(name, kind.name);
    return {one};
  }

  Status take(const Communicator& comm, size_t turn, int repetition, TimedRun& run) override {
    const Kind& kind = kinds()[turn];
    seconds_ = 0;
    amount_ = bytes_;
    PENSTOCK_TRY(warm_memory(comm, bytes_));
    const Status status = agree(comm, (this->*kind.measure)(comm));
    PENSTOCK_TRY(from_root(comm, comm->rank() == 0 ? clear() : Status()));
    TimedOperation& operation = run.cases[0].find(name, kind.name);
    operation.more["amount"] = amount_;  // bytes or calls
    if (!status.ok()) {
      operation.error = status;
      return {};
    }
    return record(comm, repetition, seconds_, operation);
  }

 private:
  struct Kind {
    const char* name;
    Status (Machine::*measure)(const Communicator&);
  };
  static std::span<const Kind> kinds();

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  Status clear() const { return ::unlink(path_.c_str()) == 0 || errno == ENOENT ? Status() : failed("unlink"); }
  Status failed(const char* call) const { return Status::from_errno(errno, fmt::format("{} of {}", call, path_)); }

  // Collective. The seconds of this rank between barriers.
  template <typename Action>
  Status timed(const Communicator& comm, Action action) {
    PENSTOCK_TRY(comm->barrier());
    const double start = now();
    const Status status = action();
    PENSTOCK_TRY(comm->barrier());
    seconds_ = now() - start;
    return status;
  }

  Status copy(const Communicator& comm) {
    return timed(comm, [&] {
      std::memcpy(memory_.get() + share_, memory_.get(), static_cast<size_t>(share_));
      return Status();
    });
  }

  Status copy_pieces(const Communicator& comm) {
    amount_ = bytes_ / 2 / piece_bytes;
    return timed(comm, [&] {
      for (int64_t at = 0; at < share_ / 2; at += piece_bytes)
        std::memcpy(memory_.get() + share_ + at, memory_.get() + 2 * at, piece_bytes);
      return Status();
    });
  }

  // Neighbouring ranks exchange COUNT messages of BYTES.
  Status exchange(const Communicator& comm, int64_t count, int64_t bytes) {
    const int other = comm->rank() ^ 1;
    const bool has_peer = other < comm->size();
    return timed(comm, [&]() -> Status {
      for (int64_t i = 0; i < count && has_peer; ++i) {
        Request both[2];
        const auto size = static_cast<size_t>(bytes);
        PENSTOCK_ASSIGN(both[0], comm->receive(other, 1, std::span(memory_.get() + share_, size)));
        PENSTOCK_ASSIGN(both[1], comm->send(other, 1, std::span(memory_.get(), size)));
        PENSTOCK_TRY(wait_all(both));
      }
      return {};
    });
  }
  Status send_short(const Communicator& comm) {
    if (comm->size() == 1) return copy_pieces(comm);  // nobody to send to: no plan has messages
    amount_ = short_messages;                         // one after another on each rank
    return exchange(comm, short_messages, 8);
  }
  Status send_long(const Communicator& comm) {
    if (comm->size() == 1) return copy(comm);
    amount_ = share_ / long_message * long_message * (int64_t{comm->size() / 2} * 2);
    return exchange(comm, share_ / long_message, long_message);
  }
  Status reduce(const Communicator& comm) {
    amount_ = collectives;
    return timed(comm, [&]() -> Status {
      int64_t words[8] = {};
      for (int64_t i = 0; i < collectives; ++i) PENSTOCK_TRY(comm->all_reduce_max(words));
      return {};
    });
  }

  // Ranks write or read their parts of one file.
  Status move(const Communicator& comm, bool writing, Way way, Who who) {
    const bool mine = who == Who::all || comm->rank() == 0;
    const int64_t share = who == Who::all ? share_ : bytes_;
    const int flags = (writing ? O_WRONLY : O_RDONLY) | O_CLOEXEC;
    FileDescriptor file;
    Status opened;
    if (mine) {
      if (way == Way::device) file = FileDescriptor(::open(path_.c_str(), flags | O_DIRECT));
      if (file.get() < 0) file = FileDescriptor(::open(path_.c_str(), flags));  // as io=auto does
      if (file.get() < 0) opened = failed("open");
    }
    PENSTOCK_TRY(agree(comm, opened));
    return timed(comm, [&]() -> Status {
      if (!mine) return {};
      for (int64_t at = 0; at < share; at += call_bytes) {
        std::byte* const memory = memory_.get() + at % share_;
        PENSTOCK_TRY(call(file.get(), writing, memory, call_bytes, comm->rank() * share + at));
      }
      return way != Way::cache && writing && ::fdatasync(file.get()) != 0 ? failed("fdatasync") : Status();
    });
  }

  Status call(int file, bool writing, std::byte* memory, int64_t bytes, int64_t offset) const {
    while (bytes > 0) {
      const auto size = static_cast<size_t>(bytes);
      const ssize_t moved = retrying(
          [&] { return writing ? ::pwrite(file, memory, size, offset) : ::pread(file, memory, size, offset); });
      if (moved < 0) return failed(writing ? "write" : "read");
      if (moved == 0) return Status(Code::damaged, fmt::format("{} ends at byte {}", path_, offset));
      memory += moved;
      offset += moved;
      bytes -= moved;
    }
    return {};
  }

  Status write(const Communicator& comm, Way way, Who who) {
    PENSTOCK_TRY(create(comm));
    return move(comm, true, way, who);
  }
  Status read(const Communicator& comm, Way way, Who who) {
    PENSTOCK_TRY(create(comm));
    PENSTOCK_TRY(agree(comm, move(comm, true, way == Way::cache ? Way::cache : Way::synced, Who::all)));
    if (way != Way::cache) PENSTOCK_TRY(from_root(comm, comm->rank() == 0 ? drop() : Status()));
    return move(comm, false, way == Way::synced ? Way::cache : way, who);
  }

  // An empty file of the wanted size, allocated where the file system can.
  Status create(const Communicator& comm) const {
    return from_root(comm,
                     comm->rank() == 0 ? [&]() -> Status {
                       const FileDescriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
                       if (file.get() < 0) return failed("create");
                       if (::fallocate(file.get(), 0, 0, bytes_) != 0 && ::ftruncate(file.get(), bytes_) != 0)
                         return failed("allocate");
                       return {};
                     }()
                                       : Status());
  }
  Status drop() const {
    const FileDescriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return failed("open");
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
    return {};
  }

  // Ranks take turns in the file, as with a 2-D block's rows.
  Status small(const Communicator& comm, bool writing) {
    amount_ = small_calls * comm->size();
    PENSTOCK_TRY(create(comm));
    if (!writing) PENSTOCK_TRY(agree(comm, small_pass(comm, true)));
    return small_pass(comm, writing);
  }
  Status small_pass(const Communicator& comm, bool writing) {
    const FileDescriptor file(::open(path_.c_str(), writing ? O_WRONLY | O_CLOEXEC : O_RDONLY | O_CLOEXEC));
    PENSTOCK_TRY(agree(comm, file.get() < 0 ? failed("open") : Status()));
    return timed(comm, [&]() -> Status {
      for (int64_t i = 0; i < small_calls; ++i) {
        const int64_t offset = (i * comm->size() + comm->rank()) * small_bytes;
        PENSTOCK_TRY(call(file.get(), writing, memory_.get(), small_bytes, offset % bytes_));
      }
      return {};
    });
  }

  // What rank 0 does for a file beside its data: create, sync, rename, and sync its folder.
  Status publish(const Communicator& comm) {
    amount_ = publications;
    return timed(comm, [&]() -> Status {
      for (int64_t i = 0; i < publications && comm->rank() == 0; ++i) {
        const std::string name = path_ + ".new";
        const FileDescriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        if (file.get() < 0) return failed("create");
        PENSTOCK_TRY(call(file.get(), true, memory_.get(), small_bytes, 0));
        if (::fdatasync(file.get()) != 0 || ::rename(name.c_str(), path_.c_str()) != 0) return failed("publish");
        const FileDescriptor folder(::open(path_.substr(0, path_.rfind('/')).c_str(), O_RDONLY | O_CLOEXEC));
        if (folder.get() < 0 || ::fsync(folder.get()) != 0) return failed("sync of the folder");
      }
      return {};
    });
  }

  template <bool writing, Way way, Who who>
  Status moved(const Communicator& comm) {
    return writing ? write(comm, way, who) : read(comm, way, who);
  }
  template <bool writing>
  Status small_calls_of(const Communicator& comm) {
    return small(comm, writing);
  }

  std::string total_text_ = "128MiB", path_, file_system_;
  int64_t share_ = 0, bytes_ = 0, amount_ = 0;
  double seconds_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
};

// Their names are those of rates in docs/wisdom.md.
std::span<const Machine::Kind> Machine::kinds() {
  static constexpr Kind all[] = {
      {"copy", &Machine::copy},
      {"piece", &Machine::copy_pieces},
      {"send", &Machine::send_long},
      {"message", &Machine::send_short},
      {"collective", &Machine::reduce},
      {"write_cache_one", &Machine::moved<true, Way::cache, Who::one>},
      {"write_cache_all", &Machine::moved<true, Way::cache, Who::all>},
      {"write_direct_one", &Machine::moved<true, Way::device, Who::one>},
      {"write_direct_all", &Machine::moved<true, Way::device, Who::all>},
      {"write_synced_one", &Machine::moved<true, Way::synced, Who::one>},
      {"write_synced_all", &Machine::moved<true, Way::synced, Who::all>},
      {"read_cache_one", &Machine::moved<false, Way::cache, Who::one>},
      {"read_cache_all", &Machine::moved<false, Way::cache, Who::all>},
      {"read_direct_one", &Machine::moved<false, Way::device, Who::one>},
      {"read_direct_all", &Machine::moved<false, Way::device, Who::all>},
      {"read_device_one", &Machine::moved<false, Way::synced, Who::one>},
      {"read_device_all", &Machine::moved<false, Way::synced, Who::all>},
      {"write_call", &Machine::small_calls_of<true>},
      {"read_call", &Machine::small_calls_of<false>},
      {"publish", &Machine::publish},
  };
  return all;
}

}  // namespace

std::unique_ptr<Program> make_machine() { return std::make_unique<Machine>(); }

}  // namespace penstock::bench
