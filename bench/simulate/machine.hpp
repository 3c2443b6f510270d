// Machine: nodes, what lies between them and the disks, and a file system's costs, as a user describes them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include <penstock/status.hpp>

namespace penstock::bench {

// Rates are in bytes per second. The names are those of the machine's file (docs/simulate.md).
struct Machine {
  std::string name;
  int64_t nodes = 1, cores = 1;  // cores of each node
  double memory_rate = 0;        // a node copies so much
  int64_t memory_threads = 0;    // that copy so much together; 0: as many as cores
  double link_rate = 0;          // of a node's link
  double message_seconds = 0;    // a small message between nodes
  int64_t forwarded_nodes = 0;   // that share one forwarder; 0: none between nodes and servers
  double forwarder_rate = 0;
  int64_t servers = 1, targets = 1;
  double server_rate = 0;                // of each server's link
  double write_rate = 0, read_rate = 0;  // of each target
  double target_call_seconds = 0;        // a target is busy so long with one request, beside its bytes
  double spread = 0;                     // of the time that a block takes: standard deviation, divided by the mean
  int64_t block = 4096;                  // of locks
  int64_t smallest = 4096;               // write; less is read, changed and written
  int64_t stripe_count = 0;              // targets of one file; 0: all
  double call_seconds = 0;               // latency of a call that moves data
  int64_t lock_servers = 0;              // of one file; 0: each of its targets
  double grant_seconds = 0;              // of a lock server, for a lock that nobody else holds
  double lock_seconds = 0;               // for one that another node holds
  bool buffers_always = false;           // MPI-IO's collective buffering by default: enable, or automatic
  bool whole_blocks = false;             // MPI-IO's aggregators divide a file at blocks
  int64_t aggregators = 0;               // of MPI-IO, for each forwarder; 0: one on each node
  int64_t romio_year = 0;                // MPI-IO is ROMIO of this year; 0: newer than all differences known here
  std::string kind;                      // of the file system, as a mount has it: "lustre"; "": not said
  double create_seconds = 0, open_seconds = 0;  // of the metadata server
  double entries = 0;                           // of a folder, at which a creation takes twice as long
};

// Local. Code::invalid names the wrong or missing key.
Result<Machine> read_machine(const nlohmann::json& json);

}  // namespace penstock::bench
