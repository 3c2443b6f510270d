// Series for the Python package; penstock/steps.py wraps them for users.
#include <nanobind/stl/tuple.h>
#include <penstock/series.hpp>

#include "bindings/python/file.hpp"

namespace penstock::python {

namespace {

struct OpenSeries : Opened<Series> {
  explicit OpenSeries(Series series) : Opened(std::move(series), "series") {}
};

OpenFile* opened(Result<File> file) { return new OpenFile(value(std::move(file))); }

}  // namespace

void bind_series(nb::module_& module) {
  module.def(
      "series",
      [](const Ranks& ranks, const std::string& pattern, const std::string& plan, const std::string& options) {
        return new OpenSeries(value(unlocked([&] { return Series::create(ranks.comm, pattern, plan, options); })));
      },
      nb::arg("ranks"), nb::arg("pattern"), nb::arg("plan"), nb::arg("options"));
  module.def(
      "open_series",
      [](const Ranks& ranks, const std::string& pattern) {
        return new OpenSeries(value(unlocked([&] { return Series::open(ranks.comm, pattern); })));
      },
      nb::arg("ranks"), nb::arg("pattern"));
  nb::class_<OpenSeries>(module, "Series")
      .def_prop_ro("is_open", [](OpenSeries& self) { return self.is_open(); })
      .def_prop_ro("warnings", [](OpenSeries& self) { return self.get().warnings(); })
      .def(
          "due",
          [](OpenSeries& self, int64_t iteration, double time) {
            return value(self.away([&](Series& series) { return series.due(iteration, time); }));
          },
          nb::arg("iteration"), nb::arg("time"))
      .def(
          "step",
          [](OpenSeries& self, int64_t iteration, double time) {
            OpenFile* file = opened(self.away([&](Series& series) { return series.step(iteration, time); }));
            file->series = self.busy();
            return file;
          },
          nb::arg("iteration"), nb::arg("time"))
      .def("steps",
           [](OpenSeries& self) {
             std::vector<std::tuple<int64_t, double, std::string>> list;
             for (SeriesStep& step : self.get().steps())
               list.emplace_back(step.iteration, step.time, std::move(step.path));
             return list;
           })
      .def_prop_ro("count", [](OpenSeries& self) { return self.get().count(); })
      .def(
          "at",
          [](OpenSeries& self, int64_t index) {
            SeriesStep step = value(self.get().at(index));
            return std::tuple(step.iteration, step.time, std::move(step.path));
          },
          nb::arg("index"))
      .def(
          "open_step",
          [](OpenSeries& self, int64_t index, const std::string& plan) {
            return opened(self.away([&](Series& series) { return series.open_step(index, plan); }));
          },
          nb::arg("index"), nb::arg("plan"))
      .def("close", [](OpenSeries& self) { self.drop(); });
}

}  // namespace penstock::python
