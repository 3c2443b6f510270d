// Output: the files of a commit, from creation to publication.
#pragma once

#include <string>
#include <vector>

#include "core/placement/placement.hpp"
#include "core/publication/target.hpp"

namespace penstock {

struct Output {
  Placed placed;
  std::vector<std::string> created;  // by this rank; removed if the commit fails
  std::string xdmf;                  // rank 0: the text of the XDMF file; "" if not requested
  // The file that rank 0 renames to the target. For a set it is created empty before any part, to mark the owner.
  std::string partial;
};

// Local. For a file that nobody has open.
Status sync_file(Storage& storage, const std::string& path);
// Local, after all ranks have written. Cuts parts to their exact length.
Status cut_parts(const Target& target, const Output& output);
// Rank 0. Writes the master file, if any, and renames it to the target, unless another job has replaced the target. The
// parts of the previous set stay until the next commit, for its readers; those of the set before it are removed. If a
// single file replaces a set, both are removed. What goes wrong after that is a warning.
Status publish(Target& target, Output& output, std::vector<std::string>& warnings);
// Collective. The text of the XDMF file, on rank 0; fails if a mesh's description does not fit CATALOGUE.
Result<std::string> describe_meshes(const Target& target, const Catalogue& catalogue);
// Rank 0. The two steps of publish(), callable separately.
Status write_master(const Target& target, const Output& output);
Status put_in_target(Target& target, const Output& output);
// Removes the files in FOLDER whose names begin with STEM and contain GENERATION, which is a random number of one
// commit. The parts of a set that was renamed or copied stay.
void remove_parts(Storage& storage, const std::string& folder, const std::string& stem, const std::string& generation);
void remove_created(const Target& target, const Output& output);

}  // namespace penstock
