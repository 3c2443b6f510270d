// Files and decompositions for the Python package; penstock/api/file.py wraps them for users.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <penstock/provenance.hpp>

#include "bindings/python/file.hpp"

namespace penstock::python {

namespace {

using Numbers = std::vector<int64_t>;

ElementType element_type(const std::string& word) { return value(parse_type(word)); }

Numbers numbers(const Dims& dims) { return {dims.begin(), dims.end()}; }

using Opener = Result<File> (*)(const Communicator&, std::string, std::string_view);

template <Opener opener>
OpenFile* opened(const Ranks& ranks, const std::string& path, const std::string& plan) {
  Result<File> file = unlocked([&] { return opener(ranks.comm, path, plan); });
  return new OpenFile(value(std::move(file)));
}

void put(OpenFile& self, const std::string& name, const std::string& type, const Decomposition& part, nb::handle data,
         bool lend, const std::string& meant) {
  File& file = self.get();
  const ElementType element = element_type(type);
  auto buffer = std::make_unique<Buffer>(data, false);
  const Memory memory = buffer->layout(element, part);
  check(lend ? file.lend(name, element, part, buffer->data(), memory)
             : file.put(name, element, part, buffer->data(), memory));
  file.set_meant(meant);
  if (lend) self.held.push_back(std::move(buffer));
}

// The checked arguments of get and read.
struct Wanted {
  ElementType type;
  std::unique_ptr<Buffer> buffer;
  Memory memory;

