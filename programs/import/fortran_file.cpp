// FortranFile: finds records, and reads ahead, since most of them are small.
#include "programs/import/fortran_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace penstock::importing {
namespace {

constexpr int64_t ahead_bytes = 64 << 10;

}  // namespace

void swap_bytes(std::span<std::byte> bytes, int64_t unit) {
  const auto step = static_cast<size_t>(unit);
  for (size_t i = 0; i + step <= bytes.size(); i += step) std::reverse(bytes.data() + i, bytes.data() + i + step);
}

Result<FortranFile> FortranFile::open(std::string path, const Framing& framing) {
  FortranFile file;
  file.path_ = std::move(path);
  file.framing_ = framing;
  const std::string context = fmt::format("opening '{}'", file.path_);
  file.file_ = FileDescriptor(retrying([&] { return ::open(file.path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (file.file_.get() < 0) return Status::from_errno(errno, context);
  struct stat info = {};
  if (::fstat(file.file_.get(), &info) != 0) return Status::from_errno(errno, context);
  if (!S_ISREG(info.st_mode)) return Status(Code::invalid, fmt::format("'{}' is no regular file", file.path_));
  file.bytes_ = info.st_size;
  if (file.bytes_ == 0) return Status(Code::damaged, fmt::format("'{}' is empty", file.path_));
  return file;
}

Result<FortranFile> FortranFile::open(std::string path) {
  PENSTOCK_ASSIGN(FortranFile file, open(std::move(path), Framing{}));
  for (const Framing& framing : {Framing{false, 4}, Framing{true, 4}, Framing{false, 8}, Framing{true, 8}}) {
    file.framing_ = framing;
    if (!file.skip(1).ok()) continue;
    // The length of a single record may be consistent by chance.
    Status more;
    while (more.ok() && file.record_ <= 4 && !file.at_end()) more = file.skip(1);
    const bool all = more.ok();
    file.position_ = 0;
    file.record_ = 1;
    if (all) return file;
  }
  return Status(Code::damaged,
                fmt::format("'{}' is no file of Fortran's, unformatted and sequential: the lengths before and behind "
                            "its first records differ, or lie beyond its end",
                            file.path_));
}

Status FortranFile::wrong(const std::string& what) const {
  return {Code::damaged, fmt::format("'{}', record {}, before byte {}: {}", path_, record_ - 1, position_, what)};
}

Status FortranFile::read(int64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = retrying([&] { return ::pread(file_.get(), out.data(), out.size(), offset); });
    if (got < 0) return Status::from_errno(errno, fmt::format("reading '{}' at byte {}", path_, offset));
    if (got == 0) return {Code::damaged, fmt::format("'{}' ends at byte {}, in the midst of a record", path_, offset)};
    out = out.subspan(static_cast<size_t>(got));
    offset += got;
  }
  return {};
}

Status FortranFile::read(const Record& record, int64_t at, std::span<std::byte> out) {
  for (const Record::Run& run : record.runs) {
    if (out.empty()) break;
    if (at >= run.bytes) {
      at -= run.bytes;
      continue;
    }
    const auto part = out.first(static_cast<size_t>(std::min(run.bytes - at, std::ssize(out))));
    PENSTOCK_TRY(read(run.offset + at, part));
    out = out.subspan(part.size());
    at = 0;
  }
  if (out.empty()) return {};
  return {Code::internal, fmt::format("'{}': {} bytes beyond a record", path_, out.size())};
}

Status FortranFile::fetch(int64_t offset, std::span<std::byte> out) {
  const int64_t want = std::ssize(out);
  if (offset < ahead_at_ || offset + want > ahead_at_ + std::ssize(ahead_)) {
    ahead_.resize(static_cast<size_t>(std::min(ahead_bytes, bytes_ - offset)));
    ahead_at_ = offset;
    PENSTOCK_TRY(read(offset, ahead_));
  }
  std::memcpy(out.data(), ahead_.data() + (offset - ahead_at_), out.size());
  return {};
}

Result<int64_t> FortranFile::marker_at(int64_t offset) {
  if (offset < 0 || offset > bytes_ - framing_.marker)
    return Status(Code::damaged,
                  fmt::format("'{}', record {}: the file ends at byte {}, where the length of a record should be",
                              path_, record_, bytes_));
  std::byte raw[8] = {};
  const std::span<std::byte> bytes(raw, static_cast<size_t>(framing_.marker));
  PENSTOCK_TRY(fetch(offset, bytes));
  if (framing_.swapped) std::ranges::reverse(bytes);
  if (framing_.marker == 4) {
    int32_t length = 0;
    std::memcpy(&length, raw, 4);
    return int64_t{length};
  }
  int64_t length = 0;
  std::memcpy(&length, raw, 8);
  return length;
}

// A negative length before a subrecord means that another follows; after it, that another preceded.
Result<Record> FortranFile::record_at(int64_t offset) {
  Record found;
  for (bool more = true; more;) {
    PENSTOCK_ASSIGN(const int64_t length, marker_at(offset));
    more = length < 0;
    const int64_t room = bytes_ - offset - 2 * framing_.marker;
    const int64_t bytes = more ? (length == INT64_MIN ? -1 : -length) : length;
    if (bytes < 0 || bytes > room)
      return Status(
          Code::damaged,
          fmt::format("'{}', record {}, byte {}: a record of {} bytes, but only {} are left: the file is cut off, or "
                      "no unformatted sequential file",
                      path_, record_, offset, bytes, std::max<int64_t>(0, room)));
    found.runs.push_back({offset + framing_.marker, bytes});
    found.bytes += bytes;
    offset += framing_.marker + bytes;
    PENSTOCK_ASSIGN(const int64_t behind, marker_at(offset));
    const int64_t expected = found.runs.size() > 1 ? -bytes : bytes;
    if (behind != expected)
      return Status(Code::damaged,
                    fmt::format("'{}', record {}, byte {}: the length behind a record is {}, before it {}", path_,
                                record_, offset, behind, expected));
    offset += framing_.marker;
    if (more && bytes == 0)
      return Status(Code::damaged, fmt::format("'{}', record {}: a subrecord without bytes", path_, record_));
  }
  return found;
}

Result<Record> FortranFile::next() {
  PENSTOCK_ASSIGN(Record found, record_at(position_));
  position_ = found.runs.back().offset + found.runs.back().bytes + framing_.marker;
  ++record_;
  return found;
}

Status FortranFile::skip(int64_t records) {
  for (; records > 0; --records) PENSTOCK_TRY(next().status());
  return {};
}

Result<Record::Run> FortranFile::next_of(int64_t bytes, const char* what) {
  PENSTOCK_ASSIGN(const Record found, next());
  if (found.bytes != bytes) return wrong(fmt::format("{} would have {} bytes, not {}", what, bytes, found.bytes));
  if (found.runs.size() != 1) return wrong(fmt::format("{} is in subrecords, which is not expected here", what));
  return found.runs[0];
}

Result<std::string> FortranFile::text(const char* what) {
  PENSTOCK_ASSIGN(const Record found, next());
  if (found.bytes > 4096) return wrong(fmt::format("{} would be short, not of {} bytes", what, found.bytes));
  std::string value(static_cast<size_t>(found.bytes), ' ');
  PENSTOCK_TRY(read(found, 0, std::as_writable_bytes(std::span(value))));
  value.resize(value.find_last_not_of(std::string(" \0", 2)) + 1);
  return value;
}

}  // namespace penstock::importing
