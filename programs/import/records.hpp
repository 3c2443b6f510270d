// Records: a set of files, one per process, with a description of the contents of their records.
//
// The description is JSON, which tools/penstock/files/records.py makes from the TOML of docs/import-records.md.
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

// How the arrays of the processes form one dataset.
enum class Use : uint8_t { none, block, ragged, per_process, replicated };

// Expressions are in Fortran's order, the first index fastest.
struct Field {
  std::string name;
  ElementType type;
  std::vector<std::string> shape;
  Use use = Use::none;
  std::vector<std::string> whole, start;  // block: of the dataset; without them the process grid decides
  int64_t first_index = 1;                // the base of START
  std::vector<std::string> ghosts;        // layers on either side that are not imported
  std::vector<Attribute> attributes;
};

// One record, or REPEAT equal ones, or SKIP to be ignored.
struct Line {
  std::string skip, repeat;
  std::vector<Field> fields;
};

struct Set {
  std::vector<std::string> files;  // of process 0, 1, ...
  std::optional<bool> big_endian;
  int marker = 0;  // bytes; 0: detected
  bool ignore_rest = false;
  std::vector<int64_t> grid;  // of processes, in Fortran's order
  bool first_fastest = true;  // process 1 is adjacent to process 0 along the first dimension
  std::vector<Line> lines;
  std::vector<Attribute> attributes;
};
Result<Set> read_set(const std::string& path);

// The data of one process for a field.
struct Block {
  std::string path;
  Framing framing;
  std::vector<Record> records;  // several if repeated
  bool repeated = false;        // then the first extent of the dataset counts the records
  int64_t at = 0;               // bytes before it in its record
  Dims stored, first, count;    // in C's order: in the record, and its part without ghosts
  Dims whole, start;            // of the dataset, if known from the file
  int64_t elements() const;
  Dims shape() const;  // including the repetition
};

// The blocks of one file, for each field that becomes a dataset, in the order of the description.
Result<std::vector<Block>> read_blocks(const Set& set, size_t process);

// Collective. Writes one file at PATH from the set that the JSON file DESCRIPTION describes.
Status import_records(const Communicator& comm, const std::string& description, const std::string& path,
                      std::string_view plan);

}  // namespace penstock::importing
