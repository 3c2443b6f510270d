// Snapshot: the data of this rank's processes becomes its rows of ragged datasets, read on demand while they are
// written.
#include "programs/import/snapshot.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <penstock/provenance.hpp>

#include "core/base/guarded.hpp"
#include "programs/import/ramses.hpp"
#include "programs/import/rows.hpp"

namespace penstock::importing {
namespace {

const ElementType f64{Kind::f64}, i64{Kind::i64}, i32{Kind::i32}, i8{Kind::i8};

template <typename T>
T number_at(std::span<const std::byte> bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(index) * sizeof value, sizeof value);
  return value;
}

// The processes of this rank.
struct Mine {
  Output output;
  std::vector<int32_t> numbers;  // of the processes
  std::vector<Process> processes;
};

Status read_mine(const Communicator& comm, const std::string& folder, Mine& mine) {
  PENSTOCK_ASSIGN(mine.output, find_output(folder));
  const int64_t all = mine.output.processes, size = comm->size();
  // Rank 0 has the first process, for any number of ranks.
  const auto first = [&](int64_t rank) { return (all * rank + size - 1) / size; };
  for (int64_t p = first(comm->rank()); p < first(comm->rank() + 1); ++p) {
    mine.numbers.push_back(static_cast<int32_t>(p + 1));
    PENSTOCK_ASSIGN(Process process, read_process(mine.output, static_cast<int>(p + 1)));
    mine.processes.push_back(std::move(process));
    comm->working(0);
  }
  return {};
}

// Collective. Checks that all files describe the same output; returns the description of process 1.
Status agree_common(const Communicator& comm, const Mine& mine, Common& common) {
  std::vector<std::byte> said;
  if (comm->rank() == 0) {
    const std::string text = mine.processes[0].common.describe();
    said.assign(std::as_bytes(std::span(text)).begin(), std::as_bytes(std::span(text)).end());
  }
  PENSTOCK_TRY(comm->broadcast(said, 0));
  const std::string expected(reinterpret_cast<const char*>(said.data()), said.size());
  Status status;
  for (size_t i = 0; i < mine.processes.size() && status.ok(); ++i)
    if (const std::string found = mine.processes[i].common.describe(); found != expected)
      status = {Code::damaged,
                fmt::format("the files of process {} belong to another output than those of process 1: {}; but {}",
                            mine.numbers[i], found, expected)};
  if (!mine.processes.empty()) common = mine.processes[0].common;
  return agree(comm, status);
}

// Data that only all ranks together know.
struct Whole {
  int64_t particles = 0;
  std::array<int64_t, 3> box_start{}, box_cells{};  // coarse cells; the others belong to boundaries
};

// Own grids of the first level fill the coarse cells of the box, and those of boundaries the others.
Status find_box(const Mine& mine, const Common& common, std::array<int64_t, 3>& first, std::array<int64_t, 3>& last) {
  for (const Process& process : mine.processes) {
    const auto found = process.levels[0].find("position");
    if (found == process.levels[0].end()) continue;
    const Columns& positions = found->second;
    std::vector<std::byte> rows(static_cast<size_t>(positions.rows * positions.columns * bytes(positions.type)));
    PENSTOCK_TRY(rows_of({positions})(0, rows));
    for (int64_t i = 0; i < positions.rows * positions.columns; ++i) {
      const auto axis = static_cast<size_t>(i % positions.columns);
      const double value = positions.type.kind == Kind::f64 ? number_at<double>(rows, i) : number_at<float>(rows, i);
      if (!(value >= 0 && value < static_cast<double>(common.coarse[axis]))) continue;
      first[axis] = std::min(first[axis], static_cast<int64_t>(value));
      last[axis] = std::max(last[axis], static_cast<int64_t>(value));
    }
  }
  return {};
}

// Collective.
Status agree_whole(const Communicator& comm, const Mine& mine, const Common& common, Whole& whole) {
  for (const Process& process : mine.processes)
    if (!process.particles.empty()) whole.particles += process.particles.begin()->second.rows;
  PENSTOCK_TRY(comm->all_reduce_sum(std::span(&whole.particles, 1)));
  std::array<int64_t, 3> first, last;
  first.fill(INT64_MAX);
  last.fill(-1);
  Status status;
  if (common.boundaries > 0) status = guarded([&] { return find_box(mine, common, first, last); });
  PENSTOCK_TRY(agree(comm, status));
  PENSTOCK_TRY(comm->all_reduce_min(first));
  PENSTOCK_TRY(comm->all_reduce_max(last));
  for (size_t axis = 0; axis < 3; ++axis) {
    const bool found = last[axis] >= 0;
    whole.box_start[axis] = found ? first[axis] : 0;
    whole.box_cells[axis] = found ? last[axis] - first[axis] + 1 : common.coarse[axis];
  }
  return {};
}

struct Unit {
  double to_cgs = 1;
  const char* cgs = "";
};

class Writer {
 public:
  Writer(const Mine& mine, const Common& common, const Whole& whole, File& file)
      : mine_(mine), common_(common), whole_(whole), file_(file) {
    for (const auto& [name, text] : mine.output.info) {
      double value = 0;
      if (is_number(text, value)) values_[name] = value;
    }
  }

