// Published: is read again after a commit that left only its catalogue; the source of a copy stays as it was.
#include "core/integrity/published.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/access/recognise.hpp"

namespace penstock {

Result<CopySource> hold_source(const Target& target, std::string path) {
  CopySource source{std::move(path), {}, {}};
  const auto hold = [&]() -> Status {
    if (target.comm->rank() > 0) return {};
    PENSTOCK_ASSIGN(source.held, target.storage->open(source.path, Io::buffered, false));
    PENSTOCK_ASSIGN(source.was, target.storage->stat(source.path));
    return {};
  };
  PENSTOCK_TRY(agree(target.comm, hold()));
  return source;
}

Status check_source(const Target& target, const std::optional<CopySource>& source) {
  if (!source) return {};
  Status status;
  if (target.comm->rank() == 0) {
    const auto now = target.storage->stat(source->path);
    if (!now.ok() || !same_file(*now, *source->was) || now->changed_at != source->was->changed_at ||
        now->bytes != source->was->bytes)
      status = {Code::mismatch,
                fmt::format("'{}' was changed or replaced since the copy was begun: begin it again", source->path)};
  }
  return agree(target.comm, status);
}

Status refresh(Target& target, Published& file) {
  if (!file.stale) return {};
  PENSTOCK_TRY(check_held(target));
  PENSTOCK_ASSIGN(file.contents, read_contents(target.comm, *target.storage, target.path));
  file.stale = false;
  return agree(target.comm, hold(target));
}

}  // namespace penstock
