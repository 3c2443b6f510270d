// penstock-import: combines a program's files per process to one file, in parallel. The command `penstock import`
// starts it.
#include <cstdio>
#include <cstring>

#include "core/base/utf8.hpp"
#include "programs/import/records.hpp"
#include "programs/import/snapshot.hpp"
#include "programs/program.hpp"

namespace penstock::importing {
namespace {

constexpr program::Usage how{"penstock-import",
                             "ramses FOLDER TO [PLAN] [--force], or records DESCRIPTION TO [PLAN] [--force]", 3, 5};

int import(const Communicator& comm, std::span<char*> arguments) {
  const bool force = std::strcmp(arguments.back(), "--force") == 0;
  if (force) arguments = arguments.first(arguments.size() - 1);
  const bool records = std::strcmp(arguments[0], "records") == 0;
  if (arguments.size() < 3 || arguments.size() > 4 || (!records && std::strcmp(arguments[0], "ramses") != 0))
    return program::usage;
  Status status;
  if (!force) status = program::check_free(comm, arguments[2]);
  if (status.ok())
    status = (records ? import_records : import_ramses)(comm, arguments[1], arguments[2],
                                                        arguments.size() > 3 ? arguments[3] : "");
  if (status.ok()) return program::success;
  if (comm->rank() == 0) std::fprintf(stderr, "penstock-import: %s\n", printable(status.message()).c_str());
  return program::failure;
}

}  // namespace
}  // namespace penstock::importing

int main(int argc, char** argv) {
  return penstock::program::run(argc, argv, penstock::importing::how, penstock::importing::import);
}
