// ramses: the structure of the two files of IDRIS's study of RAMSES (sedov3d without refinement, 13 January 2011).
#include "bench/workload/ramses.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "bench/workload/rows.hpp"

namespace penstock::bench {

namespace {

constexpr Published published[] = {{128, 0.213, 0.299},
                                   {256, 0.707, 1.292},
                                   {512, 3.814, 7.646},
                                   {1024, 25.860, 49.150},  // hydro equals the next value over 8: see the test
                                   {2048, 191.8, 393.2}};
constexpr int published_ranks = 1024;
constexpr int64_t largest_domain = 1 << 15;
constexpr int64_t ordering_bytes = 80;  // the string

struct Structure {
  const char* name;
  Kind kind;
  int64_t width;  // values per oct
};
// 156 bytes per oct.
constexpr Structure amr[] = {{"next", Kind::i32, 1},    {"prev", Kind::i32, 1}, {"xg", Kind::f64, 3},
                             {"father", Kind::i32, 1},  {"nbor", Kind::i32, 6}, {"son", Kind::i32, 8},
                             {"cpu_map", Kind::i32, 8}, {"flag1", Kind::i32, 8}};
// 320 bytes per oct.
constexpr Structure hydro[] = {{"density", Kind::f64, 8},
                               {"velocity_x", Kind::f64, 8},
                               {"velocity_y", Kind::f64, 8},
                               {"velocity_z", Kind::f64, 8},
                               {"pressure", Kind::f64, 8}};

std::span<const Structure> structures(RamsesFile file) {
  return file == RamsesFile::amr ? std::span<const Structure>(amr) : std::span<const Structure>(hydro);
}

int64_t oct_bytes(RamsesFile file) {
  int64_t sum = 0;
  for (const Structure& s : structures(file)) sum += s.width * bytes(ElementType{s.kind});
  return sum;
}

int64_t octs_of(int level) { return int64_t{1} << (3 * (level - 1)); }

// floor(VALUE * A / B) without overflow.
int64_t share(int64_t value, int64_t a, int64_t b) { return value / b * a + value % b * a / b; }

std::vector<int64_t> on_each(int64_t rows, int ranks) { return std::vector<int64_t>(static_cast<size_t>(ranks), rows); }

std::vector<int64_t> on_first(int64_t rows, int ranks) {
  std::vector<int64_t> counts = on_each(0, ranks);
  counts[0] = rows;
  return counts;
}

// The replicated parameters, written by rank 0, and the tables of every process.
std::vector<RowsField> head(RamsesFile file, int levels, int ranks) {
  const ElementType integer{Kind::i32}, real{Kind::f64};
  if (file == RamsesFile::amr)
    return {{"parameters_integers", integer, {}, on_first(14, ranks)},
            {"parameters_reals", real, {}, on_first(22, ranks)},
            {"parameters_output_times", integer, Dims{levels}, on_first(10, ranks)},
            {"parameters_ordering", {Kind::u8}, {}, on_first(ordering_bytes, ranks)},
            {"process_integers", integer, Dims{8}, on_each(1, ranks)},
            {"process_headl", integer, Dims{levels, ranks}, on_each(1, ranks)},
            {"process_taill", integer, Dims{levels, ranks}, on_each(1, ranks)},
            {"process_numbl", integer, Dims{levels, ranks}, on_each(1, ranks)}};
  return {{"parameters_integers", integer, {}, on_first(5, ranks)},
          {"parameters_reals", real, {}, on_first(1, ranks)},
          {"process_numbl", integer, Dims{levels, ranks}, on_each(1, ranks)},
          {"process_boundaries", integer, Dims{levels, 100}, on_each(1, ranks)}};
}

int64_t head_bytes(RamsesFile file, int levels, int ranks) {
  int64_t sum = 0;
  for (const RowsField& field : head(file, levels, ranks))
    sum += std::accumulate(field.counts.begin(), field.counts.end(), int64_t{0}) *
           std::accumulate(field.row.begin(), field.row.end(), int64_t{1}, std::multiplies<>()) * bytes(field.type);
  return sum;
}

std::vector<int64_t> rows_of(int level, int ranks) {
  std::vector<int64_t> counts;
  for (int rank = 0; rank < ranks; ++rank) {
    const Octs o = octs(level, rank, ranks);
    counts.push_back(o.own + o.ghosts);
  }
  return counts;
}

// The model's results for jobs with published sizes.
std::vector<std::string> notes(RamsesFile file) {
  constexpr double gib = 1 << 30;
  std::vector<std::string> list;
  for (const Published& p : published) {
    const RamsesTotals totals = ramses_totals(file, p.domain, published_ranks);
    const auto in_gib = [](int64_t bytes) { return static_cast<double>(bytes) / gib; };
    list.push_back(fmt::format(
        "{}^3 on {} processes: {:.3g} GiB (octs {:.3g}, ghost octs {:.3g}, tables {:.3g}); published {:.6g}", p.domain,
        published_ranks, in_gib(totals.bytes()), in_gib(totals.cells), in_gib(totals.ghosts), in_gib(totals.tables),
        file == RamsesFile::amr ? p.amr : p.hydro));
  }
  return list;
}

Status check(const WorkloadRequest& request) {
  const int64_t n = request.domain;
  if (n < 2 || n > largest_domain || !std::has_single_bit(static_cast<uint64_t>(n)))
    return Status(Code::invalid, fmt::format("--domain is a power of two from 2 to {}, not {}", largest_domain, n));
  if (request.grouped != "level" && request.grouped != "process")
    return Status(Code::invalid, fmt::format("--grouped is level or process, not '{}'", request.grouped));
  return {};
}

Result<std::unique_ptr<Workload>> make_ramses(RamsesFile file, const WorkloadRequest& request) {
  PENSTOCK_TRY(check(request));
  const int levels = level_count(request.domain), ranks = request.ranks;
  std::vector<RowsField> fields = head(file, levels, ranks);
  std::vector<int64_t> all = on_each(0, ranks);
  for (int level = 1; level <= levels; ++level) {
    const std::vector<int64_t> counts = rows_of(level, ranks);
    std::transform(all.begin(), all.end(), counts.begin(), all.begin(), std::plus<>());
    if (request.grouped == "level")
      for (const Structure& s : structures(file))
        fields.push_back({fmt::format("level_{:02}_{}", level, s.name), ElementType{s.kind}, Dims{s.width}, counts});
  }
  if (request.grouped == "process")
    for (const Structure& s : structures(file))
      fields.push_back({fmt::format("octs_{}", s.name), ElementType{s.kind}, Dims{s.width}, all});
  const RamsesTotals totals = ramses_totals(file, request.domain, ranks);
  nlohmann::json description{{"shape", nullptr},
                             {"order", "C"},
                             {"domain", request.domain},
                             {"levels", levels},
                             {"grouped", request.grouped},
                             {"cell_bytes", totals.cells},
                             {"ghost_bytes", totals.ghosts},
                             {"table_bytes", totals.tables},
                             {"notes", notes(file)}};
  return std::unique_ptr<Workload>(std::make_unique<Rows>(std::move(fields), std::move(description)));
}

}  // namespace

int level_count(int64_t domain) { return std::countr_zero(static_cast<uint64_t>(domain)); }

Octs octs(int level, int rank, int ranks) {
  const int64_t total = octs_of(level);
  Octs result;
  result.own = share(total, rank + 1, ranks) - share(total, rank, ranks);
  if (result.own == 0) return result;
  const double side = std::cbrt(static_cast<double>(total) / ranks);
  const double around = std::pow(side + 2, 3) - std::pow(side, 3);
  result.ghosts = ranks == 1 ? 0 : std::min(std::llround(around), static_cast<long long>(total - result.own));
  return result;
}

RamsesTotals ramses_totals(RamsesFile file, int64_t domain, int ranks) {
  RamsesTotals totals;
  const int levels = level_count(domain);
  for (int level = 1; level <= levels; ++level)
    for (int rank = 0; rank < ranks; ++rank) {
      const Octs o = octs(level, rank, ranks);
      totals.cells += o.own * oct_bytes(file);
      totals.ghosts += o.ghosts * oct_bytes(file);
    }
  totals.tables = head_bytes(file, levels, ranks);
  return totals;
}

std::span<const Published> published_sizes() { return published; }

Result<std::unique_ptr<Workload>> make_ramses_amr(const WorkloadRequest& request) {
  return make_ramses(RamsesFile::amr, request);
}

Result<std::unique_ptr<Workload>> make_ramses_hydro(const WorkloadRequest& request) {
  return make_ramses(RamsesFile::hydro, request);
}

}  // namespace penstock::bench
