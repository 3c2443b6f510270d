// Report: what one commit or read did on this rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <penstock/phase.hpp>

namespace penstock {

// Statistics of one commit, on this rank. The caller reduces them over ranks where needed.
struct Report {
  std::string plan;              // as executed, with every parameter
  std::string reason;            // why, if the plan named no transport: "default", wisdom or an estimate; else ""
  std::string problem;           // what it was for, as a JSON object: docs/wisdom.md
  double predicted_seconds = 0;  // by wisdom or an estimate, from the start of the call to its end; 0 if unknown
  PhaseTimes phases;             // seconds on this rank
  int64_t bytes = 0;             // user bytes of this rank
  int64_t file_calls = 0;        // system calls of this rank on file data: writes or reads
  int64_t file_bytes = 0;        // bytes of these calls
  int64_t metadata_calls = 0;    // open, create, allocate, sync, close, rename, ...
  int64_t messages = 0;          // point-to-point messages sent by this rank
  int64_t message_bytes = 0;
  int64_t writers = 0;      // 1 if this rank opened files for data
  int64_t memory_peak = 0;  // bytes held by two_phase and independent, without the program's data and captured puts
  double background_seconds = 0;  // background commit: time of data movement between commit_start and commit_wait
  std::string filesystem;         // of the target: "ext4, blocks of 4096 bytes (statfs, mountinfo)"
  std::map<std::string, std::string> hints;  // in force in the MPI-IO library
  std::vector<std::string> warnings;         // plan requests that this process, library or file system cannot fulfil
  std::string statistics;                    // of the transport, as a JSON object, on ranks that have any
};

}  // namespace penstock
