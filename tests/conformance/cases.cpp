// Write a content, read it back otherwise.
#include "tests/conformance/cases.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "core/base/crc64.hpp"
#include "tests/harness/values.hpp"

namespace penstock::test {

namespace {

struct Wanted {
  const Field* field;
  Slice slice;
  std::vector<std::byte> memory;
};

void check_catalogue(const File& file, const Content& content) {
  const auto found = file.datasets();
  CHECK(std::is_sorted(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; }),
        "datasets are by name");
  CHECK(found.size() == content.fields.size(), fmt::format("{} datasets, not {}", found.size(), content.fields.size()));
  for (const Field& field : content.fields) {
    const auto info = file.dataset(field.name);
    if (!CHECK_OK(info.status(), field.name)) continue;
    CHECK(info->type == field.type, field.name + ": type is " + name(info->type));
    CHECK(info->shape == field.shape, field.name + ": shape");
    CHECK(info->unlimited == field.unlimited, field.name + ": unlimited");
  }
  for (const ObjectAttribute& wanted : content.attributes) {
    const auto attribute = file.attribute(wanted.object, wanted.attribute.name);
    if (CHECK_OK(attribute.status(), wanted.object + "@" + wanted.attribute.name))
      CHECK(*attribute == wanted.attribute, wanted.object + "@" + wanted.attribute.name + " differs");
  }
}

void compare(std::span<const Wanted> list) {
  for (const Wanted& wanted : list) {
    int64_t where = 0;
    const int64_t wrong = differences(wanted.slice, wanted.field->type, wanted.field->seed(), wanted.memory, where);
    CHECK(wrong == 0, fmt::format("{}: {} elements or gaps of memory are wrong, the first is {}", wanted.field->name,
                                  wrong, where));
  }
}

// Asks for every dataset in one way and commits.
void read_way(File& file, std::vector<Wanted>& list) {
  Random order(list.size());
  std::shuffle(list.begin(), list.end(), order);
  for (Wanted& wanted : list)
    CHECK_OK(
        file.get(wanted.field->name, wanted.field->type, wanted.slice.part, wanted.memory.data(), wanted.slice.memory),
        wanted.field->name);
  if (CHECK_OK(file.commit(), "commit of a reader")) compare(list);
}

std::vector<Wanted> want(const Content& content, int way, int rank, int size) {
  std::vector<Wanted> list;
  for (const Field& field : content.fields)
    for (Slice& slice : reading(field.shape, way, field.seed(), rank, size)) {
      auto memory = blank(slice, field.type);
      list.push_back({&field, std::move(slice), std::move(memory)});
    }
  return list;
}

}  // namespace

namespace {

// As a program does that computes meanwhile. Each rank asks as often as it likes.
Status commit_in_background(File& file) {
  PENSTOCK_TRY(file.commit_start());
  for (int turn = 0; turn < 1000; ++turn) {
    const auto done = file.commit_test();
    CHECK_OK(done.status(), "test");
    if (done.ok() && *done) break;
    ::usleep(100);
  }
  return file.commit_wait();
}

}  // namespace

Status write_content(World& world, const std::string& path, const std::string& plan, const Content& content,
                     bool background) {
  auto file = File::create(world.comm(), path, plan);
  if (!file) return file.status();
  std::vector<std::pair<const Field*, const Slice*>> puts;
  for (const Field& field : content.fields)
    for (const Slice& slice : field.parts) puts.emplace_back(&field, &slice);
  Random order(mix(7, static_cast<uint64_t>(world.rank())));
  std::shuffle(puts.begin(), puts.end(), order);
  std::vector<std::vector<std::byte>> lent;
  for (size_t i = 0; i < puts.size(); ++i) {
    const auto [field, slice] = puts[i];
    auto memory = filled(*slice, field->type, field->seed());
    if (i % 2 == 0) {
      CHECK_OK(file->put(field->name, field->type, slice->part, memory.data(), slice->memory), field->name);
      std::fill(memory.begin(), memory.end(), std::byte{0x33});  // captured: it does not matter any more
    } else {
      CHECK_OK(file->lend(field->name, field->type, slice->part, memory.data(), slice->memory), field->name);
      lent.push_back(std::move(memory));
    }
  }
  for (const Field& field : content.fields)
    if (field.unlimited) CHECK_OK(file->set_unlimited(field.name), field.name);
  for (const ObjectAttribute& wanted : content.attributes)
    if (wanted.mine) CHECK_OK(file->set_attribute(wanted.object, wanted.attribute), wanted.attribute.name);
  if (background) PENSTOCK_TRY(commit_in_background(*file));
  return file->close();
}

// All that was written agrees with its checksums.
void check_sums(File& file, bool summed) {
  const auto found = file.verify();
  if (!summed) {
    CHECK(found.status().code() == Code::not_found, "there are no checksums");
    return;
  }
  if (!CHECK_OK(found.status(), "verify")) return;
  CHECK_OK(found->verdict(file.path()), "verify");
  CHECK(found->unchecked.empty(), found->unchecked.empty() ? "" : "no checksums of " + found->unchecked[0]);
  CHECK(!found->modified, "nobody wrote to it since");
}

uint64_t read_content(World& world, const std::string& path, const std::string& plan, const Content& content, int turn,
                      bool summed) {
  auto file = File::open(world.comm(), path, plan);
  if (!CHECK_OK(file.status(), "open " + path)) return 0;
  check_catalogue(*file, content);
  check_sums(*file, summed);
  for (int way : {turn % reading_ways, (turn + 1 + turn / reading_ways % (reading_ways - 1)) % reading_ways}) {
    auto list = want(content, way, world.rank(), world.size());
    read_way(*file, list);
  }
  std::vector<Wanted> whole;
  if (world.rank() == 0)
    for (const Field& field : content.fields) {
      Slice slice = block(field.shape, {Dims::filled(field.shape.rank(), 0), field.shape});
      auto memory = blank(slice, field.type);
      whole.push_back({&field, std::move(slice), std::move(memory)});
    }
  read_way(*file, whole);
  CHECK_OK(file->close(), "close of a reader");
  std::sort(whole.begin(), whole.end(), [](const Wanted& a, const Wanted& b) { return a.field->name < b.field->name; });
  uint64_t digest = 0;
  for (const Wanted& wanted : whole) {
    digest = crc64(std::as_bytes(std::span(wanted.field->name)), digest);
    digest = crc64(wanted.memory, digest);
  }
  return digest;
}

void sweep(World& world, const std::string& folder) {
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0)
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      CHECK(!entry.path().filename().string().starts_with('.'), "left over: " + entry.path().string());
      std::filesystem::remove_all(entry.path());
    }
  CHECK_OK(world.comm()->barrier(), "barrier");
}

}  // namespace penstock::test