  Status write() {
    PENSTOCK_TRY(set_file_attributes());
    for (size_t level = 0; level < static_cast<size_t>(common_.levels); ++level) PENSTOCK_TRY(add_level(level));
    return add_particles();
  }

 private:
  static bool is_number(const std::string& text, double& value) {
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && at == end;
  }

  Status set_file_attributes() {
    PENSTOCK_TRY(file_.set_attribute("", text_attribute("source", "RAMSES")));
    PENSTOCK_TRY(file_.set_attribute("", make_attribute("coarse_cells", i64, common_.coarse.data(), 3)));
    PENSTOCK_TRY(file_.set_attribute("", make_attribute("box_start", i64, whole_.box_start.data(), 3)));
    PENSTOCK_TRY(file_.set_attribute("", make_attribute("box_cells", i64, whole_.box_cells.data(), 3)));
    for (const auto& [name, text] : mine_.output.info) {
      int64_t whole = 0;
      double value = 0;
      const char* end = text.data() + text.size();
      if (const auto [at, error] = std::from_chars(text.data(), end, whole); error == std::errc() && at == end)
        PENSTOCK_TRY(file_.set_attribute("", make_attribute(name, i64, &whole, -1)));
      else if (is_number(text, value))
        PENSTOCK_TRY(file_.set_attribute("", make_attribute(name, f64, &value, -1)));
      else
        PENSTOCK_TRY(file_.set_attribute("", text_attribute(name, text)));
    }
    for (const auto& [name, value] : common_.exact)
      PENSTOCK_TRY(file_.set_attribute("", make_attribute(name, f64, &value, -1)));
    for (const char* name : {"namelist.txt", "compilation.txt"}) PENSTOCK_TRY(add_text(name));
    if (mine_.output.domains.empty()) return {};
    const int64_t rows = std::ssize(mine_.output.domains);
    PENSTOCK_ASSIGN(const auto all, Decomposition::replicated({rows, 2}));
    return file_.put("domains", f64, all, mine_.output.domains.data());
  }

  Status add_text(const char* name) {
    std::ifstream text(std::filesystem::path(mine_.output.folder) / name);
    if (!text) return {};
    std::ostringstream all;
    all << text.rdbuf();
    return set_provenance(file_, name, all.str());
  }

  double unit(const char* name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? 1 : found->second;
  }

  // The size of a code unit, by the name of the variable; nothing if it is unknown.
  Unit unit_of(const std::string& variable) const {
    const double length = unit("unit_l"), density = unit("unit_d"), time = unit("unit_t"), speed = length / time;
    if (variable == "density") return {density, "g cm-3"};
    if (variable.starts_with("velocity_")) return {speed, "cm s-1"};
    if (variable == "pressure" || variable == "thermal_pressure") return {density * speed * speed, "g cm-1 s-2"};
    if (variable == "potential") return {speed * speed, "cm2 s-2"};
    if (variable.starts_with("force_")) return {length / time / time, "cm s-2"};
    if (variable == "mass") return {density * length * length * length, "g"};
    if (variable.starts_with("position")) return {length, "cm"};
    return {};
  }

  Status describe(const std::string& dataset, const Unit& unit) {
    if (unit.cgs[0] == '\0') return {};
    PENSTOCK_TRY(file_.set_attribute(dataset, make_attribute("to_cgs", f64, &unit.to_cgs, -1)));
    return file_.set_attribute(dataset, text_attribute("units_cgs", unit.cgs));
  }

