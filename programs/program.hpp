// Program: shared by these programs: ranks, usage, exit codes, and JSON lines for the caller.
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

// Runs BODY on all ranks with the arguments; its result is the exit status. Prints the usage if the number of arguments
// is wrong, or if BODY returns usage.
int run(int argc, char** argv, const Usage& usage,
        const std::function<int(const Communicator&, std::span<char*> arguments)>& body);

// Reports waits without progress for 10 s on stderr from now on. run() calls it.
void tell_of_waits(const char* program);

// Same in a single process, without MPI and launcher.
int run_alone(int argc, char** argv, const Usage& usage,
              const std::function<int(const Communicator&, std::span<char*> arguments)>& body);

// Collective. Code::exists if there is a file at PATH, or a set's index beside it; called before any work.
Status check_free(const Communicator& comm, const std::string& path);

// Prints one line; bytes that are not UTF-8 become U+FFFD.
void print(const nlohmann::json& line);

// Same for each of FILES: rank 0 prints a line with WORK's result, or its error. Returns failure if there was an error,
// or if WORK reports one.
struct Outcome {
  nlohmann::json line;
  bool good = true;
};
int for_each_file(const Communicator& comm, std::span<char*> files,
                  const std::function<Result<Outcome>(const char* path)>& work);

}  // namespace penstock::program