  Wanted(const std::string& word, const Decomposition& part, nb::handle data)
      : type(element_type(word)), buffer(std::make_unique<Buffer>(data, true)), memory(buffer->layout(type, part)) {}
};

void get(OpenFile& self, const std::string& name, const std::string& type, const Decomposition& part, nb::handle data) {
  File& file = self.get();
  Wanted wanted(type, part, data);
  check(file.get(name, wanted.type, part, wanted.buffer->data(), wanted.memory));
  self.held.push_back(std::move(wanted.buffer));
}

// Collective, even if this rank's arguments are rejected.
void read_now(OpenFile& self, const std::string& name, const std::string& type, const Decomposition& part,
              nb::handle data) {
  std::optional<Wanted> wanted;
  try {
    wanted.emplace(type, part, data);
  } catch (const Failure& failure) {
    self.ended(self.away([&](File& file) { return file.refuse_get(failure.status); }));
    return;
  }
  const Status status = self.away(
      [&](File& file) { return file.get_now(name, wanted->type, part, wanted->buffer->data(), wanted->memory); });
  if (status.code() == Code::timeout || status.code() == Code::in_doubt) (void)wanted->buffer.release();
  self.ended(status);
}

// Closes by END, which is File::close or close_restart. For a step this changes the series, too.
template <typename End>
void close(OpenFile& self, End end) {
  (void)self.get();
  std::optional<Busy> series;
  if (self.series != nullptr) series.emplace(self.series, "series");
  const Status status = self.away(end);
  OpenFile::let_go(self.moving, status);
  OpenFile::let_go(self.held, status);
  self.drop();
  check(status);
}

// Name, type, shape, and whether the first extent may grow.
using Described = std::tuple<std::string, std::string, Numbers, bool>;
Described described(const DatasetInfo& info) {
  return {info.name, name(info.type), numbers(info.shape), info.unlimited};
}

// Name, type, shape and bytes.
using DescribedAttribute = std::tuple<std::string, std::string, Numbers, nb::bytes>;
DescribedAttribute described(const Attribute& attribute) {
  return {attribute.name, name(attribute.type), numbers(attribute.shape),
          nb::bytes(reinterpret_cast<const char*>(attribute.value.data()), attribute.value.size())};
}

void set_attribute(OpenFile& self, const std::string& object, const std::string& name, const std::string& type,
                   const Numbers& shape, const nb::bytes& values) {
  const auto* first = static_cast<const std::byte*>(values.data());
  check(self.get().set_attribute(object, {name, element_type(type), dims(shape), {first, first + values.size()}}));
}

nb::typed<nb::dict, nb::str, nb::any> report(OpenFile& self) {
  const Report& report = self.get().report();
  nb::dict all;
  all["plan"] = report.plan;
  all["reason"] = report.reason;
  all["problem"] = report.problem;
  all["predicted_seconds"] = report.predicted_seconds;
  nb::dict phases;
  for (int i = 0; i < phase_count; ++i) {
    const auto phase = static_cast<Phase>(i);
    phases[nb::cast(std::string(name(phase)))] = report.phases[phase];
  }
  all["phases"] = phases;
  nb::dict hints;
  for (const auto& [key, hint] : report.hints) hints[nb::cast(key)] = hint;
  all["hints"] = hints;
  all["bytes"] = report.bytes;
  all["file_calls"] = report.file_calls;
  all["file_bytes"] = report.file_bytes;
  all["metadata_calls"] = report.metadata_calls;
  all["messages"] = report.messages;
  all["message_bytes"] = report.message_bytes;
  all["writers"] = report.writers;
  all["memory_peak"] = report.memory_peak;
  all["background_seconds"] = report.background_seconds;
  all["filesystem"] = report.filesystem;
  all["warnings"] = report.warnings;
  all["statistics"] = report.statistics;
  return all;
}

std::vector<Box> boxes(const std::vector<Numbers>& starts, const std::vector<Numbers>& counts) {
  if (starts.size() != counts.size())
    throw Failure{{Code::invalid,
                   fmt::format("{} starts and {} counts: each box has one of both", starts.size(), counts.size())}};
  std::vector<Box> list;
  for (size_t i = 0; i < starts.size(); ++i) list.push_back({dims(starts[i]), dims(counts[i])});
  return list;
}

void bind_parts(nb::module_& module) {
  nb::class_<Decomposition>(module, "Part").def_prop_ro("elements", &Decomposition::elements);
  module.def(
      "block",
      [](const Numbers& shape, const Numbers& start, const Numbers& count) {
        return value(Decomposition::block(dims(shape), dims(start), dims(count)));
      },
      nb::arg("shape"), nb::arg("start"), nb::arg("count"));
  module.def(
      "boxes",
      [](const Numbers& shape, const std::vector<Numbers>& starts, const std::vector<Numbers>& counts) {
        return value(Decomposition::boxes(dims(shape), boxes(starts, counts)));
      },
      nb::arg("shape"), nb::arg("starts"), nb::arg("counts"));
  module.def(
      "runs",
      [](const Numbers& shape, const std::vector<std::pair<int64_t, int64_t>>& runs) {
        std::vector<Run> list;
        for (const auto& [offset, length] : runs) list.push_back({offset, length});
        return value(Decomposition::runs(dims(shape), list));
      },
      nb::arg("shape"), nb::arg("runs"));
  module.def(
      "ragged", [](int64_t rows, const Numbers& row) { return value(Decomposition::ragged(rows, dims(row))); },
      nb::arg("rows"), nb::arg("row"));
  module.def(
      "replicated", [](const Numbers& shape) { return value(Decomposition::replicated(dims(shape))); },
      nb::arg("shape"));
  module.def("per_rank", [](const Numbers& row) { return value(Decomposition::per_rank(dims(row))); }, nb::arg("row"));
}

}  // namespace

void bind_files(nb::module_& module) {
  bind_parts(module);
  module.def("create", &opened<&File::create>, nb::arg("ranks"), nb::arg("path"), nb::arg("plan"));
  module.def("open", &opened<&File::open>, nb::arg("ranks"), nb::arg("path"), nb::arg("plan"));
  module.def("open_latest", &opened<&File::open_latest>, nb::arg("ranks"), nb::arg("pattern"), nb::arg("plan"));
  module.def("reopen", &opened<&File::reopen>, nb::arg("ranks"), nb::arg("path"), nb::arg("plan"));
  module.def(
      "clone",
      [](const Ranks& ranks, const std::string& from, const std::string& path, const std::string& plan) {
        return new OpenFile(value(unlocked([&] { return File::clone(ranks.comm, from, path, plan); })));
      },
      nb::arg("ranks"), nb::arg("template"), nb::arg("path"), nb::arg("plan"));
  module.def(
      "copy",
      [](const Ranks& ranks, const std::string& from, const std::string& to, const std::string& plan) {
        check(unlocked([&] { return File::copy(ranks.comm, from, to, plan); }));
      },
      nb::arg("ranks"), nb::arg("source"), nb::arg("target"), nb::arg("plan"));
  module.def(
      "verify",
      [](const Ranks& ranks, const std::string& path) {
        check(unlocked([&]() -> Status {
          PENSTOCK_ASSIGN(File file, File::open_to_check(ranks.comm, path));
          PENSTOCK_ASSIGN(const Verification found, file.verify());
          PENSTOCK_TRY(file.close());
          return found.verdict(file.path());
        }));
      },
      nb::arg("ranks"), nb::arg("path"));
  module.def(
      "repair",
      [](const Ranks& ranks, const std::string& path) {
        return value(unlocked([&] { return File::repair(ranks.comm, path); })).rebuilt;
      },
      nb::arg("ranks"), nb::arg("path"));
  module.def(
      "seal",
      [](const Ranks& ranks, const std::string& path, bool force) {
        return value(unlocked([&] { return File::seal(ranks.comm, path, force); })).renewed;
      },
      nb::arg("ranks"), nb::arg("path"), nb::arg("force"));

  nb::class_<OpenFile>(module, "File")
      .def_prop_ro("is_open", [](OpenFile& self) { return self.is_open(); })
      .def_prop_ro("path", [](OpenFile& self) { return self.get().path(); })
      .def_prop_ro("plan", [](OpenFile& self) { return self.get().plan(); })
      .def("put", &put, nb::arg("name"), nb::arg("type"), nb::arg("part"), nb::arg("data"), nb::arg("lend"),
           nb::arg("meant") = "")
      .def("get", &get, nb::arg("name"), nb::arg("type"), nb::arg("part"), nb::arg("data"))
      .def("read", &read_now, nb::arg("name"), nb::arg("type"), nb::arg("part"), nb::arg("data"))
      .def(
          "refuse",
          [](OpenFile& self, const std::string& message) {
            self.ended(self.away([&](File& file) { return file.refuse_get({Code::invalid, message}); }));
          },
          nb::arg("message"))
      .def(
          "fail",
          [](OpenFile& self, const std::string& message) {
            self.get().set_forgetful(false);
            self.get().remember_failure({Code::invalid, message});
          },
          nb::arg("message"))
      .def(
          "remove", [](OpenFile& self, const std::string& name) { check(self.get().remove(name)); }, nb::arg("name"))
      .def(
          "make_group", [](OpenFile& self, const std::string& name) { check(self.get().make_group(name)); },
          nb::arg("name"))
      .def(
          "set_dimensions",
          [](OpenFile& self, const std::string& name, const std::vector<std::string>& names) {
            check(self.get().set_dimensions(name, names));
          },
          nb::arg("name"), nb::arg("names"))
      .def_static(
          "check_dimensions",
          [](const std::string& name, const std::vector<std::string>& names) {
            check(File::check_dimensions(name, names));
          },
          nb::arg("name"), nb::arg("names"))
      .def(
          "check_readable", [](OpenFile& self, const std::string& name) { check(self.get().check_readable(name)); },
          nb::arg("name"))
      .def(
          "dimensions", [](OpenFile& self, const std::string& name) { return self.get().dimensions(name); },
          nb::arg("name"))
      .def(
          "options",
          [](OpenFile& self, const std::string& name, const std::string& options) {
            check(self.get().set_options(name, options));
          },
          nb::arg("name"), nb::arg("options"))
      .def(
          "unlimited", [](OpenFile& self, const std::string& name) { check(self.get().set_unlimited(name)); },
          nb::arg("name"))
      .def(
          "partial", [](OpenFile& self, bool partial) { self.get().set_partial(partial); }, nb::arg("partial"))
      .def(
          "xdmf", [](OpenFile& self, bool xdmf) { self.get().set_xdmf(xdmf); }, nb::arg("xdmf"))
      .def(
          "conventions",
          [](OpenFile& self, const std::string& convention) { check(self.get().set_conventions(convention)); },
          nb::arg("convention"))
      .def(
          "capture_bytes", [](OpenFile& self, int64_t bytes) { self.get().set_capture_bytes(bytes); }, nb::arg("bytes"))
      .def("set_attribute", &set_attribute, nb::arg("object"), nb::arg("name"), nb::arg("type"), nb::arg("shape"),
           nb::arg("values"))
      .def(
          "attributes",
          [](OpenFile& self, const std::string& object) {
            std::vector<DescribedAttribute> list;
            for (const Attribute& attribute : self.get().attributes(object)) list.push_back(described(attribute));
            return list;
          },
          nb::arg("object"))
      .def("datasets",
           [](OpenFile& self) {
             std::vector<Described> list;
             for (const DatasetInfo& info : self.get().datasets()) list.push_back(described(info));
             return list;
           })
      .def(
          "dataset", [](OpenFile& self, const std::string& name) { return described(value(self.get().dataset(name))); },
          nb::arg("name"))
      .def(
          "has", [](OpenFile& self, const std::string& object) { return self.get().has(object); }, nb::arg("object"))
      .def_prop_ro("publications", [](OpenFile& self) { return self.get().publications(); })
      .def("commit", [](OpenFile& self) { self.ended(self.away([](File& file) { return file.commit(); })); })
      .def("commit_start",
           [](OpenFile& self) {
             const Status status = self.away([](File& file) { return file.commit_start(); });
             OpenFile::let_go(self.moving, status);
             if (status.ok() || !self.get().is_usable()) self.moving.swap(self.held);
             self.check_after(status);
           })
      .def("commit_test", [](OpenFile& self) { return value(self.get().commit_test()); })
      .def("commit_wait",
           [](OpenFile& self) {
             const Status status = self.away([](File& file) { return file.commit_wait(); });
             OpenFile::let_go(self.moving, status);
             self.check_after(status);
           })
      .def("close", [](OpenFile& self) { close(self, [](File& file) { return file.close(); }); })
      .def(
          "close_restart",
          [](OpenFile& self, const std::string& pattern, int64_t retain) {
            close(self, [&](File& file) { return file.close_restart(pattern, retain); });
          },
          nb::arg("pattern"), nb::arg("retain"))
      .def(
          "provenance",
          [](OpenFile& self, const std::string& key, const std::string& text) {
            check(set_provenance(self.get(), key, text));
          },
          nb::arg("key"), nb::arg("text"))
      .def("collect_provenance", [](OpenFile& self) { check(collect_provenance(self.get())); })
      .def("abandon",
           [](OpenFile& self) {
             self.drop();
             self.moving.clear();
             self.held.clear();
           })
      .def("report", &report);
}

}  // namespace penstock::python
