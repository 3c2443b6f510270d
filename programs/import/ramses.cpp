// Ramses: reads headers and levels of the files of one process, once from beginning to end.
#include "programs/import/ramses.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace penstock::importing {
namespace {

constexpr int64_t max_levels = 1000, max_boundaries = 1000, max_variables = 10'000;

Result<ElementType> real_of(int64_t bytes) {
  if (bytes == 4) return ElementType{Kind::f32};
  if (bytes == 8) return ElementType{Kind::f64};
  return Status(Code::damaged, fmt::format("numbers of {} bytes are no reals of RAMSES", bytes));
}

// The number of grids per level of each domain and boundary in the file: CPUS first, then boundaries, each for all
// levels.
struct Census {
  int64_t domains = 0, levels = 0;
  std::vector<int32_t> cpus, boundaries;
  int64_t of(int64_t level, int64_t domain, int64_t processes) const {
    if (domain < processes) return cpus[static_cast<size_t>(level * processes + domain)];
    return boundaries[static_cast<size_t>(level * (domains - processes) + domain - processes)];
  }
};

// The header of an AMR file, and the locations of the process's own grids.
class AmrReader {
 public:
  AmrReader(FortranFile& file, int process, Process& out) : file_(file), process_(process), out_(out) {}

  Status read(Census& census) {
    PENSTOCK_TRY(read_header());
    PENSTOCK_TRY(read_census(census));
    PENSTOCK_TRY(skip_coarse());
    for (int64_t level = 0; level < out_.common.levels; ++level) {
      out_.levels.emplace_back();
      out_.grids.push_back(census.of(level, process_ - 1, out_.common.processes));
      for (int64_t domain = 0; domain < census.domains; ++domain)
        PENSTOCK_TRY(read_grids(level, domain, census.of(level, domain, out_.common.processes)));
    }
    return {};
  }

 private:
  Result<int64_t> one(const char* what, int64_t least, int64_t most) {
    PENSTOCK_ASSIGN(const auto value, file_.numbers<int32_t>(1, what));
    if (value[0] < least || value[0] > most)
      return file_.wrong(fmt::format("{} is {}, not between {} and {}", what, value[0], least, most));
    return int64_t{value[0]};
  }

  Status read_header() {
    Common& common = out_.common;
    PENSTOCK_ASSIGN(common.processes, one("ncpu", process_, 10'000'000));
    PENSTOCK_ASSIGN(common.dimensions, one("ndim", 1, 3));
    PENSTOCK_ASSIGN(const auto coarse, file_.numbers<int32_t>(3, "nx, ny, nz"));
    for (size_t i = 0; i < 3; ++i) {
      if (coarse[i] < 1) return file_.wrong("nx, ny or nz is below 1");
      common.coarse[i] = coarse[i];
    }
    PENSTOCK_ASSIGN(common.levels, one("nlevelmax", 1, max_levels));
    PENSTOCK_TRY(file_.skip(1));  // ngridmax
    PENSTOCK_ASSIGN(common.boundaries, one("nboundary", 0, max_boundaries));
    PENSTOCK_TRY(file_.skip(1));  // ngrid_current
    PENSTOCK_ASSIGN(common.box_length, real("boxlen"));
    PENSTOCK_TRY(file_.skip(3));  // noutput, iout, ifout; tout; aout
    PENSTOCK_ASSIGN(common.time, real("t"));
    common.exact = {{"boxlen", common.box_length}, {"time", common.time}};
    PENSTOCK_TRY(file_.skip(4));  // dtold; dtnew; nstep; einit, mass_tot_0, rho_tot
    PENSTOCK_TRY(read_exact({"omega_m", "omega_l", "omega_k", "omega_b", "H0"}, 7));
    PENSTOCK_TRY(read_exact({"aexp"}, 5));
    return file_.skip(1);  // mass_sph
  }

