// weather: a file with coordinates, records, complex numbers, texts and awkward names, for other libraries to read; and
// copies files that they made through penstock.
//
//   netcdf_weather                            writes, grows and reads back a file in a scratch folder
//   netcdf_weather write|grow FILE [PLAN]     step 0 to 2 into a new file, steps 3 and 4 into an old one
//   netcdf_weather copy FROM TO               every dataset and attribute, read in blocks, written as TO's name says
#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "tests/harness/world.hpp"

namespace penstock::test {
namespace {

constexpr int64_t first_steps = 3, all_steps = 5, latitudes = 5, longitudes = 7;

// Element k of a dataset is FIRST + k / 2.
template <typename T>
std::vector<T> counting(int64_t count, int64_t first) {
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k)
    values[static_cast<size_t>(k)] = static_cast<T>(static_cast<double>(first + k) / 2);
  return values;
}

// Rows FROM to TO of a dataset (TO, ROW...), dealt to the ranks.
template <typename T>
Status put_rows(World& world, File& file, const char* name, int64_t from, int64_t to, const Dims& row) {
  const int64_t n = to - from, begin = from + n * world.rank() / world.size(),
                end = from + n * (world.rank() + 1) / world.size();
  Dims shape{to}, start{begin}, count{end - begin};
  int64_t each = 1;
  for (const int64_t extent : row) {
    shape.push_back(extent);
    start.push_back(0);
    count.push_back(extent);
    each *= extent;
  }
  PENSTOCK_ASSIGN(const auto part, Decomposition::block(shape, start, count));
  const auto values = counting<T>((end - begin) * each, begin * each);
  return file.put(name, type_of<T>(), part, values.data());
}

Status put_steps(World& world, File& file, int64_t from, int64_t to) {
  PENSTOCK_TRY(put_rows<double>(world, file, "temperature", from, to, {latitudes, longitudes}));
  PENSTOCK_TRY(put_rows<int16_t>(world, file, "cloud/cover", from, to, {latitudes}));
  return put_rows<double>(world, file, "time", from, to, {});
}

Status put_texts(File& file) {
  PENSTOCK_ASSIGN(const auto all, Decomposition::replicated({3}));
  const char names[3][8] = {"Aachen", "Bern", ""};
  return file.put("station/name", {Kind::text, 8}, all, names);
}

Status put_fixed(World& world, File& file) {
  PENSTOCK_TRY(put_rows<float>(world, file, "lat", 0, latitudes, {}));
  PENSTOCK_TRY(put_rows<float>(world, file, "lon", 0, longitudes, {}));
  PENSTOCK_TRY(put_rows<std::complex<double>>(world, file, "spectrum", 0, 9, {2}));
  PENSTOCK_TRY(put_rows<std::complex<float>>(world, file, "phase", 0, 9, {}));
  PENSTOCK_TRY(put_rows<uint64_t>(world, file, "big", 0, 11, {3}));
  PENSTOCK_TRY(put_rows<int8_t>(world, file, "odd bytes", 0, 5, {}));
  PENSTOCK_TRY(put_rows<double>(world, file, "nothing", 0, 0, {4}));
  PENSTOCK_TRY(put_rows<uint16_t>(world, file, "a__b/_c%", 0, 6, {}));
  PENSTOCK_TRY(put_rows<int32_t>(world, file, "large", 0, 700, {300}));
  return put_texts(file);
}

Status set_attributes(File& file) {
  const std::string axes[] = {"time", "lat", "lon"}, cover[] = {"time", "lat"};
  const double range[] = {0, 300};
  const uint64_t wide = UINT64_MAX;
  PENSTOCK_TRY(file.set_attribute("temperature", text_attribute("dimensions", axes)));
  PENSTOCK_TRY(file.set_attribute("temperature", text_attribute("units", "K")));
  PENSTOCK_TRY(file.set_attribute("temperature", make_attribute("valid_range", {Kind::f64}, range, 2)));
  PENSTOCK_TRY(file.set_attribute("cloud/cover", text_attribute("dimensions", cover)));
  PENSTOCK_TRY(file.set_attribute("cloud", text_attribute("source", "a satellite")));
  PENSTOCK_TRY(file.set_attribute("time", text_attribute("units", "days since 2001-01-01")));
  PENSTOCK_TRY(file.set_attribute("lat", text_attribute("units", "degrees_north")));
  PENSTOCK_TRY(file.set_attribute("", text_attribute("title", "weather of a test")));
  PENSTOCK_TRY(file.set_attribute("", make_attribute("wide", {Kind::u64}, &wide, -1)));
  for (const char* name : {"temperature", "cloud/cover", "time"}) PENSTOCK_TRY(file.set_unlimited(name));
  return {};
}

Status write(World& world, const std::string& path, const std::string& plan) {
  PENSTOCK_ASSIGN(File file, File::create(world.comm(), path, plan));
  PENSTOCK_TRY(put_steps(world, file, 0, first_steps));
  PENSTOCK_TRY(put_fixed(world, file));
  PENSTOCK_TRY(set_attributes(file));
  return file.close();
}

Status grow(World& world, const std::string& path, const std::string& plan) {
  PENSTOCK_ASSIGN(File file, File::reopen(world.comm(), path, plan));
  PENSTOCK_TRY(put_steps(world, file, first_steps, all_steps));
  return file.close();
}

Result<Decomposition> share(World& world, const Dims& shape) {
  if (shape.rank() > 0) {
    Dims processes = Dims::filled(shape.rank(), 1);
    processes[0] = world.size();
    return Decomposition::grid(shape, processes, world.rank());
  }
  if (world.rank() == 0) return Decomposition::block({}, {}, {});
  return Decomposition::boxes({}, {});
}

Status copy(World& world, const std::string& from, const std::string& to) {
  PENSTOCK_ASSIGN(File source, File::open(world.comm(), from));
  PENSTOCK_ASSIGN(File target, File::create(world.comm(), to));
  std::vector<std::vector<std::byte>> memory;
  std::set<std::string> objects{""};
  for (const DatasetInfo& info : source.datasets()) {
    PENSTOCK_ASSIGN(const auto part, share(world, info.shape));
    memory.emplace_back(static_cast<size_t>(std::max<int64_t>(1, part.elements() * bytes(info.type))));
    PENSTOCK_TRY(source.get(info.name, info.type, part, memory.back().data()));
    PENSTOCK_TRY(target.lend(info.name, info.type, part, memory.back().data()));
    if (info.unlimited) PENSTOCK_TRY(target.set_unlimited(info.name));
    objects.insert(info.name);
    for (size_t at = info.name.find('/'); at != std::string::npos; at = info.name.find('/', at + 1))
      objects.insert(info.name.substr(0, at));
  }
  PENSTOCK_TRY(source.commit());
  for (const std::string& object : objects)
    for (const Attribute& attribute : source.attributes(object)) PENSTOCK_TRY(target.set_attribute(object, attribute));
  PENSTOCK_TRY(target.close());
  return source.close();
}

// Without other libraries: what was written and grown is there.
void run_alone(World& world) {
  const std::string path = world.folder() + "/weather.nc", copied = world.folder() + "/weather.h5";
  if (!CHECK_OK(write(world, path, ""), "write") || !CHECK_OK(grow(world, path, ""), "grow")) return;
  CHECK_OK(copy(world, path, copied), "copy");
  for (const std::string& one : {path, copied}) {
    auto file = File::open(world.comm(), one);
    if (!CHECK_OK(file.status(), "open " + one)) return;
    const auto info = file->dataset("temperature");
    if (!CHECK_OK(info.status(), "temperature")) return;
    CHECK(info->unlimited && info->shape == (Dims{all_steps, latitudes, longitudes}), "its shape");
    const auto whole = Decomposition::replicated(info->shape);
    std::vector<double> values(static_cast<size_t>(whole->elements()));
    CHECK_OK(file->get("temperature", {Kind::f64}, *whole, values.data()), "get");
    CHECK_OK(file->close(), "close");
    CHECK(values == counting<double>(whole->elements(), 0), "its values in " + one);
  }
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string plan = words.size() > 2 ? words[2] : "";
  if (words.empty())
    run_alone(world);
  else if (words.size() >= 2 && words[0] == "write")
    CHECK_OK(write(world, words[1], plan), "write");
  else if (words.size() >= 2 && words[0] == "grow")
    CHECK_OK(grow(world, words[1], plan), "grow");
  else if (words.size() == 3 && words[0] == "copy")
    CHECK_OK(copy(world, words[1], words[2]), "copy");
  else
    CHECK(false, "usage: netcdf_weather [write FILE [PLAN] | grow FILE [PLAN] | copy FROM TO]");
  return world.finish("netcdf_weather");
}
