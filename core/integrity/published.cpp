// Published: is read again after a commit that left only its catalogue.
#include "core/integrity/published.hpp"

#include "core/access/recognise.hpp"

namespace penstock {

Status refresh(Target& target, Published& file) {
  if (!file.stale) return {};
  PENSTOCK_TRY(check_held(target));
  PENSTOCK_ASSIGN(file.contents, read_contents(target.comm, *target.storage, target.path));
  file.stale = false;
  return agree(target.comm, hold(target));
}

}  // namespace penstock
