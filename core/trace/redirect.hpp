// redirect: calls that other libraries of this process make lead to functions of ours, which make them and trace them
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

// Local, thread-safe, any number of times: what is led already stays so. WANTED is asked with the name of each loaded
// library, without its folder. Calls within a library, and of one that is linked statically, stay as they are. False on
// processors that this has not been written for.
bool redirect(std::span<const Redirection> redirections, const std::function<bool(std::string_view library)>& wanted);

}  // namespace penstock
