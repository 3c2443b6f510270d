// Open: what others ask about files that they will create.
#pragma once

#include <string>
#include <string_view>

#include <penstock/communicator.hpp>

namespace penstock {

// Local, for rank 0. The text of the plan with which File::create would make PATH, or its error.
Result<std::string> plan_of_new(const Communicator& comm, const std::string& path, std::string_view plan);

}  // namespace penstock
