// penstock-convert: converts a set to one file, a file to a set, or to another format or other chunks, in parallel and
// in bounded memory.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <penstock/file.hpp>

#include "core/base/utf8.hpp"
#include "programs/convert/vtkhdf.hpp"
#include "programs/program.hpp"

namespace penstock {
namespace {

struct Words {
  std::string from, to, plan;
  std::vector<std::string> only;
  bool force = false, vtkhdf = false;
};

// False if this program does not accept them.
bool parse(std::span<char*> arguments, Words& words) {
  words.from = arguments[0];
  words.to = arguments[1];
  for (size_t i = 2; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    const bool valued = word == "--plan" || word == "--only";
    if (valued && i + 1 == arguments.size()) return false;
    if (word == "--plan")
      words.plan = arguments[++i];
    else if (word == "--only")
      words.only.emplace_back(arguments[++i]);
    else if (word == "--force")
      words.force = true;
    else if (word == "--vtkhdf")
      words.vtkhdf = true;
    else
      return false;
  }
  return true;
}

Status convert(const Communicator& comm, const Words& words) {
  if (!words.force) PENSTOCK_TRY(program::check_free(comm, words.to));
  if (!words.vtkhdf) return File::copy(comm, words.from, words.to, words.plan, words.only);
  PENSTOCK_ASSIGN(const std::string note, write_vtkhdf(comm, words.from, words.to, words.plan, words.only));
  if (comm->rank() == 0 && !note.empty()) std::printf("%s\n", note.c_str());
  return {};
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  using namespace penstock;  // NOLINT(google-build-using-namespace): this is a main
  const program::Usage usage{"penstock-convert", "FROM TO [--plan PLAN] [--only NAME]... [--force] [--vtkhdf]", 2,
                             10000};
  return program::run(argc, argv, usage, [](const Communicator& comm, std::span<char*> arguments) -> int {
    Words words;
    if (!parse(arguments, words)) return program::usage;
    const Status status = convert(comm, words);
    if (status.ok()) return program::success;
    if (comm->rank() == 0) std::fprintf(stderr, "penstock-convert: %s\n", printable(status.message()).c_str());
    return program::failure;
  });
}
