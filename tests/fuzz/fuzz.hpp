// Fuzz: what the fuzzers share. Each is one function over bytes that nobody vouches for; it ends or it aborts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <penstock/status.hpp>

// libFuzzer's name for it, and ours: tests/fuzz/replay.cpp calls it where there is no libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace penstock::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline std::span<const std::byte> bytes_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

// A law that every input must keep.
inline void must(bool law, std::string_view what) {
  if (law) return;
  std::fprintf(stderr, "broken: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// Everything that is refused says why.
inline void check_refusal(const Status& status) {
  must(!status.ok() && !status.message().empty(), "a refusal without a message");
  must(status.code() != Code::internal, status.message());
}

}  // namespace penstock::fuzz
