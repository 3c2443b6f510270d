// Index: JSON of sets, from sidecars of raw files and masters of others; what is accepted is the same after a rewrite.
#include "core/format/index.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const std::string_view text = fuzz::text_of(data, size);
  const auto contents = decode_index(text, "raw", "folder");
  if (!contents.ok()) {
    fuzz::check_refusal(contents.status());
    return 0;
  }
  for (const std::string& part : contents->parts)
    fuzz::must(part.starts_with("folder/") && part.find('/', 7) == std::string::npos && part != "folder/..",
               "a part outside the folder");
  const auto again = encode_index(*contents);
  if (!again.ok()) {
    fuzz::check_refusal(again.status());
    return 0;
  }
  const auto second = decode_index(*again, "raw", "folder");
  fuzz::must(second.ok(), "what was written is not read");
  fuzz::must(*encode_index(*second) == *again, "an index changes when it is written again");
  Contents lost = *contents;
  if (const Status found = find_lost(lost); !found.ok()) fuzz::check_refusal(found);
  return 0;
}
