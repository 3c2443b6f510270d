// domains: what the ranks of a node have is written and read by writers of that node; and the values are right whatever
// the boxes. Run on emulated nodes.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

// Two columns of ranks, or one row of them.
Dims grid_of(const World& world) {
  return world.size() % 2 == 0 ? Dims{world.size() / 2, 1, 2} : Dims{1, 1, world.size()};
}

template <typename T>
std::vector<T> numbers(const Decomposition& part, const Dims& shape, T more) {
  const Box& box = part.box_list().front();
  std::vector<T> values;
  for (int64_t i = 0; i < box.count[0]; ++i)
    for (int64_t j = 0; j < box.count[1]; ++j)
      for (int64_t k = 0; k < box.count[2]; ++k)
        values.push_back(
            more + static_cast<T>(((box.start[0] + i) * shape[1] + box.start[1] + j) * shape[2] + box.start[2] + k));
  return values;
}

struct Case {
  std::string name;
  Dims shape;
  double most;       // the part of its bytes that messages may carry
  std::string also;  // added to the plan
};

int64_t sum(const World& world, int64_t value) {
  CHECK_OK(world.comm()->all_reduce_sum(std::span(&value, 1)), "sum");
  return value;
}

// Two fields of different types, and a small list. Returns the bytes in messages of the second commit, which sends no
// plans.
int64_t write(World& world, const Case& c, const std::string& plan) {
  const Decomposition part = *Decomposition::grid(c.shape, grid_of(world), world.rank());
  const auto doubles = numbers<double>(part, c.shape, 0.5);
  const auto ints = numbers<int32_t>(part, c.shape, 7);
  const int64_t own = world.rank();
  int64_t sent = 0;
  for (int turn = 0; turn < 2; ++turn) {
    auto file = File::create(world.comm(), world.folder() + "/file.h5", plan);
    if (!CHECK_OK(file.status(), plan)) return 0;
    CHECK_OK(file->lend("rho", {Kind::f64}, part, doubles.data()), plan);
    CHECK_OK(file->lend("cells", {Kind::i32}, part, ints.data()), plan);
    CHECK_OK(file->lend("ranks", {Kind::i64}, *Decomposition::ragged(1, {}), &own), plan);
    CHECK_OK(file->commit(), plan);
    sent = sum(world, file->report().message_bytes);
    CHECK_OK(file->close(), plan);
  }
  return sent;
}

void read(World& world, const Case& c, const std::string& plan) {
  const Decomposition part = *Decomposition::grid(c.shape, grid_of(world), world.rank());
  std::vector<double> doubles(static_cast<size_t>(part.elements()), -1);
  std::vector<int32_t> ints(doubles.size(), -1);
  auto file = File::open(world.comm(), world.folder() + "/file.h5", plan);
  if (!CHECK_OK(file.status(), plan)) return;
  CHECK_OK(file->get("rho", {Kind::f64}, part, doubles.data()), plan);
  CHECK_OK(file->get("cells", {Kind::i32}, part, ints.data()), plan);
  CHECK_OK(file->close(), plan);
  CHECK(doubles == numbers<double>(part, c.shape, 0.5), c.name + ", rho: " + plan);
  CHECK(ints == numbers<int32_t>(part, c.shape, 7), c.name + ", cells: " + plan);
}

// The block of RANK of a 2-D array in two columns of blocks, or in one row of them, without EDGE elements at each side
// of the array. If EDGE is negative, with so many of the neighbours' elements at each side of the block.
Box block_of(const World& world, const Dims& shape, int rank, int64_t edge) {
  const Dims grid = world.size() % 2 == 0 ? Dims{world.size() / 2, 2} : Dims{1, world.size()};
  const int64_t at[] = {rank / grid[1], rank % grid[1]};
  Box box{shape, shape};
  for (int d = 0; d < 2; ++d) {
    const int64_t begin = shape[d] * at[d] / grid[d], end = shape[d] * (at[d] + 1) / grid[d];
    box.start[d] = std::clamp(edge < 0 ? begin + edge : begin, std::max<int64_t>(edge, 0), shape[d]);
    box.count[d] = std::min(edge < 0 ? end - edge : end, shape[d] - std::max<int64_t>(edge, 0)) - box.start[d];
  }
  return box;
}

