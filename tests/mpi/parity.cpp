// parity: any one file of a set that is lost or damaged is rebuilt bit for bit, in every format and placement; two are not, and it
// is said what is lost.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <penstock/config.h>
#include <penstock/file.hpp>

#include "tests/harness/slice.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {
namespace {

namespace fs = std::filesystem;
const ElementType f64{Kind::f64}, i32{Kind::i32};
using Files = std::map<std::string, std::string>;  // bytes of each file by its name

Files read_all(const std::string& folder) {
  Files files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().filename()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

// Rank 0 does WORK between two barriers.
template <typename Work>
void alone(World& world, Work work) {
  CHECK_OK(world.comm()->barrier(), "barrier");
  if (world.rank() == 0) work();
  CHECK_OK(world.comm()->barrier(), "barrier");
}

void remove_all(World& world) {
  alone(world, [&] {
    for (const auto& entry : fs::directory_iterator(world.folder())) fs::remove_all(entry.path());
  });
}

Status put(File& file, std::string_view name, const ElementType& type, const Slice& slice, uint64_t seed) {
  const auto memory = filled(slice, type, seed);
  return file.put(name, type, slice.part, memory.data(), slice.memory);
}

// Ranks have different amounts, the second nothing at all, and nothing is a multiple of anything.
int64_t rows_of(int rank) { return rank == 1 ? 0 : 50 + 31 * rank; }
int64_t rows_before(int rank) { return rank == 0 ? 0 : rows_before(rank - 1) + rows_of(rank - 1); }

Slice rows(const World& world) {
  const int64_t columns = 97;
  return block({rows_before(world.size()), columns},
               {{rows_before(world.rank()), 0}, {rows_of(world.rank()), columns}});
}

Status write(World& world, const std::string& path, const std::string& plan, uint64_t seed) {
  auto file = File::create(world.comm(), path, plan);
  if (!file) return file.status();
  CHECK_OK(put(*file, "fluid/rho", f64, rows(world), seed), "put");
  if (world.rank() == 0) CHECK_OK(put(*file, "small", i32, block({7}, {{0}, {7}}), seed + 1), "put");
  return file->close();
}

void check_alike(World& world, const Status& status) {
  auto hash = static_cast<int64_t>(std::hash<std::string>()(status.message()) >> 1);
  int64_t least = hash, most = hash;
  CHECK_OK(world.comm()->all_reduce_min(std::span(&least, 1)), "reduce");
  CHECK_OK(world.comm()->all_reduce_max(std::span(&most, 1)), "reduce");
  CHECK(least == most, "ranks have different errors: " + status.message());
}

Result<Verification> verified(World& world, const std::string& path) {
  auto file = File::open(world.comm(), path);
  if (!file) return file.status();
  auto found = file->verify();
  CHECK_OK(file->close(), "close");
  return found;
}

void check_good(World& world, const std::string& path) {
  const auto found = verified(world, path);
  if (!CHECK_OK(found.status(), "verify")) return;
  CHECK_OK(found->verdict(path), "all is as it was committed");
  CHECK(!found->modified, "nobody wrote to it since");
}

// The files of the set but for its master, which rank 0 names to all.
std::vector<std::string> set_files(World& world) {
  std::vector<std::byte> message;
  if (world.rank() == 0) {
    std::string names;
    for (const auto& entry : fs::directory_iterator(world.folder()))
      if (entry.path().filename().string().find(".g") != std::string::npos)
        names += entry.path().filename().string() + "/";
    const auto bytes = std::as_bytes(std::span(names));
    message.assign(bytes.begin(), bytes.end());
  }
  CHECK_OK(world.comm()->broadcast(message, 0), "broadcast");
  std::vector<std::string> names(1);
  for (const std::byte b : message) {
    if (static_cast<char>(b) == '/')
      names.emplace_back();
    else
      names.back() += static_cast<char>(b);
  }
  names.pop_back();
  std::ranges::sort(names, {}, [](const std::string& name) { return std::pair(name.ends_with(".parity"), name); });
  return names;
}

struct Harm {
  const char* name;
  void (*inflict)(const fs::path& path);
};

void flip(const fs::path& path, int64_t at) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 4));
}

const Harm harms[] = {
    {"deleted", [](const fs::path& path) { fs::remove(path); }},
    {"its first byte flipped", [](const fs::path& path) { flip(path, 0); }},
    {"a byte in its middle flipped",
     [](const fs::path& path) { flip(path, static_cast<int64_t>(fs::file_size(path)) / 2); }},
    {"its last byte flipped", [](const fs::path& path) { flip(path, static_cast<int64_t>(fs::file_size(path)) - 1); }},
    {"cut", [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 3); }},
    {"longer", [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) + 1); }},
};

