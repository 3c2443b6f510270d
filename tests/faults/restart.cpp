// restart: kills a program, or fails one of its calls, at each call of a rotation of restart files. Which are there
// then?
//
//   restart --pages PREFIX --plan P --extension E [--most N] [--links no] [--clean COMMAND]
//
// without MPI, each case in a process of its own. Three are kept: 4, 3 and 2 before, 5, 4 and 3 afterwards.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "tests/faults/case.hpp"
#include "tests/faults/place.hpp"
#include "tests/harness/world.hpp"

namespace {
bool links_refused = false;
}

// As on a file system without links; else on its way to the preloaded library.
extern "C" int link(const char* from, const char* to) {
  if (links_refused) {
    errno = EPERM;
    return -1;
  }
  static const auto next = reinterpret_cast<int (*)(const char*, const char*)>(::dlsym(RTLD_NEXT, "link"));
  return next(from, to);
}

namespace penstock::test {
namespace {

namespace fs = std::filesystem;
constexpr int limit_seconds = 60, kept = 3;
constexpr int64_t values = 3000;
const ElementType f64{Kind::f64};

class Rotation {
 public:
  Rotation(std::string plan, std::string extension) : plan_(std::move(plan)), extension_(std::move(extension)) {}

  Status write(const std::string& folder, int version) const {
    PENSTOCK_ASSIGN(File file, File::create(serial_communicator(), folder + "/new" + extension_, plan_));
    const std::vector<double> data(values, version);
    PENSTOCK_ASSIGN(const auto part, Decomposition::replicated({values}));
    (void)file.put("data", f64, part, data.data());
    return file.close_restart(folder + "/restart#" + extension_, kept);
  }

  // Version by index; -1 of a file that is not whole. What is absent is not listed.
  std::map<int, int> find(const std::string& folder) const {
    std::map<int, int> found;
    for (int index = 0; index <= kept + 1; ++index) {
      std::string path = fmt::format("{}/restart{}{}", folder, index, extension_);
      if (!fs::exists(path) && fs::exists(path + ".json")) path += ".json";
      if (!fs::exists(path)) continue;
      found[index] = version_in(path);
      if (found[index] < 0) std::fprintf(stderr, "'%s' is not whole\n", path.c_str());
    }
    return found;
  }

 private:
  static int version_in(const std::string& path) {
    auto file = File::open(serial_communicator(), path, "independent:verify=always");
    if (!file.ok()) return -1;
    std::vector<double> data(values, -1);
    const auto part = Decomposition::replicated({values});
    if (!part.ok() || !file->get("data", f64, *part, data.data()).ok() || !file->close().ok()) return -1;
    for (const double value : data)
      if (value != data[0]) return -1;
    return static_cast<int>(data[0]);
  }

