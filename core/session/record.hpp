// Record: how the session finds the checksums that a file holds.
#pragma once

#include <memory>
#include <string>

#include "core/model/checksums.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// Local. Code::not_found where the file at PATH has none, Code::damaged where it cannot be believed.
Result<Record> load_record(const Contents& contents, const std::string& path, const std::shared_ptr<Storage>& storage);

}  // namespace penstock
