// The Python extension: one module per build, _mpi or _serial, over the C++ interface. penstock/api/native.py finds it.
#include <nanobind/stl/optional.h>
#include <penstock/stream.hpp>

#include "bindings/python/border.hpp"

namespace penstock::python {

namespace {

struct OpenStream : Opened<Stream> {
  explicit OpenStream(Stream stream) : Opened(std::move(stream), "stream") {}
};

nb::bytes read(OpenStream& self, int64_t rank, int64_t offset, int64_t bytes) {
  (void)self.get();
  if (bytes < 0) throw Failure{{Code::invalid, "a negative number of bytes to read"}};
  nb::bytes result = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, bytes));
  if (!result.is_valid()) throw nb::python_error();
  auto* into = reinterpret_cast<std::byte*>(PyBytes_AsString(result.ptr()));
  const int64_t got =
      value(self.away([&](Stream& stream) { return stream.read(rank, offset, {into, static_cast<size_t>(bytes)}); }));
  if (got == bytes) return result;
  return nb::bytes(reinterpret_cast<const char*>(into), static_cast<size_t>(got));
}

}  // namespace

void bind_streams(nb::module_& module) {
  module.def(
      "create_stream",
      [](const Ranks& ranks, const std::string& path, const std::string& options) {
        return new OpenStream(value(unlocked([&] { return Stream::create(ranks.comm, path, options); })));
      },
      nb::arg("ranks"), nb::arg("path"), nb::arg("options"));
  module.def(
      "open_stream",
      [](const Ranks& ranks, const std::string& path) {
        return new OpenStream(value(unlocked([&] { return Stream::open(ranks.comm, path); })));
      },
      nb::arg("ranks"), nb::arg("path"));
  nb::class_<OpenStream>(module, "Stream")
      .def_prop_ro("count", [](OpenStream& self) { return self.get().count(); })
      .def(
          "length", [](OpenStream& self, int64_t rank) { return value(self.get().bytes(rank)); }, nb::arg("rank"))
      .def(
          "write",
          [](OpenStream& self, nb::handle data) {
            const Buffer buffer(data, false);
            check(self.away([&](Stream& stream) {
              return stream.write({static_cast<const std::byte*>(buffer.data()), static_cast<size_t>(buffer.bytes())});
            }));
          },
          nb::arg("data"))
      .def("read", &read, nb::arg("rank"), nb::arg("offset"), nb::arg("bytes"))
      .def("close",
           [](OpenStream& self) {
             const Status status = self.away([](Stream& stream) { return stream.close(); });
             self.drop();
             check(status);
           })
      .def(
          "remember_failure",
          [](OpenStream& self, const std::string& message) { self.get().remember_failure({Code::invalid, message}); },
          nb::arg("message"))
      .def("abandon", [](OpenStream& self) { self.drop(); });
}

}  // namespace penstock::python

#if PENSTOCK_HAVE_MPI
NB_MODULE(_mpi, module) {
#else
NB_MODULE(_serial, module) {
#endif
  nanobind::set_leak_warnings(false);  // files may still be open when the interpreter ends
  penstock::python::bind_errors(module);
  penstock::python::bind_files(module);
  penstock::python::bind_series(module);
  penstock::python::bind_streams(module);
}
