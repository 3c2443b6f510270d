// Latest: finds the newest valid checkpoint.
#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

#include <penstock/file.hpp>

#include "core/access/recognise.hpp"
#include "core/access/record.hpp"
#include "core/comm/calling.hpp"
#include "core/comm/share.hpp"
#include "core/session/state.hpp"

namespace penstock {
namespace {

struct Candidate {
  int64_t committed_at = 0;
  std::string path;
};

// A file of a set beside its master, or one that was never published.
bool is_part(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(".partial")) return true;
  for (size_t at = name.find(".g"); at != std::string_view::npos; at = name.find(".g", at + 1)) {
    const std::string_view generation = name.substr(at + 2, 16);
    if (generation.size() == 16 && generation.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
        name.substr(at + 18).starts_with('.'))
      return true;
  }
  return false;
}

// A file that cannot be read now is examined again in its turn; its error is then reported.
int64_t time_of(const std::string& path, const std::shared_ptr<Storage>& storage) {
  const auto info = storage->stat(path);
  const auto contents = recognise_and_read(*storage, path);
  if (contents.ok())
    if (const auto record = load_record(*contents, path, storage); record.ok()) return record->committed_at;
  return info.ok() ? info->changed_at : 0;
}

// What stopped the last glob() of this thread from looking into a folder.
thread_local std::string unread_folder;

int note_unread(const char* folder, int error) {
  if (error != ENOENT && error != ENOTDIR)
    unread_folder = fmt::format("'{}' cannot be read: {}", folder, std::generic_category().message(error));
  return 0;
}

// Files that cannot be seen are not absent: a program that finds none may begin anew.
Result<std::vector<Candidate>> find_candidates(const std::string& pattern) {
  glob_t found = {};
  unread_folder.clear();
  const int failure = ::glob(pattern.c_str(), GLOB_NOSORT, note_unread, &found);
  if (failure == GLOB_NOMATCH && unread_folder.empty() && ::faccessat(AT_FDCWD, pattern.c_str(), F_OK, AT_EACCESS) != 0)
    (void)note_unread(pattern.c_str(), errno);
  std::vector<Candidate> list;
  if (failure == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i)
      if (!is_part(found.gl_pathv[i])) list.push_back({0, found.gl_pathv[i]});
  ::globfree(&found);
  if (list.empty() && !unread_folder.empty())
    return Status(Code::denied, fmt::format("looking for '{}': {}", pattern, unread_folder));
  if (failure != 0 && failure != GLOB_NOMATCH)
    return Status(failure == GLOB_NOSPACE ? Code::memory : Code::io, fmt::format("looking for '{}' failed", pattern));
  const auto storage = posix_storage();
  for (Candidate& candidate : list) candidate.committed_at = time_of(candidate.path, storage);
  std::ranges::sort(list, [](const Candidate& a, const Candidate& b) {
    return std::tie(a.committed_at, a.path) > std::tie(b.committed_at, b.path);
  });
  return list;
}

// Rank 0 searches and sends the result to all ranks.
Result<std::vector<std::string>> share_candidates(const Communicator& comm, const std::string& pattern) {
  const auto message = from_rank_0(comm, [&](Encoder& out) -> Status {
    PENSTOCK_ASSIGN(const auto list, find_candidates(pattern));
    out.value(std::ssize(list));
    for (const Candidate& candidate : list) out.text(candidate.path);
    return {};
  });
  PENSTOCK_TRY(message.status());
  Decoder in(*message);
  std::vector<std::string> paths;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) paths.push_back(in.text());
  return paths;
}

}  // namespace

Result<File> File::open_latest(const Communicator& comm, std::string pattern, std::string_view plan) {
  const Calling calling(comm, "open_latest", pattern, false);
  PENSTOCK_TRY(comm->barrier());  // a reduction detects ranks in other calls
  PENSTOCK_ASSIGN(const std::vector<std::string> paths, share_candidates(comm, pattern));
  std::vector<std::string> passed_over;
  for (const std::string& path : paths) {
    auto file = open(comm, path, plan);
    Status status = file.status();
    if (file.ok()) {
      const auto found = file->verify();
      status = found.ok() ? found->verdict(path) : found.status();
      const bool unknown = status.code() == Code::not_found;  // intact, as far as its structure tells
      if (unknown) passed_over.push_back(status.message() + ": only its structure was looked at");
      if (status.ok() || unknown) {
        file->state_->report.warnings = std::move(passed_over);
        return file;
      }
    }
    passed_over.push_back(fmt::format("'{}' was skipped: {}", path, status.message()));
  }
  std::string why;
  for (const std::string& one : passed_over) why += "; " + one;
  return Status(Code::not_found, paths.empty() ? fmt::format("'{}': no such file or folder", pattern)
                                               : fmt::format("no file '{}' is whole{}", pattern, why));
}

}  // namespace penstock
