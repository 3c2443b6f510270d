// Regressions: faults that a review or a user found once, each as the shortest program that showed it.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "tests/harness/world.hpp"

namespace penstock {
namespace {

const ElementType f64 = type_of<double>();

struct Site {
  const test::World& world;
  const Communicator& comm;
  std::string path(const char* name) const { return const_cast<test::World&>(world).folder() + "/" + name; }
};

std::vector<double> numbers(int64_t n, double first) {
  std::vector<double> v(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) v[static_cast<size_t>(i)] = first + static_cast<double>(i);
  return v;
}

// Everything on rank 0; the others have nothing.
Decomposition on_first(const Communicator& comm, int64_t whole, int64_t start, int64_t count) {
  return *Decomposition::block({whole}, {start}, {comm->rank() == 0 ? count : 0});
}

std::vector<double> read_all(const Site& site, const std::string& path, const char* name, int64_t n,
                             std::string_view plan = {}) {
  std::vector<double> v(static_cast<size_t>(n), -1);
  auto file = File::open(site.comm, path, plan);
  if (!CHECK_OK(file.status(), "open")) return v;
  CHECK_OK(file->get(name, f64, *Decomposition::block({n}, {0}, {n}), v.data()), "get");
  CHECK_OK(file->close(), "close");
  return v;
}

// A window without pieces between two with some: the third's filling met the first's writing.
void staging_is_not_refilled_while_it_is_written(const Site& site) {
  constexpr int64_t window = (1 << 20) / 8, n = 40 * window;
  const auto values = numbers(n, 1);
  for (const char* plan :
       {"raw/two_phase:writers=1,buffer_bytes=1MiB,io=buffered", "raw/two_phase:writers=1,buffer_bytes=1MiB"}) {
    const std::string path = site.path("staging.raw");
    auto file = File::create(site.comm, path, plan);
    if (!CHECK_OK(file.status(), "create")) return;
    file->set_partial(true);
    for (int64_t at = 0; at < n; at += 2 * window)
      CHECK_OK(file->lend("x", f64, on_first(site.comm, n, at, window), values.data() + at), "lend");
    CHECK_OK(file->close(), "close");
    const auto back = read_all(site, path, "x", n);
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; ++i)
      wrong += back[static_cast<size_t>(i)] != (i / window % 2 == 0 ? values[static_cast<size_t>(i)] : 0);
    CHECK(wrong == 0, "elements differ");
  }
}

// Pieces over each other add up to a window's size although there is a gap.
void overlaps_do_not_hide_gaps(const Site& site) {
  constexpr int64_t n = 1 << 16;
  const auto old = numbers(n, 1), fresh = numbers(n, -1e6);
  const std::string path = site.path("gap.h5");
  auto file = File::create(site.comm, path);
  CHECK_OK(file->lend("x", f64, on_first(site.comm, n, 0, n), old.data()), "lend");
  CHECK_OK(file->close(), "close");
  file = File::reopen(site.comm, path);
  if (!CHECK_OK(file.status(), "reopen")) return;
  for (int times = 0; times < 3; ++times)
    CHECK_OK(file->lend("x", f64, on_first(site.comm, n, 0, n / 4), fresh.data()), "lend");
  CHECK_OK(file->lend("x", f64, on_first(site.comm, n, 3 * n / 4, n / 4), fresh.data() + 3 * n / 4), "lend");
  CHECK_OK(file->close(), "close");
  const auto back = read_all(site, path, "x", n);
  int64_t wrong = 0;
  for (size_t i = 0; i < static_cast<size_t>(n); ++i)
    wrong += back[i] != (i < n / 4 || i >= 3 * n / 4 ? fresh[i] : old[i]);
  CHECK(wrong == 0, "kept elements changed");
}

// Offsets of the file that was opened were used on the one that had taken its place.
void a_replaced_file_is_noticed(const Site& site) {
  const std::string path = site.path("replaced.h5");
  const auto v = numbers(8, 1);
  const auto write = [&](const char* name) {
    auto file = File::create(site.comm, path);
    CHECK_OK(file->put(name, f64, on_first(site.comm, 8, 0, 8), v.data()), "put");
    CHECK_OK(file->close(), "close");
  };
  write("x");
  auto reader = File::open(site.comm, path);
  auto changer = File::reopen(site.comm, path);
  write("y");
  std::vector<double> back(8);
  CHECK_OK(reader->get("x", f64, *Decomposition::block({8}, {0}, {8}), back.data()), "get");
  CHECK(reader->close().code() == Code::mismatch, "reading the old file at the new one's place is a mismatch");
  CHECK_OK(changer->put("z", f64, on_first(site.comm, 8, 0, 8), v.data()), "put");
  CHECK(changer->close().code() == Code::mismatch, "changing a file that somebody replaced is a mismatch");
  CHECK(read_all(site, path, "y", 8) == v, "what the other wrote is there");
}

// Two targets with one stem: each removed the other's parts.
void a_commit_leaves_other_targets_alone(const Site& site) {
  const auto v = numbers(8, 1);
  const std::string path = site.path("out.h5");
  for (int times = 0; times < 3; ++times)
    for (const char* plan : {"raw", "hdf5/per_process"}) {
      auto file = File::create(site.comm, path, plan);
      CHECK_OK(file->put("x", f64, on_first(site.comm, 8, 0, 8), v.data()), "put");
      CHECK_OK(file->close(), "close");
    }
  CHECK(read_all(site, path, "x", 8) == v, "the HDF5 set");
  CHECK(read_all(site, path + ".json", "x", 8) == v, "the raw file");
}

// The rank whose copy of replicated data is read filled its first request only.
void replicated_data_may_be_asked_for_twice(const Site& site) {
  const std::string path = site.path("twice.h5");
  const auto v = numbers(8, 1);
  const auto all = *Decomposition::replicated({8});
  auto file = File::create(site.comm, path);
  CHECK_OK(file->put("x", f64, all, v.data()), "put");
  CHECK_OK(file->close(), "close");
  std::vector<double> a(8, -1), b(8, -1);
  file = File::open(site.comm, path);
  CHECK_OK(file->get("x", f64, all, a.data()), "get");
  CHECK_OK(file->get("x", f64, all, b.data()), "get again");
  CHECK_OK(file->close(), "close");
  CHECK(a == v && b == v, "both are filled");
}

// Many small ones travel together, a large one in pieces: nothing is mixed up, nor left out at the edges of pieces,
// which may lie inside an element.
void replicated_data_of_all_sizes(const Site& site) {
  const std::string path = site.path("replicas.h5");
  struct Field {
    std::string name;
    ElementType type;
    Decomposition part;
    std::vector<char> bytes;
  };
  std::vector<Field> fields;
  for (int64_t i = 0; i < 300; ++i) {
    const bool text = i == 100;
    const int64_t count = text ? 3 : i == 150 ? 40000 : i % 40;
    const ElementType type = text ? ElementType{Kind::text, 20000} : i % 3 == 0 ? ElementType{Kind::i8} : f64;
    std::vector<char> bytes(static_cast<size_t>(count * penstock::bytes(type)));
    for (size_t b = 0; b < bytes.size(); ++b) bytes[b] = static_cast<char>('a' + (static_cast<size_t>(i) + b) % 26);
    fields.push_back({fmt::format("group{}/x{}", i % 3, i), type, *Decomposition::replicated({count}), bytes});
  }
  auto file = File::create(site.comm, path);
  for (const Field& field : fields)
    CHECK_OK(file->lend(field.name, field.type, field.part, field.bytes.data()), "lend");
  CHECK_OK(file->close(), "close");
  for (const char* plan : {"two_phase", "two_phase:memory_bytes=64KiB", "independent:memory_bytes=64KiB"}) {
    file = File::open(site.comm, path, plan);
    std::vector<std::vector<char>> read;
    for (const Field& field : fields) read.emplace_back(field.bytes.size(), 0);
    for (size_t i = 0; i < fields.size(); ++i)
      CHECK_OK(file->get(fields[i].name, fields[i].type, fields[i].part, read[i].data()), "get");
    CHECK_OK(file->commit(), "commit");
    const bool no_plans = std::string_view(plan).starts_with("independent");  // of exchange, of 300 datasets
    CHECK(!no_plans || file->report().memory_peak <= 64 << 10, "in bounded memory");
    CHECK_OK(file->close(), "close");
    for (size_t i = 0; i < fields.size(); ++i) CHECK(read[i] == fields[i].bytes, plan + (": " + fields[i].name));
  }
}

// What was counted before a commit was once taken from nothing.
void counts_of_a_failed_commit(const Site& site) {
  const auto v = numbers(8, 1);
  auto file = File::create(site.comm, site.path("failed.h5"));
  for (int times = 0; times < 2; ++times) CHECK_OK(file->put("x", f64, on_first(site.comm, 8, 0, 8), v.data()), "put");
  CHECK(file->commit().code() == Code::overlap, "put twice");
  const Report& report = file->report();
  CHECK(report.file_calls >= 0 && report.metadata_calls >= 0 && report.messages >= 0, "nothing is less than nothing");
  CHECK(report.file_bytes == 0, "nothing was written");
}

// With partial, holes of a set are zero even if other elements were put twice; more elements than there are is an
// error.
void partial_sets_with_overlaps(const Site& site) {
  const auto v = numbers(8, 1);
  const std::string path = site.path("partial.h5");
  for (const int64_t twice : {2, 6}) {
    auto file = File::create(site.comm, path, "hdf5/per_process");
    file->set_partial(true);
    for (int times = 0; times < 2; ++times)
      CHECK_OK(file->put("x", f64, on_first(site.comm, 8, 0, twice), v.data()), "put");
    const Status status = file->close();
    if (twice == 6) {
      CHECK(status.code() == Code::overlap, "twelve of eight elements");
    } else if (CHECK_OK(status, "close")) {
      CHECK(read_all(site, path, "x", 8) == (std::vector<double>{1, 2, 0, 0, 0, 0, 0, 0}), "holes are zero");
    }
  }
}

// An attribute's bytes were trusted to be as many as its type and shape say.
void attributes_have_the_size_of_their_shape(const Site& site) {
  auto file = File::create(site.comm, site.path("attribute.h5"));
  const Attribute lie{"a", f64, Dims{1000}, std::vector<std::byte>(8)};
  CHECK(file->set_attribute("", lie).code() == Code::invalid, "8 bytes are no 1000 numbers");
}

// Only some ranks called the collectives of the proof.
void partial_on_one_rank_is_enough(const Site& site) {
  const auto v = numbers(8, 1);
  auto file = File::create(site.comm, site.path("one.h5"));
  file->set_partial(site.comm->rank() == 0);
  CHECK_OK(file->put("x", f64, on_first(site.comm, 8, 0, 4), v.data()), "put");
  CHECK_OK(file->close(), "close");
}

// Opening a FIFO waited for a writer that never came.
void a_fifo_is_refused(const Site& site) {
  const std::string path = site.path("fifo");
  if (site.comm->rank() == 0) CHECK(::mkfifo(path.c_str(), 0600) == 0, "mkfifo");
  CHECK_OK(site.comm->barrier(), "barrier");
  CHECK(!File::open(site.comm, path).ok(), "a FIFO is no file to read");
  CHECK(!File::create(site.comm, path).ok(), "a FIFO is nothing to replace");
}

// What was written through a link was looked for beside the link.
void sets_are_read_through_links(const Site& site) {
  const auto v = numbers(8, 1);
  const std::string link = site.path("link.h5"), folder = site.path("elsewhere");
  if (site.comm->rank() == 0) {
    std::filesystem::create_directory(folder);
    CHECK(::symlink("elsewhere/real.h5", link.c_str()) == 0, "symlink");
  }
  CHECK_OK(site.comm->barrier(), "barrier");
  auto file = File::create(site.comm, link, "hdf5/per_process");
  CHECK_OK(file->put("x", f64, on_first(site.comm, 8, 0, 8), v.data()), "put");
  CHECK_OK(file->close(), "close");
  CHECK(read_all(site, link, "x", 8) == v, "through the link");
  CHECK(read_all(site, folder + "/real.h5", "x", 8) == v, "where it is");
}

// A set whose index somebody renamed keeps its parts, whatever is committed under its old name; an unnamed generation
// goes.
void a_renamed_set_keeps_its_parts(const Site& site) {
  for (const char* plan : {"raw/per_process", "hdf5/per_process", "netcdf/per_process", "raw/subfiles:parts=1"}) {
    const std::string folder = site.path("renamed");
    if (site.comm->rank() == 0) std::filesystem::create_directory(folder);
    CHECK_OK(site.comm->barrier(), "barrier");
    const auto write = [&](double first) {
      auto file = File::create(site.comm, folder + "/x.out", plan);
      if (!CHECK_OK(file.status(), "create")) return;
      const auto values = numbers(8, first);
      CHECK_OK(file->lend("x", f64, on_first(site.comm, 8, 0, 8), values.data()), "lend");
      CHECK_OK(file->close(), "close");
    };
    const auto rename_to = [&](const char* name) {
      if (site.comm->rank() == 0)
        for (const char* index : {"x.out", "x.out.json"})
          if (std::filesystem::exists(folder + "/" + index))
            std::filesystem::rename(folder + "/" + index, folder + "/" + name + std::string(index).substr(5));
      CHECK_OK(site.comm->barrier(), "barrier");
    };
    const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder), {}); };
    write(1);
    const auto parts = files() - 1;
    CHECK_OK(site.comm->barrier(), "barrier");
    rename_to("kept.out");
    for (int times = 0; times < 3; ++times) write(100 + times);
    rename_to("second.out");
    write(200);
    CHECK(read_all(site, folder + "/kept.out", "x", 8) == numbers(8, 1), plan);
    CHECK(read_all(site, folder + "/second.out", "x", 8) == numbers(8, 102), plan);
    CHECK(read_all(site, folder + "/x.out", "x", 8) == numbers(8, 200), plan);
    // Three indexes, their parts, and those of the generation before "second", which its next commit would remove.
    CHECK(files() == 3 + 4 * parts, "the parts of the oldest generation are gone, and no others");
    CHECK_OK(site.comm->barrier(), "barrier");
    if (site.comm->rank() == 0) std::filesystem::remove_all(folder);
    CHECK_OK(site.comm->barrier(), "barrier");
  }
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  using namespace penstock;
  test::World world(&argc, &argv);
  (void)world.folder();
  const Site site{world, world.comm()};
  const std::pair<const char*, std::function<void(const Site&)>> all[] = {
      {"staging", staging_is_not_refilled_while_it_is_written},
      {"gaps", overlaps_do_not_hide_gaps},
      {"replaced", a_replaced_file_is_noticed},
      {"other targets", a_commit_leaves_other_targets_alone},
      {"replicated twice", replicated_data_may_be_asked_for_twice},
      {"replicated sizes", replicated_data_of_all_sizes},
      {"failed counts", counts_of_a_failed_commit},
      {"partial sets", partial_sets_with_overlaps},
      {"attribute size", attributes_have_the_size_of_their_shape},
      {"partial on one rank", partial_on_one_rank_is_enough},
      {"fifo", a_fifo_is_refused},
      {"links", sets_are_read_through_links},
      {"renamed set", a_renamed_set_keeps_its_parts},
  };
  for (const auto& [name, run] : all) {
    test::about(name);
    run(site);
  }
  return world.finish("regressions");
}
