// penstock-bench-kernels: the rate at which one core packs windows and computes checksums; GB/s of copied data, from
// and to RAM.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bench/kernels_vm.hpp"
#include "core/base/crc64.hpp"
#include "core/transport/move.hpp"

namespace penstock {
namespace {

constexpr int64_t total_bytes = 64 << 20;  // of elements: more than the caches hold
constexpr int64_t window_bytes = 4 << 20;

struct Case {
  Piece piece;
  std::vector<std::byte> memory;
};

Case make_case(Selection selection, int64_t element_bytes, int64_t swap_bytes, int64_t memory_elements) {
  Case made{{0, 0, element_bytes, swap_bytes, std::move(selection), nullptr}, {}};
  made.memory.assign(static_cast<size_t>(memory_elements * element_bytes), std::byte{7});
  made.piece.memory = made.memory.data();
  return made;
}

Case contiguous(int64_t element_bytes, int64_t swap_bytes) {
  const int64_t count = total_bytes / element_bytes;
  return make_case(Selection::whole({count}), element_bytes, swap_bytes, count);
}

// One of four columns of blocks: separate rows of ROW_BYTES in the file.
Case rows(int64_t row_bytes, int64_t swap_bytes) {
  const int64_t width = row_bytes / 8, height = total_bytes / row_bytes;
  const Box box{{0, width}, {height, width}};
  return make_case(Selection::of_box({height, 4 * width}, box), 8, swap_bytes, width * height);
}

// Rows of ROW_BYTES in planes of 128, with LAYERS of ghost cells around all of them in memory.
Case ghosts(int64_t row_bytes, int64_t layers) {
  const int64_t x = row_bytes / 8, y = 128, z = total_bytes / row_bytes / y;
  const int64_t wide = x + 2 * layers, high = y + 2 * layers;
  const Memory memory{layers * (high * wide + wide + 1), {high * wide, wide, 1}};
  return make_case(Selection::of_box({z, y, x}, {{0, 0, 0}, {z, y, x}}, memory), 8, 0, (z + 2 * layers) * high * wide);
}

Case strided(int64_t stride, int64_t swap_bytes) {
  const int64_t count = total_bytes / 8;
  return make_case(Selection::of_box({count}, {{0}, {count}}, {0, {stride}}), 8, swap_bytes, count * stride);
}

// An index map of runs of one to MOST elements, with gaps of the same lengths, in file order.
Case runs(int64_t most, int64_t swap_bytes) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int64_t> length(1, most);
  std::vector<Run> list;
  int64_t count = 0, offset = 0;
  for (; count < total_bytes / 8; offset += list.back().length + length(random)) {
    list.push_back({offset, length(random)});
    count += list.back().length;
  }
  return make_case(Selection::of_runs({offset}, list), 8, swap_bytes, count);
}

// The cost of each window of a writer: in planes, and slice by slice.
void by_planes(const Piece& piece, AddressRange range, std::byte* window) {
  copy_window(piece, range, window, Direction::write);
}
void by_packing(const Piece& piece, AddressRange range, std::byte* window) {
  benchmark::DoNotOptimize(copy_packed(piece, range, window, Direction::write));
}
void by_slices(const Piece& piece, AddressRange range, std::byte* window) {
  SliceCursor cursor(piece, range.begin, range.end);
  for (Slice slice; cursor.next(slice);)
    copy_slice(piece, slice, window + (slice.address - range.begin), Direction::write);
}

template <typename Way>
void pack(benchmark::State& state, const Case& made, Way way) {
  std::vector<std::byte> window(window_bytes);
  const int64_t end = last_address(made.piece);
  for (auto _ : state) {
    for (int64_t begin = 0; begin < end; begin += window_bytes)
      way(made.piece, {begin, std::min(end, begin + window_bytes)}, window.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * made.piece.selection.count() * made.piece.element_bytes);
}

// Cases are created when they run, one at a time.
void add_case(const std::string& name, Case (*make)(int64_t, int64_t), int64_t a, int64_t b) {
  const auto add = [=](const char* how, auto way) {
    benchmark::RegisterBenchmark((name + "/" + how).c_str(),
                                 [=](benchmark::State& state) { pack(state, make(a, b), way); });
  };
  add("slices", by_slices);
  add("window", by_planes);
  add("packed", by_packing);
}

void add_packing() {
  add_case("contiguous", contiguous, 8, 0);
  for (const int64_t bytes : {8, 32, 64, 512, 4096, 65536})
    add_case("rows of " + std::to_string(bytes), rows, bytes, 0);
  for (const int64_t bytes : {512, 4096, 65536})
    for (const int64_t layers : {0, 2})
      add_case(std::to_string(layers) + " ghost layers, rows of " + std::to_string(bytes), ghosts, bytes, layers);
  for (const int64_t stride : {2, 5}) add_case("stride " + std::to_string(stride), strided, stride, 0);
  for (const int64_t unit : {2, 4, 8}) add_case("swapped " + std::to_string(unit), contiguous, unit, unit);
  add_case("swapped 8, stride 2", strided, 2, 8);
  add_case("swapped 8, rows of 64", rows, 64, 8);
  for (const int64_t most : {1, 10, 100}) add_case("runs of 1 to " + std::to_string(most), runs, most, 0);
  add_case("swapped 8, runs of 1 to 10", runs, 10, 8);
}

void add_sum(const char* name, uint64_t (*sum)(std::span<const std::byte>, uint64_t)) {
  const auto run = [=](benchmark::State& state) {
    const std::vector<std::byte> bytes(static_cast<size_t>(state.range(0)), std::byte{7});
    for (auto _ : state) benchmark::DoNotOptimize(sum(bytes, 0));
    state.SetBytesProcessed(state.iterations() * state.range(0));
  };
  benchmark::RegisterBenchmark(name, run)->Arg(32)->Arg(64)->Arg(1024)->Arg(65536)->Arg(total_bytes);
}

// The additional cost of a checksum during a copy, block by block in the cache.
void copy_blocks(benchmark::State& state, bool summed) {
  constexpr size_t block = 64 << 10;
  const std::vector<std::byte> from(total_bytes, std::byte{7});
  std::vector<std::byte> window(window_bytes);
  for (auto _ : state) {
    uint64_t sum = 0;
    for (size_t at = 0; at < from.size(); at += block) {
      const std::span to = std::span(window).subspan(at % window.size(), block);
      std::memcpy(to.data(), from.data() + at, block);
      if (summed) sum = crc64(to, sum);
    }
    benchmark::DoNotOptimize(sum);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * total_bytes);
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  penstock::add_packing();
  penstock::add_sum("crc64 by table", penstock::crc64_by_table);
  penstock::add_sum("crc64", penstock::crc64);
  for (const bool summed : {false, true})
    benchmark::RegisterBenchmark(summed ? "copy, and crc64 of each block" : "copy",
                                 [=](benchmark::State& state) { penstock::copy_blocks(state, summed); });
  penstock::add_neighbour_reads();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
