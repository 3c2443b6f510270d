// torture space: a write on a disk, or under a quota, that has less and less room.
//
// COMMAND BYTES leaves about so many bytes, COMMAND none all there are.
#include <filesystem>

#include "tests/faults/case.hpp"
#include "tests/faults/place.hpp"

namespace penstock::test {

namespace {

namespace fs = std::filesystem;

int64_t bytes_in(const std::string& folder) {
  int64_t sum = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) sum += static_cast<int64_t>(entry.file_size());
  return sum;
}

// Whether MESSAGE says what is full, and where.
bool is_clear(const std::string& message, const std::string& folder) {
  const bool what = message.find("No space left") != std::string::npos || message.find("uota") != std::string::npos ||
                    message.find(" free") != std::string::npos;
  return what && message.find(folder) != std::string::npos;
}

}  // namespace

int space(int argc, char** argv, const Options& options) {
  World world(&argc, &argv);
  const Communicator& comm = world.comm();
  const Place place(options);
  const bool root = world.rank() == 0;
  const std::string limit = options.text("limit");
  const int64_t levels = options.number("levels", 5), scale = options.number("scale", 1);

  if (root) place.fresh_base();
  (void)comm->barrier();
  const Status base = write_checkpoint(comm, place.path_in(place.base()), options.text("plan"), 1, scale);
  if (!base.ok()) return root ? refuse(base.message()) : 0;
  if (root) place.fresh(0);
  const auto dry = write_there(world, place.path_in(place.folder(0)), options);
  int64_t needed = 0;
  if (root) {
    if (!dry[0].ok()) return refuse("with all the room: " + dry[0].message()), 1;
    needed = bytes_in(place.folder(0));
    place.remove(0);
  }

  const Fault full = *find_fault(options.text("fault", "enospc"));
  static fault_page page;  // every case meets the fault, or does not, as it may
  page.struck = 1;
  page.struck_call = call_write;
  for (int64_t level = 1; level <= levels; ++level) {
    const std::string folder = place.folder(level), path = place.path_in(folder);
    const Case one{&full, 0, needed * 6 / 5 * (level - 1) / std::max<int64_t>(1, levels - 1)};
    After after;
    if (root) {
      place.fresh(level);
      after.before = listing(folder);
      run_or_exit(fmt::format("{} {}", limit, one.at));
      fmt::print("begin\t{}\t{}\t0\t{}\n", level, full.name, one.at);
      std::fflush(stdout);
    }
    after.statuses = write_there(world, path, options);
    if (!root) continue;
    after.found = find_in_child(path);
    after.after = listing(folder);
    const Status& status = after.statuses[0];
    if (defect(one, page, after).empty() && !status.ok() && !is_clear(status.message(), folder))
      fmt::print("unclear\t{}\t{}\n", level, status.message());
    report(static_cast<size_t>(level), one, page, after);
    run_or_exit(limit + " none");
    place.remove(level);
  }
  if (root) fmt::print("done\t{}\n", levels);
  return 0;
}

}  // namespace penstock::test
