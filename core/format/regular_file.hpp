// Regular files: file access of formats, with errors that name the path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/status.hpp>

#include "core/base/file_descriptor.hpp"

namespace penstock {

// The size of PATH; Code::not_found, Code::denied, or Code::damaged if it is not a regular file.
Result<int64_t> regular_file_bytes(const std::string& path);
// PATH, to be read, with the same errors.
Result<FileDescriptor> open_regular_file(const std::string& path);
// The contents of PATH, at most LIMIT bytes.
Result<std::string> read_regular_file(const std::string& path, int64_t limit = INT64_MAX);

// "a/b/c.h5" has folder "a/b" and file name "c.h5"; "c.h5" has folder "".
std::string_view folder_of(std::string_view path);
std::string_view file_name_of(std::string_view path);
std::string join_path(std::string_view folder, std::string_view file_name);

}  // namespace penstock
