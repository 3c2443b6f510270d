// traced_storage: a storage that writes its calls to a trace.
#pragma once

#include <memory>

#include "core/storage/storage.hpp"
#include "core/trace/trace.hpp"

namespace penstock {

// TRACE must outlive the storage and its files.
std::shared_ptr<Storage> traced_storage(std::shared_ptr<Storage> inner, Trace& trace);

}  // namespace penstock
