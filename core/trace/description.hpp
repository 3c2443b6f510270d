// Description: the JSON of blocks JOB and END of a trace.
#pragma once

#include <cstdint>
#include <string>

namespace penstock {

struct TracedProcess {
  int rank = 0, ranks = 1;
  int process = 0;
  int64_t begin = 0;             // nanoseconds since 1970
  int64_t age = 0;               // of the process at that time, in nanoseconds
  std::string library = "none";  // of message passing
  std::string role = "program";
};

// Local. Nanoseconds since this process started, accurate to 10 ms; 0: unknown.
int64_t process_age();
// Local. Includes the program's command line, host and mounts, and the job's names in launcher and scheduler.
std::string job_description(const TracedProcess& process);
// TIME in nanoseconds since the beginning.
std::string end_description(int64_t time, int64_t calls, int64_t calls_lost, int64_t recorder);

}  // namespace penstock
