// NetCDF header: CDF-1, CDF-2 and CDF-5, its names, and the notes in its attributes.
#include "core/netcdf/header.hpp"
#include "core/netcdf/names.hpp"
#include "core/netcdf/note.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const auto file = fuzz::bytes_of(data, size);
  bool incomplete = false;
  const auto header = netcdf::decode_header(file, &incomplete);
  if (!header.ok()) {
    fuzz::check_refusal(header.status());
    return 0;
  }
  for (const Attribute& attribute : header->attributes) {
    const netcdf::Note note = netcdf::parse_note(text(attribute));
    (void)netcdf::integers(attribute);
    for (const Attribute& other : header->attributes) (void)netcdf::from_plain(other, other.name, note);
  }
  (void)netcdf::record_bytes(*header);
  for (const netcdf::Variable& variable : header->variables) {
    (void)netcdf::decode_name(variable.name);
    (void)netcdf::decode_attribute_name(variable.name);
    (void)netcdf::padded_bytes(*header, variable);
    const auto values = netcdf::integers(*header, file, variable.name);
    if (!values.ok()) fuzz::check_refusal(values.status());
  }
  const auto bytes = netcdf::encode_header(*header);
  const auto again = netcdf::decode_header(bytes);
  fuzz::must(again.ok(), "a header that was written is not read");
  fuzz::must(netcdf::encode_header(*again) == bytes, "a header changes when it is written again");
  return 0;
}
