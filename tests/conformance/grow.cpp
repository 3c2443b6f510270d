// Reopen: an unlimited dataset grows, another is added, part of a third is overwritten; nothing else changes.
#include <algorithm>
#include <cstring>

#include <penstock/file.hpp>

#include "tests/conformance/cases.hpp"
#include "tests/harness/values.hpp"

namespace penstock::test {

namespace {

const ElementType f64{Kind::f64}, i32{Kind::i32};
constexpr int64_t first_rows = 9, more_rows = 16;

// Rows [FROM, TO) of (.., WIDTH) over the ranks, in order, as a box of a dataset of TO rows.
Slice rows(World& world, int64_t from, int64_t to, int64_t width) {
  const Slice share = grid({to - from, width}, {world.size(), 1}, world.rank());
  Box box = share.boxes[0];
  box.start[0] += from;
  return block({to, width}, box);
}

Content contents(World& world, int64_t series_rows, bool added) {
  Content content;
  content.fields.push_back({"series", f64, {series_rows, 23}, {}, true});
  content.fields.push_back({"steady", i32, {31}, {grid({31}, {world.size()}, world.rank())}});
  // In one format the rows of growing datasets of one length interleave, but not those of another length.
  content.fields.push_back({"clock", {Kind::i16}, {series_rows, 3}, {}, true});
  content.fields.push_back({"lagging", i32, {first_rows, 2}, {}, true});
  if (added)
    content.fields.push_back(
        {"added/later", i32, {12, 5}, {grid({12, 5}, process_grid(world.size(), 2, true), world.rank())}});
  content.attributes.push_back({"series", text_attribute("units", "m")});
  return content;
}

Status put_all(File& file, const Field& field, std::span<const Slice> parts) {
  for (const Slice& part : parts) {
    const auto memory = filled(part, field.type, field.seed());
    PENSTOCK_TRY(file.put(field.name, field.type, part.part, memory.data(), part.memory));
  }
  return {};
}

Status append(World& world, const std::string& path, const Method& method) {
  auto file = File::reopen(world.comm(), path, method.changing);
  if (!file) return file.status();
  const Content after = contents(world, first_rows + more_rows, true);
  for (const size_t i : {0, 2}) {
    const Slice tail[] = {rows(world, first_rows, first_rows + more_rows, after.fields[i].shape[1])};
    CHECK_OK(put_all(*file, after.fields[i], tail), "put beyond the end");
  }
  CHECK_OK(put_all(*file, after.fields[4], after.fields[4].parts), "put of a new dataset");
  const int32_t step = 2;
  CHECK_OK(file->set_attribute("/", make_attribute("step", i32, &step, -1)), "attribute");
  return file->close();
}

// The last rank alone puts zeros over elements 10 to 19 of "steady".
Status overwrite(World& world, const std::string& path, const Method& method) {
  auto file = File::reopen(world.comm(), path, method.changing);
  if (!file) return file.status();
  const int32_t zeros[10] = {};
  if (world.rank() == world.size() - 1)
    CHECK_OK(file->put("steady", i32, block({31}, {{10}, {10}}).part, zeros), "put over a part");
  return file->close();
}

void check_overwritten(World& world, const std::string& path, const Method& method) {
  auto file = File::open(world.comm(), path, method.reading);
  if (!CHECK_OK(file.status(), "open")) return;
  const Content content = contents(world, first_rows + more_rows, true);
  const Field& steady = content.fields[1];
  const Slice slice = replicated(steady.shape);
  auto memory = blank(slice, i32);
  CHECK_OK(file->get("steady", i32, slice.part, memory.data()), "get");
  auto expected = filled(slice, i32, steady.seed());
  std::fill_n(expected.begin() + 40, 40, std::byte{0});
  if (CHECK_OK(file->close(), "close")) CHECK(memory == expected, "a part was overwritten, the rest is as it was");
}

}  // namespace

Status grow(World& world, const std::string& path, const Method& method) {
  Content before = contents(world, first_rows, false);
  for (Field& field : before.fields)
    if (field.unlimited) field.parts.push_back(rows(world, 0, first_rows, field.shape[1]));
  PENSTOCK_TRY(write_content(world, path, method.plan, before));
  (void)read_content(world, path, method.reading, before, 0, summed(method));
  const Status appended = append(world, path, method);
  if (appended.code() == Code::unsupported && method.plan.find("placement=") != std::string::npos) {
    (void)read_content(world, path, method.reading, before, 1,
                       summed(method));  // a set of files is written anew, never changed
    return {};
  }
  PENSTOCK_TRY(appended);
  (void)read_content(world, path, method.reading, contents(world, first_rows + more_rows, true), 2, summed(method));
  PENSTOCK_TRY(overwrite(world, path, method));
  check_overwritten(world, path, method);
  return {};
}

}  // namespace penstock::test
