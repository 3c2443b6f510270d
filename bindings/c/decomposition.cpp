// The C ABI of decompositions.
#include "bindings/c/decomposition.hpp"

#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bindings/c/border.hpp"

namespace penstock::c {

Result<Dims> dims(int rank, const int64_t* values, const char* what) {
  if (rank < 0 || rank > penstock::max_rank)
    return Status(Code::invalid, fmt::format("{} dimensions: datasets have 0 to {}", rank, penstock::max_rank));
  if (rank > 0 && values == nullptr) return null(what);
  return Dims(std::span(values, static_cast<size_t>(rank)));
}

}  // namespace penstock::c

namespace {

using penstock::Code;
using penstock::Decomposition;
using penstock::Dims;
using penstock::Result;
using penstock::Status;
using penstock::c::border;
using penstock::c::dims;
using penstock::c::null;

template <typename Make>
penstock_status decompose(penstock_decomposition** d, Make make) {
  return border([&]() -> Status {
    if (d == nullptr) return null("the decomposition's address");
    *d = nullptr;
    PENSTOCK_ASSIGN(Decomposition made, make());
    *d = new penstock_decomposition{std::move(made)};
    return {};
  });
}

}  // namespace

extern "C" {

penstock_status penstock_block(int rank, const int64_t* shape, const int64_t* start, const int64_t* count,
                               penstock_decomposition** d) {
  return decompose(d, [&]() -> Result<Decomposition> {
    PENSTOCK_ASSIGN(const Dims s, dims(rank, shape, "shape"));
    PENSTOCK_ASSIGN(const Dims at, dims(rank, start, "start"));
    PENSTOCK_ASSIGN(const Dims n, dims(rank, count, "count"));
    return Decomposition::block(s, at, n);
  });
}

penstock_status penstock_grid(int rank, const int64_t* shape, const int64_t* process_grid, int process,
                              penstock_decomposition** d) {
  return decompose(d, [&]() -> Result<Decomposition> {
    PENSTOCK_ASSIGN(const Dims s, dims(rank, shape, "shape"));
    PENSTOCK_ASSIGN(const Dims grid, dims(rank, process_grid, "process_grid"));
    return Decomposition::grid(s, grid, process);
  });
}

penstock_status penstock_boxes(int rank, const int64_t* shape, int64_t boxes, const int64_t* starts,
                               const int64_t* counts, penstock_decomposition** d) {
  return decompose(d, [&]() -> Result<Decomposition> {
    PENSTOCK_ASSIGN(const Dims s, dims(rank, shape, "shape"));
    if (boxes < 0) return Status(Code::invalid, fmt::format("{} boxes: the number cannot be negative", boxes));
    if (boxes > 0 && rank > 0 && (starts == nullptr || counts == nullptr)) return null("starts or counts");
    std::vector<penstock::Box> list;
    for (int64_t i = 0; i < boxes; ++i) {
      const auto row = [&](const int64_t* all) {
        return rank > 0 ? Dims(std::span(all + i * rank, static_cast<size_t>(rank))) : Dims();
      };
      list.push_back({row(starts), row(counts)});
    }
    return Decomposition::boxes(s, list);
  });
}

penstock_status penstock_runs(int rank, const int64_t* shape, int64_t runs, const int64_t* offsets,
                              const int64_t* lengths, penstock_decomposition** d) {
  return decompose(d, [&]() -> Result<Decomposition> {
    PENSTOCK_ASSIGN(const Dims s, dims(rank, shape, "shape"));
    if (runs < 0) return Status(Code::invalid, fmt::format("{} runs: the number cannot be negative", runs));
    if (runs > 0 && (offsets == nullptr || lengths == nullptr)) return null("offsets or lengths");
    std::vector<penstock::Run> list;
    for (int64_t i = 0; i < runs; ++i) list.push_back({offsets[i], lengths[i]});
    return Decomposition::runs(s, list);
  });
}

penstock_status penstock_ragged(int64_t rows, int row_rank, const int64_t* row, penstock_decomposition** d) {
  return decompose(d, [&]() -> Result<Decomposition> {
    PENSTOCK_ASSIGN(const Dims s, dims(row_rank, row, "row"));
    return Decomposition::ragged(rows, s);
  });
}

penstock_status penstock_replicated(int rank, const int64_t* shape, penstock_decomposition** d) {
  return decompose(d, [&]() -> Result<Decomposition> {
    PENSTOCK_ASSIGN(const Dims s, dims(rank, shape, "shape"));
    return Decomposition::replicated(s);
  });
}

penstock_status penstock_per_rank(int row_rank, const int64_t* row, penstock_decomposition** d) {
  return decompose(d, [&]() -> Result<Decomposition> {
    PENSTOCK_ASSIGN(const Dims s, dims(row_rank, row, "row"));
    return Decomposition::per_rank(s);
  });
}

int64_t penstock_elements(const penstock_decomposition* d) { return d == nullptr ? 0 : d->value.elements(); }
void penstock_free(penstock_decomposition* d) { delete d; }

}  // extern "C"
