// Owner: partial files beside a target: other processes' files, and one of our own for a small file.
#pragma once

#include <string>
#include <string_view>

#include "core/base/owner.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// STATUS with PATH instead of PARTIAL in its message, since PARTIAL is an internal name.
Status by_its_name(const Status& status, const std::string& partial, const std::string& path);

// Files beside a file that will be written.
struct Beside {
  std::string others;  // one line about partial files of others, left over or in progress; "" for none
  bool parts = false;  // parts of sets with this name exist
};
// Local, for rank 0. Examines only the first 1024 names in the folder of PATH, so that a full folder costs no more.
Beside look_beside(Storage& storage, const std::string& path);

// Writes a small file through a partial file of this process. All or nothing, and durable.
Status write_file(Storage& storage, const std::string& path, std::string_view text);

}  // namespace penstock
