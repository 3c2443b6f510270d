// Program: what these programs share: ranks, usage, exit codes, and lines of JSON for who started them.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include <penstock/communicator.hpp>

namespace penstock::program {

enum Exit { success = 0, failure = 1, usage = 2 };

struct Usage {
  const char* program;
  const char* arguments;  // "FROM TO [PLAN]"
  size_t least, most;
};

// Runs BODY on all ranks with the arguments; its result is the exit status. Says how the program is used where there
// are too few or too many of them, or where BODY returns usage.
int run(int argc, char** argv, const Usage& usage,
        const std::function<int(const Communicator&, std::span<char*> arguments)>& body);

// From now on a wait in which nothing has moved for 10 s is told of on stderr. run() calls it.
void tell_of_waits(const char* program);

// The same in a process by itself, which needs no MPI and no launcher.
int run_alone(int argc, char** argv, const Usage& usage,
              const std::function<int(const Communicator&, std::span<char*> arguments)>& body);

// Collective. Code::exists where something is at PATH, or a set's index beside it, before any work is done.
Status check_free(const Communicator& comm, const std::string& path);

// One line; bytes that are no UTF-8 become U+FFFD.
void print(const nlohmann::json& line);

// The same for each of FILES: on rank 0 a line of what WORK says of it, or its error; failure where there was one, or
// where WORK says so.
struct Outcome {
  nlohmann::json line;
  bool good = true;
};
int for_each_file(const Communicator& comm, std::span<char*> files,
                  const std::function<Result<Outcome>(const char* path)>& work);

}  // namespace penstock::program
