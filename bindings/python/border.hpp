// Border of the Python extension: statuses become exceptions, objects with buffers become memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <penstock/config.h>
#include <penstock/communicator.hpp>
#include <penstock/decomposition.hpp>
#include <penstock/status.hpp>
#include <penstock/type.hpp>

namespace penstock::python {

namespace nb = nanobind;

// A status on its way to Python, where it is raised as the class that `raise_as` was given for its code.
struct Failure {
  Status status;
};

void bind_errors(nb::module_& module);
void bind_files(nb::module_& module);
void bind_streams(nb::module_& module);

inline void check(const Status& status) {
  if (!status.ok()) throw Failure{status};
}

template <typename T>
T value(Result<T> result) {
  check(result.status());
  return *std::move(result);
}

// Runs CALL without the interpreter's lock: other threads of Python go on while ranks wait for each other.
template <typename Call>
auto unlocked(Call call) {
  nb::gil_scoped_release released;
  return call();
}

// The memory of an object with a buffer, held for as long as this lives.
class Buffer {
 public:
  Buffer(nb::handle object, bool writable);
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return view_.buf; }
  int64_t bytes() const { return view_.len; }
  // As many elements of TYPE as there are in PART, at its strides; throws where they differ.
  Memory layout(const ElementType& type, const Decomposition& part) const;

 private:
  Py_buffer view_{};
};

struct Ranks {
  Communicator comm;
};

Dims dims(const std::vector<int64_t>& values);

}  // namespace penstock::python
