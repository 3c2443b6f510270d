// conformance: every method writes every workload, and every reader finds each element again, with one digest for all
// methods.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "tests/conformance/cases.hpp"

namespace penstock::test {

namespace {

struct Options {
  std::string only, plan, write, read, engine;
  bool together = false;    // no workload alone: all of them in one file, and growth
  bool quick = false;       // methods with all parameters at their fallbacks only
  bool background = false;  // commits in the background only
};

// One workload's content, or all of them, by one method; digests of all methods must be equal.
struct Tally {
  int cases = 0, refused = 0;
  std::map<std::string, uint64_t, std::less<>> digests;
};

// True where the case ran; a refusal is counted where the method may refuse.
bool accepted(const Status& status, const Method& method, Tally& tally) {
  ++tally.cases;
  if (status.code() != Code::unsupported || !method.may_refuse) return CHECK_OK(status, "write");
  ++tally.refused;
  say(fmt::format("refused: {}: {}", method.plan, status.message()));
  return false;
}

void run(World& world, const Method& method, std::string_view name, const Content& content, Tally& tally,
         bool background = false) {
  const std::string path = world.folder() + "/" + std::string(name) + method.extension;
  about(fmt::format("{} by {}{}", name, method.plan, background ? " in the background" : ""));
  if (accepted(write_content(world, path, method.plan, content, background), method, tally)) {
    const uint64_t digest = read_content(world, path, method.reading, content, tally.cases, summed(method));
    const std::string what = std::string(name) + (method.small_chunks ? " in small chunks" : "");
    const auto first = tally.digests.try_emplace(what, digest).first;
    if (world.rank() == 0) CHECK(first->second == digest, "the digest differs from the first method's");
    if (!method.second.empty()) {
      about(fmt::format("{} by {}, read by {}", name, method.plan, method.second));
      const uint64_t again = read_content(world, path, method.second, content, tally.cases + 1, summed(method));
      if (world.rank() == 0) CHECK(again == digest, "the digest differs from the first reader's");
    }
  }
  sweep(world, world.folder());
}

bool is_chosen(const Method& method, const Options& options) {
  return method.plan.find(options.plan) != std::string::npos &&
         (options.engine.empty() || method.engine == options.engine);
}

void run_all(World& world, const Options& options) {
  Tally tally;
  for (const Method& method : methods()) {
    if (!is_chosen(method, options) || method.engine != options.engine) continue;
    if (options.quick && !method.base) continue;
    for (const Workload& workload : workloads(method.small_chunks))
      if (!options.background && method.base &&
          (options.only.empty() ? !options.together : workload.name == options.only))
        run(world, method, workload.name, workload.make(world.rank(), world.size()), tally);
    if (options.only.empty() || options.only == "everything")
      for (const bool background : {false, true})
        if (background ? method.base : !options.background)
          run(world, method, "everything", everything(world.rank(), world.size(), method.small_chunks), tally,
              background);
    if (!options.background && method.base && !method.changing.empty() &&
        (options.only.empty() || options.only == "grow")) {
      about("grow by " + method.plan);
      ++tally.cases;
      CHECK_OK(grow(world, world.folder() + "/grow" + method.extension, method), "grow");
      sweep(world, world.folder());
    }
  }
  CHECK(tally.cases > 0, "nothing was run: no method or workload has that name");
  say(fmt::format("{} cases, {} refused by this file system", tally.cases, tally.refused));
}

std::string path_of(const std::string& folder, const Method& method) {
  std::string file = method.plan + method.extension;
  for (char& c : file)
    if (c == '/' || c == ':' || c == '=' || c == ',') c = '-';
  return folder + "/" + file;
}

// One file of everything by each base method that was chosen, for readers on other numbers of ranks.
void write_files(World& world, const Options& options) {
  const std::string& folder = options.write;
  int files = 0;
  if (world.rank() == 0) std::filesystem::remove_all(folder), std::filesystem::create_directories(folder);
  CHECK_OK(world.comm()->barrier(), "barrier");
  const int64_t size = world.size();
  for (const Method& method : methods()) {
    if (!method.base || !is_chosen(method, options)) continue;
    ++files;
    Content content = everything(world.rank(), world.size(), method.small_chunks);
    content.attributes.push_back({"/", make_attribute("ranks", {Kind::i64}, &size, -1)});
    about("writing by " + method.plan);
    CHECK_OK(write_content(world, path_of(folder, method), method.plan, content), "write");
  }
  CHECK(files > 0, "nothing was written: no method has that name");
}

void read_files(World& world, const Options& options) {
  const std::string& folder = options.read;
  int files = 0;
  int turn = world.size();
  for (const Method& method : methods()) {
    if (!method.base || !is_chosen(method, options)) continue;
    ++files;
    about("reading what was written by " + method.plan);
    int64_t ranks = 1;
    {
      auto file = File::open(world.comm(), path_of(folder, method));
      if (!CHECK_OK(file.status(), "open")) continue;
      const auto attribute = file->attribute("/", "ranks");
      if (CHECK_OK(attribute.status(), "attribute ranks")) std::memcpy(&ranks, attribute->value.data(), sizeof ranks);
      CHECK_OK(file->close(), "close");
    }
    // What is in the file depends on how many ranks wrote it; who reads what, on how many read.
    const Content content = everything(0, static_cast<int>(ranks), method.small_chunks);
    (void)read_content(world, path_of(folder, method), method.reading, content, ++turn, summed(method));
    if (!method.second.empty())
      (void)read_content(world, path_of(folder, method), method.second, content, turn, summed(method));
  }
  CHECK(files > 0, "nothing was read: no method has that name");
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--only")
      options.only = value();
    else if (word == "--plan")
      options.plan = value();
    else if (word == "--engine")
      options.engine = value();
    else if (word == "--write")
      options.write = value();
    else if (word == "--read")
      options.read = value();
    else if (word == "--quick")
      options.quick = true;
    else if (word == "--together")
      options.together = true;
    else if (word == "--background")
      options.background = true;
    else {
      std::fprintf(stderr,
                   "usage: conformance [--quick] [--together] [--background] [--engine NAME] [--plan PART]\n"
                   "                   [--only WORKLOAD|everything|grow] [--write DIR] [--read DIR]\n");
      std::exit(2);
    }
  }
  return options;
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  const Options options = parse(argc, argv);
  if (!options.write.empty())
    write_files(world, options);
  else if (!options.read.empty())
    read_files(world, options);
  else
    run_all(world, options);
  return world.finish("conformance");
}
