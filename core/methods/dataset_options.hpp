// DatasetOptions: how one dataset is stored, where that differs from the rest of its file.
#pragma once

#include <string>
#include <string_view>

#include "core/model/precision.hpp"
#include "core/plan/plan.hpp"

namespace penstock {

struct DatasetOptions {
  std::string text;     // those that differ from their default, by name: equal texts mean equal options
  Precision precision;  // of its elements
};

// The table of options, for parser, help and docs.
const Descriptor& dataset_descriptor();
// "type=f32,keep_bits=12,compression=zstd,level=3". Code::invalid or Code::unsupported if PLAN cannot store a dataset
// so.
Result<DatasetOptions> parse_dataset_options(std::string_view text, const Plan& plan);
// Whether OPTION is the codec or one of its parameters; the others say how numbers are given to it.
bool is_of_codec(std::string_view option);
// Whether the codec of these options may change values.
bool allows_errors(const DatasetOptions& options);
// How elements of type GIVEN are stored that have no options of their own.
Precision default_precision(const Plan& plan, const ElementType& given);
// Whether a dataset with options TEXT gets a codec that keeps all bits, if it is encoded at all.
bool keeps_bits(const Plan& plan, std::string_view text);
// The settings of PLAN, with compression and its parameters from a dataset's options TEXT where they say them.
Settings encoding_settings(const Plan& plan, std::string_view text);

}  // namespace penstock
