// MethodFacts: what others must know of the way in which a plan writes files.
#pragma once

#include <string_view>

namespace penstock {

// The texts are constants of the program.
struct MethodFacts {
  std::string_view format;                       // of the files; the engine's name if only it reads them
  std::string_view writer;                       // the format's or the engine's name, for messages
  std::string_view extension, master_extension;  // as in Format
  std::string_view convention;                   // that the files can follow: "CF", "openPMD"; "" for none
  bool hints = false;                            // are passed to MPI-IO
  bool folders = false;                          // what is published is a folder
  bool own_files = false;                        // each rank has files of its own
  bool at_once = false;                          // all is written in one call, so that checksums come first
};

}  // namespace penstock
