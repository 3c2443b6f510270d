// Described records: one process' hostile file, imported by a description whose shapes come from the file; expressions.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "programs/import/expression.hpp"
#include "programs/import/records.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace penstock;
namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// In the working folder, which the caller removes.
const fs::path& folder() {
  static const fs::path made = [] {
    std::string name = fs::current_path() / "fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    const fs::path data = fs::path(name) / "data";
    write(fs::path(name) / "set.json",
          R"({"files": [")" + data.string() + R"("], "rest": "ignore", "process_grid": [1, 1],
      "records": [
        {"fields": [{"name": "nx", "type": "i32"}, {"name": "ny", "type": "i32"}, {"name": "n", "type": "i32"}]},
        {"fields": [{"name": "a", "type": "f64", "shape": ["nx + 2", "ny"], "ghosts": ["1", "0"], "dataset": "block"}]},
        {"repeat": "n", "fields": [{"name": "b", "type": "f32", "shape": ["nx"], "dataset": "per_process"}]},
        {"fields": [{"name": "c", "type": "i32", "shape": ["ny"], "dataset": "ragged"}]}]})");
    return fs::path(name);
  }();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const auto value = importing::evaluate(text, {{"nx", 7}, {"ny", INT64_MAX}});
  if (!value.ok()) fuzz::check_refusal(value.status());
  write(folder() / "data", text);
  const Status status = importing::import_records(serial_communicator(), folder() / "set.json", folder() / "all.raw",
                                                  "raw/independent:durability=none");
  if (!status.ok()) fuzz::check_refusal(status);
  return 0;
}
