// Output: the files that a commit makes, from their creation to their publication.
#pragma once

#include <string>
#include <vector>

#include "core/session/state.hpp"

namespace penstock {

struct Output {
  std::vector<Part> parts;                 // that this rank has pieces in
  std::vector<Piece> pieces;               // of this rank, metadata included
  std::vector<Layout::Metadata> metadata;  // keeps the bytes of metadata pieces
  std::vector<FileSum> heads;              // rank 0: of each part of the contents, its metadata
  int64_t virtual_bytes = 0;
  Io io = Io::buffered;
  std::vector<Extent> cuts;                         // parts of this rank to be cut to a length, by their index
  std::vector<std::string> created;                 // by this rank; removed if the commit fails
  Contents contents;                                // complete on rank 0; of a single file on all ranks
  Slots slots;                                      // of the one part, where the transport has them
  std::vector<std::pair<size_t, StoredBlock>> own;  // per_rank: of each supplied claim, where among PARTS it goes
  std::vector<std::pair<size_t, size_t>> in_slot;   // rank 0: dataset and block, in contents, asked for in each
  std::string xdmf;                                 // rank 0: the text of the file beside; "" where none is wanted
  // What rank 0 renames to the target. Of a set it is there, empty, before any part: it says whose they are.
  std::string partial;
};

// A part of a set; parts carry the generation, so that they never meet those of the file that is still valid.
std::string part_path(const File::State& state, std::string_view label);
// Beside the parts of GENERATION: made with them, or later by this file.
std::string parity_path(const File::State& state, const std::string& generation);
// Local. Of a file that nobody has open.
Status sync_file(Storage& storage, const std::string& path);
// The hidden file that becomes the target.
std::string partial_path(const File::State& state);
// Collective. Names of partial files are those of rank 0's process, also in what was opened to be read.
Status own_partial_files(File::State& state);
// Collective. Lays out CATALOGUE as the plan says and creates the files at their full size. MEMORY[i] belongs to
// CLAIMS[i]. On failure OUTPUT.created still says what to remove.
Status prepare_output(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                      std::span<std::byte* const> memory, Output& output);
// Local, when all ranks have written. Parts of exact length lose what was rounded up; all get the permissions of
// ordinary new files.
Status cut_parts(File::State& state, const Output& output);
// Rank 0. Writes the master file where there is one and renames it over the target, unless that is another job's by
// now. The parts of the set that was there stay for those who are reading them, until the next commit; those of the one
// before it are removed. Where a single file takes the place of a set, both are.
Status publish(File::State& state, Output& output);
// Collective. Where it is wanted, the text of the file beside; fails where a mesh's description does not fit CATALOGUE.
Status describe_meshes(File::State& state, const Catalogue& catalogue, Output& output);
// "run/heat.xmf" of "run/heat.h5".
std::string xdmf_path(const File::State& state);
// Rank 0. The two halves of it, for who makes one of them only.
Status write_master(File::State& state, const Output& output);
Status put_in_target(File::State& state, const Output& output);
// Those in FOLDER whose names begin with STEM and have GENERATION, drawn at random by one commit: those of a set that
// was renamed or copied stay.
void remove_parts(Storage& storage, const std::string& folder, const std::string& stem, const std::string& generation);
void remove_created(File::State& state, const Output& output);

}  // namespace penstock
