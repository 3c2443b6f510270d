// Case: a workload in a regime, and the methods to compare on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/status.hpp>

#include "bench/data/data.hpp"
#include "bench/verify/bound.hpp"
#include "bench/workload/workload.hpp"

namespace penstock::bench {

// The status of an invalid user request.
inline Status invalid(std::string message) { return Status(Code::invalid, std::move(message)); }

// durable: fdatasync is timed, and reading starts with a dropped page cache. cached: neither.
enum class Regime : uint8_t { durable, cached };
std::string_view name(Regime regime);

// One method of writing in the comparison.
struct Method {
  std::string label;      // as given by the user; "LABEL (A/A)" for the control
  std::string plan;       // the plan's text including the regime's durability; "" for a reference
  std::string format;     // the format of its readers: "hdf5", "raw", ...; "" if only the engine reads it
  std::string extension;  // of the published file: "h5", "json"
  bool control = false;
  bool reference = false;  // the bench's own system calls, which only write; see measure/reference.hpp
  std::string rivals;      // a group of methods of which the best counts; slow ones are dropped
  Plan parsed;             // of the plan; without parameters for a reference
  // Of each field, how far the plan may move its values.
  std::vector<Bound> bounds(const Workload& workload) const;
};

// A requested method that is not available, and why.
struct Unavailable {
  std::string case_name, method, reason;
};

struct Case {
  std::string name;   // "block2d cached"; in an ordinary run the workload's name
  std::string group;  // cases of one group are measured close together in time
  std::string workload_name;
  WorkloadRequest request;
  std::shared_ptr<const Workload> workload;  // null until make_workloads
  std::string data_name = "numbers";         // what the elements are
  std::shared_ptr<const Values> data;        // null: numbers, or before make_workloads
  Regime regime = Regime::durable;
  int ghosts = 0;              // layers of ghost cells around each rank's data in memory
  bool own_ranks = false;      // every rank reads back its own data
  double compute_seconds = 0;  // > 0: writes continue in the background of a compute phase of this length
  bool asleep = false;         // in that phase the ranks sleep instead of computing
  bool warm = false;           // reading starts with the present page cache, whatever the regime
  bool put = false;            // use put, which copies, instead of lend
  int competitors = 0;         // concurrent streams of a competing job on each node
  std::vector<Method> methods;
  size_t baseline = 0;  // the method with which the others are compared

  int64_t total_bytes() const { return bench::total_bytes(*workload); }
};

// A case as given on the command line: what needs no parsing, and words.
struct CaseWords {
  Case given;
  std::string workload;
  std::string total = "512MiB", per_rank, type = "real64", order = "C", regime = "durable";
  std::string row_bytes = "0", dataset_bytes = "128KiB", block = "1MiB", transfer = "256KiB", compute_by = "flops";
  std::vector<std::string> methods;
  bool control = false;  // run the baseline twice, to determine the smallest significant difference
};

// Local. Code::invalid has a one-line explanation. The second function leaves the methods, and words.control, to the
// caller.
Result<Case> make_case(const CaseWords& words);
Result<Case> make_case_without_methods(const CaseWords& words);
// Chooses METHODS ("all", or names, in any number of texts) for MADE, and the baseline among them. Methods that this
// build does not have go to UNAVAILABLE if it is not null; else they are an error.
Status choose_methods(const std::vector<std::string>& methods, bool control, Case& made,
                      std::vector<Unavailable>* unavailable);
// MADE; if it has competitors, preceded by the same case without them.
std::vector<Case> beside_competitors(Case made);
// Adds the baseline a second time, under another name.
void add_control(Case& made);
// The method LABEL in REGIME.
Result<Method> make_method(const std::string& label, Regime regime);

// "a/b:x=1,y=2,c/d" -> {"a/b:x=1,y=2", "c/d"}: a piece NAME=VALUE belongs to the preceding method.
std::vector<std::string> split_methods(std::string_view text);

}  // namespace penstock::bench