void harm_and_repair(World& world, const std::string& path, const std::string& plan) {
  const std::vector<std::string> names = set_files(world);
  const Files before = read_all(world.folder());
  for (const std::string& name : names)
    for (const Harm& harm : harms) {
      about(fmt::format("{}: {} {}", plan, name, harm.name));
      alone(world, [&] { harm.inflict(world.folder() + "/" + name); });
      auto found = verified(world, path);
      if (found.ok()) {
        CHECK(found->files.size() == 1 && found->files[0].find(name) != std::string::npos, "verify names it");
        CHECK(found->verdict(path).code() == Code::damaged, "a verdict");
      } else {
        CHECK(found.status().message().find("it can be rebuilt: 'penstock repair") != std::string::npos,
              found.status().message());
      }
      const auto repaired = File::repair(world.comm(), path);
      if (CHECK_OK(repaired.status(), "repair"))
        CHECK(repaired->rebuilt.ends_with(name) && repaired->files == std::ssize(names), "what was rebuilt");
      CHECK_OK(world.comm()->barrier(), "barrier");
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

std::string path_of(World& world, const std::string& format) {
  return world.folder() + (format == "hdf5" ? "/set.h5" : format == "netcdf" ? "/set.nc" : "/set.raw");
}

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

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
}

// An index that lies makes repair touch no file that is none of the set.
void strangers(World& world) {
  const std::string path = path_of(world, "raw"), index = path + ".json", thesis = world.folder() + "/thesis.tex";
  about("a part called thesis.tex");
  CHECK_OK(write(world, path, "raw/two_phase:placement=parts,parts=3,parity=1", 1), "write");
  const std::string part = set_files(world)[1];
  alone(world, [&] {
    std::string text = text_of(index);
    text.replace(text.find(part), part.size(), "thesis.tex");
    write_text(index, text);
    write_text(thesis, "years of work");
  });
  const Status status = File::repair(world.comm(), index).status();
  CHECK(status.code() == Code::denied && status.message().find("thesis.tex") != std::string::npos, status.message());
  check_alike(world, status);
  CHECK(text_of(thesis) == "years of work", "it was overwritten");
  alone(world, [&] { fs::remove(thesis); });
  CHECK_OK(File::repair(world.comm(), index).status(), "nothing is in the way");
  CHECK_OK(world.comm()->barrier(), "barrier");
  CHECK(text_of(thesis) == text_of(world.folder() + "/" + part), "what was rebuilt");
  remove_all(world);
}

// A link out of the folder is no part, whatever it leads to; nor is the file at its end written to.
void links(World& world) {
  const std::string path = path_of(world, "raw"), outside = world.folder() + ".outside";
  about("the parity file is a link out of the folder");
  CHECK_OK(write(world, path, "raw/two_phase:placement=parts,parts=3,parity=1", 1), "write");
  const std::string parity = world.folder() + "/" + set_files(world).back();
  alone(world, [&] {
    fs::rename(parity, outside);
    fs::create_symlink("../" + fs::path(outside).filename().string(), parity);
  });
  const auto found = verified(world, path);
  if (CHECK_OK(found.status(), "verify"))
    CHECK(found->files.size() == 1 && found->files[0].find("is a link") != std::string::npos, "verify names the link");
  CHECK_OK(File::repair(world.comm(), path + ".json").status(), "repair");
  alone(world, [&] {
    CHECK(!fs::is_symlink(parity) && text_of(parity) == text_of(outside), "a file takes its place");
    fs::remove(outside);
  });
  remove_all(world);
}

// What a user sets for programs is not for those who mend files.
void environment(World& world) {
  for (const char* plan : {"hdf5/independent", "phdf5"}) {
    about(fmt::format("PENSTOCK_PLAN={}", plan));
    const std::string path = path_of(world, "hdf5");
    CHECK_OK(write(world, path, "hdf5/two_phase:placement=parts,parts=3,parity=1", 1), "write");
    const std::string part = world.folder() + "/" + set_files(world)[0];
    ::setenv("PENSTOCK_PLAN", plan, 1);
    alone(world, [&] { fs::remove(part); });
    const auto repaired = File::repair(world.comm(), path);
    if (CHECK_OK(repaired.status(), "repair")) CHECK(repaired->rebuilt == fs::canonical(part), repaired->rebuilt);
    alone(world, [&] {
      flip(part, static_cast<int64_t>(fs::file_size(part)) - 1);
      fs::last_write_time(path, fs::last_write_time(part) - std::chrono::seconds(1));
    });
    const auto sealed = File::seal(world.comm(), path);
    if (CHECK_OK(sealed.status(), "seal")) CHECK(sealed->renewed, "it was sealed");
    ::unsetenv("PENSTOCK_PLAN");
    check_good(world, path);
    remove_all(world);
  }
}

// What is kept when a set is changed is not taken from a file that rotted.
void rot_is_not_copied(World& world) {
  const std::string path = path_of(world, "hdf5"), plan = "hdf5/two_phase:placement=parts,parts=3,parity=1";
  about("a set that rotted is changed");
  CHECK_OK(write(world, path, plan, 1), "write");
  const std::string part = world.folder() + "/" + set_files(world)[1];
  alone(world, [&] { flip(part, static_cast<int64_t>(fs::file_size(part)) - 1); });
  const Files before = read_all(world.folder());
  const auto change = [&]() -> Status {
    auto file = File::reopen(world.comm(), path, plan);
    if (!file) return file.status();
    CHECK_OK(put(*file, "added", f64, rows(world), 5), "put");
    return file->close();
  };
  const Status status = change();
  CHECK(status.code() == Code::damaged && status.message().find("penstock repair") != std::string::npos,
        status.message());
  check_alike(world, status);
  CHECK_OK(world.comm()->barrier(), "barrier");
  CHECK(read_all(world.folder()) == before, "nothing was touched");
  CHECK_OK(File::repair(world.comm(), path).status(), "repair");
  CHECK_OK(change(), "what was repaired can be changed");
  check_good(world, path);
  remove_all(world);
}

// Each file of a set is judged by its own time: what another tool did to one does not excuse what happened to the next.
void seal_judges(World& world) {
  for (const char* parity : {"0", "1"}) {
    const std::string path = path_of(world, "raw"), index = path + ".json";
    about(fmt::format("seal with parity={}", parity));
    const auto again = [&] {
      remove_all(world);
      CHECK_OK(write(world, path, fmt::format("raw/two_phase:placement=parts,parts=3,parity={}", parity), 1), "write");
    };
    const auto change = [&](size_t file, bool on_purpose) {
      const fs::path part = world.folder() + "/" + set_files(world)[file];
      alone(world, [&] {
        flip(part, static_cast<int64_t>(fs::file_size(part)) / 2);
        fs::last_write_time(part, fs::last_write_time(index) + std::chrono::seconds(on_purpose ? 1 : -1));
      });
    };
    const auto seal = [&](bool force = false) {
      const Status status = File::seal(world.comm(), index, force).status();
      check_alike(world, status);
      return status;
    };
    again();
    change(0, true);
    CHECK_OK(seal(), "one was changed on purpose");
    again();
    change(0, true);
    change(1, false);
    if (*parity == '1') CHECK(seal().code() == Code::damaged, "the other one rotted");  // else a block is of both
    CHECK_OK(seal(true), "by force");
    again();
    change(1, false);
    alone(world, [&] { write_text(index, text_of(index) + " "); });
    CHECK(seal().code() == Code::damaged, "an edit of the index is none of a part");
    again();
    alone(world, [&] {
      std::string text = text_of(index);
      text.insert(text.find('{') + 1, " ");
      write_text(index, text);
    });
    CHECK_OK(seal(), "an edit of the index alone");
    if (*parity == '0') continue;
    again();
    alone(world, [&] {
      std::string text = text_of(index);
      text.replace(text.find("<f8"), 3, ">f8");
      write_text(index, text);
    });
    const Status status = seal();
    CHECK(status.message().find("the index itself is at fault") != std::string::npos, status.message());
  }
  remove_all(world);
}

// More parts than a process may have open.
void few_descriptors(World& world) {
  const std::string path = path_of(world, "raw");
  about("400 parts");
  {
    auto file = File::create(world.comm(), path, "raw/independent:placement=parts,parts=400,parity=1");
    if (!CHECK_OK(file.status(), "create")) return;
    CHECK_OK(put(*file, "many", i32, replicated({2000}), 1), "put");
    CHECK_OK(file->close(), "close");
  }
  const auto names = set_files(world);
  CHECK(names.size() == 401, fmt::format("{} parts and parity", names.size()));
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const auto open_now = std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(open_now) + 160;  // a file that is read takes two
  alone(world, [&] { fs::remove(world.folder() + "/" + names[0]); });
  ::setrlimit(RLIMIT_NOFILE, &few);
  const auto repaired = File::repair(world.comm(), path + ".json");
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK_OK(repaired.status(), "repair");
  check_good(world, path);
  remove_all(world);
}

// A file that is made again may be read by whom the set may, and no others.
void permissions(World& world) {
  const std::string path = path_of(world, "hdf5");
  about("permissions");
  CHECK_OK(write(world, path, "hdf5/two_phase:placement=parts,parts=2,parity=1", 1), "write");
  const auto owner = fs::perms::owner_read | fs::perms::owner_write;
  const std::string part = world.folder() + "/" + set_files(world)[0];
  alone(world, [&] {
    for (const auto& entry : fs::directory_iterator(world.folder())) fs::permissions(entry.path(), owner);
    fs::remove(part);
  });
  CHECK_OK(File::repair(world.comm(), path).status(), "repair");
  CHECK(fs::status(part).permissions() == owner, "of the rebuilt part");
  CHECK_OK(world.comm()->barrier(), "barrier");
  alone(world, [&] {
    flip(part, static_cast<int64_t>(fs::file_size(part)) - 1);
    fs::last_write_time(path, fs::last_write_time(part) - std::chrono::seconds(1));
  });
  CHECK_OK(File::seal(world.comm(), path).status(), "seal");
  for (const auto& entry : fs::directory_iterator(world.folder()))
    CHECK(entry.status().permissions() == owner, "of the sealed set: " + entry.path().string());
  remove_all(world);
  CHECK_OK(write(world, path, "hdf5/two_phase", 1), "write");
  alone(world, [&] {
    fs::permissions(path, owner);
    flip(path, static_cast<int64_t>(fs::file_size(path)) - 1);
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  });
  CHECK_OK(File::seal(world.comm(), path).status(), "seal a file");
  CHECK(fs::status(path).permissions() == owner, "of the sealed file");
  remove_all(world);
}

// Without checksums of data, the whole files are what is compared, and can be sealed.
void whole_files(World& world) {
  const std::string path = path_of(world, "raw");
  about("checksums=none");
  CHECK_OK(write(world, path, "raw/two_phase:placement=parts,parts=2,parity=1,checksums=none", 1), "write");
  check_good(world, path);
  const std::string part = world.folder() + "/" + set_files(world)[0];
  alone(world, [&] {
    flip(part, 5);
    fs::last_write_time(path + ".json", fs::last_write_time(part) - std::chrono::seconds(1));
  });
  const auto found = verified(world, path);
  if (CHECK_OK(found.status(), "verify")) CHECK(found->files.size() == 1 && found->committed_at > 0, "verify names it");
  const auto sealed = File::seal(world.comm(), path + ".json");
  if (CHECK_OK(sealed.status(), "seal")) CHECK(sealed->renewed, "it was sealed");
  check_good(world, path);
  remove_all(world);
}

std::set<std::string> synced;  // by this rank

// What new sums are of survives a power loss at least as long as they do.
void parts_are_synced(World& world) {
  const std::string path = path_of(world, "raw");
  about("sealed parts are synced");
  CHECK_OK(write(world, path, "raw/two_phase:placement=parts,parts=2", 1), "write");
  const auto names = set_files(world);
  alone(world, [&] {
    for (const std::string& name : names) flip(world.folder() + "/" + name, 5);
    fs::last_write_time(path + ".json", fs::last_write_time(world.folder() + "/" + names[0]) - std::chrono::seconds(1));
  });
  synced.clear();
  CHECK_OK(File::seal(world.comm(), path + ".json").status(), "seal");
  for (const std::string& name : names) {
    int64_t here = static_cast<int64_t>(synced.count(name));
    CHECK_OK(world.comm()->all_reduce_max(std::span(&here, 1)), "reduce");
    CHECK(here == 1, name + " was not synced");
  }
  remove_all(world);
}

}  // namespace
}  // namespace penstock::test

// In the place of the C library's, for the files that this program has open.
extern "C" int fdatasync(int fd) {
  const auto path = std::filesystem::path(fmt::format("/proc/self/fd/{}", fd));
  penstock::test::synced.insert(std::filesystem::read_symlink(path).filename());
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  every_set(world);
  other_ways(world);
  changes(world);
  changes_of_one_part(world);
  without(world);
  strangers(world);
  links(world);
  environment(world);
  rot_is_not_copied(world);
  seal_judges(world);
  few_descriptors(world);
  permissions(world);
  whole_files(world);
  parts_are_synced(world);
  return world.finish("parity");
}
