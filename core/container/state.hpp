// State: the writer or reader inside a Stream.
#pragma once

#include <memory>

#include <penstock/stream.hpp>

namespace penstock {

class Stream::State {
 public:
  virtual ~State() = default;
  virtual Status write(std::span<const std::byte> bytes) = 0;
  virtual Result<int64_t> read(int64_t rank, int64_t offset, std::span<std::byte> into) = 0;
  virtual int64_t count() const = 0;
  virtual Result<int64_t> bytes(int64_t rank) = 0;
  virtual Status close() = 0;
  virtual void remember_failure(const Status& status) = 0;
};

namespace container {

// Collective. Code::mismatch if a rank passes another PATH or other OPTIONS than rank 0.
Status same_arguments(const Communicator& comm, std::string_view path, std::string_view options);

Result<std::unique_ptr<Stream::State>> make_writer(const Communicator& comm, const std::string& path,
                                                   std::string_view options);
Result<std::unique_ptr<Stream::State>> make_reader(const Communicator& comm, const std::string& path);

}  // namespace container
}  // namespace penstock
