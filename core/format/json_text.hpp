// JSON text: encodes names, texts and attributes in the index without loss.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/attribute.hpp>
#include <penstock/status.hpp>

#include "core/base/utf8.hpp"

namespace penstock {

// JSON strings are Unicode; names and texts are bytes. A byte that is NUL or not part of well-formed UTF-8 is written
// as U+0000 and its two hexadecimal digits; all other bytes are written as they are.
void append_json(std::string& out, std::string_view bytes);
// Decodes the string TEXT, as returned by a JSON parser, to bytes.
Result<std::string> from_json_string(const std::string& text);

void append_json(std::string& out, int64_t value);
void append_json(std::string& out, const Dims& dims);
// {"type": ..., "value": ...}. Numbers read back exactly; NaN and infinities are strings (docs/formats/raw.md).
void append_json(std::string& out, const Attribute& attribute);
// Code::damaged if JSON is not an attribute, with the reason.
Result<Attribute> attribute_from_json(std::string name, const nlohmann::json& json);

// Converts words to 16 hexadecimal digits each, without separators, and back. False if DIGITS is not of this form.
std::string hexadecimal(std::span<const uint64_t> words);
bool words_of(std::string_view digits, std::vector<uint64_t>& words);

// A member of a JSON object or element of an array as a nonnegative 63-bit number.
Result<int64_t> natural_from_json(const nlohmann::json& json, std::string_view what);

}  // namespace penstock
