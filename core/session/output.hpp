// Output: the files of a commit, from creation to publication.
#pragma once

#include <string>
#include <vector>

#include "core/placement/placement.hpp"
#include "core/session/state.hpp"

namespace penstock {

struct Output {
  Placed placed;
  std::vector<std::string> created;  // by this rank; removed if the commit fails
  std::string xdmf;                  // rank 0: the text of the XDMF file; "" if not requested
  // The file that rank 0 renames to the target. For a set it is created empty before any part, to mark the owner.
  std::string partial;
};

// The path of a part of a set. The generation keeps it apart from parts of the published file.
std::string part_path(const File::State& state, std::string_view label);
// The path of the parity file beside the parts of GENERATION: made with them, or later by this file.
std::string parity_path(const File::State& state, const std::string& generation);
// Local. For a file that nobody has open.
Status sync_file(Storage& storage, const std::string& path);
// The path of the hidden file that becomes the target.
std::string partial_path(const File::State& state);
// Collective. Names partial files after rank 0's process, also in a file that was opened for reading.
Status own_partial_files(File::State& state);
// Local, after all ranks have written. Cuts parts to their exact length; gives all files the permissions of ordinary
// new files.
Status cut_parts(File::State& state, const Output& output);
// Rank 0. Writes the master file, if any, and renames it to the target, unless another job has replaced the target. The
// parts of the previous set stay until the next commit, for its readers; those of the set before it are removed. If a
// single file replaces a set, both are removed.
Status publish(File::State& state, Output& output);
// Collective. Makes the text of the XDMF file, if requested; fails if a mesh's description does not fit CATALOGUE.
Status describe_meshes(File::State& state, const Catalogue& catalogue, Output& output);
// "run/heat.xmf" for "run/heat.h5".
std::string xdmf_path(const File::State& state);
// Rank 0. The two steps of publish(), callable separately.
Status write_master(File::State& state, const Output& output);
Status put_in_target(File::State& state, const Output& output);
// Removes the files in FOLDER whose names begin with STEM and contain GENERATION, which is a random number of one
// commit. The parts of a set that was renamed or copied stay.
void remove_parts(Storage& storage, const std::string& folder, const std::string& stem, const std::string& generation);
void remove_created(File::State& state, const Output& output);

}  // namespace penstock
