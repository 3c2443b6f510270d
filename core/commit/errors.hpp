// Errors that a plan allows: how far elements of lossy codecs may be from what was put.
#pragma once

#include <span>
#include <vector>

#include "core/commit/chunk_store.hpp"
#include "core/commit/ways.hpp"

namespace penstock {

// The attribute of a dataset that says how far its elements may be from what was put, as an f64.
inline constexpr std::string_view error_attribute = "penstock_max_error";

bool allows_errors(const Settings& settings);

struct AllowedError {
  double most = 0;
  std::vector<Filter> filters;  // of the published file, which stay; none: the codec's own
};

// Collective. For each dataset of STORE whose codec, in its one of WAYS, is lossy. CLAIMS are on these datasets, in
// memory. Same status on all ranks.
//
// What stays in a file is not changed again. So a dataset of which something stays keeps its filters, if the plan
// allows what they do; if not, or if it had others, it has no error from now on.
Result<std::vector<AllowedError>> allowed_errors(const Communicator& comm, std::span<const EncodingWay> ways,
                                                 const ChunkStore& store, std::span<const Claim> claims);

// Adds the attribute where a dataset of CATALOGUE gets an error. IS_COPY: to the error that its source had.
void note_errors(std::span<const AllowedError> errors, bool is_copy, Catalogue& catalogue);

}  // namespace penstock