  // The first numbers of a record of REALS; in forks that write another record, the values of the info file.
  Status read_exact(std::initializer_list<const char*> names, int64_t reals) {
    PENSTOCK_ASSIGN(const Record record, file_.next());
    if (record.bytes % reals != 0 || !real_of(record.bytes / reals).ok()) return {};
    int64_t at = 0;
    for (const char* name : names) {
      PENSTOCK_ASSIGN(out_.common.exact[name], real_in(record, at, record.bytes / reals));
      at += record.bytes / reals;
    }
    return {};
  }

  Result<double> real(const char* what) {
    PENSTOCK_ASSIGN(const Record record, file_.next());
    if (!real_of(record.bytes).ok()) return file_.wrong(fmt::format("{} in {} bytes", what, record.bytes));
    return real_in(record, 0, record.bytes);
  }

  // Of 4 or 8 bytes.
  Result<double> real_in(const Record& record, int64_t at, int64_t size) {
    std::byte raw[8];
    const std::span<std::byte> bytes(raw, static_cast<size_t>(size));
    PENSTOCK_TRY(file_.read(record, at, bytes));
    if (file_.framing().swapped) swap_bytes(bytes, size);
    if (size == 8) {
      double value = 0;
      std::memcpy(&value, raw, 8);
      return value;
    }
    float value = 0;
    std::memcpy(&value, raw, 4);
    return double{value};
  }

  Status read_census(Census& census) {
    const Common& common = out_.common;
    census.levels = common.levels;
    census.domains = common.processes + common.boundaries;
    PENSTOCK_TRY(file_.skip(2));  // headl, taill
    PENSTOCK_ASSIGN(census.cpus, file_.numbers<int32_t>(common.processes * common.levels, "numbl"));
    PENSTOCK_TRY(file_.skip(1));  // numbtot
    if (common.boundaries > 0) {
      PENSTOCK_TRY(file_.skip(2));  // headb, tailb
      PENSTOCK_ASSIGN(census.boundaries, file_.numbers<int32_t>(common.boundaries * common.levels, "numbb"));
    }
    for (const auto* counts : {&census.cpus, &census.boundaries})
      if (std::ranges::any_of(*counts, [](int32_t n) { return n < 0; }))
        return file_.wrong("a number of grids is below 0");
    return {};
  }

  Status skip_coarse() {
    PENSTOCK_TRY(file_.skip(1));  // headf, tailf, numbf, used_mem, used_mem_tot
    PENSTOCK_ASSIGN(out_.common.ordering, file_.text("the ordering"));
    PENSTOCK_TRY(file_.skip(out_.common.ordering == "bisection" ? 5 : 1));
    return file_.skip(3);  // son, flag1, cpu_map of the coarse cells
  }

  // COLUMNS records of N numbers of BYTES each: the location of the first number, and the distance between records.
  Result<Columns> take(int64_t columns, int64_t n, int64_t bytes, const char* what) {
    Columns found;
    found.path = file_.path();
    found.swapped = file_.framing().swapped;
    found.columns = columns;
    found.rows = n;
    found.stride = n * bytes + 2 * file_.framing().marker;
    for (int64_t i = 0; i < columns; ++i) {
      PENSTOCK_ASSIGN(const auto run, file_.next_of(n * bytes, what));
      if (i == 0) found.offset = run.offset;
    }
    found.type = bytes == 8 ? ElementType{Kind::f64} : ElementType{Kind::i32};
    return found;
  }

  // The first record determines the size of a real.
  Result<Columns> take_positions(int64_t n) {
    PENSTOCK_ASSIGN(const Record first, file_.next());
    if (first.runs.size() != 1 || first.bytes % n != 0) return file_.wrong("the positions are no reals of each grid");
    PENSTOCK_ASSIGN(const ElementType type, real_of(first.bytes / n));
    Columns found;
    if (out_.common.dimensions > 1) {
      PENSTOCK_ASSIGN(found, take(out_.common.dimensions - 1, n, first.bytes / n, "a position"));
    }
    found.path = file_.path();
    found.swapped = file_.framing().swapped;
    found.rows = n;
    found.stride = first.bytes + 2 * file_.framing().marker;
    found.columns = out_.common.dimensions;
    found.offset = first.runs[0].offset;
    found.type = type;
    return found;
  }

