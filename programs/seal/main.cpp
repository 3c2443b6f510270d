// penstock-seal: renews the checksums of files that another tool changed on purpose, in parallel. `penstock verify
// --seal` starts it and reads its JSON lines.
#include <cstdint>
#include <string_view>

#include <penstock/file.hpp>

#include "programs/program.hpp"

namespace {

using namespace penstock;  // NOLINT(google-build-using-namespace): this is a main

const program::Usage usage{"penstock-seal", "[--force] FILE...", 1, SIZE_MAX};

int seal(const Communicator& comm, std::span<char*> arguments) {
  const bool force = std::string_view(arguments[0]) == "--force";
  const std::span<char*> files = arguments.subspan(force ? 1 : 0);
  if (files.empty()) return program::Exit::usage;
  return program::for_each_file(comm, files, [&](const char* path) -> Result<program::Outcome> {
    PENSTOCK_ASSIGN(const auto done, File::seal(comm, path, force));
    return program::Outcome{{{"renewed", done.renewed}, {"found", done.found}, {"unchecked", done.unchecked}}};
  });
}

}  // namespace

int main(int argc, char** argv) { return program::run(argc, argv, usage, seal); }
