// arrays: penstock/array.hpp with spans, containers and strided views; what another rank wrote is read by it.
#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/array.hpp>

#include "core/engine/engine.hpp"
#include "core/transport/transport.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {
namespace {

// What std::mdspan is to array.hpp: tests/downstream/mdspan.cpp compiles that itself where a library has it.
template <typename T, size_t dimensions>
struct View {
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using rank_type = size_t;
  T* data;
  std::array<int64_t, dimensions> extents, strides;
  static constexpr size_t rank() { return dimensions; }
  T* data_handle() const { return data; }
  int64_t extent(size_t i) const { return extents[i]; }
  int64_t stride(size_t i) const { return strides[i]; }
};

static_assert(StridedView<View<double, 2>> && StridedView<View<const int, 0>> && !StridedView<View<bool, 1>>);
static_assert(!StridedView<View<double, 9>> && !StridedView<std::vector<double>>);
static_assert(ElementRange<std::vector<float>> && ElementRange<std::span<const std::complex<double>>>);
static_assert(!ElementRange<std::vector<bool>> && !ElementRange<std::string> && !Element<char> &&
              !Element<long double>);

// Its integers go by their size, whatever they are called.
void types() {
  CHECK(element_type<long>() == type_of<int64_t>() && element_type<long long>() == type_of<int64_t>(), "long");
  CHECK(element_type<unsigned char>() == type_of<uint8_t>() && element_type<short>() == type_of<int16_t>(), "short");
}

constexpr int64_t columns = 6, each = 4;  // rows of a rank
double value(int64_t row, int64_t column) { return static_cast<double>(100 * row + column); }

// Rank r has rows 4r to 4r + 3, with a ghost cell around them, in column-major memory; the second rank has none.
struct Rows {
  explicit Rows(const World& world)
      : first(each * world.rank()), count(world.rank() == 1 ? 0 : each), all(each * world.size()) {}
  std::vector<double> memory() const {
    std::vector<double> m(static_cast<size_t>((count + 2) * (columns + 2)), -1);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < columns; ++j) m[at(i, j)] = value(first + i, j);
    return m;
  }
  size_t at(int64_t i, int64_t j) const { return static_cast<size_t>((j + 1) * (count + 2) + i + 1); }
  template <typename T>
  View<T, 2> inside(T* m) const {
    return {m + at(0, 0), {count, columns}, {1, count + 2}};
  }
  Place place() const { return {{all, columns}, {first, 0}}; }
  int64_t first, count, all;
};

void write_views(World& world, const std::string& path) {
  const Rows rows(world);
  auto file = File::create(world.comm(), path);
  if (!CHECK_OK(file.status(), "create")) return;
  std::vector<double> memory = rows.memory();
  file->set_partial(true);  // the second rank's rows
  CHECK_OK(put(*file, "put", rows.inside(memory.data()), rows.place()), "put");
  CHECK_OK(lend(*file, "lent", rows.inside(std::as_const(memory).data()), rows.place()), "lend");
  std::array<int, 3> three{1, 2, 3};
  CHECK_OK(put(*file, "same", View<int, 1>{three.data(), {3}, {1}}), "the same on all ranks");
  double time = 0.5;
  CHECK_OK(put(*file, "time", View<double, 0>{&time, {}, {}}), "a scalar");
  const auto part = Decomposition::per_rank({2});
  CHECK_OK(put(*file, "ranks", *part, std::vector<long long>{world.rank(), -1}), "a temporary");
  CHECK_OK(set_attribute(*file, "put", "units", "K"), "a text");
  CHECK_OK(set_attribute(*file, "put", "scale", 2.5F), "a number");
  CHECK_OK(set_attribute(*file, "/", "origin", std::vector<double>{1, 2, 3}), "numbers");
  std::ranges::fill(three, 0);
  time = 0;
  CHECK_OK(file->close(), "close");
}