  Status read_grids(int64_t level, int64_t domain, int64_t n) {
    if (n == 0) return {};
    const int64_t dimensions = out_.common.dimensions, cells = int64_t{1} << dimensions;
    PENSTOCK_TRY(file_.skip(3));  // index, next, previous
    PENSTOCK_ASSIGN(Columns position, take_positions(n));
    PENSTOCK_TRY(file_.skip(1 + 2 * dimensions));  // father, neighbours
    PENSTOCK_ASSIGN(Columns son, take(cells, n, 4, "son"));
    PENSTOCK_ASSIGN(Columns map, take(cells, n, 4, "cpu_map"));
    PENSTOCK_TRY(file_.skip(cells));  // flag1
    if (domain != process_ - 1) return {};
    Tables& tables = out_.levels[static_cast<size_t>(level)];
    tables["position"] = std::move(position);
    tables["refined"] = std::move(son);
    tables["cpu_map"] = std::move(map);
    return {};
  }

  FortranFile& file_;
  int process_;
  Process& out_;
};

// Files with values of cells: hydro_, grav_, rt_.
struct CellHeader {
  int64_t variables = 0;
};

class CellReader {
 public:
  CellReader(const Output& output, std::string kind, int process, Process& out)
      : output_(output), kind_(std::move(kind)), process_(process), out_(out) {}

  Status read(const Census& census) {
    PENSTOCK_ASSIGN(FortranFile file, FortranFile::open(output_.path(kind_, process_)));
    PENSTOCK_ASSIGN(const CellHeader header, read_header(file));
    PENSTOCK_TRY(name_variables(file, header));
    for (int64_t level = 0; level < census.levels; ++level)
      for (int64_t domain = 0; domain < census.domains; ++domain) {
        const int64_t n = census.of(level, domain, out_.common.processes);
        PENSTOCK_ASSIGN(const auto at, file.numbers<int32_t>(1, "the level"));
        PENSTOCK_ASSIGN(const auto count, file.numbers<int32_t>(1, "the number of grids"));
        if (at[0] != level + 1 || count[0] != n)
          return file.wrong(
              fmt::format("{} grids of level {}, where the AMR file of this process has {} of level {} (domain {})",
                          count[0], at[0], n, level + 1, domain + 1));
        PENSTOCK_TRY(read_grids(file, level, domain == process_ - 1, n));
      }
    if (!file.at_end()) return file.wrong("there is more in the file than its levels");
    return {};
  }

 private:
  Result<CellHeader> read_header(FortranFile& file) {
    const Common& common = out_.common;
    PENSTOCK_ASSIGN(const auto processes, file.numbers<int32_t>(1, "ncpu"));
    PENSTOCK_ASSIGN(const auto variables, file.numbers<int32_t>(1, "the number of variables"));
    if (variables[0] < 1 || variables[0] > max_variables) return file.wrong(fmt::format("{} variables", variables[0]));
    if (processes[0] != common.processes)
      return file.wrong(fmt::format("ncpu is {}, in the AMR file {}", processes[0], common.processes));
    std::vector<std::pair<const char*, int64_t>> rest{{"nlevelmax", common.levels}, {"nboundary", common.boundaries}};
    if (kind_ != "grav") rest.insert(rest.begin(), {"ndim", common.dimensions});
    for (const auto& [what, expected] : rest) {
      PENSTOCK_ASSIGN(const auto found, file.numbers<int32_t>(1, what));
      if (found[0] != expected)
        return file.wrong(fmt::format("{} is {}, in the AMR file {}", what, found[0], expected));
    }
    if (kind_ != "grav") PENSTOCK_TRY(file.skip(1));  // gamma
    return CellHeader{variables[0]};
  }

