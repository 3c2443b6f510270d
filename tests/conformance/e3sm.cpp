// e3sm: real decompositions of a climate model, tens of thousands of unsorted runs, read back by another decomposition.
// Every method that makes a single file writes them, except netcdf4, which takes ten seconds for a map; --all: all do.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "core/netcdf/header.hpp"
#include "tests/conformance/method.hpp"
#include "tests/harness/slice.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

// One decomposition of a map: what each of its 16 processes holds.
struct Mapped {
  std::string name;
  Dims shape;
  std::vector<std::vector<Run>> processes;
};

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(all));
  return {bytes.begin(), bytes.end()};
}

Result<std::vector<Mapped>> read_map(const std::string& path) {
  const auto file = bytes_of(path);
  PENSTOCK_ASSIGN(const auto header, netcdf::decode_header(file));
  PENSTOCK_ASSIGN(const int64_t count, header.dimension("num_decomp"));
  std::vector<Mapped> list;
  for (int64_t k = 1; k <= count; ++k) {
    const std::string name = fmt::format("D{}", k);
    const Attribute* dims = header.attribute(name + ".dims");
    if (dims == nullptr) return Status(Code::damaged, name + ".dims is missing");
    Mapped mapped{name, Dims(std::span<const int64_t>(netcdf::integers(*dims))), {}};
    PENSTOCK_ASSIGN(const auto requests, netcdf::integers(header, file, name + ".nreqs"));
    PENSTOCK_ASSIGN(const auto offsets, netcdf::integers(header, file, name + ".offsets"));
    PENSTOCK_ASSIGN(const auto lengths, netcdf::integers(header, file, name + ".lengths"));
    size_t at = 0;
    for (const int64_t n : requests) {
      auto& runs = mapped.processes.emplace_back();
      for (int64_t i = 0; i < n; ++i, ++at) runs.push_back({offsets.at(at), lengths.at(at)});
    }
    list.push_back(std::move(mapped));
  }
  return list;
}

// The processes of the map that this rank plays, when they are dealt to the ranks in turn from rank FIRST on.
std::vector<Slice> parts(World& world, const Mapped& mapped, int first) {
  std::vector<Slice> list;
  for (size_t p = 0; p < mapped.processes.size(); ++p)
    if ((static_cast<int>(p) + first) % world.size() == world.rank())
      list.push_back(runs(mapped.shape, mapped.processes[p]));
  return list;
}

const ElementType types[] = {{Kind::f64}, {Kind::f32}, {Kind::i32}};

Status write(World& world, const std::string& path, const std::string& plan, std::span<const Mapped> map) {
  auto file = File::create(world.comm(), path, plan);
  if (!file) return file.status();
  std::vector<std::vector<std::byte>> lent;
  for (const Mapped& mapped : map)
    for (size_t t = 0; t < std::size(types); ++t)
      for (const Slice& slice : parts(world, mapped, 0)) {
        lent.push_back(filled(slice, types[t], t));
        CHECK_OK(file->lend(mapped.name + "/" + name(types[t]), types[t], slice.part, lent.back().data()), mapped.name);
      }
  return file->close();
}

struct Wanted {
  std::string name;
  size_t type;
  Slice slice;
  std::vector<std::byte> memory;
};

// Once by the map, but to other ranks; once as blocks of an even grid.
void read(World& world, const std::string& path, const std::string& plan, std::span<const Mapped> map) {
  auto file = File::open(world.comm(), path, plan);
  if (!CHECK_OK(file.status(), "open")) return;
  for (const bool even : {false, true}) {
    std::vector<Wanted> list;
    for (const Mapped& mapped : map)
      for (size_t t = 0; t < std::size(types); ++t) {
        std::vector<Slice> slices =
            even ? std::vector<Slice>{grid(mapped.shape, process_grid(world.size(), mapped.shape.rank(), false),
                                           world.rank())}
                 : parts(world, mapped, 1);
        for (Slice& slice : slices) {
          auto memory = blank(slice, types[t]);
          list.push_back({mapped.name + "/" + name(types[t]), t, std::move(slice), std::move(memory)});
        }
      }
    for (Wanted& w : list) CHECK_OK(file->get(w.name, types[w.type], w.slice.part, w.memory.data()), w.name);
    if (!CHECK_OK(file->commit(), "read")) break;
    for (const Wanted& w : list) {
      int64_t where = 0;
      const int64_t wrong = differences(w.slice, types[w.type], w.type, w.memory, where);
      CHECK(wrong == 0, fmt::format("{}: {} elements are wrong, the first is {}", w.name, wrong, where));
    }
  }
  CHECK_OK(file->close(), "close");
}

std::string data_folder() {
  const char* data = std::getenv("PENSTOCK_DATA");
  return std::string(data != nullptr ? data : "../shared/data") + "/e3sm";
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  const bool all = argc > 1 && std::string_view(argv[1]) == "--all";
  for (const char* which : {"f", "g", "i"}) {
    const std::string source = fmt::format("{}/map_{}_case_16p.nc", data_folder(), which);
    if (!std::filesystem::exists(source))
      return world.skip(source + " is missing (PENSTOCK_DATA names the folder of real inputs)");
    about(source);
    const auto map = read_map(source);
    if (!CHECK_OK(map.status(), "map")) continue;
    for (const Method& method : methods()) {
      const bool quick = method.engine != "netcdf4" && method.plan.find("placement=") == std::string::npos;
      if (!method.base || !(all || quick)) continue;
      about(fmt::format("map {} by {}", which, method.plan));
      const std::string path = world.folder() + "/map" + method.extension;
      if (CHECK_OK(write(world, path, method.plan, *map), "write")) read(world, path, method.reading, *map);
    }
  }
  about("");
  return world.finish("e3sm");
}
