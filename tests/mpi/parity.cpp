// parity: any one file of a set that is lost or damaged is rebuilt bit for bit, in every format and placement. Two are
// not, and the error names what is lost.
#include <algorithm>

#include <fmt/format.h>
#include <penstock/config.h>
#include <penstock/file.hpp>

#include "tests/mpi/sets.hpp"

namespace penstock::test {
namespace {

struct Harm {
  const char* name;
  void (*inflict)(const fs::path& path);
  bool on_purpose = false;  // as far as the file's time tells
};

const Harm harms[] = {
    {"deleted", [](const fs::path& path) { fs::remove(path); }},
    {"its first byte flipped", [](const fs::path& path) { flip(path, 0); }},
    {"a byte in its middle flipped",
     [](const fs::path& path) { flip(path, static_cast<int64_t>(fs::file_size(path)) / 2); }, true},
    {"its last byte flipped", [](const fs::path& path) { flip(path, static_cast<int64_t>(fs::file_size(path)) - 1); }},
    {"cut", [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 3); }, true},
    {"longer", [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) + 1); }},
};

void harm_and_repair(World& world, const std::string& path, const std::string& plan) {
  const std::vector<std::string> names = set_files(world);
  const Files before = read_all(world.folder());
  for (const std::string& name : names)
    for (const Harm& harm : harms) {
      about(fmt::format("{}: {} {}", plan, name, harm.name));
      const fs::path file = world.folder() + "/" + name;
      std::string harmed;
      alone(world, [&] {
        const auto committed = fs::last_write_time(file);
        harm.inflict(file);
        if (!fs::exists(file)) return;
        harmed = text_of(file);
        fs::last_write_time(file, committed + (harm.on_purpose ? std::chrono::seconds(1) : std::chrono::seconds(0)));
      });
      auto found = verified(world, path);
      if (found.ok()) {
        CHECK(found->files.size() == 1 && found->files[0].find(name) != std::string::npos, "verify names it");
        CHECK(found->verdict(path).code() == Code::damaged, "a verdict");
      } else {
        CHECK(found.status().message().find("it can be rebuilt: 'penstock verify --repair") != std::string::npos,
              found.status().message());
      }
      const auto repaired = File::repair(world.comm(), path);
      if (CHECK_OK(repaired.status(), "repair"))
        CHECK(repaired->rebuilt.ends_with(name) && repaired->files == std::ssize(names), "what was rebuilt");
      if (repaired.ok()) CHECK(repaired->kept.empty() != harm.on_purpose, "kept is " + repaired->kept);
      alone(world, [&] {
        if (!repaired.ok() || repaired->kept.empty()) return;
        CHECK(text_of(repaired->kept) == harmed, "what is kept");
        CHECK(repaired->kept.find(".g") == std::string::npos, "it would count as a part: " + repaired->kept);
        fs::remove(repaired->kept);
      });
      CHECK(read_all(world.folder()) == before, "all files are as they were");
      check_good(world, path);
    }
}

void lose_two(World& world, const std::string& path, const std::string& plan) {
  const std::vector<std::string> names = set_files(world);
  const Files before = read_all(world.folder());
  const std::string &first = names.front(), &second = names.back();
  about(plan + ": two are lost");
  alone(world, [&] {
    fs::remove(world.folder() + "/" + first);
    flip(world.folder() + "/" + second, 0);
  });
  const Files harmed = read_all(world.folder());
  const Status status = File::repair(world.comm(), path).status();
  const std::string& message = status.message();
  CHECK(status.code() == Code::damaged, message);
  CHECK(message.find(first) != std::string::npos && message.find(second) != std::string::npos, message);
  CHECK(message.find("'fluid/rho': (0, 0) to (") != std::string::npos, message);
  check_alike(world, status);
  CHECK_OK(world.comm()->barrier(), "barrier");
  CHECK(read_all(world.folder()) == harmed, "nothing was touched");
  alone(world, [&] {
    for (const std::string& name : {first, second}) {
      std::ofstream out(world.folder() + "/" + name, std::ios::binary);
      out << before.at(name);
    }
  });
}

