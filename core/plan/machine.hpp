// Machine: the rates of one file system and message library, as probed, and the seconds that work takes with them.
#pragma once

#include <string>

#include "core/model/problem.hpp"
#include "core/model/work.hpp"

namespace penstock {

// What penstock tune --probe found. Rates are in bytes per second, of all ranks of a job together or of ONE rank alone.
struct Machine {
  std::string filesystem, mpi;  // as in Problem
  int64_t ranks = 1;            // that probed
  double copy = 0, send = 0;
  double write_cache_one = 0, write_cache_all = 0, write_direct_one = 0, write_direct_all = 0, write_synced_one = 0,
         write_synced_all = 0;
  double read_cache_one = 0, read_cache_all = 0, read_direct_one = 0, read_direct_all = 0, read_device_one = 0,
         read_device_all = 0;
  // Seconds of one piece of a copy, short message, reduction, and short call; of all ranks, one after another.
  double piece = 0, message = 0, collective = 0, write_call = 0, read_call = 0;
  double publish = 0;  // seconds for a durable file beside its data

  bool operator==(const Machine&) const = default;
};

// For where nothing was probed: one node with a solid-state disk, in round numbers.
Machine usual_machine();

// Where the seconds of a movement go.
struct Estimate {
  double memory = 0, messages = 0, storage = 0, fixed = 0;
  double seconds() const { return memory + messages + storage + fixed; }
  // Of the largest part: "memory copies", "messages", "the file system", "calls without data".
  const char* limit() const;
};

// The seconds of WORK for PROBLEM on MACHINE: a sum, as if nothing overlapped but what goes past the page cache.
Estimate estimate(const Work& work, const Problem& problem, const Machine& machine);

}  // namespace penstock
