// Case: a workload under a regime, and the methods that are compared on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/status.hpp>

#include "bench/workload/workload.hpp"

namespace penstock::bench {

// What a user asks cannot be.
inline Status invalid(std::string message) { return Status(Code::invalid, std::move(message)); }

// durable: fdatasync inside the clock, and reading starts from a dropped page cache. cached: neither.
enum class Regime : uint8_t { durable, cached };
std::string_view name(Regime regime);

// One way of writing that takes part in the comparison.
struct Method {
  std::string label;      // as the user wrote it; "LABEL (A/A)" for the control
  std::string plan;       // the plan's text with the regime's durability in it; "" for a reference
  std::string format;     // whose readers read it: "hdf5", "raw", ...; "" for none but the engine
  std::string extension;  // of what is published: "h5", "json"
  bool control = false;
  bool reference = false;  // system calls of the bench's own, which only write; see measure/reference.hpp
  std::string rivals;      // one of several under that name, of which the best counts: the hopeless are dropped
};

// A method that was asked for and cannot take part, and why.
struct Unavailable {
  std::string case_name, method, reason;
};

struct Case {
  std::string name;   // "block2d cached"; in an ordinary run that of the workload
  std::string group;  // cases of one group are measured close to each other in time
  std::string workload_name;
  WorkloadRequest request;
  std::shared_ptr<const Workload> workload;  // null until make_workloads
  Regime regime = Regime::durable;
  int ghosts = 0;              // layers of ghost cells around each rank's data in memory
  bool own_ranks = false;      // every rank reads back what it wrote itself
  double compute_seconds = 0;  // > 0: writes go on in the background of a compute phase of that length
  bool asleep = false;         // in that phase the ranks sleep instead of doing arithmetic
  bool warm = false;           // reading begins with what the page cache has, whatever the regime
  bool put = false;            // put, which copies, instead of lend
  int competitors = 0;         // streams of a competing job on each node meanwhile
  std::vector<Method> methods;
  size_t baseline = 0;  // the method to which the others are compared

  int64_t total_bytes() const { return bench::total_bytes(*workload); }
};

// A case as the command line has it, not yet understood.
struct CaseWords {
  std::string workload;
  std::string total = "512MiB", per_rank, type = "real64", order = "C", regime = "durable";
  std::string map;
  std::string row_bytes = "0", dataset_bytes = "128KiB";
  std::vector<std::string> methods, decompositions;
  int variables = 1, datasets = 400, ghosts = 0;
  std::string block = "1MiB", transfer = "256KiB", grouped = "level";
  int64_t segments = 1, domain = 128;
  bool random = false, one_buffer = false;
  int steps = 10, ranks_per_node = 16;
  bool own_ranks = false, put = false, warm = false;
  double compute_seconds = 0;
  std::string compute_by = "flops";
  int competitors = 0;
  bool control = false;  // the baseline takes part twice, to learn the smallest difference that may be claimed
};

// Local. Code::invalid explains itself in one line. The second leaves the methods to the caller, and words.control too.
Result<Case> make_case(const CaseWords& words);
Result<Case> make_case_without_methods(const CaseWords& words);
// Chooses METHODS ("all", or names, in any number of texts) for MADE, and the baseline among them. Those that this
// build has not go to UNAVAILABLE where that is not null; else they are an error.
Status choose_methods(const std::vector<std::string>& methods, bool control, Case& made,
                      std::vector<Unavailable>* unavailable);
// MADE, and where it has competitors the same without them before it.
std::vector<Case> beside_competitors(Case made);
// Lets the baseline take part once more, under another name.
void add_control(Case& made);
// The method LABEL, in the regime given.
Result<Method> make_method(const std::string& label, Regime regime);

// "a/b:x=1,y=2,c/d" -> {"a/b:x=1,y=2", "c/d"}: a piece NAME=VALUE belongs to the method before it.
std::vector<std::string> split_methods(std::string_view text);

}  // namespace penstock::bench