std::vector<Run> rows_of(const Box& box, const Dims& shape) {
  std::vector<Run> rows;
  for (int64_t i = 0; i < box.count[0]; ++i)
    rows.push_back({(box.start[0] + i) * shape[1] + box.start[1], box.count[1]});
  return rows;
}

// The value of an element is its offset.
std::vector<double> offsets(const std::vector<Run>& rows) {
  std::vector<double> values;
  for (const Run& row : rows)
    for (int64_t i = 0; i < row.length; ++i) values.push_back(static_cast<double>(row.offset + i));
  return values;
}

// Boxes that do not fill the datasets, that overlap, and that are beside runs of the same dataset.
void parts_of_datasets(World& world) {
  about("parts of datasets");
  const Dims shape{40, 16384};
  const std::string plan = fmt::format("two_phase:buffer_bytes=64KiB,writers={}", world.size());
  const std::string path = world.folder() + "/parts.h5", names[] = {"a", "b"};
  const auto box = [&](int rank, int64_t edge) { return block_of(world, shape, rank, edge); };
  const auto part = [&](int64_t edge) {
    const Box own = box(world.rank(), edge);
    return *Decomposition::block(shape, own.start, own.count);
  };
  const auto values = [&](int64_t edge) { return offsets(rows_of(box(world.rank(), edge), shape)); };
  for (const int64_t edge : {0, 1}) {
    const std::vector<double> own = values(edge);
    auto file = File::create(world.comm(), path, plan);
    if (!CHECK_OK(file.status(), plan)) return;
    file->set_partial(edge > 0);
    for (const std::string& name : names) CHECK_OK(file->lend(name, {Kind::f64}, part(edge), own.data()), plan);
    CHECK_OK(file->close(), plan);
    for (const std::string& how : {std::string("independent"), plan})
      for (const int64_t read : edge == 0 ? std::vector<int64_t>{0, 1, -1, -3} : std::vector<int64_t>{1, 2}) {
        const std::vector<double> expected = values(read);
        std::vector<std::vector<double>> found;
        auto again = File::open(world.comm(), path, how);
        if (!CHECK_OK(again.status(), how)) return;
        for (const std::string& name : names) {
          found.emplace_back(expected.size(), -1);
          CHECK_OK(again->get(name, {Kind::f64}, part(read), found.back().data()), how);
        }
        CHECK_OK(again->close(), how);
        for (const auto& one : found) CHECK(one == expected, fmt::format("edge {}, by {}", read, how));
      }
  }
  const std::vector<Run> rows = rows_of(box((world.rank() + 1) % world.size(), 1), shape);
  const std::vector<double> own = values(1), others = offsets(rows);
  std::vector<double> found(own.size(), -1), beside(others.size(), -1);
  auto file = File::open(world.comm(), path, plan);
  if (!CHECK_OK(file.status(), plan)) return;
  CHECK_OK(file->get("a", {Kind::f64}, part(1), found.data()), plan);
  CHECK_OK(file->get("a", {Kind::f64}, *Decomposition::runs(shape, rows), beside.data()), plan);
  CHECK_OK(file->close(), plan);
  CHECK(found == own && beside == others, "a box, and runs");
}

