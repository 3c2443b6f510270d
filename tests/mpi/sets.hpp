// Sets: what the tests of sets that lose a file share.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "tests/harness/slice.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

namespace fs = std::filesystem;
const ElementType f64{Kind::f64}, i32{Kind::i32};
using Files = std::map<std::string, std::string>;  // bytes of each file by its name

inline Files read_all(const std::string& folder) {
  Files files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().filename()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

// Rank 0 does WORK between two barriers.
template <typename Work>
inline void alone(World& world, Work work) {
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0) work();
  CHECK_OK(world.comm()->barrier(), "barrier");
}

inline void remove_all(World& world) {
  alone(world, [&] {
    for (const auto& entry : fs::directory_iterator(world.folder())) fs::remove_all(entry.path());
  });
}

inline Status put(File& file, std::string_view name, const ElementType& type, const Slice& slice, uint64_t seed) {
  const auto memory = filled(slice, type, seed);
  return file.put(name, type, slice.part, memory.data(), slice.memory);
}

// Ranks have different amounts, the second nothing at all, and nothing is a multiple of anything.
inline int64_t rows_of(int rank) { return rank == 1 ? 0 : 50 + 31 * rank; }
inline int64_t rows_before(int rank) { return rank == 0 ? 0 : rows_before(rank - 1) + rows_of(rank - 1); }

inline Slice rows(const World& world) {
  const int64_t columns = 97;
  return block({rows_before(world.size()), columns},
               {{rows_before(world.rank()), 0}, {rows_of(world.rank()), columns}});
}

inline Status write(World& world, const std::string& path, const std::string& plan, uint64_t seed) {
  auto file = File::create(world.comm(), path, plan);
  if (!file) return file.status();
  CHECK_OK(put(*file, "fluid/rho", f64, rows(world), seed), "put");
  if (world.rank() == 0) CHECK_OK(put(*file, "small", i32, block({7}, {{0}, {7}}), seed + 1), "put");
  return file->close();
}

inline void check_alike(World& world, const Status& status) {
  auto hash = static_cast<int64_t>(std::hash<std::string>()(status.message()) >> 1);
  int64_t least = hash, most = hash;
  CHECK_OK(world.comm()->all_reduce_min(std::span(&least, 1)), "reduce");
  CHECK_OK(world.comm()->all_reduce_max(std::span(&most, 1)), "reduce");
  CHECK(least == most, "ranks have different errors: " + status.message());
}

inline Result<Verification> verified(World& world, const std::string& path) {
  auto file = File::open(world.comm(), path);
  if (!file) return file.status();
  auto found = file->verify();
  CHECK_OK(file->close(), "close");
  return found;
}

inline void check_good(World& world, const std::string& path) {
  const auto found = verified(world, path);
  if (!CHECK_OK(found.status(), "verify")) return;
  CHECK_OK(found->verdict(path), "all is as it was committed");
  CHECK(!found->modified, "nobody wrote to it since");
}

// The files of the set but for its master, which rank 0 names to all.
inline std::vector<std::string> set_files(World& world) {
  std::vector<std::byte> message;
  if (world.rank() == 0) {
    std::string names;
    for (const auto& entry : fs::directory_iterator(world.folder()))
      if (entry.path().filename().string().find(".g") != std::string::npos)
        names += entry.path().filename().string() + "/";
    const auto bytes = std::as_bytes(std::span(names));
    message.assign(bytes.begin(), bytes.end());
  }
  CHECK_OK(world.comm()->broadcast(message, 0), "broadcast");
  std::vector<std::string> names(1);
  for (const std::byte b : message) {
    if (static_cast<char>(b) == '/')
      names.emplace_back();
    else
      names.back() += static_cast<char>(b);
  }
  names.pop_back();
  std::ranges::sort(names, {}, [](const std::string& name) { return std::pair(name.ends_with(".parity"), name); });
  return names;
}

inline void flip(const fs::path& path, int64_t at) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 4));
}

inline std::string path_of(World& world, const std::string& format) {
  return world.folder() + (format == "hdf5" ? "/set.h5" : format == "netcdf" ? "/set.nc" : "/set.raw");
}

inline std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
}

}  // namespace penstock::test
