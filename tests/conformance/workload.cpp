// The workloads: every decomposition, order, type and rank of dataset that the interface speaks of.
#include "tests/conformance/workload.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "tests/harness/values.hpp"

namespace penstock::test {

namespace {

const ElementType f64{Kind::f64}, f32{Kind::f32}, i32{Kind::i32}, i64{Kind::i64}, u8{Kind::u8};

Content of(std::vector<Field> fields) { return {std::move(fields), {}}; }

Content grids(int rank, int size) {
  const Dims plane{37, 53}, cube{11, 13, 17}, line{1009};
  return of({{"plane", f64, plane, {grid(plane, process_grid(size, 2, true), rank)}},
             {"cube", f32, cube, {grid(cube, process_grid(size, 3, false), rank)}},
             {"line", i32, line, {grid(line, Dims{size}, rank)}}});
}

// Big enough that a writer has several blocks, and many rounds of 64 KiB.
Content large_of(const Dims& plane, const Dims& lines, int rank, int size) {
  return of({{"plane", f64, plane, {grid(plane, process_grid(size, 2, true), rank)}},
             {"lines", i32, lines, {grid(lines, Dims{1, size}, rank)}}});
}

Content large(int rank, int size) { return large_of({700, 611}, {3, 190001}, rank, size); }

// One rank encodes it in several batches.
Content large_in_chunks(int rank, int size) {
  return size == 1 ? large(rank, size) : large_of({175, 611}, {3, 47501}, rank, size);
}

Content memories(int rank, int size) {
  const Dims plane{29, 31}, cube{9, 10, 14};
  const Slice flat = grid(plane, process_grid(size, 2, false), rank),
              deep = grid(cube, process_grid(size, 3, true), rank);
  return of({{"ghosts", f64, plane, {ghosted(plane, flat.boxes[0], 2)}},
             {"transposed", i32, plane, {transposed(plane, flat.boxes[0], 1)}},
             {"gaps", u8, plane, {transposed(plane, flat.boxes[0], 3)}},
             {"deep_ghosts", f32, cube, {ghosted(cube, deep.boxes[0], 1)}},
             {"deep_transposed", {Kind::complex128}, cube, {transposed(cube, deep.boxes[0], 2)}}});
}

// PIECES boxes dealt to the ranks; each rank's come in several puts of one to three boxes, in its own order.
Field box_field(std::string name, ElementType type, const Dims& shape, int pieces, int rank, int size) {
  Random random(mix(size, shape[0]));
  const auto list = split_boxes(shape, pieces, random);
  const auto owner = deal(list.size(), size, random);
  Field field{std::move(name), type, shape, {}};
  std::vector<Box> held;
  for (size_t i = 0; i < list.size(); ++i) {
    if (owner[i] == rank) held.push_back(list[i]);
    if (held.size() == 1 + i % 3) {
      field.parts.push_back(boxes(shape, held));
      held.clear();
    }
  }
  if (!held.empty() || rank % 2 == 0) field.parts.push_back(boxes(shape, held));
  Random own(mix(rank, 3));
  std::shuffle(field.parts.begin(), field.parts.end(), own);
  return field;
}

Content box_lists(int rank, int size) {
  return of({box_field("few", f64, {23, 19}, 5, rank, size), box_field("many", i64, {17, 12, 15}, 90, rank, size),
             box_field("four", f32, {5, 6, 7, 8}, 40, rank, size)});
}

Field ragged_field(std::string name, ElementType type, const Dims& row, int64_t most, int rank, int size) {
  int64_t total = 0, first = 0, rows = 0;
  for (int r = 0; r < size; ++r) {
    const auto bits = mix(static_cast<uint64_t>(most), static_cast<uint64_t>(r));
    const int64_t n = bits % 3 == 0 ? 0 : static_cast<int64_t>((bits >> 8) % static_cast<uint64_t>(most));
    if (r == rank) first = total, rows = n;
    total += n;
  }
  Dims shape{total};
  for (int64_t extent : row) shape.push_back(extent);
  return {std::move(name), type, shape, {ragged(first, rows, total, row)}};
}

Content ragged_lists(int rank, int size) {
  return of({ragged_field("scalars", f64, {}, 400, rank, size), ragged_field("vectors", f32, {3}, 90, rank, size),
             ragged_field("tensors", i32, {2, 5}, 41, rank, size), ragged_field("nothing", u8, {4}, 1, rank, size)});
}

Field run_field(std::string name, ElementType type, const Dims& shape, int pieces, int rank, int size) {
  Random random(mix(size, shape[0]));
  const auto list = split_runs(product(shape), pieces, random);
  const auto owner = deal(list.size(), size, random);
  std::vector<Run> mine[2];  // two puts
  for (size_t i = 0; i < list.size(); ++i)
    if (owner[i] == rank) mine[i % 2].push_back(list[i]);
  return {std::move(name), type, shape, {runs(shape, mine[1]), runs(shape, mine[0])}};
}

Content index_runs(int rank, int size) {
  return of({run_field("long", f64, {1500}, 30, rank, size), run_field("single", i32, {27, 33}, 2000, rank, size),
             run_field("mixed", u8, {5, 7, 64}, 300, rank, size)});
}

Content shared(int rank, int size) {
  return of({{"replicated", f64, {6, 7}, {replicated({6, 7})}},
             {"per_rank", i32, {size, 3, 5}, {per_rank({3, 5}, rank, size)}},
             {"per_rank_scalar", f64, {size}, {per_rank({}, rank, size)}}});
}

Content small(int rank, int size) {
  Content content;
  for (int i = 0; i < 200; ++i) {
    const int64_t n = i % 7;
    const std::string name =
        "group" + std::to_string(i % 5) + "/part" + std::to_string(i % 3) + "/v" + std::to_string(i);
    Field field{name, i % 2 == 0 ? f64 : u8, {n}, {}};
    if (rank == i % size || n == 0) field.parts.push_back(block({n}, {{0}, {n}}));
    content.fields.push_back(std::move(field));
  }
  return content;
}

Content types(int rank, int size) {
  Content content;
  const Dims shape{19, 7};
  for (int kind = 0; kind < kind_count; ++kind) {
    const ElementType type{static_cast<Kind>(kind), static_cast<Kind>(kind) == Kind::text ? 11 : 0};
    content.fields.push_back({penstock::name(type), type, shape, {grid(shape, process_grid(size, 2, true), rank)}});
  }
  for (Field& field : content.fields) std::replace(field.name.begin(), field.name.end(), '[', '_');
  for (Field& field : content.fields) std::erase(field.name, ']');
  content.fields.push_back({"text_1", {Kind::text, 1}, {size}, {per_rank({}, rank, size)}});
  content.fields.push_back({"text_long", {Kind::text, 5000}, {3}, {replicated({3})}});
  return content;
}

Content ranks(int rank, int size) {
  const Dims eight{2, 3, 2, 3, 2, 3, 2, 3};
  Content content = of({{"scalar", f64, {}, {}},
                        {"shared_scalar", i64, {}, {replicated({})}},
                        box_field("eight", f32, eight, 24, rank, size)});
  if (rank == size - 1) content.fields[0].parts.push_back(block({}, {{}, {}}));
  for (int r = 1; r <= max_rank; ++r) {
    const Dims shape = Dims::filled(r, r < 4 ? 5 : 3);
    content.fields.push_back({"r" + std::to_string(r), i32, shape, {grid(shape, process_grid(size, r, true), rank)}});
  }
  return content;
}

Content empty(int rank, int size) {
  Content content = of({{"none", f64, {0}, {block({0}, {{0}, {0}})}},
                        {"none3", i32, {5, 0, 3}, {grid({5, 0, 3}, process_grid(size, 3, true), rank)}},
                        {"ragged", u8, {0, 4}, {ragged(0, 0, 0, {4})}},
                        {"runs", f64, {0}, {runs({0}, {})}},
                        {"replicated", f32, {3, 0}, {replicated({3, 0})}},
                        {"some", f64, {7}, {}}});
  if (rank == size / 2) content.fields.back().parts.push_back(block({7}, {{0}, {7}}));
  return content;
}

Content attributes(int rank, int size) {
  Content content = of({{"fluid/rho", f64, {8, 9}, {grid({8, 9}, process_grid(size, 2, true), rank)}}});
  const auto add = [&](const char* object, Attribute attribute, bool mine = true) {
    content.attributes.push_back({object, std::move(attribute), mine});
  };
  const double values[] = {1.5, -2.25, 1e300};
  const int32_t number = -7;
  const std::string texts[] = {"one", "", "three and more"};
  add("/", text_attribute("title", "a file's own"));
  add("/", make_attribute("step", i32, &number, -1), rank == size - 1);
  add("fluid", text_attribute("of a group", "a group's own"));
  add("fluid/rho", text_attribute("units", "kg m-3"), rank == 0);
  add("fluid/rho", text_attribute("nothing", ""));
  add("fluid/rho", make_attribute("range", f64, values, 3));
  add("fluid/rho", make_attribute("one of one", f64, values, 1));
  add("fluid/rho", text_attribute("names", texts));
  Attribute table = text_attribute("table", texts);
  table.shape = {1, 3};
  add("fluid/rho", table);
  add("fluid/rho", {"no rows", f64, {0, 3}, {}});
  for (int kind = 0; kind < kind_count - 1; ++kind) {
    const ElementType type{static_cast<Kind>(kind)};
    std::vector<std::byte> value(static_cast<size_t>(4 * bytes(type)));
    for (int i = 0; i < 4; ++i) make_element(&value[static_cast<size_t>(i * bytes(type))], type, 5, i);
    add("fluid/rho", make_attribute(penstock::name(type), type, value.data(), 4), kind % size == rank);
    add("fluid", {"two by two " + penstock::name(type), type, {2, 2}, value}, kind % size == rank);
  }
  return content;
}

// Rows that interleave in some formats: of one length or of several, of sizes that need padding.
Content growing(int rank, int size) {
  const auto add = [&](Content& content, const char* name, ElementType type, const Dims& shape) {
    content.fields.push_back({name, type, shape, {grid(shape, process_grid(size, shape.rank(), false), rank)}, true});
  };
  Content content = of({{"fixed", f64, {29, 3}, {grid({29, 3}, {size, 1}, rank)}}});
  add(content, "field", f64, {29, 5, 7});
  add(content, "bytes", u8, {29, 3});
  add(content, "shorts", {Kind::i16}, {29});
  add(content, "complex", {Kind::complex64}, {29, 2});
  add(content, "words", {Kind::text, 5}, {29});
  add(content, "shorter", i32, {11, 4});
  add(content, "no_rows", f32, {0, 4});
  add(content, "empty_rows", f32, {29, 0});
  return content;
}

constexpr Workload table[] = {{"grids", grids},     {"large", large},         {"memories", memories},
                              {"boxes", box_lists}, {"ragged", ragged_lists}, {"runs", index_runs},
                              {"shared", shared},   {"small", small},         {"types", types},
                              {"ranks", ranks},     {"empty", empty},         {"attributes", attributes},
                              {"growing", growing}};

}  // namespace

uint64_t Field::seed() const { return std::hash<std::string>{}(name); }

std::span<const Workload> workloads(bool small_chunks) {
  static const auto in_chunks = [] {
    auto list = std::to_array(table);
    for (Workload& workload : list)
      if (workload.make == large) workload.make = large_in_chunks;
    return list;
  }();
  if (small_chunks) return in_chunks;
  return table;
}

Content everything(int rank, int size, bool small_chunks) {
  Content all;
  for (const Workload& workload : workloads(small_chunks)) {
    Content one = workload.make(rank, size);
    const std::string group(workload.name);
    for (Field& field : one.fields) {
      field.name = group + "/" + field.name;
      all.fields.push_back(std::move(field));
    }
    for (ObjectAttribute& attribute : one.attributes) {
      attribute.object = attribute.object == "/" ? group : group + "/" + attribute.object;
      all.attributes.push_back(std::move(attribute));
    }
  }
  return all;
}

}  // namespace penstock::test
