// twin.cpp: the fields of the other twins in C++, cut into rows, the last rank first: write FILE, or read FILE.
#include <complex>
#include <string_view>
#include <vector>

#include <penstock/array.hpp>

#include "tests/harness/world.hpp"

namespace penstock::test {
namespace {

constexpr int64_t nx = 7, ny = 12;

template <typename T>
T value(int64_t y, int64_t x) {
  const auto number = static_cast<double>(100 * (y + 1) + x + 1);
  if constexpr (std::is_same_v<T, std::complex<double>>)
    return {number, -number};
  else
    return static_cast<T>(number);
}

// The rows of this rank, as the program has them.
struct Rows {
  explicit Rows(const World& world) {
    const int64_t turned = world.size() - 1 - world.rank();
    first = ny * turned / world.size();
    count = ny * (turned + 1) / world.size() - first;
  }
  Decomposition part() const { return *Decomposition::block({ny, nx}, {first, 0}, {count, nx}); }
  template <typename T>
  std::vector<T> values() const {
    std::vector<T> all;
    for (int64_t y = first; y < first + count; ++y)
      for (int64_t x = 0; x < nx; ++x) all.push_back(value<T>(y, x));
    return all;
  }
  int64_t first, count;
};

template <typename T>
void move(File& file, const Rows& rows, std::string_view name, bool writes) {
  const std::vector<T> wanted = rows.values<T>();
  if (writes) {
    CHECK_OK(put(file, name, rows.part(), wanted), name);
    return;
  }
  const auto found = read<T>(file, name, rows.part());
  if (CHECK_OK(found.status(), name)) CHECK(*found == wanted, name);
}

void text(File& file, bool writes) {
  const std::string_view wanted("northeast\0", 10);
  std::vector<char> found(wanted.size());
  const Decomposition all = *Decomposition::replicated({2});
  if (writes) {
    CHECK_OK(file.put("text", ElementType{Kind::text, 5}, all, wanted.data()), "text");
    return;
  }
  CHECK_OK(file.get("text", ElementType{Kind::text, 5}, all, found.data()), "text");
  CHECK_OK(file.commit(), "text");
  CHECK(std::string_view(found.data(), found.size()) == wanted, "text");
}

void all_fields(World& world, bool writes, const std::string& path) {
  auto file = writes ? File::create(world.comm(), path) : File::open(world.comm(), path);
  if (!CHECK_OK(file.status(), path)) return;
  const Rows rows(world);
  move<double>(*file, rows, "real64", writes);
  move<float>(*file, rows, "real32", writes);
  move<int32_t>(*file, rows, "int32", writes);
  move<int64_t>(*file, rows, "int64", writes);
  move<std::complex<double>>(*file, rows, "complex64", writes);
  text(*file, writes);
  CHECK_OK(file->close(), "close");
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  all_fields(world, std::string_view(argv[1]) == "write", argv[2]);
  return world.finish("twin of C++");
}
