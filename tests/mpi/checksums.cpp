// checksums: what was committed agrees with its checksums on any number of ranks, by every method; a later change is
// found and named.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <penstock/config.h>
#include <penstock/file.hpp>

#include "core/methods/methods.hpp"
#include "tests/harness/slice.hpp"
#include "tests/harness/values.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {
namespace {

namespace fs = std::filesystem;
const ElementType f64{Kind::f64}, f32{Kind::f32}, i32{Kind::i32};

// Datasets of many blocks and of one, more than is summed before it moves.
Dims large(const World& world) { return {1024, 700 * world.size()}; }

Slice columns(const World& world, const Dims& shape) { return grid(shape, {1, world.size()}, world.rank()); }

Status put(File& file, std::string_view name, const ElementType& type, const Slice& slice, uint64_t seed) {
  const auto memory = filled(slice, type, seed);
  return file.put(name, type, slice.part, memory.data(), slice.memory);
}

Status write(World& world, const std::string& path, const std::string& plan) {
  auto file = File::create(world.comm(), path, plan);
  if (!file) return file.status();
  CHECK_OK(put(*file, "field/large", f64, columns(world, large(world)), 1), "put");
  CHECK_OK(put(*file, "field/single", f32, columns(world, large(world)), 2), "put");
  CHECK_OK(put(*file, "small", i32, grid({world.size(), 3}, {world.size(), 1}, world.rank()), 3), "put");
  CHECK_OK(put(*file, "same", i32, replicated({7}), 4), "put");
  return file->close();
}

// Of the file at PATH.
Result<Verification> verified(World& world, const std::string& path) {
  auto file = File::open(world.comm(), path);
  if (!file) return file.status();
  auto found = file->verify();
  CHECK_OK(file->close(), "close");
  return found;
}

void check_good(World& world, const std::string& path, size_t unchecked = 0) {
  const auto found = verified(world, path);
  if (!CHECK_OK(found.status(), "verify")) return;
  CHECK(found->damages.empty(), found->damages.empty() ? "" : found->damages[0].what);
  CHECK(found->unchecked.size() == unchecked, fmt::format("{} datasets without checksums", found->unchecked.size()));
  CHECK(!found->metadata_differ, "the header is as it was");
  CHECK(!found->modified, "nobody wrote to it since");
  CHECK(found->bytes > 0, "something was compared");
}

const char* const plans[] = {
    "hdf5/two_phase",
    "hdf5/two_phase:io=direct",
    "hdf5/two_phase:durability=none",
    "hdf5/two_phase:placement=parts,parts=2",
    "hdf5/independent",
    "hdf5/independent:placement=per_rank",
    "netcdf/two_phase",
    "netcdf/independent:placement=per_rank",
    "raw/two_phase",
    "raw/two_phase:placement=rank_order",
#if PENSTOCK_HAVE_MPI
    "raw/mpiio",
    "hdf5/mpiio:coordination=collective",
#endif
    "hdf5/servers",
    "phdf5",
    "phdf5:chunked=true,collective=true",
    "netcdf4",
    "pnetcdf",
};

std::string path_of(const std::string& folder, const std::string& plan) {
  const std::string method = plan.substr(0, plan.find(':'));
  const bool netcdf = method.starts_with("netcdf/") || method == "pnetcdf";
  const char* extension = netcdf ? ".nc" : method.starts_with("raw/") ? ".raw" : ".h5";
  return folder + "/file" + extension;
}

void remove_all(World& world) {
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0)
    for (const auto& entry : fs::directory_iterator(world.folder())) fs::remove_all(entry.path());
  CHECK_OK(world.comm()->barrier(), "barrier");
}

void every_way(World& world) {
  for (const std::string plan : plans) {
    about(plan);
    const std::string path = path_of(world.folder(), plan);
    const Status status = write(world, path, plan);
    if (status.code() == Code::unsupported)
      say(fmt::format("not here: {}: {}", plan, status.message()));
    else if (CHECK_OK(status, "write"))
      check_good(world, path);
    remove_all(world);
  }
}

// Adds 1 to the byte AT in the file at PATH, and leaves its time as it was.
void damage(World& world, const std::string& path, int64_t at, bool keep_time) {
  if (world.rank() == 0) {
    const auto time = fs::last_write_time(path);
    const int fd = ::open(path.c_str(), O_RDWR);
    unsigned char byte = 0;
    CHECK(::pread(fd, &byte, 1, at) == 1, "read a byte");
    ++byte;
    CHECK(::pwrite(fd, &byte, 1, at) == 1, "write a byte");
    ::close(fd);
    if (keep_time) fs::last_write_time(path, time);
  }
  CHECK_OK(world.comm()->barrier(), "barrier");
}

