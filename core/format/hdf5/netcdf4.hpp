// netCDF-4: what its library adds to an HDF5 file, and the notes of penstock's engine netcdf4.
#pragma once

#include "core/hdf5/attributes.hpp"
#include "core/model/catalogue.hpp"
#include "core/netcdf/note.hpp"

namespace penstock::hdf5 {

// Whether the attributes of a file's root are those of a netCDF-4 file, and of one that penstock wrote.
bool is_netcdf4(const AttributeMap& root);
bool is_noted(const AttributeMap& root);
// Whether a dataset is only a netCDF dimension without a variable.
bool is_dimension_only(const AttributeMap& attributes);
// Whether it is an attribute of HDF5's dimension scales that no Attribute can hold.
bool is_scale_attribute(const std::string& name);
// The text that the characters along the last dimension of DATASET are, if it is one of characters.
std::optional<ElementType> folded_type(const Dataset& dataset);
// Takes from ATTRIBUTES what makes a dataset a dimension scale.
void take_scale(AttributeMap& attributes);
// Takes from ATTRIBUTES what belongs to the library and to penstock, and where the file is NOTED makes of the others
// what they were.
netcdf::Note take_note(AttributeMap& attributes, bool noted);
// Applies NOTE to a variable as the file has it: texts lose their last dimension, empty datasets need not be unlimited.
void apply_note(const netcdf::Note& note, Dataset& dataset);
// Whether DATASET is a list of texts whose characters are the last dimension of RANK in the file.
bool is_folded(const Dataset& dataset, const ElementType& stored, int rank);

}  // namespace penstock::hdf5