  Status name_variables(const FortranFile& file, const CellHeader& header) {
    names_.clear();
    const auto described = output_.variables.find(kind_);
    if (described != output_.variables.end() && std::ssize(described->second) != header.variables)
      return file.wrong(fmt::format("{} variables, but {}_file_descriptor.txt names {}", header.variables, kind_,
                                    described->second.size()));
    const int64_t dimensions = out_.common.dimensions;
    constexpr std::string_view axes = "xyz";
    for (int64_t v = 0; v < header.variables; ++v) {
      const auto axis = [&](int64_t first) { return axes[static_cast<size_t>(v - first)]; };
      if (described != output_.variables.end())
        names_.push_back(described->second[static_cast<size_t>(v)].first);
      else if (kind_ == "grav") {
        const int64_t forces = header.variables - dimensions;
        names_.push_back(v < forces ? std::string("potential") : fmt::format("force_{}", axis(forces)));
      } else if (kind_ == "hydro" && v == 0)
        names_.emplace_back("density");
      else if (kind_ == "hydro" && v <= dimensions)
        names_.push_back(fmt::format("velocity_{}", axis(1)));
      else if (kind_ == "hydro" && v == dimensions + 1)
        names_.emplace_back("pressure");
      else
        names_.push_back(fmt::format("{}_{:02}", kind_ == "hydro" ? "var" : kind_, v + 1));
    }
    for (std::string& name : names_) {
      if (std::ranges::find(out_.common.cells, name) != out_.common.cells.end()) name = kind_ + "_" + name;
      if (name == "position" || name == "refined" || name == "cpu_map" || name == "domain" ||
          std::ranges::find(out_.common.cells, name) != out_.common.cells.end())
        return file.wrong(fmt::format("two variables are called '{}'", name));
      out_.common.cells.push_back(name);
    }
    return {};
  }

  // For each cell of a grid, one record per variable.
  Status read_grids(FortranFile& file, int64_t level, bool own, int64_t n) {
    if (n == 0) return {};
    const int64_t cells = int64_t{1} << out_.common.dimensions, variables = std::ssize(names_);
    int64_t stride = 0;
    for (int64_t cell = 0; cell < cells; ++cell)
      for (int64_t v = 0; v < variables; ++v) {
        PENSTOCK_ASSIGN(const Record record, file.next());
        if (cell == 0 && v == 0) stride = record.bytes;
        if (record.runs.size() != 1 || record.bytes != stride || record.bytes % n != 0)
          return file.wrong(
              fmt::format("'{}' of {} grids in {} bytes", names_[static_cast<size_t>(v)], n, record.bytes));
        PENSTOCK_ASSIGN(const ElementType type, real_of(record.bytes / n));
        if (!own || cell > 0) continue;
        out_.levels[static_cast<size_t>(level)][names_[static_cast<size_t>(v)]] = {
            file.path(),
            file.framing().swapped,
            record.runs[0].offset,
            variables * (record.bytes + 2 * file.framing().marker),
            cells,
            n,
            type};
      }
    return {};
  }

