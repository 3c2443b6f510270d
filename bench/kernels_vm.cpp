// Compares reading a neighbour's rows by process_vm_readv with packing them: decision 0015.
#include "bench/kernels_vm.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

#include "core/transport/move.hpp"

namespace penstock {
namespace {

constexpr int64_t total_bytes = 16 << 20;  // of elements, per iteration
constexpr int64_t layers = 2;              // of ghost cells before and after each row in memory
constexpr int64_t size = sizeof(uint64_t);

struct Shape {
  int64_t row_bytes = 0;
  int64_t rows() const { return total_bytes / row_bytes; }
  int64_t width() const { return row_bytes / size; }
  int64_t pitch() const { return width() + 2 * layers; }
  int64_t first(int64_t row) const { return row * pitch() + layers; }
};

enum class Kind : uint8_t { user, window, shared_window };

// Untouched pages; for an unshared window advised to be huge as in the library. Null if memory is exhausted.
class Pages {
 public:
  Pages(int64_t bytes, Kind kind) : bytes_(static_cast<size_t>(bytes)) {
    const int sharing = kind == Kind::shared_window ? MAP_SHARED : MAP_PRIVATE;
    void* const made = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return;
    data_ = static_cast<std::byte*>(made);
    if (kind == Kind::window) ::madvise(data_, bytes_, MADV_HUGEPAGE);
  }
  ~Pages() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }
  uint64_t* words() const { return reinterpret_cast<uint64_t*>(data_); }
  void fill(uint64_t first) const {
    for (size_t i = 0; i < bytes_ / size; ++i) words()[i] = first + i;
  }

 private:
  size_t bytes_;
  std::byte* data_ = nullptr;
};

bool holds(const Pages& window, const Shape& shape, uint64_t first) {
  for (int64_t row = 0; row < shape.rows(); ++row)
    for (int64_t i = 0; i < shape.width(); ++i)
      if (window.words()[row * shape.width() + i] != first + static_cast<uint64_t>(shape.first(row) + i)) return false;
  return true;
}

// A process that fills MEMORY, untouched here, in its own pages. It ends with this object or with its parent.
class Neighbour {
 public:
  Neighbour(const Pages& memory, uint64_t first) {
    int ready[2], end[2];
    if (::pipe(ready) != 0 || ::pipe(end) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      ::close(end[1]);
      memory.fill(first);
      char byte = 0;
      if (::write(ready[1], &byte, 1) == 1) (void)!::read(end[0], &byte, 1);
      ::_exit(0);
    }
    ::close(ready[1]);
    ::close(end[0]);
    char byte = 0;
    ready_ = process_ > 0 && ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
    end_ = end[1];
  }
  ~Neighbour() {
    if (end_ >= 0) ::close(end_);
    if (process_ > 0) ::waitpid(process_, nullptr, 0);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  bool ready() const { return ready_; }
  pid_t process() const { return process_; }

 private:
  pid_t process_ = -1;
  int end_ = -1;
  bool ready_ = false;
};

// "" or the error.
std::string fetch(pid_t process, const std::vector<iovec>& rows, std::byte* window) {
  for (size_t at = 0; at < rows.size();) {
    const size_t count = std::min<size_t>(IOV_MAX, rows.size() - at);
    const size_t bytes = count * rows[at].iov_len;
    const iovec local{window, bytes};
    const ssize_t got = ::process_vm_readv(process, &local, 1, &rows[at], count, 0);
    if (got < 0) return fmt::format("process_vm_readv is refused: {}", std::strerror(errno));
    if (static_cast<size_t>(got) != bytes) return "process_vm_readv was cut short";
    window += bytes;
    at += count;
  }
  return {};
}

// WAY fills a window and returns the error; FIRST is the start of its source.
template <typename Way>
void measure(benchmark::State& state, const Shape& shape, const Pages& window, uint64_t first, Way way) {
  std::string trouble = way();
  if (trouble.empty() && !holds(window, shape, first)) trouble = "the window has other bytes";
  if (!trouble.empty()) return state.SkipWithError(trouble.c_str());
  for (auto _ : state) {
    trouble = way();
    if (!trouble.empty()) {
      state.SkipWithError(trouble.c_str());
      break;
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * total_bytes);
}

// Only the writer works, into its own window.
void read_neighbour(benchmark::State& state, const Shape& shape) {
  const Pages memory(shape.rows() * shape.pitch() * size, Kind::user), window(total_bytes, Kind::window);
  if (memory.data() == nullptr || window.data() == nullptr) return state.SkipWithError("no memory");
  const Neighbour neighbour(memory, 1000);
  if (!neighbour.ready()) return state.SkipWithError("no second process");
  std::vector<iovec> rows;
  for (int64_t row = 0; row < shape.rows(); ++row)
    rows.push_back({memory.words() + shape.first(row), static_cast<size_t>(shape.row_bytes)});
  measure(state, shape, window, 1000, [&] { return fetch(neighbour.process(), rows, window.data()); });
}

// The work of each neighbour, into a window that all have mapped.
void pack_window(benchmark::State& state, const Shape& shape) {
  const Pages memory(shape.rows() * shape.pitch() * size, Kind::user), window(total_bytes, Kind::shared_window);
  if (memory.data() == nullptr || window.data() == nullptr) return state.SkipWithError("no memory");
  memory.fill(0);
  const Dims extents{shape.rows(), shape.width()};
  const Piece piece{0,
                    0,
                    size,
                    0,
                    Selection::of_box(extents, Box{{0, 0}, extents}, Memory{layers, {shape.pitch(), 1}}),
                    memory.data()};
  measure(state, shape, window, 0, [&] {
    copy_window(piece, {0, total_bytes}, window.data(), Direction::write);
    return std::string();
  });
}

// The lower bound: no rows, one process.
void copy_plainly(benchmark::State& state) {
  const Shape shape{total_bytes};
  const Pages memory(shape.pitch() * size, Kind::user), window(total_bytes, Kind::window);
  if (memory.data() == nullptr || window.data() == nullptr) return state.SkipWithError("no memory");
  memory.fill(0);
  measure(state, shape, window, 0, [&] {
    std::memcpy(window.data(), memory.words() + shape.first(0), total_bytes);
    return std::string();
  });
}

}  // namespace

void add_neighbour_reads() {
  for (const int64_t bytes : {512, 4 << 10, 64 << 10, 1 << 20}) {
    const std::string name = fmt::format("neighbour, rows of {}/", bytes);
    const auto add = [&](const char* how, void (*run)(benchmark::State&, const Shape&)) {
      benchmark::RegisterBenchmark((name + how).c_str(), [=](benchmark::State& state) { run(state, {bytes}); });
    };
    add("process_vm_readv", read_neighbour);
    add("window", pack_window);
  }
  benchmark::RegisterBenchmark("neighbour, memcpy", copy_plainly);
}

}  // namespace penstock
