// Records: a set of files, one for each process, of which a description says what is in their records.
//
// The description is JSON, which tools/penstock/records.py makes of the TOML that docs/import-records.md explains.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <penstock/attribute.hpp>
#include <penstock/communicator.hpp>
#include <penstock/status.hpp>
#include <penstock/type.hpp>

#include "programs/import/fortran_file.hpp"

namespace penstock::importing {

// How the arrays of the processes become one dataset.
enum class Use : uint8_t { none, block, ragged, per_process, replicated };

// Expressions are in Fortran's order, the first index fastest.
struct Field {
  std::string name;
  ElementType type;
  std::vector<std::string> shape;
  Use use = Use::none;
  std::vector<std::string> whole, start;  // block: of the dataset; without them the grid of processes says
  int64_t first_index = 1;                // that START counts from
  std::vector<std::string> ghosts;        // layers on either side that are left out
  std::vector<Attribute> attributes;
};

// One record, or REPEAT of them that are alike, or SKIP of no interest.
struct Line {
  std::string skip, repeat;
  std::vector<Field> fields;
};

struct Set {
  std::vector<std::string> files;  // of process 0, 1, ...
  std::optional<bool> big_endian;
  int marker = 0;  // bytes; 0: found out
  bool ignore_rest = false;
  std::vector<int64_t> grid;  // of processes, in Fortran's order
  bool first_fastest = true;  // process 1 is process 0's neighbour along the first dimension
  std::vector<Line> lines;
  std::vector<Attribute> attributes;
};
Result<Set> read_set(const std::string& path);

// What one process has for a field.
struct Block {
  std::string path;
  Framing framing;
  std::vector<Record> records;  // more than one where they are repeated
  bool repeated = false;        // then the first extent of the dataset is that of the records
  int64_t at = 0;               // bytes before it in its record
  Dims stored, first, count;    // in C's order: in the record, and what of it is no ghost
  Dims whole, start;            // of the dataset, where they are known from the file
  int64_t elements() const;
  Dims shape() const;  // with the repetition
};

// The blocks of one file, for each field that becomes a dataset, in the order of the description.
Result<std::vector<Block>> read_blocks(const Set& set, size_t process);

// Collective. One file at PATH of the set that the JSON file DESCRIPTION describes.
Status import_records(const Communicator& comm, const std::string& description, const std::string& path,
                      std::string_view plan);

}  // namespace penstock::importing
