// Ramses: where everything lies in one output of the RAMSES code, a folder of Fortran files of each process.
//
// The layout is that which RAMSES writes (amr/output_amr.f90, hydro/output_hydro.f90, poisson/output_poisson.f90,
// pm/output_part.f90) and which yt and osyris read; docs/formats/ramses.md has it whole.
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

// The folder, the output's number, and what the text files say.
struct Output {
  std::string folder;
  int number = 0;
  int processes = 0;
  std::set<std::string> kinds;                            // "amr", "hydro", ...: of files that some process has
  std::vector<std::pair<std::string, std::string>> info;  // "boxlen", "0.5E+00", in the order of the file
  std::vector<std::array<double, 2>> domains;             // of the ordering, of each process
  std::map<std::string, std::vector<std::pair<std::string, char>>> variables;  // "hydro": names and types
  // "amr": FOLDER/amr_00002.out00001
  std::string path(const std::string& kind, int process) const;
};
Result<Output> find_output(const std::string& folder);

// Numbers of grids or particles in one file: COLUMNS records, each STRIDE bytes behind the last, of ROWS numbers.
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

// What must be alike in all files of an output.
struct Common {
  int64_t processes = 0, dimensions = 0, levels = 0, boundaries = 0;
  std::array<int64_t, 3> coarse{};  // nx, ny, nz
  double box_length = 0, time = 0;
  std::map<std::string, double> exact;  // "aexp", ...: what the info file has with fewer digits, under its names
  std::string ordering;
  std::vector<std::string> cells;  // the datasets of each level that have values in cells, in the order of the files
  std::string describe() const;    // all of it, to be compared
};

struct Process {
  Common common;
  std::vector<Tables> levels;  // from level 1 on; of the grids that this process owns
  std::vector<int64_t> grids;  // of each level
  Tables particles;            // each with its type, also where there is no particle
};

// Everything of PROCESS, from 1: headers read and compared, no data.
Result<Process> read_process(const Output& output, int process);

}  // namespace penstock::importing