void damage_is_named(World& world) {
  about("damage");
  const std::string path = world.folder() + "/file.h5";
  if (!CHECK_OK(write(world, path, "hdf5/two_phase"), "write")) return;
  // "field/large" is the first that is aligned: its last byte lies so far behind the file's end as the others are long.
  const Dims shape = large(world);
  const int64_t all = shape[0] * shape[1];
  auto names = File::open(world.comm(), path);
  if (!CHECK_OK(names.status(), "open")) return;
  CHECK_OK(names->close(), "close");

  const int64_t bytes = static_cast<int64_t>(fs::file_size(path));
  damage(world, path, bytes / 3, true);
  auto found = verified(world, path);
  if (CHECK_OK(found.status(), "verify") && CHECK(found->damages.size() == 1, "one place")) {
    const Damage& one = found->damages[0];
    CHECK(one.dataset == "field/large", one.dataset);
    CHECK(one.first >= 0 && one.end <= all && one.end - one.first == 131072, one.what);
    CHECK(!found->modified, "its time says that nobody wrote to it");
    CHECK(found->verdict(path).code() == Code::damaged, "a verdict");
  }
  for (const char* when : {"first", "always", "never"}) {
    auto file = File::open(world.comm(), path, fmt::format("two_phase:verify={}", when));
    if (!CHECK_OK(file.status(), "open")) continue;
    const Slice slice = columns(world, shape);
    auto memory = blank(slice, f64);
    CHECK_OK(file->get("field/large", f64, slice.part, memory.data()), "get");
    const Status status = file->close();
    CHECK(status.code() == (std::string_view(when) == "never" ? Code::ok : Code::damaged), status.message());
    if (!status.ok() && world.rank() == 0)
      CHECK(status.message().find("'field/large': elements (") != std::string::npos, status.message());
  }
  // What is not touched does not matter.
  auto file = File::open(world.comm(), path, "two_phase:verify=always");
  const Slice other = replicated({7});
  auto memory = blank(other, i32);
  int64_t wrong = 0;
  CHECK_OK(file->get("same", i32, other.part, memory.data()), "get");
  if (CHECK_OK(file->close(), "another dataset is whole"))
    CHECK(differences(other, i32, 4, memory, wrong) == 0, "it is read as it was put");

  damage(world, path, bytes / 3, false);
  found = verified(world, path);
  if (CHECK_OK(found.status(), "verify")) CHECK(found->modified, "its time is another now");
  remove_all(world);
}

// What a second commit makes of the sums of the first.
void changes(World& world) {
  const std::string path = world.folder() + "/grown.h5";
  const Dims first{300, 1000}, second{500, 1000};
  about("growing");
  {
    auto file = File::create(world.comm(), path);
    if (!CHECK_OK(file.status(), "create")) return;
    const auto row_grid = [&](const Dims& shape) { return grid(shape, {world.size(), 1}, world.rank()); };
    CHECK_OK(put(*file, "series", f64, row_grid(first), 1), "put");
    CHECK_OK(put(*file, "still", f64, row_grid(first), 2), "put");
    CHECK_OK(file->set_unlimited("series"), "unlimited");
    CHECK_OK(file->close(), "close");
  }
  check_good(world, path);
  const auto reopened = [&](auto body) {
    auto file = File::reopen(world.comm(), path);
    if (!CHECK_OK(file.status(), "reopen")) return;
    body(*file);
    CHECK_OK(file->close(), "close");
  };
  reopened([&](File& file) {
    const int64_t from = 200 * world.rank() / world.size(), to = 200 * (world.rank() + 1) / world.size();
    CHECK_OK(put(file, "series", f64, block(second, {{300 + from, 0}, {to - from, 1000}}), 1), "put beyond");
    CHECK_OK(put(file, "new", i32, replicated({9}), 5), "put a new one");
  });
  check_good(world, path);
  about("put whole again");
  reopened([&](File& file) { CHECK_OK(put(file, "still", f64, columns(world, first), 7), "put whole"); });
  check_good(world, path);
  about("put in part");
  reopened([&](File& file) {
    if (world.rank() == 0) CHECK_OK(put(file, "still", f64, block(first, {{5, 5}, {1, 20}}), 8), "put in part");
  });
  check_good(world, path, 1);
  about("copied");
  const std::string copy = world.folder() + "/copy.nc";
  CHECK_OK(File::copy(world.comm(), path, copy), "copy");
  check_good(world, copy, 1);
  about("holes");
  {
    auto file = File::create(world.comm(), path);
    if (!CHECK_OK(file.status(), "create")) return;
    file->set_partial(true);
    if (world.rank() == 0) CHECK_OK(put(*file, "holes", f64, block({10, 10}, {{0, 0}, {3, 3}}), 1), "put");
    CHECK_OK(put(*file, "whole", f64, columns(world, first), 2), "put");
    CHECK_OK(file->close(), "close");
  }
  check_good(world, path, 1);
  about("none");
  {
    auto file = File::create(world.comm(), path, "hdf5/two_phase:checksums=none");
    if (!CHECK_OK(file.status(), "create")) return;
    CHECK_OK(put(*file, "x", i32, replicated({9}), 5), "put");
    CHECK_OK(file->close(), "close");
  }
  CHECK(verified(world, path).status().code() == Code::not_found, "there are no checksums");
  remove_all(world);
}

