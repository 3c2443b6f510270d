// Owner: partial files beside a target: those of others, and one of our own for a small file.
#pragma once

#include <string>
#include <string_view>

#include "core/base/owner.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// STATUS, whose message says PATH where it said PARTIAL, which is nobody's name but ours.
Status by_its_name(const Status& status, const std::string& partial, const std::string& path);

// What lies beside a file that will be written.
struct Beside {
  std::string others;  // one line about partial files of it that others left, or are writing now; "" for none
  bool parts = false;  // of sets of this name
};
// Local, of use on rank 0. Looks at the first 1024 names of the folder of PATH only, so that a full one costs no more.
Beside look_beside(Storage& storage, const std::string& path);

// A small file, whole: by a partial file of this process's own. All or nothing, and durable.
Status write_file(Storage& storage, const std::string& path, std::string_view text);

}  // namespace penstock
