// Transfers: the three methods by which mpiio moves a job.
#pragma once

#include <memory>

#include "core/transport/mpiio/open_file.hpp"

namespace penstock::mpiio {

// All are collective.
// This one uses explicit offsets and individual pointers.
Result<std::unique_ptr<Transfer>> begin_addressed(const Job& job, const Options& options);
// Uses the shared pointer, in rank order.
Result<std::unique_ptr<Transfer>> begin_ordered(const Job& job, const Options& options);
// Uses the shared pointer, in any order: records with headers.
Result<std::unique_ptr<Transfer>> begin_records(const Job& job, const Options& options);

}  // namespace penstock::mpiio
