// RAMSES: an output of one process, imported: two bytes that say how long the AMR file is, that file, the hydro file.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "programs/import/snapshot.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace penstock;
namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// In the working folder, which the caller removes.
const fs::path& output() {
  static const fs::path folder = [] {
    std::string name = fs::current_path() / "fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    write(fs::path(name) / "info_00001.txt", "ncpu        =          1\nboxlen      =  0.5E+00\n");
    return fs::path(name);
  }();
  return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  uint16_t length = 0;
  std::memcpy(&length, data, 2);
  const std::string_view text = fuzz::text_of(data + 2, size - 2);
  write(output() / "amr_00001.out00001", text.substr(0, length));
  write(output() / "hydro_00001.out00001", length < text.size() ? text.substr(length) : "");
  const Status status = importing::import_ramses(serial_communicator(), output(), output() / "snap.raw",
                                                 "raw/independent:durability=none");
  if (!status.ok()) fuzz::check_refusal(status);
  return 0;
}
