// Options: what the command line of penstock-bench asks for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>
#include <penstock/type.hpp>

namespace penstock::bench {

// durable: fdatasync inside the clock, and reading starts from a dropped page cache. cached: neither.
enum class Regime : uint8_t { durable, cached };
std::string_view name(Regime regime);

// One way of writing that takes part in the comparison.
struct Method {
  std::string label;      // as the user wrote it; "LABEL (A/A)" for the control
  std::string plan;       // the plan's text with the regime's durability in it
  std::string format;     // whose readers read it: "hdf5", "raw", ...; "" for none but the engine
  std::string extension;  // of what is published: "h5", "json"
  bool control = false;
};

struct Options {
  std::string workload;
  int64_t total_bytes = int64_t{512} << 20;
  ElementType type{Kind::f64};
  bool fortran = false;
  std::string map;                          // path of an E3SM decomposition map
  std::vector<std::string> decompositions;  // of the map; empty: all
  int variables = 1;                        // datasets per decomposition of the map

  std::vector<Method> methods;
  size_t baseline = 0;  // the method to which the others are compared
  Regime regime = Regime::durable;
  int repetitions = 6;
  uint64_t seed = 1;
  int readers = 0;                // 0: one less than there are ranks
  double time_limit_seconds = 0;  // 0: none

  double compute_seconds = 0;        // > 0: writes go on in the background of a compute phase of that length
  std::string threads = "funneled";  // MPI's thread level, which Launch has set
  bool put = false;                  // put, which copies, instead of lend

  std::string directory;
  std::string json;  // "": no JSON file
  bool progress = false;
  bool keep = false;
  bool list_methods = false;  // print what there is as JSON and end

  std::string help;                    // not empty: print it and end
  std::vector<std::string> arguments;  // as given
};

// Local: the same on every rank, since every rank has the same arguments. Code::invalid explains itself in one line.
Result<Options> parse_options(int argc, char** argv);

// "a/b:x=1,y=2,c/d" -> {"a/b:x=1,y=2", "c/d"}: a piece NAME=VALUE belongs to the method before it.
std::vector<std::string> split_methods(std::string_view text);

}  // namespace penstock::bench