  // This rank's rows of a table's dataset, each of shape ROW.
  Status add(const std::string& dataset, const std::vector<Columns>& files, const Dims& row, Change change) {
    int64_t rows = 0;
    for (const Columns& columns : files) {
      rows += columns.rows;
      if (columns.type != files[0].type)
        return {Code::damaged, fmt::format("'{}': its numbers are {} there, but {} in '{}'", columns.path,
                                           name(columns.type), name(files[0].type), files[0].path)};
    }
    if (rows == 0) return {};
    PENSTOCK_ASSIGN(const auto part, Decomposition::ragged(rows, row));
    return file_.supply(dataset, change == Change::none ? files[0].type : i8, part, rows_of(files, change));
  }

  std::vector<Columns> columns_of(size_t level, const std::string& name) const {
    std::vector<Columns> files;
    for (const Process& process : mine_.processes)
      if (const auto found = process.levels[level].find(name); found != process.levels[level].end())
        files.push_back(found->second);
    return files;
  }

  Status add_level(size_t level) {
    const std::string group = fmt::format("level_{:02}/", level + 1);
    std::vector<int64_t> grids;
    int64_t sum = 0;
    for (const Process& process : mine_.processes) {
      grids.push_back(process.grids[level]);
      sum += grids.back();
    }
    const Dims cells = Dims::filled(static_cast<int>(common_.dimensions), 2);
    if (sum > 0) {
      const std::string object = group.substr(0, group.size() - 1);
      const double scale = common_.box_length / static_cast<double>(whole_.box_cells[0]);
      const double size = scale / static_cast<double>(int64_t{1} << std::min<size_t>(level + 1, 62));
      PENSTOCK_TRY(file_.set_attribute(object, make_attribute("cell_size", f64, &size, -1)));
      PENSTOCK_TRY(describe(group + "position", {unit("unit_l") * scale, "cm"}));
      PENSTOCK_ASSIGN(const auto part, Decomposition::ragged(sum, {}));
      PENSTOCK_TRY(file_.supply(group + "domain", i32, part, value_of_each(grids, mine_.numbers)));
    }
    PENSTOCK_TRY(add(group + "position", columns_of(level, "position"), {common_.dimensions}, Change::none));
    PENSTOCK_TRY(add(group + "refined", columns_of(level, "refined"), cells, Change::is_positive));
    PENSTOCK_TRY(add(group + "cpu_map", columns_of(level, "cpu_map"), cells, Change::none));
    for (const std::string& name : common_.cells) {
      if (sum > 0) PENSTOCK_TRY(describe(group + name, unit_of(name)));
      PENSTOCK_TRY(add(group + name, columns_of(level, name), cells, Change::none));
    }
    return {};
  }

  Status add_particles() {
    std::map<std::string, std::vector<Columns>> fields;
    for (const Process& process : mine_.processes)
      for (const auto& [name, columns] : process.particles)
        if (columns.rows > 0 || whole_.particles == 0) fields[name].push_back(columns);
    for (const auto& [name, files] : fields) {
      const std::string dataset = "particles/" + name;
      PENSTOCK_TRY(describe(dataset, unit_of(name)));
      if (whole_.particles > 0) {
        PENSTOCK_TRY(add(dataset, files, {}, Change::none));
        continue;
      }
      PENSTOCK_ASSIGN(const auto none, Decomposition::ragged(0, {}));
      PENSTOCK_TRY(file_.supply(dataset, files[0].type, none, rows_of({})));
    }
    return {};
  }

  const Mine& mine_;
  const Common& common_;
  const Whole& whole_;
  File& file_;
  std::map<std::string, double> values_;
};

}  // namespace

Status import_ramses(const Communicator& comm, const std::string& folder, const std::string& path,
                     std::string_view plan) {
  Mine mine;
  Common common;
  PENSTOCK_TRY(agree(comm, guarded([&] { return read_mine(comm, folder, mine); })));
  PENSTOCK_TRY(agree_common(comm, mine, common));
  Whole whole;
  PENSTOCK_TRY(agree_whole(comm, mine, common, whole));
  PENSTOCK_ASSIGN(File file, File::create(comm, path, plan));
  if (!mine.processes.empty()) {
    const Status status = guarded([&] { return Writer(mine, common, whole, file).write(); });
    if (!status.ok()) file.remember_failure(status);
  }
  return file.close();
}

}  // namespace penstock::importing
