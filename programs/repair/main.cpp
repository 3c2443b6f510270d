// penstock-repair: rebuilds the lost or damaged file of sets with parity, in parallel. `penstock verify --repair`
// starts it and reads its JSON lines.
#include <cstdint>

#include <penstock/file.hpp>

#include "programs/program.hpp"

int main(int argc, char** argv) {
  using namespace penstock;  // NOLINT(google-build-using-namespace): this is a main
  return program::run(argc, argv, {"penstock-repair", "FILE...", 1, SIZE_MAX},
                      [](const Communicator& comm, std::span<char*> files) {
                        return program::for_each_file(comm, files, [&](const char* path) -> Result<program::Outcome> {
                          PENSTOCK_ASSIGN(const auto done, File::repair(comm, path));
                          return program::Outcome{{{"rebuilt", done.rebuilt},
                                                   {"why", done.why},
                                                   {"kept", done.kept},
                                                   {"bytes", done.bytes},
                                                   {"files", done.files}}};
                        });
                      });
}
