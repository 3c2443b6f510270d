// Workload: a pattern of datasets, and the ranks' parts of them.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/decomposition.hpp>
#include <penstock/status.hpp>
#include <penstock/type.hpp>

namespace penstock::bench {

// A dataset of the workload. Its elements are numbered from FIRST on, so that all elements of a workload have different
// numbers.
struct Field {
  std::string name;
  Dims shape;
  ElementType type;
  int64_t first = 0;
  int64_t elements = 0;
};

// The data that a rank passes in one call.
struct Portion {
  int field = 0;
  Decomposition part;
};

// Immutable and the same on all ranks; functions are local.
class Workload {
 public:
  virtual ~Workload() = default;
  // Sorted by name, which is file order.
  virtual const std::vector<Field>& fields() const = 0;
  // The part of field number FIELD that RANK of SIZE writes.
  virtual Result<Decomposition> part(int field, int rank, int size) const = 0;
  // Same as pieces in the order in which RANK writes them; by default one per field.
  virtual Result<std::vector<Portion>> portions(int rank, int size) const;
  // The elements that repeat those from OFFSET on, as far as they do; by default these themselves.
  virtual Run source(int field, int64_t offset) const;
  // Whether all data of a rank is written from, and read back into, the memory of one portion.
  virtual bool in_one_buffer() const { return false; }
  // Elements that nobody writes; they read as zero. Sorted by offset.
  virtual std::span<const Run> holes(int field) const;
  // Whether it is read back in whole rows; otherwise in runs of elements that may cut rows.
  virtual bool read_by_rows() const = 0;
  // {"shape": ..., "order": ...}: properties of this workload. SIZE ranks write. "notes", if given, are sentences for
  // the table.
  virtual nlohmann::json describe(int size) const = 0;
};

// IOR's parameters, with its defaults.
struct IorRequest {
  int64_t block_bytes = 1 << 20;
  int64_t transfer_bytes = 256 << 10;
  int64_t segments = 1;
  bool random = false;      // each rank's transfers in shuffled order
  bool one_buffer = false;  // all transfers of a rank use the same memory
};

// The options of workloads.
struct WorkloadRequest {
  int64_t total_bytes = 0;     // of the whole; alternatively
  int64_t bytes_per_rank = 0;  // of each rank that writes
  ElementType type;
  bool fortran = false;
  std::string map;
  std::vector<std::string> decompositions;
  int variables = 1;
  int ranks = 1;                      // that write
  int64_t row_bytes = 0;              // of a rank's contiguous rows in the file; 0: derived from the total
  int datasets = 400;                 // of many and columns
  int64_t dataset_bytes = 128 << 10;  // of each of them
  IorRequest ior;
  int64_t domain = 128;           // of ramses: cells in each direction
  std::string grouped = "level";  // of ramses: a dataset for each "level", or all of a "process" together
  int steps = 10;                 // of pic
  int ranks_per_node = 16;        // of pic: the first of them writes
};

struct WorkloadKind {
  std::string_view name;
  std::string_view summary;
  Result<std::unique_ptr<Workload>> (*make)(const WorkloadRequest& request);
  std::string_view sized_by = {};  // the options that set its size, if not --total and --per-rank
  bool typed = true;               // its elements have the requested type, else its own
};

// One file per workload in this folder.
std::span<const WorkloadKind> workloads();
Result<std::unique_ptr<Workload>> make_workload(std::string_view name, const WorkloadRequest& request);
Result<std::unique_ptr<Workload>> make_block2d(const WorkloadRequest& request);
Result<std::unique_ptr<Workload>> make_block3d(const WorkloadRequest& request);
Result<std::unique_ptr<Workload>> make_columns(const WorkloadRequest& request);
Result<std::unique_ptr<Workload>> make_checkpoint(const WorkloadRequest& request);
Result<std::unique_ptr<Workload>> make_ior(const WorkloadRequest& request);
Result<std::unique_ptr<Workload>> make_pencil(const WorkloadRequest& request);
Result<std::unique_ptr<Workload>> make_pic(const WorkloadRequest& request);
Result<std::unique_ptr<Workload>> make_particles(const WorkloadRequest& request);
Result<std::unique_ptr<Workload>> make_ramses_amr(const WorkloadRequest& request);
Result<std::unique_ptr<Workload>> make_ramses_hydro(const WorkloadRequest& request);
Result<std::unique_ptr<Workload>> make_many(const WorkloadRequest& request);
Result<std::unique_ptr<Workload>> make_map(const WorkloadRequest& request);

// Sets FIRST and ELEMENTS of FIELDS, which are in file order.
void number_elements(std::vector<Field>& fields);
// Where part INDEX of COUNT even parts of EXTENT begins.
int64_t cut(int64_t extent, int index, int count);
int64_t total_elements(const Workload& workload);
int64_t total_bytes(const Workload& workload);
bool has_holes(const Workload& workload);
// The elements [BEGIN, END) of FIELD that RANK of SIZE reads back: contiguous in rank order, in whole rows if the
// workload requires it.
struct Slab {
  int64_t begin = 0;
  int64_t end = 0;
};
Slab slab(const Workload& workload, int field, int rank, int size);
Result<Decomposition> slab_decomposition(const Workload& workload, int field, const Slab& slab);
// The rank of SIZE whose part holds element OFFSET of FIELD; -1 if none does.
int owner(const Workload& workload, int field, int64_t offset, int size);

// Calls VISIT(offset, length) for every contiguous run of PART, in memory order. Uses the bench's own arithmetic, so
// that a bug in the library does not hide itself.
template <typename Visit>
void for_each_run(const Decomposition& part, Visit visit) {
  if (part.form() == Decomposition::Form::runs) {
    for (const Run& run : part.run_list())
      if (run.length > 0) visit(run.offset, run.length);
    return;
  }
  const Dims& shape = part.shape();
  for (const Box& box : part.box_list()) {
    int64_t rows = 1;
    for (int d = 0; d + 1 < shape.rank(); ++d) rows *= box.count[d];
    const int last = shape.rank() - 1;
    const int64_t length = last < 0 ? 1 : box.count[last];
    if (length == 0) continue;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t rest = row, offset = last < 0 ? 0 : box.start[last], stride = last < 0 ? 1 : shape[last];
      for (int d = last - 1; d >= 0; --d) {
        offset += (box.start[d] + rest % box.count[d]) * stride;
        rest /= box.count[d];
        stride *= shape[d];
      }
      visit(offset, length);
    }
  }
}

}  // namespace penstock::bench
