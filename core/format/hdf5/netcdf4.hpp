// netCDF-4: what its library adds to an HDF5 file, and the notes of engine netcdf4.
#pragma once

#include "core/hdf5/attributes.hpp"
#include "core/model/catalogue.hpp"
#include "core/netcdf/note.hpp"

namespace penstock::hdf5 {

// The text of attribute NAME; "" if there is none.
std::string text_of(const AttributeMap& attributes, const std::string& name);
// Whether the attributes of a file's root are those of a netCDF-4 file, and of one written by penstock.
bool is_netcdf4(const AttributeMap& root);
bool is_noted(const AttributeMap& root);
// Whether a dataset is a netCDF dimension without a variable.
bool is_dimension_only(const AttributeMap& attributes);
// Whether NAME is an attribute of HDF5 dimension scales that Attribute cannot represent.
bool is_scale_attribute(const std::string& name);
// For a dataset of characters: the text type that the characters along its last dimension form.
std::optional<ElementType> folded_type(const Dataset& dataset);
// Removes from ATTRIBUTES those that make a dataset a dimension scale.
void take_scale(AttributeMap& attributes);
// Removes from ATTRIBUTES those of the library and of penstock. If the file is NOTED, restores the others to their
// original form.
netcdf::Note take_note(AttributeMap& attributes, bool noted);
// Applies NOTE to a variable as stored: texts lose their last dimension; empty datasets need not be unlimited.
void apply_note(const netcdf::Note& note, Dataset& dataset);
// Whether DATASET is a list of texts whose characters are the last of RANK dimensions in the file.
bool is_folded(const Dataset& dataset, const ElementType& stored, int rank);

}  // namespace penstock::hdf5
