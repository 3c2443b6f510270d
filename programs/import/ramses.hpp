// Ramses: the locations of all data in one output of the RAMSES code, a folder with Fortran files of each process.
//
// The layout is that of RAMSES (amr/output_amr.f90, hydro/output_hydro.f90, poisson/output_poisson.f90,
// pm/output_part.f90), which yt and osyris also read; docs/formats/ramses.md describes it completely.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <penstock/status.hpp>
#include <penstock/type.hpp>

#include "programs/import/fortran_file.hpp"

namespace penstock::importing {

// The folder, the output's number, and the contents of the text files.
struct Output {
  std::string folder;
  int number = 0;
  int processes = 0;
  std::set<std::string> kinds;                            // "amr", "hydro", ...: file kinds that some process has
  std::vector<std::pair<std::string, std::string>> info;  // "boxlen", "0.5E+00", in the order of the file
  std::vector<std::array<double, 2>> domains;             // of the ordering, for each process
  std::map<std::string, std::vector<std::pair<std::string, char>>> variables;  // "hydro": names and types
  // "amr": FOLDER/amr_00002.out00001
  std::string path(const std::string& kind, int process) const;
};
Result<Output> find_output(const std::string& folder);

// Data of grids or particles in one file: COLUMNS records of ROWS numbers, at distances of STRIDE bytes.
struct Columns {
  std::string path;
  bool swapped = false;
  int64_t offset = 0;  // of the first number
  int64_t stride = 0;
  int64_t columns = 1;
  int64_t rows = 0;
  ElementType type;
};

// Rows of one process, by the name of their dataset.
using Tables = std::map<std::string, Columns>;

// Values that must be equal in all files of an output.
struct Common {
  int64_t processes = 0, dimensions = 0, levels = 0, boundaries = 0;
  std::array<int64_t, 3> coarse{};  // nx, ny, nz
  double box_length = 0, time = 0;
  std::map<std::string, double> exact;  // "aexp", ...: values that the info file has with fewer digits, by its names
  std::string ordering;
  std::vector<std::string> cells;  // the datasets of each level with values in cells, in file order
  std::string describe() const;    // all values, for comparison
};

struct Process {
  Common common;
  std::vector<Tables> levels;  // from level 1 on, for the grids that this process owns
  std::vector<int64_t> grids;  // of each level
  Tables particles;            // each with its type, also without particles
};

// All headers of PROCESS, from 1, read and compared; no data.
Result<Process> read_process(const Output& output, int process);

}  // namespace penstock::importing
