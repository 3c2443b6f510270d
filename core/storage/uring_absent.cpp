// Uring in builds without liburing: plain calls.
#include "core/storage/uring.hpp"

#include "core/storage/storage.hpp"

namespace penstock {

bool has_io_uring() { return false; }

class Uring::Ring {};

Uring::Uring(int64_t depth) : depth_(depth) {}
Uring::~Uring() = default;

bool Uring::ready() { return false; }

Status Uring::move(const Movement& whole, const Plain& plain) { return plain(whole.offset, whole.bytes); }

}  // namespace penstock