const char* const placements[] = {"placement=per_rank", "placement=parts,parts=2", "placement=parts,parts=3",
                                  "placement=rank_order"};

void every_set(World& world) {
  for (const std::string format : {"hdf5", "netcdf", "raw"})
    for (const std::string placement : placements) {
      const std::string plan = fmt::format("{}/two_phase:{},parity=1,memory_bytes=65536", format, placement);
      const std::string path = path_of(world, format);
      about(plan);
      if (!CHECK_OK(write(world, path, plan, 1), "write")) continue;
      check_good(world, path);
      CHECK(File::repair(world.comm(), path)->rebuilt.empty(), "there is nothing to repair");
      harm_and_repair(world, path, plan);
      lose_two(world, path, plan);
      remove_all(world);
    }
}

// By other ways, and by those of one file that is a set all the same.
void other_ways(World& world) {
  const std::pair<const char*, const char*> ways[] = {
      {"hdf5", "hdf5/servers:placement=parts,parts=2,parity=1"},
      {"raw", "raw/servers:placement=per_rank,parity=1"},
#if PENSTOCK_HAVE_MPI
      {"hdf5", "hdf5/mpiio:placement=parts,parts=2,parity=1"},
#endif
      {"hdf5", "hdf5/two_phase:placement=per_rank,split=group,parity=1"},
      {"netcdf", "netcdf/two_phase:placement=parts,parts=2,parity=1,io=mmap"},
      {"raw", "raw/two_phase:placement=parts,parts=3,parity=1,io=direct"},
      {"raw", "raw/two_phase:parity=1,durability=none,checksums=none"},
  };
  for (const auto& [format, plan] : ways) {
    about(plan);
    const std::string path = path_of(world, format);
    const Status status = write(world, path, plan, 1);
    if (status.code() == Code::unsupported) {
      say(fmt::format("skipped: {}: {}", plan, status.message()));
      continue;
    }
    if (!CHECK_OK(status, "write")) continue;
    const Files before = read_all(world.folder());
    for (const std::string& name : set_files(world)) {
      alone(world, [&] { fs::remove(world.folder() + "/" + name); });
      const auto repaired = File::repair(world.comm(), path);
      if (CHECK_OK(repaired.status(), "repair")) CHECK(repaired->rebuilt.ends_with(name), "what was rebuilt");
    }
    CHECK(read_all(world.folder()) == before, "all files are as they were");
    remove_all(world);
  }
}

int64_t parity_files(World& world) {
  const auto names = set_files(world);
  return std::ranges::count_if(names, [](const std::string& name) { return name.ends_with(".parity"); });
}