void read_views(World& world, const std::string& path) {
  const Rows rows(world);
  auto file = File::open(world.comm(), path);
  if (!CHECK_OK(file.status(), "open")) return;
  for (const char* name : {"put", "lent"}) {
    std::vector<double> memory(rows.memory().size(), -1);
    CHECK_OK(get(*file, name, rows.inside(memory.data()), rows.place()), "get");
    CHECK_OK(file->commit(), "commit");
    CHECK(memory == rows.memory(), "its rows, and no ghost cell");
  }
  const auto all = read<double>(*file, "put");
  if (CHECK_OK(all.status(), "read"))
    for (int64_t i = 0; i < rows.all; ++i)
      CHECK((*all)[static_cast<size_t>(i * columns + 2)] == (i / each == 1 ? 0 : value(i, 2)), "of all ranks");
  std::array<int32_t, 3> three{};
  double time = 0;
  CHECK_OK(get(*file, "same", *Decomposition::replicated({3}), three), "into an array");
  CHECK_OK(get(*file, "time", View<double, 0>{&time, {}, {}}), "a scalar");
  CHECK_OK(file->commit(), "commit");
  CHECK(std::ranges::equal(three, std::vector{1, 2, 3}) && time == 0.5, "what was put, not what came into it later");
  const auto mine = read<int64_t>(*file, "ranks", *Decomposition::per_rank({2}));
  CHECK(mine.ok() && (*mine)[0] == world.rank() && (*mine)[1] == -1, "a row of each rank");
  const auto units = attribute_text(*file, "put", "units");
  CHECK(units.ok() && *units == "K", "a text");
  const auto scale = attribute<float>(*file, "put", "scale");
  CHECK(scale.ok() && *scale == 2.5F, "a number");
  const auto origin = attribute_values<double>(*file, "/", "origin");
  CHECK(origin.ok() && std::ranges::equal(*origin, std::vector{1.0, 2.0, 3.0}), "numbers");
  CHECK(attribute<double>(*file, "put", "scale").status().message() == "attribute 'scale' of 'put' is f32, not f64",
        "another type");
  CHECK(attribute<double>(*file, "/", "origin").status().message() == "attribute 'origin' of '/' has 3 values, not one",
        "one of three");
  CHECK(attribute_text(*file, "put", "scale").status().code() == Code::mismatch, "no text");
  CHECK(attribute<int>(*file, "put", "none").status().code() == Code::not_found, "no such attribute");
  CHECK(read<float>(*file, "put").status().code() == Code::mismatch, "elements of another type");
  CHECK(file->close().code() == Code::mismatch, "a file whose commit failed");
}

// Every second element of rows that are an odd number of elements apart: no array in memory has such rows.
void uneven_strides(World& world) {
  constexpr int64_t apart = 2 * columns + 1;
  const int64_t first = each * world.rank();
  const auto view = [](auto* data) {
    return View<std::remove_pointer_t<decltype(data)>, 2>{data, {each, columns}, {apart, 2}};
  };
  std::vector<double> memory(each * apart, -1);
  for (int64_t i = 0; i < each; ++i)
    for (int64_t j = 0; j < columns; ++j) memory[static_cast<size_t>(i * apart + 2 * j)] = value(first + i, j);
  std::vector<std::string> plans{"hdf5/two_phase", "hdf5/independent"};
  if (find_transport("mpiio")->describe().missing.empty()) plans.emplace_back("hdf5/mpiio");
  for (const char* engine : {"phdf5", "netcdf4", "pnetcdf"})
    if (find_engine(engine)->describe().missing.empty()) plans.emplace_back(engine);
  for (const std::string& plan : plans) {
    about("uneven strides, " + plan);
    const std::string path = world.folder() + "/strides";
    const Place place{{each * world.size(), columns}, {first, 0}};
    auto file = File::create(world.comm(), path, plan);
    if (!CHECK_OK(file.status(), "create")) return;
    CHECK_OK(put(*file, "x", view(std::as_const(memory).data()), place), "put");
    CHECK_OK(file->close(), "close");
    for (const std::string& by : {std::string(), plan}) {
      auto back = File::open(world.comm(), path, by);
      if (!CHECK_OK(back.status(), "open")) return;
      std::vector<double> found(memory.size(), -1);
      CHECK_OK(get(*back, "x", view(found.data()), place), "get");
      CHECK_OK(back->close(), "close");
      CHECK(found == memory, "its elements, and nothing between them");
    }
  }
}

// What is refused before it gets to the file fails the commit too, on all ranks.
void wrong(World& world, const std::string& path) {
  for (const int what : {0, 1}) {
    about(what == 0 ? "a range of another size" : "a view beyond the dataset");
    auto file = File::create(world.comm(), path);
    if (!CHECK_OK(file.status(), "create")) return;
    const std::vector<double> five(5);
    if (world.rank() == world.size() - 1) {
      const Status refused = what == 0 ? put(*file, "a", *Decomposition::replicated({4}), five)
                                       : put(*file, "a", View<const double, 1>{five.data(), {5}, {1}}, {{7}, {3}});
      CHECK(refused.code() == Code::invalid, refused.message());
      if (what == 0)
        CHECK(refused.message() == "'a': 5 elements are given, the decomposition has 4 on this rank",
              refused.message());
    }
    CHECK(file->close().code() == Code::invalid, "all ranks know it");
  }
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  const std::string path = world.folder() + "/arrays.h5";
  types();
  write_views(world, path);
  read_views(world, path);
  uneven_strides(world);
  wrong(world, world.folder() + "/wrong.h5");
  return world.finish("arrays");
}
