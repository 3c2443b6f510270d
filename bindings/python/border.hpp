// Border of the Python extension: converts statuses to exceptions, and buffer objects to memory.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <penstock/config.h>
#include <penstock/communicator.hpp>
#include <penstock/decomposition.hpp>
#include <penstock/status.hpp>
#include <penstock/type.hpp>

// Texts of the library are bytes. Bytes that are not UTF-8 become surrogates in Python, as in os.fsdecode. Do not
// include nanobind/stl/string.h, which rejects them.
template <>
struct nanobind::detail::type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))
  bool from_python(handle source, uint8_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    const object bytes = steal(PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape"));
    if (!bytes.is_valid()) {
      PyErr_Clear();
      return false;
    }
    value.assign(PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
    return true;
  }
  static handle from_cpp(const std::string& text, rv_policy /*policy*/, cleanup_list* /*cleanup*/) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  }
};

namespace penstock::python {

namespace nb = nanobind;

// A status on its way to Python, which raises the class that `raise_as` registered for its code.
struct Failure {
  Status status;
};

void bind_errors(nb::module_& module);
void bind_files(nb::module_& module);
void bind_series(nb::module_& module);
void bind_streams(nb::module_& module);

inline void check(const Status& status) {
  if (!status.ok()) throw Failure{status};
}

template <typename T>
T value(Result<T> result) {
  check(result.status());
  return *std::move(result);
}

// Runs CALL without the interpreter's lock, so that other Python threads run while ranks wait for each other.
template <typename Call>
auto unlocked(Call call) {
  nb::gil_scoped_release released;
  return call();
}

// The memory of a buffer object, held for the lifetime of this object.
class Buffer {
 public:
  Buffer(nb::handle object, bool writable);
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return view_.buf; }
  int64_t bytes() const { return view_.len; }
  // Checks that the memory has as many elements of TYPE as PART, at the strides of PART; throws otherwise.
  Memory layout(const ElementType& type, const Decomposition& part) const;

 private:
  Py_buffer view_{};
};

struct Ranks {
  Communicator comm;
};

// Marks FLAG as in use for its lifetime; throws if it is in use already. The interpreter's lock guards the flag.
class Busy {
 public:
  Busy(std::shared_ptr<bool> flag, const char* what) : flag_(std::move(flag)) {
    if (*flag_) throw Failure{{Code::invalid, std::string("another thread is using the ") + what + ": one at a time"}};
    *flag_ = true;
  }
  ~Busy() { *flag_ = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::shared_ptr<bool> flag_;
};

// A file, stream or series. Only one thread may use it at a time; others get an error meanwhile.
template <typename T>
class Opened {
 public:
  Opened(T opened, const char* what) : opened_(std::move(opened)), what_(what) {}

  bool is_open() const { return opened_.has_value(); }
  T& get() {
    {
      const Busy free(busy_, what_);
    }
    if (!opened_) throw Failure{{Code::invalid, std::string("the ") + what_ + " is closed"}};
    return *opened_;
  }
  // Runs without the interpreter's lock.
  template <typename Call>
  auto away(Call call) {
    T& open = get();
    const Busy busy(busy_, what_);
    return unlocked([&] { return call(open); });
  }
  void drop() {
    if (opened_) (void)get();
    discard();
  }
  // Without the interpreter's lock, which a thread that this waits for may need to report a wait.
  void discard() {
    if (!opened_) return;
    std::optional<T> last = std::move(opened_);
    opened_.reset();
    unlocked([&] { last.reset(); });
  }
  const std::shared_ptr<bool>& busy() const { return busy_; }

 private:
  std::optional<T> opened_;
  const char* what_;
  std::shared_ptr<bool> busy_ = std::make_shared<bool>(false);
};

Dims dims(const std::vector<int64_t>& values);

}  // namespace penstock::python