// Parity is that of the latest commit, and goes with its generation.
void changes(World& world) {
  for (const std::string format : {"hdf5", "raw"}) {
    const std::string plan = format + "/two_phase:placement=parts,parts=3,parity=1", path = path_of(world, format);
    about(plan + " changed");
    for (const uint64_t seed : {1, 2, 3, 4}) CHECK_OK(write(world, path, plan, seed), "write");
    CHECK(parity_files(world) == 2, "of this generation and of the one before");
    {
      auto file = File::reopen(world.comm(), path, format + "/two_phase:placement=parts,parts=3");
      if (!CHECK_OK(file.status(), "reopen")) return;
      CHECK_OK(put(*file, "added", f64, rows(world), 5), "put");
      CHECK_OK(file->commit(), "commit");
      CHECK_OK(put(*file, "small", i32, replicated({7}), 6), "put");
      CHECK_OK(file->close(), "close");
    }
    check_good(world, path);
    CHECK(parity_files(world) == 2, "a set that has parity keeps it");
    auto names = set_files(world);
    std::erase_if(names, [](const std::string& name) { return name.ends_with(".parity"); });
    for (const std::string& name : names) alone(world, [&] { flip(world.folder() + "/" + name, 100); });
    CHECK(File::repair(world.comm(), path).status().code() == Code::damaged, "all are damaged");
    for (const std::string& name : names) alone(world, [&] { flip(world.folder() + "/" + name, 100); });
    const Files before = read_all(world.folder());
    alone(world, [&] { fs::remove(world.folder() + "/" + names.back()); });
    (void)File::repair(world.comm(), path);
    alone(world, [&] { fs::remove(world.folder() + "/" + names.front()); });
    (void)File::repair(world.comm(), path);
    CHECK_OK(world.comm()->barrier(), "barrier");
    const Files after = read_all(world.folder());
    for (const auto& [name, bytes] : after) CHECK(before.at(name) == bytes, name);
    const auto found = verified(world, path);
    if (CHECK_OK(found.status(), "verify")) CHECK_OK(found->verdict(path), "all is as it was committed");
    CHECK_OK(write(world, path, format + "/two_phase:placement=parts,parts=3", 7), "write without parity");
    CHECK_OK(write(world, path, format + "/two_phase:placement=parts,parts=3", 8), "and again");
    CHECK(parity_files(world) == 0, "it went with its set");
    remove_all(world);
  }
}

// A set of one file, whose ranks know less of it than rank 0 until they read it again.
void changes_of_one_part(World& world) {
  for (const std::string placement : {"", "placement=rank_order,"}) {
    const std::string path = path_of(world, "raw"), plan = fmt::format("raw/two_phase:{}parity=1", placement);
    about(plan + " changed twice");
    CHECK_OK(write(world, path, plan, 1), "write");
    auto file = File::reopen(world.comm(), path + ".json");
    if (!CHECK_OK(file.status(), "reopen")) return;
    for (const uint64_t seed : {2, 3}) {
      CHECK_OK(put(*file, "fluid/rho", f64, rows(world), seed), "put");
      CHECK_OK(put(*file, "small", i32, replicated({7}), seed), "put");
      CHECK_OK(file->commit(), "commit");
    }
    CHECK_OK(file->close(), "close");
    CHECK_OK(world.comm()->barrier(), "barrier");
    CHECK(parity_files(world) == 2, "of the last commit and of the one before");
    check_good(world, path + ".json");
    remove_all(world);
  }
}

void without(World& world) {
  const std::string path = world.folder() + "/set.h5";
  about("without parity");
  CHECK_OK(write(world, path, "hdf5/two_phase:placement=parts,parts=2", 1), "write");
  auto repaired = File::repair(world.comm(), path);
  if (CHECK_OK(repaired.status(), "all is there")) CHECK(repaired->rebuilt.empty(), "nothing was rebuilt");
  const auto names = set_files(world);
  alone(world, [&] { fs::remove(world.folder() + "/" + names[0]); });
  repaired = File::repair(world.comm(), path);
  CHECK(repaired.status().code() == Code::not_found, repaired.status().message());
  CHECK(repaired.status().message().find("no parity") != std::string::npos, repaired.status().message());
  CHECK(repaired.status().message().find("'fluid/rho': (") != std::string::npos, repaired.status().message());
  check_alike(world, repaired.status());
  remove_all(world);

  about("of a single file");
  for (const char* single : {"hdf5/two_phase:parity=1", "netcdf/independent:parity=1"}) {
    const Status status = File::create(world.comm(), path, single).status();
    CHECK(status.code() == Code::unsupported, status.message());
    CHECK(status.message().find("placement=parts") != std::string::npos, status.message());
  }
  CHECK(File::repair(world.comm(), path).status().code() == Code::not_found, "there is no such file");
  remove_all(world);
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  every_set(world);
  other_ways(world);
  changes(world);
  changes_of_one_part(world);
  without(world);
  return world.finish("parity");
}
