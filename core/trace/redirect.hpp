// redirect: redirects calls of other libraries in this process to functions of ours, which trace and then make them
// (docs/decisions/0035-traces.md).
#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace penstock {

struct Redirection {
  std::string_view function;
  void* instead;
};

// Local, thread-safe, repeatable: redirected calls stay redirected. WANTED is called with the name of each loaded
// library, without its folder. Calls within a library, and of a statically linked library, are not redirected. False on
// unsupported processors.
bool redirect(std::span<const Redirection> redirections, const std::function<bool(std::string_view library)>& wanted);

}  // namespace penstock
