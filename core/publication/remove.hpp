// Remove: deletes a published file with the parts of its set.
#pragma once

#include <string>

#include <penstock/status.hpp>

#include "core/storage/storage.hpp"

namespace penstock {

// Local. First removes the file, folder or master at PATH, so that no master is without its parts; then the files of
// its set, by name and generation. Absence is ok. 'penstock clean' removes leftovers of a set.
Status remove_published(Storage& storage, const std::string& path);

}  // namespace penstock
