// Restart: makes a file the newest of a sequence, without losing any finished file on the way.
#include "core/publication/restart.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/access/recognise.hpp"
#include "core/comm/share.hpp"
#include "core/publication/output.hpp"
#include "core/storage/owner.hpp"
#include "core/storage/target.hpp"

namespace penstock {

std::string Restart::path(int64_t index) const { return fmt::format("{}{:0{}}{}", prefix, index, digits, suffix); }

bool Restart::has(const std::string& path) const {
  if (path.size() <= prefix.size() + suffix.size() || !path.starts_with(prefix) || !path.ends_with(suffix))
    return false;
  const std::string index = path.substr(prefix.size(), path.size() - prefix.size() - suffix.size());
  return index.find_first_not_of("0123456789") == std::string::npos;
}

namespace {

Result<Restart> parse(const std::string& pattern, int64_t retain) {
  const std::string folder = folder_of(pattern), name = pattern.substr(folder.size());
  const size_t first = name.find('#'), end = std::min(name.find_first_not_of('#', first), name.size());
  const auto wrong = [&](std::string_view why) {
    return Status(Code::invalid, fmt::format("restart files '{}': {}", pattern, why));
  };
  if (folder.find('#') != std::string::npos)
    return wrong("the '#' for the index belongs into the file's name, not into the folder's");
  if (first == std::string::npos) return wrong("the name needs a '#' where the index goes, as in 'restart#.h5'");
  if (name.find('#', end) != std::string::npos) return wrong("the name has a '#' in two places: leave one of them");
  if (end - first > 18) return wrong("an index has at most 18 digits");
  if (retain < 1) return wrong(fmt::format("{} are to be kept: it takes at least 1", retain));
  return Restart{folder + name.substr(0, first), name.substr(end), static_cast<int>(end - first), retain};
}

// The first index that a file may take without loss: it is free, or has the same file as the index below, because a
// program was killed while moving them. RETAIN if there is none below it.
Result<int64_t> find_room(Storage& storage, const Restart& restart) {
  std::optional<FileStat> below;
  for (int64_t index = 0; index < restart.retain; ++index) {
    const std::string path = restart.path(index);
    PENSTOCK_ASSIGN(const auto there, existing_file(storage, path));
    if (!there || (below && same_file(*below, *there))) return index;
    if (!there->regular)
      return Status(Code::exists,
                    fmt::format("'{}' is no regular file: move it away, or name other restart files", path));
    below = there;
  }
  return restart.retain;
}

// Rank 0. Checks everything that can fail, before any change.
Result<Restart> look(const Target& target, const std::string& pattern, int64_t retain, bool published) {
  PENSTOCK_ASSIGN(Restart restart, parse(pattern, retain));
  const std::string given = folder_of(pattern), folder = resolve_link(given.empty() ? "." : given) + "/";
  const std::string own = folder_of(target.path), here = resolve_link(own.empty() ? "." : own) + "/";
  if (folder != here)
    return Status(Code::invalid, fmt::format("restart files '{}': they must lie beside '{}', which becomes one of them",
                                             pattern, target.path));
  restart.prefix = own + restart.prefix.substr(given.size());
  const std::string last = published_path(restart.suffix, target);
  restart.suffix = last;
  if (target.method.folders)
    return Status(
        Code::unsupported,
        fmt::format("engine '{}' makes folders, which are no restart files: name another plan", target.method.writer));
  if (published && restart.has(target.path))
    return Status(Code::invalid,
                  fmt::format("'{}' is one of the restart files '{}' already: close it, or write a new one by clone()",
                              target.path, pattern));
  PENSTOCK_TRY(find_room(*target.storage, restart).status());
  const std::string largest = restart.path(retain);
  if (const auto over = existing_file(*target.storage, largest); over.ok() && *over && !(*over)->regular)
    return Status(
        Code::exists,
        fmt::format("'{}' is no regular file, and the oldest restart file passes through it: move it away", largest));
  return restart;
}

// With a link, FROM has both names until another file gets its name. Without links its name is absent until then.
Status move_up(const Target& target, const std::string& from, const std::string& to) {
  Storage& storage = *target.storage;
  const std::string folder = folder_of(to);
  const std::string spare = folder + partial_name(to.substr(folder.size()), random_token(), target.owner);
  const Status linked = storage.link(from, spare);
  if (linked.code() == Code::unsupported) return storage.rename(from, to);
  PENSTOCK_TRY(linked);
  const Status renamed = storage.rename(spare, to);
  if (!renamed.ok()) (void)storage.remove(spare);
  return renamed;
}

// A master to be removed, with its parts.
struct Dropped {
  std::string stem;                      // of the parts' names; "" if it is not a set
  std::vector<std::string> generations;  // its own, and the one that it replaced
};

Dropped set_at(Storage& storage, const std::string& path) {
  Dropped dropped;
  const auto contents = recognise_and_read(storage, path);
  if (!contents.ok() || contents->generation.empty() || contents->parts.empty()) return dropped;
  const std::string part = contents->parts[0].substr(folder_of(contents->parts[0]).size());
  const size_t at = part.rfind(".g" + contents->generation + ".");
  if (at == std::string::npos) return dropped;
  dropped.stem = part.substr(0, at);
  dropped.generations = {contents->generation, contents->replaced};
  return dropped;
}

// Rank 0. Removes the file after the last index, with its parts, unless a remaining restart file uses them or is
// unreadable. Failure leaves leftovers and is not an error.
void drop(const Target& target, const Restart& restart) {
  Storage& storage = *target.storage;
  const std::string path = restart.path(restart.retain);
  if (const auto there = existing_file(storage, path); !there.ok() || !*there) return;
  const Dropped dropped = set_at(storage, path);
  if (!storage.remove(path).ok() || dropped.stem.empty()) return;
  for (int64_t index = 0; index < restart.retain; ++index) {
    const auto there = existing_file(storage, restart.path(index));
    if (there.ok() && !*there) continue;
    const auto contents = recognise_and_read(storage, restart.path(index));
    if (!contents.ok() || std::ranges::count(dropped.generations, contents->generation) > 0) return;
  }
  for (const std::string& generation : dropped.generations)
    remove_parts(storage, folder_of(path), dropped.stem, generation);
}

}  // namespace

Result<Restart> agree_restart(const Target& target, const std::string& pattern, int64_t retain, bool published) {
  Encoder said;
  said.text(pattern);
  said.value(retain);
  PENSTOCK_TRY(agree_same(target.comm, said.take(), [&](std::span<const std::byte> of_rank_0) -> Status {
    Decoder theirs(of_rank_0);
    const std::string other = theirs.text();
    return {
        Code::mismatch,
        fmt::format("'{}' becomes restart file '{}' with retain={} on this rank, but '{}' with retain={} on rank 0: "
                    "all ranks must ask for the same",
                    target.path, pattern, retain, other, theirs.value<int64_t>())};
  }));
  const auto message = from_rank_0(target.comm, [&](Encoder& out) -> Status {
    PENSTOCK_ASSIGN(const Restart restart, look(target, pattern, retain, published));
    out.text(restart.prefix);
    out.text(restart.suffix);
    out.value(restart.digits);
    return {};
  });
  PENSTOCK_TRY(message.status());
  Decoder in(*message);
  Restart restart;
  restart.prefix = in.text();
  restart.suffix = in.text();
  restart.digits = in.value<int>();
  restart.retain = retain;
  return restart;
}

Status rotate(const Target& target, const std::string& source) {
  Storage& storage = *target.storage;
  const Restart& restart = *target.restart;
  PENSTOCK_ASSIGN(const int64_t room, find_room(storage, restart));
  // One index more than RETAIN, so that the oldest stays until the newest is in place.
  for (int64_t index = room; index-- > 0;) PENSTOCK_TRY(move_up(target, restart.path(index), restart.path(index + 1)));
  if (target.durable) PENSTOCK_TRY(storage.sync_directory(source));
  PENSTOCK_TRY(storage.rename(source, restart.path(0)));
  const Status synced = target.durable ? storage.sync_directory(source) : Status();
  if (!synced.ok())
    return {Code::in_doubt,
            fmt::format("it is in place as '{}', but whether it would survive a power loss is unknown: {}",
                        restart.path(0), synced.message())};
  drop(target, restart);
  return {};
}

}  // namespace penstock
