// Record: finds the checksums in a file.
#pragma once

#include <memory>
#include <string>

#include "core/model/checksums.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// Local. Code::not_found if the file at PATH has none, Code::damaged if the record is not valid.
Result<Record> load_record(const Contents& contents, const std::string& path, const std::shared_ptr<Files>& files);

}  // namespace penstock
