// penstock-verify: compares files with the checksums of their commits, in parallel. The command `penstock verify`
// starts it and reads its JSON lines: one for each file, and with --progress others in between.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <penstock/file.hpp>

#include "programs/program.hpp"

namespace {

using namespace penstock;  // NOLINT(google-build-using-namespace): this is a main

nlohmann::json as_json(const Verification& found) {
  nlohmann::json damages = nlohmann::json::array();
  for (const Damage& damage : found.damages)
    damages.push_back(
        {{"dataset", damage.dataset}, {"first", damage.first}, {"end", damage.end}, {"what", damage.what}});
  return {
      {"committed_at", found.committed_at}, {"bytes", found.bytes},       {"damages", damages},
      {"unchecked", found.unchecked},       {"lost", found.lost},         {"files", found.files},
      {"rebuildable", found.rebuildable},   {"modified", found.modified}, {"metadata_differ", found.metadata_differ}};
}

Result<Verification> verify_file(const Communicator& comm, const char* path, bool progress) {
  // A set with lost parts is opened too, to report what is missing.
  PENSTOCK_ASSIGN(File file, File::open_to_check(comm, path, true));
  double last = 0;
  std::function<void(double)> moved;
  if (progress)
    moved = [&](double share) {
      if (share < last + 0.005) return;
      last = share;
      program::print({{"file", path}, {"share", share}});
    };
  auto found = file.verify(moved);
  const Status closed = file.close();
  if (found.ok() && !closed.ok()) return closed;
  return found;
}

int verify(const Communicator& comm, std::span<char*> arguments) {
  const bool progress = arguments[0] == std::string_view("--progress");
  const std::span<char*> files = arguments.subspan(progress ? 1 : 0);
  if (files.empty()) return program::Exit::usage;
  return program::for_each_file(comm, files, [&](const char* path) -> Result<program::Outcome> {
    PENSTOCK_ASSIGN(const Verification found, verify_file(comm, path, progress));
    const bool good = found.damages.empty() && found.lost.empty() && found.files.empty() && !found.metadata_differ;
    return program::Outcome{{{"found", as_json(found)}}, good};
  });
}

}  // namespace

int main(int argc, char** argv) {
  return program::run(argc, argv, {"penstock-verify", "[--progress] FILE...", 1, SIZE_MAX}, verify);
}
