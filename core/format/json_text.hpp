// JSON text: names, texts and attributes in the index, each without loss.
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

// JSON strings are Unicode, names and texts are bytes. The rule: a byte that is NUL or no part of well-formed UTF-8 is
// written as U+0000 and its two hexadecimal digits; everything else stands for itself.
void append_json(std::string& out, std::string_view bytes);
// The bytes for which the string TEXT, as a JSON parser returns it, stands.
Result<std::string> from_json_string(const std::string& text);

void append_json(std::string& out, int64_t value);
// {"type": ..., "value": ...}: numbers that read back exactly; NaN and infinities are strings (docs/formats/raw.md).
void append_json(std::string& out, const Attribute& attribute);
// Code::damaged where JSON is no attribute, naming why.
Result<Attribute> attribute_from_json(std::string name, const nlohmann::json& json);

// Words as 16 hexadecimal digits each, one after another; and back. False where DIGITS are something else.
std::string hexadecimal(std::span<const uint64_t> words);
bool words_of(std::string_view digits, std::vector<uint64_t>& words);

// A member of a JSON object or element of an array as a number of 63 bits.
Result<int64_t> natural_from_json(const nlohmann::json& json, std::string_view what);

}  // namespace penstock
