// FortranFile: the records of an unformatted sequential Fortran file, of either byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <penstock/status.hpp>

#include "core/base/file_descriptor.hpp"

namespace penstock::importing {

// Each record is preceded and followed by its length in bytes.
struct Framing {
  bool swapped = false;  // markers and numbers are not in native byte order
  int marker = 4;        // bytes of the length: 4, or 8 with some compilers
};

// The location of its bytes; gfortran and others divide records over 2 GiB into subrecords.
struct Record {
  struct Run {
    int64_t offset = 0, bytes = 0;
  };
  std::vector<Run> runs;
  int64_t bytes = 0;
};

// Reverses the bytes of each UNIT of BYTES.
void swap_bytes(std::span<std::byte> bytes, int64_t unit);

// Every length is compared with the file before allocation. Errors name the file, the record (from 1) and the byte.
class FortranFile {
 public:
  // Detects the framing by which the length of the first record is consistent.
  static Result<FortranFile> open(std::string path);
  // With known framing.
  static Result<FortranFile> open(std::string path, const Framing& framing);

  const std::string& path() const { return path_; }
  const Framing& framing() const { return framing_; }
  bool at_end() const { return position_ == bytes_; }
  int64_t position() const { return position_; }
  int64_t record() const { return record_; }  // the next one

  // Returns the next record and advances; Code::damaged at the end, or if the file has another format.
  Result<Record> next();
  Status skip(int64_t records);
  // The next record, of BYTES in one run; WHAT is for the error.
  Result<Record::Run> next_of(int64_t bytes, const char* what);
  // Its COUNT numbers, or all if COUNT < 0.
  template <typename T>
  Result<std::vector<T>> numbers(int64_t count, const char* what);
  Result<std::string> text(const char* what);

  // Bytes of the file at OFFSET, unconverted.
  Status read(int64_t offset, std::span<std::byte> out);
  // The bytes of RECORD from its byte AT on.
  Status read(const Record& record, int64_t at, std::span<std::byte> out);

  Status wrong(const std::string& what) const;  // Code::damaged, about the last record read

 private:
  Result<int64_t> marker_at(int64_t offset);
  Result<Record> record_at(int64_t offset);
  Status fetch(int64_t offset, std::span<std::byte> out);

  std::string path_;
  FileDescriptor file_;
  Framing framing_;
  int64_t bytes_ = 0, position_ = 0, record_ = 1;
  std::vector<std::byte> ahead_;  // of the file, from ahead_at_ on
  int64_t ahead_at_ = 0;
};

template <typename T>
Result<std::vector<T>> FortranFile::numbers(int64_t count, const char* what) {
  static_assert(std::is_arithmetic_v<T>);
  PENSTOCK_ASSIGN(const Record found, next());
  const int64_t size = sizeof(T);
  if (found.bytes % size != 0 || (count >= 0 && found.bytes != count * size))
    return wrong(std::string(what) + " would have " +
                 (count >= 0 ? std::to_string(count * size) : "a multiple of " + std::to_string(size)) +
                 " bytes, not " + std::to_string(found.bytes));
  std::vector<T> values(static_cast<size_t>(found.bytes / size));
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(values));
  PENSTOCK_TRY(read(found, 0, bytes));
  if (framing_.swapped) swap_bytes(bytes, size);
  return values;
}

}  // namespace penstock::importing