  const Output& output_;
  std::string kind_;
  int process_;
  Process& out_;
  std::vector<std::string> names_;
};

// Names from part_file_descriptor.txt, or RAMSES's fixed names from before it existed.
std::vector<std::pair<std::string, char>> particle_fields(const Output& output, int64_t dimensions, int64_t records) {
  if (const auto found = output.variables.find("part"); found != output.variables.end()) return found->second;
  std::vector<std::pair<std::string, char>> fields;
  for (const char* of : {"position", "velocity"})
    for (int64_t i = 0; i < dimensions; ++i) fields.emplace_back(fmt::format("{}_{}", of, "xyz"[i]), 'd');
  for (const auto& [name, type] :
       {std::pair("mass", 'd'), {"identity", 'i'}, {"levelp", 'i'}, {"birth_time", 'd'}, {"metallicity", 'd'}})
    fields.emplace_back(name, type);
  for (int64_t i = std::ssize(fields); i < records; ++i) fields.emplace_back(fmt::format("field_{:02}", i + 1), 'd');
  fields.resize(static_cast<size_t>(records));
  return fields;
}

// Without particles, only the letter in the descriptor determines the type.
ElementType particle_type(char letter) {
  switch (letter) {
    case 'b': return {Kind::i8};
    case 'h': return {Kind::i16};
    case 'i':
    case '?': return {Kind::i32};
    case 'q':
    case 'l': return {Kind::i64};
    case 'f':
    case 's': return {Kind::f32};
    default: return {Kind::f64};
  }
}

Result<ElementType> particle_type(char letter, int64_t bytes) {
  if (bytes == 1) return ElementType{Kind::i8};
  if (bytes == 2) return ElementType{Kind::i16};
  const bool real = letter == 'd' || letter == 'f' || letter == 's';
  if (bytes == 4) return ElementType{real ? Kind::f32 : Kind::i32};
  if (bytes == 8) return ElementType{real ? Kind::f64 : Kind::i64};
  return Status(Code::damaged, fmt::format("numbers of {} bytes", bytes));
}

Status read_particles(const Output& output, int process, Process& out) {
  PENSTOCK_ASSIGN(FortranFile file, FortranFile::open(output.path("part", process)));
  PENSTOCK_ASSIGN(const auto processes, file.numbers<int32_t>(1, "ncpu"));
  PENSTOCK_ASSIGN(const auto dimensions, file.numbers<int32_t>(1, "ndim"));
  PENSTOCK_ASSIGN(const auto count, file.numbers<int32_t>(1, "the number of particles"));
  if (processes[0] != out.common.processes || dimensions[0] != out.common.dimensions)
    return file.wrong(fmt::format("ncpu {} and ndim {}, in the AMR file {} and {}", processes[0], dimensions[0],
                                  out.common.processes, out.common.dimensions));
  if (count[0] < 0) return file.wrong("a number of particles below 0");
  PENSTOCK_TRY(file.skip(5));  // seed, stars, mass of stars, mass lost, sinks
  std::vector<Columns> records;
  for (const int64_t n = count[0]; !file.at_end();) {
    PENSTOCK_ASSIGN(const Record record, file.next());
    if (record.runs.size() != 1 || (n == 0 ? record.bytes != 0 : record.bytes % n != 0))
      return file.wrong(fmt::format("a field of {} particles in {} bytes", n, record.bytes));
    records.push_back({file.path(), file.framing().swapped, record.runs[0].offset, record.bytes, 1, n, {}});
  }
  const auto fields = particle_fields(output, out.common.dimensions, std::ssize(records));
  if (fields.size() != records.size())
    return file.wrong(fmt::format("{} fields, but part_file_descriptor.txt names {}", records.size(), fields.size()));
  for (size_t i = 0; i < records.size(); ++i) {
    records[i].type = particle_type(fields[i].second);
    if (records[i].rows > 0) {
      PENSTOCK_ASSIGN(records[i].type, particle_type(fields[i].second, records[i].stride / records[i].rows));
    }
    if (!out.particles.emplace(fields[i].first, records[i]).second)
      return file.wrong(fmt::format("two fields are called '{}'", fields[i].first));
  }
  return {};
}

}  // namespace

std::string Common::describe() const {
  return fmt::format(
      "ncpu {}, ndim {}, nlevelmax {}, nboundary {}, {} coarse cells, boxlen {}, t {}, ordering {}, variables {}",
      processes, dimensions, levels, boundaries, fmt::join(coarse, " x "), box_length, time, ordering,
      fmt::join(cells, " "));
}

Result<Process> read_process(const Output& output, int process) {
  Process out;
  Census census;
  PENSTOCK_ASSIGN(FortranFile file, FortranFile::open(output.path("amr", process)));
  PENSTOCK_TRY(AmrReader(file, process, out).read(census));
  if (out.common.processes != output.processes)
    return Status(Code::damaged, fmt::format("'{}' says ncpu = {}, the info file {}", file.path(), out.common.processes,
                                             output.processes));
  for (const char* kind : {"hydro", "grav", "rt"})
    if (output.kinds.contains(kind)) PENSTOCK_TRY(CellReader(output, kind, process, out).read(census));
  if (output.kinds.contains("part")) PENSTOCK_TRY(read_particles(output, process, out));
  return out;
}

}  // namespace penstock::importing
