// torture: writes a checkpoint over another, and the preloaded library strikes at one of its file-system calls;
// torture.py runs it.
//
//   torture walk   --plan P --extension E --work DIR --pages PREFIX [--faults A,B] [--most N] [--scale N]
//                  without MPI: every case in a process of its own; --settle COMMAND runs it after each
//   torture errors the same on all ranks of a job, case after case, from --from N on; no faults that kill
//   torture space  --plan P --extension E --work DIR --limit COMMAND --levels N: on a disk nearly full (space.cpp)
//   torture write  --plan P --path FILE --version 1|2 [--pages PREFIX [--strike RANK,FAULT,AT [--command COMMAND]]]
//                  once, on all ranks of a job; without a strike it says how many calls each rank makes
//   torture order  --pages PREFIX --size RANKS --folder FOLDER --strike ...: the same for a program that is started
// then
//   torture check  --path FILE [--pages PREFIX --rank R]: which version is there, and how often and where page R struck
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/encode.hpp"
#include "tests/faults/case.hpp"
#include "tests/faults/place.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

namespace {

namespace fs = std::filesystem;
constexpr int limit_seconds = 60;

// After the write of one case: where the power was to be cut and never was, it is now.
void finish(Pages& pages, const Case& one, const std::string& folder, const Place& place) {
  pages.stop();
  if (one.fault->cuts_power() && pages.of(one.rank).struck == 0) {
    if (!cut_power(folder)) give_up("cutting the power of " + folder);
    pages.strike_at_end(one.rank);
  }
  place.settle();
}

int walk(const Options& options) {
  const Place place(options);
  const std::string plan = options.text("plan");
  const int64_t scale = options.number("scale", 1);
  Pages pages(options.text("pages"), 1);
  const auto write = [&](const std::string& folder, int version, Status& status) {
    return in_child(
        limit_seconds,
        [&] { return write_checkpoint(serial_communicator(), place.path_in(folder), plan, version, scale); }, status);
  };

  Status status;
  place.fresh_base();
  (void)write(place.base(), 1, status);
  if (!status.ok()) return refuse(status.message());
  place.fresh(0);
  pages.watch(place.folder(0));
  (void)write(place.folder(0), 2, status);
  pages.stop();
  const Finding dry = find_in_child(place.path_in(place.folder(0)));
  if (!status.ok() || dry.word != "new") return refuse(fmt::format("without faults: {} {}", status.message(), dry.why));
  const auto list = cases(pages, 1, options.text("faults"), options.number("most", 0));
  place.remove(0);

  size_t number = 0;
  for (const Case& one : list) {
    const auto n = static_cast<int64_t>(++number);
    After after;
    place.fresh(n);
    after.before = listing(place.folder(n));
    pages.watch(place.folder(n));
    pages.order(0, *one.fault, one.at);
    after.ended = write(place.folder(n), 2, status);
    finish(pages, one, place.folder(n), place);
    if (after.ended.signal == 0) after.statuses.push_back(status);
    after.found = find_in_child(place.path_in(place.folder(n)));
    after.after = listing(place.folder(n));
    report(number, one, pages.of(0), after);
    place.remove(n);
  }
  fmt::print("done\t{}\n", list.size());
  return 0;
}

// On rank 0, of all ranks.
std::vector<Status> gathered(const Communicator& comm, const Status& mine) {
  Encoder out;
  out.value(mine.code());
  out.text(mine.message());
  const auto bytes = out.take();
  const auto all = comm->gather(bytes, 0);
  std::vector<Status> list;
  if (!all.ok()) return list;
  for (const auto& one : *all) {
    Decoder in(one);
    const auto code = in.value<Code>();
    list.emplace_back(code, in.text());
  }
  return list;
}

}  // namespace

std::vector<Status> write_there(const World& world, const std::string& path, const Options& options) {
  if (!world.comm()->barrier().ok()) std::exit(1);
  const Status status = write_checkpoint(world.comm(), path, options.text("plan"), 2, options.number("scale", 1));
  return gathered(world.comm(), status);
}

