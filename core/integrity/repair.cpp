// Repair: rebuilds the one missing or damaged file of a set from the others.
#include "core/integrity/repair.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/comm/calling.hpp"
#include "core/comm/share.hpp"
#include "core/integrity/files.hpp"
#include "core/integrity/parity.hpp"
#include "core/storage/owner.hpp"
#include "core/storage/target.hpp"

namespace penstock {
namespace {

// The elements in lost and in damaged parts. CONTENTS omits those of lost parts.
std::vector<std::string> lost_elements(const Contents& contents, const std::vector<WrongFile>& wrong) {
  std::vector<std::string> names;
  for (const WrongFile& one : wrong) {
    const auto lost = std::ranges::find(contents.lost, one.file, &Contents::Lost::part);
    const auto here = lost != contents.lost.end() ? lost->boxes : elements_in(contents, one.file);
    names.insert(names.end(), here.begin(), here.end());
  }
  return names;
}

Status too_many(const Published& file, const std::vector<WrongFile>& wrong) {
  constexpr size_t most = 20;
  const Contents& contents = file.contents;
  std::string files, elements;
  for (const WrongFile& one : wrong)
    files += fmt::format("{}'{}' ({})", files.empty() ? "" : ", ", path_of(contents, one.file), one.why);
  const auto names = lost_elements(contents, wrong);
  for (size_t i = 0; i < std::min(most, names.size()); ++i) elements += (i == 0 ? "are " : ", ") + names[i];
  if (names.empty()) elements = "is no element";
  if (names.size() > most) elements += fmt::format(", ... ({} pieces in all)", names.size());
  return {Code::damaged,
          fmt::format("'{}': {} of its {} files are missing or damaged, parity can rebuild one: {}; in them {}; "
                      "bring back all but one of them, or read the rest with lost_parts=zeros",
                      file.path, wrong.size(), contents.parts.size() + 1, files, elements)};
}

// Rank 0. Whether the file written to PATH has the intended contents.
Status check_rebuilt(const Target& target, const std::string& path, const FileSum& meant) {
  PENSTOCK_ASSIGN(auto file, target.storage->open(path, Io::automatic, false));
  PENSTOCK_ASSIGN(const uint64_t sum, sum_of_file(target, *file, meant.bytes));
  if (sum == meant.sum) return {};
  return {Code::damaged,
          "what was rebuilt does not agree with its checksum in the index, which is itself damaged, or "
          "files of two sets were mixed: nothing was changed"};
}

// Collective. Rebuilds FILE of the set from all others in a new file at PATH, which exists on any status.
Status rebuild(const Target& target, const Contents& contents, int32_t file, const std::string& path) {
  const FileSum& meant = sum_of(contents, file);
  PENSTOCK_TRY(on_rank_0(target.comm, [&]() -> Status {
    PENSTOCK_ASSIGN(auto made, target.storage->create(path, meant.bytes, Io::buffered, true, Access::own));
    return made->close();
  }));
  std::vector<Source> sources;
  const size_t count = contents.parts.size() + 1;
  for (size_t i = 0; i < count; ++i)
    if (static_cast<int32_t>(i) != file && is_reader(target, i, count))
      sources.push_back({path_of(contents, static_cast<int32_t>(i)), sum_of(contents, static_cast<int32_t>(i)).bytes});
  const Combined combined{path, meant.bytes, Io::buffered, true};
  PENSTOCK_TRY(combine(target.comm, *target.storage, sources, combined, combine_window(target)));
  PENSTOCK_TRY(on_rank_0(target.comm, [&] { return check_rebuilt(target, path, meant); }));
  return check_held(target);
}

// Part of the names of all files of a set.
std::string generation_mark(const Contents& contents) { return ".g" + contents.generation + "."; }

// "heat.h5.before-TOKEN.part000003.h5": not a part of any set, so that neither commits nor penstock clean remove it.
std::string kept_path(const Target& target, const Contents& contents, const std::string& path) {
  const std::string mark = generation_mark(contents);
  const std::string before = fmt::format(".before-{:016x}.", target.token);
  const size_t at = path.rfind(mark);
  return at == std::string::npos ? path + before : path.substr(0, at) + before + path.substr(at + mark.size());
}

// Rank 0. A forged index could name any file of the folder as a part.
Status check_place(Storage& storage, const Contents& contents, const std::string& path) {
  const std::string name = path.substr(folder_of(path).size());
  if (name.find(generation_mark(contents)) != std::string::npos) return {};
  const auto there = storage.stat(path);
  if (there.status().code() == Code::not_found) return {};
  if (!there.ok()) return there.status();
  return {Code::denied,
          fmt::format("the name has no '{}', as those of the parts of this set have, so that it may be a file "
                      "of somebody else: move it away, if it is none, and repair again",
                      generation_mark(contents))};
}

// Collective. A file newer than the index was changed after the commit, perhaps on purpose.
Result<bool> is_newer(const Target& target, const std::string& path) {
  int64_t newer = 0;
  if (target.comm->rank() == 0) {
    const auto committed = target.storage->stat(target.path), there = target.storage->stat(path);
    newer = committed.ok() && there.ok() && there->changed_at > committed->changed_at;
  }
  PENSTOCK_TRY(target.comm->all_reduce_max(std::span(&newer, 1)));
  return newer != 0;
}

// Rank 0. Moves the file at PATH to KEPT, and MADE to PATH.
Status take_place(Storage& storage, const std::string& made, const std::string& path, const std::string& kept) {
  if (kept.empty()) return storage.rename(made, path);
  const Status exchanged = storage.exchange(made, path);
  if (exchanged.ok()) return storage.rename(made, kept);
  if (exchanged.code() != Code::unsupported) return exchanged;
  PENSTOCK_TRY(storage.rename(path, kept));
  return storage.rename(made, path);
}

// Rank 0. Gives MADE the committed name, durably.
Status put_back(Storage& storage, const std::string& made, const std::string& path, const std::string& index,
                const std::string& kept) {
  PENSTOCK_TRY(storage.permit_like(made, index));
  // With the time that it would have if it had always been there.
  if (const auto committed = storage.stat(index); committed.ok()) (void)storage.set_time(made, committed->changed_at);
  PENSTOCK_TRY(take_place(storage, made, path, kept));
  if (const Status synced = storage.sync_directory(path); !synced.ok())
    return {Code::in_doubt, fmt::format("'{}' is rebuilt, but whether it would survive a power loss is unknown: {}",
                                        path, synced.message())};
  return {};
}

}  // namespace

Result<Repair> repair_set(Target& target, const Published& file) {
  const Contents& contents = file.contents;
  PENSTOCK_ASSIGN(const auto wrong, find_wrong_files(target, contents));
  Repair result;
  result.files = std::ssize(contents.parts) + 1;
  if (wrong.empty()) return result;
  if (wrong.size() > 1) return too_many(file, wrong);
  PENSTOCK_TRY(own_partial_files(target));
  const std::string& path = path_of(contents, wrong[0].file);
  const std::string made =
      folder_of(path) + partial_name(path.substr(folder_of(path).size()), target.token, target.owner);
  Status status = on_rank_0(target.comm, [&] { return check_place(*target.storage, contents, path); });
  if (status.ok()) status = rebuild(target, contents, wrong[0].file, made);
  if (status.ok()) {
    PENSTOCK_ASSIGN(const bool newer, is_newer(target, path));
    if (newer) result.kept = kept_path(target, contents, path);
    status =
        publish_together(target.comm, [&] { return put_back(*target.storage, made, path, target.path, result.kept); });
  }
  if (!status.ok()) {
    if (target.comm->rank() == 0) (void)target.storage->remove(made);
    all_cleaned(target.comm, status);
    return status.in(fmt::format("rebuilding '{}'", path));
  }
  target.storage->free_removed_files();
  result.rebuilt = path;
  result.why = wrong[0].why;
  result.bytes = sum_of(contents, wrong[0].file).bytes;
  return result;
}

}  // namespace penstock
