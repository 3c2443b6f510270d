// Published: is read again after a commit that left only its catalogue; the source of a copy stays as it was.
#include "core/integrity/published.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/access/recognise.hpp"
#include "core/comm/share.hpp"

namespace penstock {

Result<CopySource> hold_source(const Target& target, std::string path) {
  CopySource source{std::move(path), {}, {}};
  PENSTOCK_TRY(on_rank_0(target.comm, [&]() -> Status {
    PENSTOCK_ASSIGN(source.held, target.storage->open(source.path, Io::buffered, false));
    PENSTOCK_ASSIGN(source.was, target.storage->stat(source.path));
    return {};
  }));
  return source;
}

Status check_source(const Target& target, const std::optional<CopySource>& source) {
  if (!source) return {};
  return on_rank_0(target.comm, [&]() -> Status {
    const auto now = target.storage->stat(source->path);
    if (now.ok() && same_file(*now, *source->was) && now->changed_at == source->was->changed_at &&
        now->bytes == source->was->bytes)
      return {};
    return {Code::mismatch,
            fmt::format("'{}' was changed or replaced since the copy was begun: begin it again", source->path)};
  });
}

Status refresh(Target& target, Published& file) {
  if (!file.stale) return {};
  PENSTOCK_TRY(check_held(target));
  PENSTOCK_ASSIGN(file.contents, read_contents(target.comm, *target.storage, target.path));
  file.stale = false;
  return agree(target.comm, hold(target));
}

}  // namespace penstock
