// penstock-join: makes one file of a set of files, or of any file that penstock reads, in parallel.
#include <cstdio>

#include <penstock/file.hpp>

#include "programs/program.hpp"

int main(int argc, char** argv) {
  using namespace penstock;  // NOLINT(google-build-using-namespace): this is a main
  return program::run(
      argc, argv, {"penstock-join", "FROM TO [PLAN]", 2, 3}, [](const Communicator& comm, std::span<char*> arguments) {
        const Status status = File::copy(comm, arguments[0], arguments[1], arguments.size() == 3 ? arguments[2] : "");
        if (status.ok()) return program::success;
        if (comm->rank() == 0) std::fprintf(stderr, "penstock-join: %s\n", status.message().c_str());
        return program::failure;
      });
}
