// Border: converts errors to Python exceptions, buffers to memory, and mpi4py's communicators.
#include "bindings/python/border.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <penstock/mpi.hpp>
#include <penstock/timeout.hpp>

namespace penstock::python {

namespace {

constexpr size_t codes = static_cast<size_t>(Code::internal) + 1;
std::array<PyObject*, codes>& classes() {
  static std::array<PyObject*, codes> table{};
  return table;
}

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Failure& failure) {
    PyObject* type = classes()[static_cast<size_t>(failure.status.code())];
    const nb::object text = nb::cast(failure.status.message());
    PyErr_SetObject(type == nullptr ? PyExc_RuntimeError : type, text.ptr());
  }
}

// The function of when_waiting, guarded by the interpreter's lock.
nb::object& teller() {
  static auto& function = *new nb::object;  // the interpreter may end first
  return function;
}
thread_local bool tells = false;

// Called inside a waiting call, whose thread seldom has the interpreter's lock.
void tell_python(const Waiting& waiting) {
  const nb::gil_scoped_acquire acquired;
  const nb::object function = teller();
  if (!function.is_valid()) return;
  tells = true;
  try {
    function(waiting.what, waiting.seconds);
  } catch (nb::python_error& error) {
    // A Ctrl-C is for the program, which gets it when the waiting call returns.
    if (error.matches(PyExc_KeyboardInterrupt))
      PyErr_SetInterrupt();
    else
      error.discard_as_unraisable(function);
  }
  tells = false;
}

void when_waiting_python(nb::object function, double seconds) {
  if (!(seconds > 0))
    throw Failure{{Code::invalid, fmt::format("{} s is not a time to wait: give more than 0", seconds)}};
  if (tells) throw Failure{{Code::invalid, "a function of when_waiting calls penstock, which waits for it to return"}};
  const bool none = function.is_none();
  teller() = none ? nb::object() : std::move(function);
  // A thread that tells holds the lock of when_waiting, and needs that of the interpreter.
  unlocked([&] { when_waiting(none ? std::function<void(const Waiting&)>() : tell_python, seconds); });
}

}  // namespace

Buffer::Buffer(nb::handle object, bool writable) {
  if (PyObject_GetBuffer(object.ptr(), &view_, writable ? PyBUF_STRIDED : PyBUF_STRIDED_RO) != 0)
    throw nb::python_error();
}

Memory Buffer::layout(const ElementType& type, const Decomposition& part) const {
  const int64_t size = penstock::bytes(type);
  if (view_.itemsize != size)
    throw Failure{{Code::invalid,
                   fmt::format("elements of {} bytes in memory for type {} of {}", view_.itemsize, name(type), size)}};
  if (bytes() / size != part.elements())
    throw Failure{
        {Code::invalid, fmt::format("an array of {} elements for a part of {}", bytes() / size, part.elements())}};
  if (PyBuffer_IsContiguous(&view_, 'C') != 0 || part.elements() == 0) return {};
  Dims stride;
  for (int d = 0; d < std::min(view_.ndim, max_rank); ++d) {
    if (view_.strides[d] % size != 0)
      throw Failure{{Code::invalid, "strides of the array in memory are no multiples of its elements: copy it"}};
    stride.push_back(view_.strides[d] / size);
  }
  return Memory::strided(stride);
}

Dims dims(const std::vector<int64_t>& values) {
  if (values.size() > static_cast<size_t>(max_rank))
    throw Failure{{Code::invalid, fmt::format("{} dimensions: datasets have 0 to {}", values.size(), max_rank)}};
  return Dims(std::span(values));
}

void bind_errors(nb::module_& module) {
  nb::register_exception_translator(translate);
  module.def(
      "raise_as",
      [](int code, nb::object type) {
        if (code > 0 && static_cast<size_t>(code) < codes) classes()[static_cast<size_t>(code)] = type.release().ptr();
      },
      nb::arg("code"), nb::arg("type"));
  module.def("set_timeout", [](double seconds) { check(set_timeout(seconds)); }, nb::arg("seconds"));
  module.def("when_waiting", &when_waiting_python, nb::arg("function").none(), nb::arg("seconds"));
  module.attr("has_mpi") = PENSTOCK_HAVE_MPI != 0;

  nb::class_<Ranks>(module, "Ranks")
      .def_prop_ro("rank", [](const Ranks& self) { return self.comm->rank(); })
      .def_prop_ro("size", [](const Ranks& self) { return self.comm->size(); });
  module.def("alone", [] { return Ranks{serial_communicator()}; });
#if PENSTOCK_HAVE_MPI
  module.def("mpi_library", [] {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    text.resize(static_cast<size_t>(length));
    return text;
  });
  module.attr("mpi_handle_bytes") = sizeof(MPI_Comm);
  module.def(
      "from_mpi",
      [](uintptr_t address, const std::string& path) {
        MPI_Comm comm = *reinterpret_cast<const MPI_Comm*>(address);
        return Ranks{value(unlocked([&] { return mpi_communicator(comm, path); }))};
      },
      nb::arg("address"), nb::arg("path"));
#endif
}

}  // namespace penstock::python