namespace {

int errors(int argc, char** argv, const Options& options) {
  World world(&argc, &argv);
  const Communicator& comm = world.comm();
  const Place place(options);
  const bool root = world.rank() == 0;
  Pages pages(options.text("pages"), root ? world.size() : 0);

  if (root) place.fresh_base();
  (void)comm->barrier();
  const Status base =
      write_checkpoint(comm, place.path_in(place.base()), options.text("plan"), 1, options.number("scale", 1));
  if (!base.ok()) return root ? refuse(base.message()) : 0;
  if (root) {
    place.fresh(0);
    pages.watch(place.folder(0));
  }
  (void)write_there(world, place.path_in(place.folder(0)), options);
  std::vector<Case> list;
  if (root) {
    pages.stop();
    list = cases(pages, world.size(), options.text("faults"), options.number("most", 0));
    place.remove(0);
  }
  auto count = static_cast<int64_t>(list.size());
  if (!comm->all_reduce_max(std::span(&count, 1)).ok()) return 1;
  for (int64_t n = options.number("from", 1); n <= count; ++n) {
    After after;
    const std::string folder = place.folder(n), path = place.path_in(folder);
    if (root) {
      const Case& one = list[static_cast<size_t>(n - 1)];
      place.fresh(n);
      after.before = listing(folder);
      pages.watch(folder);
      pages.order(one.rank, *one.fault, one.at);
      fmt::print("begin\t{}\t{}\t{}\t{}\n", n, one.fault->name, one.rank, one.at);
      std::fflush(stdout);
    }
    after.statuses = write_there(world, path, options);
    if (!root) continue;
    finish(pages, list[static_cast<size_t>(n - 1)], folder, place);
    after.found = find_in_child(path);
    after.after = listing(folder);
    const Case& one = list[static_cast<size_t>(n - 1)];
    report(static_cast<size_t>(n), one, pages.of(one.rank), after);
    place.remove(n);
  }
  if (root) fmt::print("done\t{}\n", count);
  return 0;
}

// RANK,FAULT,AT
bool parse_strike(const std::string& text, Case& one) {
  const size_t first = text.find(','), second = text.rfind(',');
  if (first == std::string::npos || first == second) return false;
  one.rank = std::atoi(text.c_str());
  one.fault = find_fault(text.substr(first + 1, second - first - 1));
  one.at = std::atoll(text.c_str() + second + 1);
  return one.fault != nullptr;
}

int write(int argc, char** argv, const Options& options) {
  World world(&argc, &argv);
  const std::string path = options.text("path"), strike = options.text("strike");
  const bool root = world.rank() == 0, watched = !options.text("pages").empty();
  Case one{};
  if (!strike.empty() && (!parse_strike(strike, one) || one.rank >= world.size())) {
    if (root) std::fprintf(stderr, "torture: no such strike: %s\n", strike.c_str());
    return 2;
  }
  if (options.number("version", 2) == 1) {
    const Status status = write_checkpoint(world.comm(), path, options.text("plan"), 1, options.number("scale", 1));
    return status.ok() || !root ? 0 : refuse(status.message());
  }
  Pages pages(options.text("pages"), root && watched ? world.size() : 0);
  if (root && watched) {
    pages.watch(fs::path(path).parent_path());
    pages.set_command(options.text("command"));
    if (one.fault != nullptr) pages.order(one.rank, *one.fault, one.at);
  }
  const auto statuses = write_there(world, path, options);
  if (!root) return 0;
  pages.stop();
  for (int rank = 0; watched && rank < world.size(); ++rank)
    fmt::print("calls\t{}\t{}\n", rank, pages.points(rank, *find_fault("kill_before")));
  bool alike = true;
  for (const Status& status : statuses)
    alike = alike && status.code() == statuses[0].code() && status.message() == statuses[0].message();
  fmt::print("ended\t{}\t{}\t{}\n", name(statuses[0].code()), alike ? "alike" : "differ", statuses[0].message());
  return 0;
}

// For a program that is not this one.
int order(const Options& options) {
  Case one{};
  if (!parse_strike(options.text("strike"), one)) return 2;
  Pages pages(options.text("pages"), static_cast<int>(options.number("size", 1)));
  pages.watch(options.text("folder"));
  pages.set_command(options.text("command"));
  pages.order(one.rank, *one.fault, one.at);
  return 0;
}

int check(const Options& options) {
  const Finding found = find_checkpoint(options.text("path"));
  const auto rank = static_cast<int>(options.number("rank", 0));
  const Pages pages(options.text("pages"), options.text("pages").empty() ? 0 : rank + 1);
  const int64_t struck = options.text("pages").empty() ? 0 : pages.of(rank).struck;
  const int call = struck == 0 ? 0 : pages.of(rank).struck_call;
  fmt::print("{}\t{}\t{}\t{}\n", found.word, struck, call_name(call), found.why);
  return 0;
}

}  // namespace

}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  const std::string_view command = argc > 1 ? argv[1] : "";
  const Options options(argc, argv);
  if (command == "walk") return walk(options);
  if (command == "errors") return errors(argc, argv, options);
  if (command == "space") return space(argc, argv, options);
  if (command == "write") return write(argc, argv, options);
  if (command == "order") return order(options);
  if (command == "check") return check(options);
  std::fprintf(stderr, "usage: torture walk|errors|space|write|order|check OPTIONS (see tests/faults/torture.cpp)\n");
  return 2;
}
