// The path of the server program: relative to the library, wherever it is installed.
#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/transport/servers/pool.hpp"

namespace penstock {

Result<std::string> find_server_program() {
  std::vector<std::string> looked;
  const auto found = [&](const std::string& path) {
    looked.push_back(path);
    return ::access(path.c_str(), X_OK) == 0;
  };
  if (const char* named = std::getenv("PENSTOCK_SERVER"); named != nullptr && *named != '\0') {
    if (found(named)) return looked.back();
    return Status(Code::not_found, fmt::format("PENSTOCK_SERVER names '{}', which is no program", named));
  }
  Dl_info info{};
  char resolved[PATH_MAX];
  if (::dladdr(reinterpret_cast<void*>(&find_server_program), &info) != 0 && info.dli_fname != nullptr &&
      ::realpath(info.dli_fname, resolved) != nullptr) {
    std::string folder = resolved;
    // lib, or lib/x86_64-linux-gnu, or a build folder
    for (int up = 0; up < 3 && folder.rfind('/') != std::string::npos; ++up) {
      folder.resize(folder.rfind('/'));
      for (const char* place : {"/libexec/penstock/penstock-server", "/bin/penstock-server"})
        if (found(folder + place)) return looked.back();
    }
  }
  return Status(Code::not_found,
                fmt::format("the program penstock-server is not there: looked for {}; set PENSTOCK_SERVER "
                            "to its path",
                            fmt::join(looked, ", ")));
}

}  // namespace penstock
