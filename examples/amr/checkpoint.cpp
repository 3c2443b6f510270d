// Checkpoint: all calls of penstock in this code: the blocks of each level are rows of three datasets.
#include "checkpoint.hpp"

#include <cstdio>

#include <penstock/array.hpp>
#include <penstock/file.hpp>
#include <penstock/mpi.hpp>

namespace amr {
namespace {

using penstock::Decomposition;
using penstock::File;
using penstock::Result;
using penstock::Status;

std::string group(int level) { return "level_" + std::to_string(level); }

// This rank's rows of one level.
struct Rows {
  std::vector<double> values, corners;
  std::vector<int32_t> places;
};

Rows rows_of(const Field& field, int level) {
  Rows rows;
  const double size = 1.0 / (1 << level);
  for (const auto& [key, block] : field.blocks()) {
    if (key.level != level) continue;
    rows.values.insert(rows.values.end(), block.begin(), block.end());
    rows.corners.insert(rows.corners.end(), {0, key.y * size, key.x * size});
    rows.places.insert(rows.places.end(), {key.y, key.x});
  }
  return rows;
}

// Reads COUNT of the level's blocks in the file, which follow the curve, from FIRST on.
Status read_blocks(File& file, int level, int64_t all, int64_t first, int64_t count, std::vector<double>& values) {
  PENSTOCK_ASSIGN(const auto part, Decomposition::block({all, cells, cells}, {first, 0, 0}, {count, cells, cells}));
  values.resize(static_cast<size_t>(part.elements()));
  return penstock::get(file, group(level) + "/u", part, values);
}

}  // namespace

Status write(const std::string& path, const Field& field) {
  PENSTOCK_ASSIGN(const auto comm, penstock::mpi_communicator(field.comm()));
  PENSTOCK_ASSIGN(File file, File::create(comm, path));
  for (int level = coarsest; level <= finest; ++level) {
    const Rows rows = rows_of(field, level);
    const auto count = static_cast<int64_t>(rows.places.size() / 2);
    const double spacing = 1.0 / ((1 << level) * cells);
    const auto ragged = [&](const char* name, const penstock::Dims& row, const auto& values) {
      const auto part = Decomposition::ragged(count, row);            // ranks follow one another; some have none
      (void)penstock::put(file, group(level) + name, *part, values);  // what fails here fails close() too
    };
    ragged("/u", {cells, cells}, rows.values);
    ragged("/corner", {3}, rows.corners);  // z first
    ragged("/place", {2}, rows.places);
    char mesh[100];
    std::snprintf(mesh, sizeof mesh, "blocks,corners=%s/corner,spacing=%.17g:%.17g", group(level).c_str(), spacing,
                  spacing);
    (void)penstock::set_attribute(file, group(level), "mesh", mesh);
    (void)penstock::set_attribute(file, group(level) + "/u", "on", group(level));
  }
  (void)penstock::set_attribute(file, "", "step", field.step());
  file.set_xdmf(true);
  return file.close();
}

Result<Field> read(MPI_Comm mpi, const std::string& path) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(mpi, &rank);
  MPI_Comm_size(mpi, &ranks);
  PENSTOCK_ASSIGN(const auto comm, penstock::mpi_communicator(mpi));
  PENSTOCK_ASSIGN(File file, File::open(comm, path));
  PENSTOCK_ASSIGN(const int64_t step, penstock::attribute<int64_t>(file, "", "step"));
  std::vector<std::vector<int32_t>> places(finest + 1);
  for (int level = coarsest; level <= finest; ++level) {
    PENSTOCK_ASSIGN(const auto info, file.dataset(group(level) + "/place"));
    PENSTOCK_ASSIGN(const auto whole, Decomposition::replicated(info.shape));
    places[static_cast<size_t>(level)].resize(static_cast<size_t>(whole.elements()));
    PENSTOCK_TRY(penstock::get(file, info.name, whole, places[static_cast<size_t>(level)]));
  }
  PENSTOCK_TRY(file.commit());

  std::vector<Key> leaves;
  for (int level = coarsest; level <= finest; ++level)
    for (size_t i = 0; i + 1 < places[static_cast<size_t>(level)].size(); i += 2)
      leaves.push_back({level, places[static_cast<size_t>(level)][i], places[static_cast<size_t>(level)][i + 1]});
  const Tree tree(std::move(leaves), ranks);

  std::vector<std::vector<double>> values(finest + 1);
  for (int level = coarsest; level <= finest; ++level) {
    int64_t all = 0, first = 0, count = 0;
    for (const Key& key : tree.leaves()) {
      if (key.level != level) continue;
      first += tree.owner(key) < rank ? 1 : 0;
      count += tree.owner(key) == rank ? 1 : 0;
      ++all;
    }
    PENSTOCK_TRY(read_blocks(file, level, all, first, count, values[static_cast<size_t>(level)]));
  }
  PENSTOCK_TRY(file.close());
  std::map<Key, Block> blocks;
  std::vector<size_t> next(finest + 1);
  for (const Key& key : tree.of(rank)) {
    const auto level = static_cast<size_t>(key.level);
    std::copy_n(values[level].begin() + static_cast<std::ptrdiff_t>(next[level]), cells * cells, blocks[key].begin());
    next[level] += cells * cells;
  }
  return Field(mpi, step, tree, std::move(blocks));
}

}  // namespace amr