// Lists of which the first rank has nothing, an array that it alone writes, and one that all have: nodes still write
// what they have, but for what differs between them while writers have equal parts. If nodes have one rank each, one
// has nothing, and the file is divided into ranges.
void lists_with_an_empty_rank(World& world, bool one_each) {
  about("lists of which one rank has nothing");
  const int rank = world.rank();
  const auto rows_of_rank = [&](int r) { return r == 0 ? 0 : 20000 + 3000 * int64_t{r}; };
  int64_t first = 0;
  for (int r = 0; r < rank; ++r) first += rows_of_rank(r);
  const std::vector<double> list = offsets({{first, rows_of_rank(rank)}});
  const Decomposition part = *Decomposition::ragged(std::ssize(list), {});
  // Before, the last had what the first has now: what the ranks learnt of that commit is of no use.
  const std::vector<double> before(static_cast<size_t>(rank == 0 ? 0 : rows_of_rank(world.size() - rank)));
  const Decomposition part_before = *Decomposition::ragged(std::ssize(before), {});
  const std::vector<double> mesh(rank == 0 ? 8000 : 0, 1);
  const Decomposition part_of_mesh = *Decomposition::ragged(std::ssize(mesh), {});
  const std::vector<double> table(8000, 2);
  const std::string plan = fmt::format("two_phase:buffer_bytes=32KiB,writers={}", world.size());
  const std::string path = world.folder() + "/lists.h5";
  int64_t sent = 0;
  for (int turn = 0; turn < 3; ++turn) {
    auto file = File::create(world.comm(), path, plan);
    if (!CHECK_OK(file.status(), plan)) return;
    for (const char* name : {"x", "y"})
      CHECK_OK(turn == 0 ? file->lend(name, {Kind::f64}, part_before, before.data())
                         : file->lend(name, {Kind::f64}, part, list.data()),
               plan);
    CHECK_OK(file->lend("mesh", {Kind::f64}, part_of_mesh, mesh.data()), plan);
    CHECK_OK(file->lend("table", {Kind::f64}, *Decomposition::replicated({8000}), table.data()), plan);
    CHECK_OK(file->commit(), plan);
    sent = sum(world, file->report().message_bytes);
    CHECK_OK(file->close(), plan);
  }
  std::vector<double> found(list.size(), -1);
  auto file = File::open(world.comm(), path, plan);
  if (!CHECK_OK(file.status(), plan)) return;
  CHECK_OK(file->get("y", {Kind::f64}, part, found.data()), plan);
  CHECK_OK(file->close(), plan);
  CHECK(found == list, "read on its own");
  const auto far = static_cast<double>(sent) / static_cast<double>(16 * sum(world, std::ssize(list)));
  if (!one_each) CHECK(far < 0.2, fmt::format("{:.3f} of all bytes in messages", far));
}

int run(int argc, char** argv) {
  World world(&argc, &argv);
  const bool one_each = sum(world, world.comm()->node_rank() == 0) == world.size();
  const Case cases[] = {{"whole blocks", {16, 16, 4096}, 0.05, ",io=direct"},
                        {"blocks are cut", {24, 7, 4100}, 0.3, ",neighbours=messages"},
                        {"uneven", {31, 5, 5001}, 0.3, ""}};
  const std::string small = "two_phase:buffer_bytes=32KiB";
  const std::string windows = fmt::format("{},writers={}", small, world.size());
  for (const Case& c : cases)
    for (const std::string& more : std::set<std::string>{"", c.also}) {
      about(c.name);
      const int64_t by_node = write(world, c, windows + more);
      for (const std::string& how : {std::string("independent"), small, small + ",domains=ranges"}) read(world, c, how);
      const int64_t by_range = write(world, c, windows + more + ",domains=ranges");
      read(world, c, windows + more);
      if (!one_each || world.size() < 4 || world.size() % 2 != 0) continue;
      const auto bytes = static_cast<double>(12 * c.shape[0] * c.shape[1] * c.shape[2]);
      const auto part = [&](int64_t sent) { return static_cast<double>(sent) / bytes; };
      CHECK(part(by_range) > 0.25, fmt::format("{:.3f} of all bytes in messages, by ranges", part(by_range)));
      CHECK(part(by_node) < c.most, fmt::format("{:.3f} of all bytes in messages, by nodes", part(by_node)));
    }
  parts_of_datasets(world);
  lists_with_an_empty_rank(world, one_each);
  return world.finish("domains");
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) { return penstock::test::run(argc, argv); }
