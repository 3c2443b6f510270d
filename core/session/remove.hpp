// Remove: a published file goes, with the parts of its set.
#pragma once

#include <string>

#include <penstock/status.hpp>

#include "core/storage/storage.hpp"

namespace penstock {

// Local. The file, folder or master at PATH goes first, so that no master is without its parts, then what belongs to
// its set by name and generation. Absence is ok. What is left of a set is for 'penstock clean'.
Status remove_published(Storage& storage, const std::string& path);

}  // namespace penstock