  std::string plan_, extension_;
};

bool holds(const std::map<int, int>& found, std::initializer_list<int> versions) {
  for (const int version : versions)
    if (std::none_of(found.begin(), found.end(), [&](const auto& one) { return one.second == version; })) return false;
  return true;
}

std::string words(const std::map<int, int>& found) {
  std::string text;
  for (const auto& [index, version] : found) text += fmt::format(" {}:{}", index, version);
  return text;
}

// "" where all is well after a case that ended with DONE; success is known to be where the process survived.
std::string wrong(const std::map<int, int>& found, bool survived, bool done) {
  for (const auto& [index, version] : found)
    if (version < 0) return "a restart file is damaged";
  const bool zero = found.contains(0);
  if (!zero && !links_refused) return "index 0 is missing";
  const int newest = zero ? found.at(0) : found.contains(1) ? found.at(1) : 0;
  if (newest != 4 && newest != 5) return "index 0 is neither old nor new";
  if (survived && (newest == 5) != done) return done ? "success, and the old one" : "an error, and the new one";
  if (newest == 4 ? !holds(found, {4, 3, 2}) : !holds(found, {5, 4, 3})) return "a finished file is lost";
  return "";
}

// The next rotation makes order again.
std::string wrong_afterwards(const std::map<int, int>& before, const std::map<int, int>& after) {
  const bool was_new = holds(before, {5});
  const std::map<int, int> meant{{0, 6}, {1, was_new ? 5 : 4}, {2, was_new ? 4 : 3}};
  return after == meant ? "" : "the next rotation does not put it in order";
}

int run(const Options& options) {
  const Rotation rotation(options.text("plan"), options.text("extension"));
  links_refused = options.text("links") == "no";
  const std::string work = fs::absolute(fmt::format("restart-faults-{}", ::getpid()));
  const std::string base = work + "/base", clean = options.text("clean");
  fs::create_directories(base);
  if (!clean.empty() && std::system(fmt::format("{} --dry-run '{}' > /dev/null", clean, base).c_str()) != 0) {
    fs::remove_all(work);
    fmt::print("skipped: '{}' does not run here; it needs a Python with h5py (tools/requirements-test.txt)\n", clean);
    return skipped;
  }
  Pages pages(options.text("pages"), 1);
  Status status;
  for (int version = 1; version <= 4; ++version) {
    (void)in_child(limit_seconds, [&] { return rotation.write(base, version); }, status);
    if (!status.ok()) give_up(status.message());
  }
  const auto copy = [&](const std::string& name) {
    fs::copy(base, work + "/" + name, fs::copy_options::recursive);
    return work + "/" + name;
  };
  const std::string dry = copy("dry");
  pages.watch(dry);
  (void)in_child(limit_seconds, [&] { return rotation.write(dry, 5); }, status);
  pages.stop();
  if (!status.ok() || rotation.find(dry) != std::map<int, int>{{0, 5}, {1, 4}, {2, 3}})
    give_up("without faults:" + words(rotation.find(dry)) + " " + status.message());

  const auto list = cases(pages, 1, "kill_before,kill_after,eio_rename,eio_sync,eio_unlink,enospc,eio_open",
                          options.number("most", 0));
  int64_t defects = 0, kills = 0, olds = 0, news = 0;
  for (const Case& one : list) {
    const std::string folder = copy("case");
    pages.watch(folder);
    pages.order(0, *one.fault, one.at);
    const Ended ended = in_child(limit_seconds, [&] { return rotation.write(folder, 5); }, status);
    pages.stop();
    const bool survived = ended.signal == 0 && !ended.hung;
    const auto found = rotation.find(folder);
    std::string why = ended.hung ? "it hung" : "";
    const bool told = survived && status.code() != Code::in_doubt;
    if (why.empty()) why = wrong(found, told, status.ok());
    std::map<int, int> after;
    if (why.empty() && !clean.empty() && one.fault->kills()) {
      if (std::system(fmt::format("{} '{}' > /dev/null", clean, folder).c_str()) != 0) why = "clean failed";
      if (rotation.find(folder) != found) why = "clean took something that is in use";
    }
    if (why.empty()) {
      Status next;
      (void)in_child(limit_seconds, [&] { return rotation.write(folder, 6); }, next);
      after = rotation.find(folder);
      why = next.ok() ? wrong_afterwards(found, after) : next.message();
    }
    kills += survived ? 0 : 1;
    (holds(found, {5}) ? news : olds) += 1;
    if (!why.empty() && ++defects <= 20)
      fmt::print("{} at {} ({}): {};{} then{}; {}\n", one.fault->name, one.at, call_name(pages.of(0).struck_call), why,
                 words(found), words(after), status.message());
    fs::remove_all(folder);
  }
  fs::remove_all(work);
  fmt::print("{}: {} cases, {} kills, {} times the old one, {} times the new one, {} defects\n", options.text("plan"),
             list.size(), kills, olds, news, defects);
  return defects == 0 && kills > (options.number("most", 0) > 0 ? 4 : 20) && olds > 0 && news > 0 ? 0 : 1;
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  std::vector<char*> words{argv[0], argv[0]};  // Options begin at the third word
  words.insert(words.end(), argv + 1, argv + argc);
  return penstock::test::run(penstock::test::Options(static_cast<int>(words.size()), words.data()));
}
