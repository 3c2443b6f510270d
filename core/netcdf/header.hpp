// Header: the header of a classic netCDF file: decodes CDF-1, CDF-2 and CDF-5, encodes CDF-5, without any library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/attribute.hpp>
#include <penstock/status.hpp>

// The grammar is that of "File Format Specifications" in the netCDF user's guide and of CDF-5 in Parallel-NetCDF. All
// numbers are big-endian; counts have 4 bytes, in CDF-5 8.
//
// E3SM's decomposition maps (written by PIO's and E3SM-IO's dat2decomp; CDF-5) are such files. For each decomposition k
// from 1 to the length of dimension "num_decomp" they contain global attributes "Dk.ndims" and "Dk.dims" (the shape,
// slowest first), and i32 variables:
//   "Dk.nreqs"                      one number for each of the "decomp_nprocs" writing processes
//   "Dk.offsets", "Dk.lengths"      "Dk.total_nreqs" runs, process after process, in elements of the row-major array
//   "Dk.fill_starts"                where each process's fill values begin among them
//   "Dk.raw_nreqs", "Dk.raw_offsets"   before runs were merged: "Dk.total_raw_nreqs" single elements
namespace penstock::netcdf {

struct Dimension {
  std::string name;
  int64_t length = 0;  // 0: the record dimension
};

struct Variable {
  std::string name;
  std::vector<int64_t> dimensions;  // indices into Header::dimensions, slowest first
  std::vector<Attribute> attributes;
  ElementType type;  // NC_CHAR is text[1]
  // "vsize" as stored: padded to 4 bytes, per record for a record variable; not reliable.
  int64_t stored_bytes = 0;
  int64_t begin = 0;    // byte of element 0
  bool record = false;  // the first dimension is the record dimension
};

struct Header {
  int version = 0;      // 1, 2 or 5
  int64_t records = 0;  // -1: "streaming", unknown
  std::vector<Dimension> dimensions;
  std::vector<Attribute> attributes;  // numbers in native order; a list of one is a scalar; NC_CHAR is a scalar text
  std::vector<Variable> variables;
  int64_t bytes = 0;  // of the header itself

  const Variable* find(std::string_view variable) const;
  const Attribute* attribute(std::string_view name) const;  // a global one
  Result<int64_t> dimension(std::string_view name) const;   // its length; Code::not_found
};

// FILE is the file, or enough of its beginning to hold the header. It may be hostile: Code::damaged, with the reason;
// memory stays proportional to the size of FILE.
// INCOMPLETE, if given, tells whether more bytes of the file could change the result.
Result<Header> decode_header(std::span<const std::byte> file, bool* incomplete = nullptr);

// HEADER as CDF-5 bytes; their number does not depend on begins. Attributes are lists of numbers or one text; an empty
// text is a single NUL.
std::vector<std::byte> encode_header(const Header& header);

// The type number (nc_type) of the format and all libraries; for complex numbers that of their parts.
int type_number(Kind kind);

// "vsize": bytes of VARIABLE, per record if it has records, padded to 4; -1 if beyond 63 bits.
int64_t padded_bytes(const Header& header, const Variable& variable);
// Distance in bytes between records: the sum of the record variables' padded sizes; for a single record variable its
// unpadded size. -1 if beyond 63 bits.
int64_t record_bytes(const Header& header);

// All elements of an integer variable that is not a record variable. FILE is the whole file. Code::not_found,
// Code::unsupported for another type, Code::damaged if the file is too short.
Result<std::vector<int64_t>> integers(const Header& header, std::span<const std::byte> file, std::string_view variable);

// Same for an integer attribute.
std::vector<int64_t> integers(const Attribute& attribute);

}  // namespace penstock::netcdf
