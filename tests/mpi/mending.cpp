// mending: what repair, seal and a set that is changed refuse to touch, and what they leave as it was.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "tests/mpi/sets.hpp"

namespace penstock::test {
namespace {

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
  CHECK(status.code() == Code::damaged && status.message().find("penstock verify --repair") != std::string::npos,
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

// The header of a part, which penstock itself never reads.
void headers_of_parts(World& world) {
  for (const std::string format : {"hdf5", "netcdf"})
    for (const char* placement : {"parts,parts=2", "per_rank"}) {
      const std::string path = path_of(world, format),
                        plan = fmt::format("{}/two_phase:placement={}", format, placement);
      about("the header of a part, " + plan);
      CHECK_OK(write(world, path, plan, 1), "write");
      check_good(world, path);
      const std::string part = world.folder() + "/" + set_files(world)[0];
      const std::string master = fs::exists(path) ? path : path + ".json";
      const auto turn = [&](bool on_purpose) {
        alone(world, [&] {
          const auto before = fs::last_write_time(part);
          flip(part, 5);
          if (on_purpose)
            fs::last_write_time(master, fs::last_write_time(part) - std::chrono::seconds(1));
          else
            fs::last_write_time(part, before);
        });
      };
      turn(false);
      const auto found = verified(world, path);
      if (CHECK_OK(found.status(), "verify")) {
        CHECK(found->files.size() == 1 && found->files[0].find("its header") != std::string::npos, "verify names it");
        CHECK(found->damages.empty() && !found->rebuildable && found->not_meant.size() == 1, "nothing else is wrong");
        CHECK(found->verdict(path).code() == Code::damaged, "verdict");
      }
      CHECK(File::seal(world.comm(), master).status().code() == Code::damaged, "it rotted");
      turn(false);
      check_good(world, path);
      turn(true);
      CHECK_OK(File::seal(world.comm(), master).status(), "it was changed on purpose");
      check_good(world, path);
      remove_all(world);
    }
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
  strangers(world);
  links(world);
  environment(world);
  rot_is_not_copied(world);
  seal_judges(world);
  few_descriptors(world);
  permissions(world);
  whole_files(world);
  headers_of_parts(world);
  parts_are_synced(world);
  return world.finish("mending");
}