void latest(World& world) {
  about("the latest");
  const auto path = [&](int i) { return fmt::format("{}/chk-{}.h5", world.folder(), i); };
  const std::string pattern = world.folder() + "/chk-*.h5";
  auto file = File::open_latest(world.comm(), pattern);
  CHECK(file.status().code() == Code::not_found, "there is none");
  for (const int i : {3, 1, 2})
    CHECK_OK(write(world, path(i), i == 1 ? "hdf5/two_phase:placement=parts,parts=2" : ""), "write");
  const auto opened = [&](std::string_view expected, size_t warnings) {
    auto newest = File::open_latest(world.comm(), pattern);
    if (!CHECK_OK(newest.status(), "open the latest")) return;
    CHECK(newest->path().ends_with(expected), newest->path());
    CHECK(newest->report().warnings.size() == warnings, fmt::format("{} warnings", newest->report().warnings.size()));
    CHECK_OK(newest->close(), "close");
  };
  opened("chk-2.h5", 0);
  damage(world, path(2), static_cast<int64_t>(fs::file_size(path(2))) / 2,
         false);  // it is the newest for its time, too
  opened("chk-1.h5", 1);
  if (world.rank() == 0) fs::resize_file(path(1), 100);
  CHECK_OK(world.comm()->barrier(), "barrier");
  opened("chk-3.h5", 2);
  damage(world, path(3), static_cast<int64_t>(fs::file_size(path(3))) / 2, true);
  file = File::open_latest(world.comm(), pattern);
  CHECK(file.status().code() == Code::not_found, "none is whole");
  CHECK(file.status().message().find("chk-3.h5") != std::string::npos, file.status().message());
  remove_all(world);
}

// The rest of a set that has lost a part is read, and it is said what is not there.
void lost_part(World& world) {
  for (const std::string extension : {"h5", "raw"}) {
    about("a lost part of ." + extension);
    const std::string path = world.folder() + "/set." + extension;
    const Dims shape{90, 100};
    {
      auto file = File::create(world.comm(), path, "two_phase:placement=parts,parts=3");
      if (!CHECK_OK(file.status(), "create")) return;
      CHECK_OK(put(*file, "rho", f64, columns(world, shape), 1), "put");
      CHECK_OK(file->close(), "close");
    }
    if (world.rank() == 0)
      for (const auto& entry : fs::directory_iterator(world.folder()))
        if (entry.path().string().find("part000001") != std::string::npos) fs::remove(entry.path());
    CHECK_OK(world.comm()->barrier(), "barrier");
    auto refused = File::open(world.comm(), path);
    const std::string& message = refused.status().message();
    CHECK(refused.status().code() == Code::not_found, message);
    CHECK(message.find("'rho': (30, 0) to (59, 99)") != std::string::npos, message);
    CHECK(message.find("part000001") != std::string::npos, message);
    CHECK(File::reopen(world.comm(), path, "two_phase:placement=parts,parts=3,lost_parts=zeros").status().code() ==
              Code::not_found,
          "it is not changed");
    auto file = File::open(world.comm(), path, "two_phase:lost_parts=zeros");
    if (!CHECK_OK(file.status(), "open")) return;
    CHECK(file->report().warnings.size() == 2, "two warnings");
    const Slice slice = replicated(shape);
    auto memory = blank(slice, f64), expected = filled(slice, f64, 1);
    std::fill(expected.begin() + 30 * 100 * 8, expected.begin() + 60 * 100 * 8, std::byte{0});
    CHECK_OK(file->get("rho", f64, slice.part, memory.data()), "get");
    CHECK_OK(file->commit(), "read");
    CHECK(memory == expected, "the rest is as it was, what is lost is zero");
    const auto found = file->verify();
    if (CHECK_OK(found.status(), "verify")) CHECK(found->lost.size() == 2 && found->damages.size() == 1, "it is told");
    CHECK_OK(file->close(), "close");
    remove_all(world);
  }
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  every_way(world);
  damage_is_named(world);
  changes(world);
  latest(world);
  lost_part(world);
  return world.finish("checksums");
}
