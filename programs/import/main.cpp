// penstock-import: makes one file of what a program wrote as a file for each process, in parallel; the command `penstock import` starts it.
#include <cstdio>
#include <cstring>

#include "programs/import/snapshot.hpp"
#include "programs/program.hpp"

int main(int argc, char** argv) {
  using namespace penstock;  // NOLINT(google-build-using-namespace): this is a main
  return program::run(argc, argv, {"penstock-import", "ramses FOLDER TO [PLAN]", 3, 4},
                      [](const Communicator& comm, std::span<char*> arguments) -> int {
                        if (std::strcmp(arguments[0], "ramses") != 0) return program::usage;
                        const char* plan = arguments.size() > 3 ? arguments[3] : "";
                        const Status status = importing::import_ramses(comm, arguments[1], arguments[2], plan);
                        if (status.ok()) return program::success;
                        if (comm->rank() == 0) std::fprintf(stderr, "penstock-import: %s\n", status.message().c_str());
                        return program::failure;
                      });
}
