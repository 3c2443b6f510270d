// The C ABI of series and provenance.
#include <penstock/provenance.hpp>
#include <penstock/series.hpp>

#include "bindings/c/border.hpp"
#include "bindings/c/file.hpp"

struct penstock_series {
  penstock::Series series;
  std::string path, warnings;
};

namespace {

using penstock::File;
using penstock::Result;
using penstock::Series;
using penstock::Status;
using penstock::c::border;
using penstock::c::make_with;
using penstock::c::null;
using penstock::c::or_empty;

// Like make_with, for files of a series: OPEN is told whether this rank has a place for the file.
template <typename Open>
penstock_status open_with(penstock_series* series, penstock_file** file, Open open) {
  return border([&]() -> Status {
    if (file != nullptr) *file = nullptr;
    if (series == nullptr) return null("series");
    Result<File> made = open(series->series, file != nullptr);
    if (file == nullptr) return null("file");
    PENSTOCK_TRY(made.status());
    *file = new penstock_file{*std::move(made)};
    return {};
  });
}

template <typename Set>
penstock_status set_in(penstock_file* file, Set set) {
  return border([&]() -> Status {
    if (file == nullptr) return null("file");
    return set(file->file);
  });
}

}  // namespace

extern "C" {

penstock_status penstock_series_create(penstock_comm comm, const char* pattern, const char* plan, const char* options,
                                       penstock_series** series) {
  return make_with(comm, pattern, series, "series", [&](const penstock::Communicator& ranks, const char* where) {
    return Series::create(ranks, where, or_empty(plan), or_empty(options));
  });
}

penstock_status penstock_series_open(penstock_comm comm, const char* pattern, penstock_series** series) {
  return make_with(comm, pattern, series, "series",
                   [](const penstock::Communicator& ranks, const char* where) { return Series::open(ranks, where); });
}

penstock_status penstock_due(penstock_series* series, int64_t iteration, double time, int* due) {
  return border([&]() -> Status {
    if (due != nullptr) *due = 0;
    if (series == nullptr) return null("series");
    const auto answer = series->series.due(iteration, time);
    if (due == nullptr) return null("due");
    PENSTOCK_TRY(answer.status());
    *due = *answer ? 1 : 0;
    return {};
  });
}

penstock_status penstock_series_step(penstock_series* series, int64_t iteration, double time, penstock_file** file) {
  return open_with(series, file, [&](Series& of, bool usable) { return of.step(usable ? iteration : -1, time); });
}

int64_t penstock_series_steps(const penstock_series* series) { return series == nullptr ? 0 : series->series.count(); }

penstock_status penstock_series_describe(penstock_series* series, int64_t index, int64_t* iteration, double* time,
                                         const char** path) {
  return border([&]() -> Status {
    if (series == nullptr) return null("series");
    PENSTOCK_ASSIGN(penstock::SeriesStep step, series->series.at(index));
    series->path = std::move(step.path);
    if (iteration != nullptr) *iteration = step.iteration;
    if (time != nullptr) *time = step.time;
    if (path != nullptr) *path = series->path.c_str();
    return {};
  });
}

penstock_status penstock_series_open_step(penstock_series* series, int64_t index, const char* plan,
                                          penstock_file** file) {
  return open_with(series, file,
                   [&](const Series& of, bool usable) { return of.open_step(usable ? index : -1, or_empty(plan)); });
}

const char* penstock_series_warnings(penstock_series* series) {
  if (series == nullptr) return "";
  series->warnings.clear();
  for (const std::string& one : series->series.warnings())
    series->warnings += (series->warnings.empty() ? "" : "\n") + one;
  return series->warnings.c_str();
}

penstock_status penstock_series_close(penstock_series* series) {
  return border([&]() -> Status {
    if (series == nullptr) return null("series");
    delete series;
    return {};
  });
}

penstock_status penstock_provenance(penstock_file* file, const char* key, const char* text) {
  return set_in(file, [&](File& of) -> Status {
    if (key != nullptr && text != nullptr) return penstock::set_provenance(of, key, text);
    Status failure = null("key or text");
    of.remember_failure(failure);
    return failure;
  });
}

penstock_status penstock_provenance_collect(penstock_file* file) {
  return set_in(file, [](File& of) { return penstock::collect_provenance(of); });
}

}  // extern "C"
