// Transfers: the three ways in which mpiio moves a job.
#pragma once

#include <memory>

#include "core/transport/mpiio/open_file.hpp"

namespace penstock::mpiio {

// Each is collective.
// By explicit offsets and by individual pointers.
Result<std::unique_ptr<Transfer>> begin_addressed(const Job& job, const Options& options);
// By the shared pointer, in the order of ranks.
Result<std::unique_ptr<Transfer>> begin_ordered(const Job& job, const Options& options);
// By the shared pointer, in any order: records with headers.
Result<std::unique_ptr<Transfer>> begin_records(const Job& job, const Options& options);

}  // namespace penstock::mpiio
