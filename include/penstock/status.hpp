// Status and Result: how penstock reports errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace penstock {

// Each code stands for one kind of remedy, not one kind of cause; the message names the cause.
// The numeric values are those of penstock_status in penstock.h.
enum class Code : int {
  ok = 0,
  invalid = 1,       // an argument is not valid: correct the call
  not_found = 2,     // no such file, folder, dataset or attribute
  exists = 3,        // an object of this name exists already
  denied = 4,        // no permission, or a read-only file system
  no_space = 5,      // disk or quota full
  io = 6,            // the file system failed
  mismatch = 7,      // ranks, or a caller and a file, disagree on a definition
  overlap = 8,       // an element was put more than once
  incomplete = 9,    // an element was put by no rank
  unsupported = 10,  // this build, format or file system does not support it
  memory = 11,       // a memory limit was reached
  damaged = 12,      // bytes in a file differ from what was written
  timeout = 13,      // no progress within the limit
  in_doubt = 14,     // unknown whether the commit took effect
  elsewhere = 15,    // another rank failed; agree() replaces it by that rank's error
  internal = 16,     // a bug in penstock
};

// "no space", "invalid", ...: one or two words for people.
std::string_view name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  // The code for an errno value, with "WHAT: strerror(error)" as message.
  static Status from_errno(int error, std::string_view what);

  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same status with "CONTEXT: " before its message; ok stays ok.
  Status in(std::string_view context) const&;

  explicit operator bool() const { return ok(); }

 private:
  Code code_ = Code::ok;
  std::string message_;
};

// A value, or the status that explains why there is none. Test first: reading the wrong one is undefined.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }

  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace penstock

// Returns the status of EXPRESSION from the function, unless it is ok.
#define PENSTOCK_TRY(expression)                                                               \
  do {                                                                                         \
    if (auto penstock_status_ = (expression); !penstock_status_.ok()) return penstock_status_; \
  } while (false)
#define PENSTOCK_JOIN_(a, b) a##b
#define PENSTOCK_JOIN(a, b) PENSTOCK_JOIN_(a, b)
// Declares TARGET as the value of the Result EXPRESSION, or returns its status from the function.
#define PENSTOCK_ASSIGN(target, expression)                                                                       \
  auto PENSTOCK_JOIN(penstock_result_, __LINE__) = (expression);                                                  \
  if (!PENSTOCK_JOIN(penstock_result_, __LINE__).ok()) return PENSTOCK_JOIN(penstock_result_, __LINE__).status(); \
  target = *std::move(PENSTOCK_JOIN(penstock_result_, __LINE__))
