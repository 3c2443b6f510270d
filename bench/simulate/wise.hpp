// Wise: of a simulated method, what wisdom has to know: the problem that it solves, and its name there.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/simulate/demand.hpp"

namespace penstock::bench {

// "hdf5/two_phase".
std::string default_method(const std::string& format);

// Local. The plans that a planner tries for JOB with files of FORMAT, the default first; without those that a file
// system may refuse. Code::invalid if there is no such format.
Result<std::vector<Method>> methods_to_try(const SimulatedJob& job, const std::string& format, const Machine& machine);

// Local. What JOB asks of its plan on MACHINE if METHOD writes or reads it, with any MPI library, as a real commit or
// read would say it: docs/wisdom.md.
Result<nlohmann::json> problem_of(const SimulatedJob& job, const Method& method, const Machine& machine);

// The transport of METHOD with its parameters, as an entry of wisdom may name it: "two_phase:writers=8". "" if it may
// not: what writes no single file of ours, or has hints, or parameters that are not its transport's, or may be refused,
// or names stripes for anything but a new file on Lustre.
std::string wise_transport(const SimulatedJob& job, const Method& method, const Machine& machine);

}  // namespace penstock::bench
