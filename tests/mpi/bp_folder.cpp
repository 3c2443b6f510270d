// bp_folder: files that are folders are published, replaced, refused and cleaned up like others.
#include <filesystem>
#include <fstream>
#include <numeric>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "core/engine/engine.hpp"
#if PENSTOCK_TEST_ADIOS2
#include <adios2_c.h>
#endif
#include "tests/harness/world.hpp"

namespace penstock::test {
namespace {

namespace fs = std::filesystem;
const ElementType f64{Kind::f64};

Status write(World& world, const std::string& path, const std::string& plan, double first, bool partial = false) {
  auto file = File::create(world.comm(), path, plan);
  PENSTOCK_TRY(file.status());
  std::vector<double> rows(10);
  std::iota(rows.begin(), rows.end(), first + 10 * world.rank());
  const auto part = Decomposition::block({world.size() * 10 + (partial ? 5 : 0)}, {world.rank() * 10}, {10});
  file->set_partial(partial);
  PENSTOCK_TRY(file->put("rows", f64, *part, rows.data()));
  return file->close();
}

void check_rows(World& world, const std::string& path, double first, int holes = 0) {
  auto file = File::open(world.comm(), path);
  if (!CHECK_OK(file.status(), "open")) return;
  const int64_t count = world.size() * 10 + holes;
  std::vector<double> rows(static_cast<size_t>(count), -1);
  CHECK_OK(file->get("rows", f64, *Decomposition::replicated({count}), rows.data()), "get");
  CHECK_OK(file->close(), "close");
  for (int64_t i = 0; i < count; ++i)
    CHECK(rows[static_cast<size_t>(i)] == (i < count - holes ? first + static_cast<double>(i) : 0.0),
          fmt::format("row {}", i));
}

void on_rank_0(World& world, void (*what)(const std::string&), const std::string& path) {
  if (world.rank() == 0) what(path);
  CHECK_OK(world.comm()->barrier(), "barrier");
}

void sweep(World& world) {
  on_rank_0(
      world,
      [](const std::string& folder) {
        for (const auto& entry : fs::directory_iterator(folder)) fs::remove_all(entry);
      },
      world.folder());
}

void alone(World& world) {  // nothing beside what was published
  if (world.rank() == 0)
    CHECK(std::distance(fs::directory_iterator(world.folder()), {}) == 1, "something is left beside the target");
  CHECK_OK(world.comm()->barrier(), "barrier");
}

#if PENSTOCK_TEST_ADIOS2
// As another program makes it: names with a leading slash, two steps, a variable and attributes without a place here.
void write_foreign(const std::string& path) {
  adios2_adios* adios = adios2_init_serial();
  adios2_io* io = adios2_declare_io(adios, "foreign");
  adios2_set_engine(io, "BP5");
  const size_t shape[] = {4}, start[] = {0};
  adios2_variable* rows =
      adios2_define_variable(io, "/data/rows", adios2_type_double, 1, shape, start, shape, adios2_constant_dims_true);
  adios2_variable* word =
      adios2_define_variable(io, "word", adios2_type_string, 0, nullptr, nullptr, nullptr, adios2_constant_dims_true);
  adios2_variable* local =
      adios2_define_variable(io, "local", adios2_type_double, 1, nullptr, nullptr, shape, adios2_constant_dims_true);
  const std::string text(20000, 'x');
  adios2_define_attribute(io, "/data/unit", adios2_type_string, text.c_str());
  const int32_t version = 7;
  adios2_define_attribute(io, "version", adios2_type_int32_t, &version);
  ::adios2_engine* engine = adios2_open(io, path.c_str(), adios2_mode_write);
  for (int step = 0; step < 2; ++step) {
    adios2_step_status status = adios2_step_status_ok;
    adios2_begin_step(engine, adios2_step_mode_append, -1, &status);
    const double values[] = {step + 0.5, step + 1.5, step + 2.5, step + 3.5};
    adios2_put(engine, rows, values, adios2_mode_sync);
    adios2_put(engine, word, "text", adios2_mode_sync);
    adios2_put(engine, local, values, adios2_mode_sync);
    adios2_end_step(engine);
  }
  adios2_close(engine);
  adios2_finalize(adios);
}

void read_foreign(World& world, const std::string& path) {
  about("another program's folder");
  sweep(world);
  on_rank_0(world, write_foreign, path);
  auto file = File::open(world.comm(), path);
  if (!CHECK_OK(file.status(), "open")) return;
  CHECK(file->datasets().size() == 1, fmt::format("{} datasets", file->datasets().size()));
  double rows[4] = {};
  CHECK_OK(file->get("data/rows", f64, *Decomposition::replicated({4}), rows), "get");
  const auto unit = file->attribute("data", "unit"), version = file->attribute("/", "version");
  CHECK(unit.ok() && text(*unit) == std::string(20000, 'x'), "attribute unit of data");
  CHECK(version.ok() && version->value.size() == 4 && version->value[0] == std::byte{7}, "attribute version");
  CHECK_OK(file->close(), "close");
  for (int i = 0; i < 4; ++i) CHECK(rows[i] == i + 0.5, fmt::format("row {} is {}", i, rows[i]));
}
#endif

void run(World& world) {
  const std::string path = world.folder() + "/f.bp";
  about("replacing");
  for (const double first : {100.0, 200.0, 300.0}) {
    CHECK_OK(write(world, path, "adios2", first), "write");
    check_rows(world, path, first);
    alone(world);
  }
  about("a folder by a file");
  CHECK(write(world, path, "hdf5/two_phase", 1).code() == Code::exists, "a folder was replaced by a file");
  CHECK(File::reopen(world.comm(), path, "adios2").status().code() == Code::unsupported, "reopened");
  CHECK(File::copy(world.comm(), path, world.folder() + "/g.h5", "hdf5/two_phase").code() == Code::unsupported,
        "copied");
  check_rows(world, path, 300);
  alone(world);
  about("holes");
  CHECK_OK(write(world, path, "adios2", 400, true), "write");
  check_rows(world, path, 400, 5);
  about("a file by a folder");
  sweep(world);
  CHECK_OK(write(world, path, "hdf5/two_phase", 1), "write");
  CHECK_OK(write(world, path, "adios2", 2), "write");
  check_rows(world, path, 2);
  alone(world);
  about("somebody's folder");
  sweep(world);
  on_rank_0(world, [](const std::string& at) { std::ofstream((fs::create_directory(at), at + "/md.0")) << "x"; }, path);
  CHECK(write(world, path, "adios2", 1).code() == Code::exists, "a folder of somebody else's was replaced");
  CHECK(!File::open(world.comm(), path).ok(), "opened");
  alone(world);
  about("a damaged folder");
  sweep(world);
  CHECK_OK(write(world, path, "adios2", 1), "write");
  on_rank_0(world, [](const std::string& at) { fs::resize_file(at + "/md.idx", 10); }, path);
  CHECK(!File::open(world.comm(), path).ok(), "opened");
#if PENSTOCK_TEST_ADIOS2
  read_foreign(world, path);
#endif
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  using namespace penstock::test;
  World world(&argc, &argv);
  if (!penstock::find_engine("adios2")->describe().missing.empty()) {
    return world.skip("engine adios2 is not built");
  }
  run(world);
  return world.finish("bp_folder");
}
