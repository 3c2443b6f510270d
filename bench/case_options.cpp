// Case options: the command-line options that determine what is measured.
#include "bench/case_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace penstock::bench {

void declare_case(CLI::App& app, CaseWords& words) {
  Case& given = words.given;
  WorkloadRequest& request = given.request;
  app.option_defaults()->group("Workload");
  app.add_option("workload", words.workload, "the pattern of datasets and decompositions, see below");
  app.add_option("--total", words.total,
                 "bytes of the whole workload (block2d, block3d, checkpoint, pencil, pic, particles)")
      ->capture_default_str();
  app.add_option("--per-rank", words.per_rank, "bytes of each rank instead: weak scaling");
  app.add_option("--type", words.type,
                 "elements: int8 to int64, uint8 to uint64, real32, real64, complex64, complex128")
      ->capture_default_str();
  app.add_option("--data", given.data_name, "what the elements are, which matters to compression, see below")
      ->capture_default_str();
  app.add_option("--order", words.order, "C or Fortran")->capture_default_str();
  app.add_option("--row-bytes", words.row_bytes,
                 "of each rank's contiguous rows in the file (block2d, block3d, columns)");
  app.add_option(
      "--ghosts", given.ghosts,
      "layers of ghost cells around each rank's data in memory (block2d, block3d, checkpoint, many, pencil)");
  app.add_option("--datasets", request.datasets, "how many (many, columns)")->capture_default_str();
  app.add_option("--dataset-bytes", words.dataset_bytes, "of each dataset (many)")->capture_default_str();
  app.add_option("--map", request.map, "E3SM decomposition map, a netCDF file (map)");
  app.add_option("--decomposition", request.decompositions, "only these decompositions of the map: D1, D2, ...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--variables", request.variables, "datasets per decomposition (map), or in all (checkpoint)")
      ->capture_default_str();
  app.add_option("-b,--block-size,--blockSize", words.block, "of each rank in a segment (ior)")->capture_default_str();
  app.add_option("-t,--transfer-size,--transferSize", words.transfer, "of one call (ior)")->capture_default_str();
  app.add_option("-s,--segment-count,--segmentCount", request.ior.segments, "of blocks of all ranks (ior)")
      ->capture_default_str();
  app.add_flag("-z,--random-offset,--randomOffset", request.ior.random,
               "each rank's transfers in shuffled order (ior)");
  app.add_flag("--one-buffer", request.ior.one_buffer,
               "each rank's transfers all out of, and into, one buffer of a transfer, as IOR's (ior)");
  app.add_option("--domain", request.domain, "cells in each direction (ramses-amr, ramses-hydro)")
      ->capture_default_str();
  app.add_option("--grouped", request.grouped, "by level or by process (ramses-amr, ramses-hydro)")
      ->capture_default_str();
  app.add_option("--steps", request.steps, "of output (pic)")->capture_default_str();
  app.add_option("--tasks-per-node,--tasksPerNode", request.ranks_per_node,
                 "ranks of a node: the first of them writes (pic), or nodes are counted so (--count-only)")
      ->capture_default_str();
  app.option_defaults()->group("Case");
  app.add_option("--methods", words.methods, "FORMAT/TRANSPORT[:name=value,...],..., ENGINE[:...], or all")
      ->allow_extra_args(false);
  app.add_flag("--own-ranks", given.own_ranks, "every rank reads back what it wrote itself");
  app.add_option("--compute", given.compute_seconds,
                 "write in the background of a compute phase of so many seconds, and count only the time that the "
                 "write adds to it");
  app.add_option("--compute-by", words.compute_by,
                 "what --compute does: flops, or sleep, like a program whose work is done elsewhere")
      ->capture_default_str();
  app.add_flag("--warm", given.warm, "read what the page cache still has of what was written, as IOR does");
  app.add_flag("--put", given.put, "put, which copies the data, instead of lend");
  app.option_defaults()->group("Conditions");
  app.add_option("--regime", words.regime, "durable (sync inside the clock) or cached")->capture_default_str();
  app.add_flag("--interfere{1}", given.competitors,
               "measure once more beside a competing job of so many streams on each node, which write, sync, create "
               "and remove files there");
  app.add_flag("--aa,!--no-aa", words.control,
               "run the baseline twice per repetition, to learn the smallest difference "
               "that may be claimed (default from 6 repetitions on)");
}

bool is_of_case(const CLI::Option& option) {
  const std::string& group = option.get_group();
  return group == "Workload" || group == "Case" || group == "Conditions";
}

Status check_case_words(const CLI::App& app, const CaseWords& words) {
  if (app.count("--per-rank") > 0 && app.count("--total") > 0)
    return Status(Code::invalid, "--per-rank and --total: one of them");
  for (const WorkloadKind& kind : workloads()) {
    if (kind.name != words.workload) continue;
    for (const char* option : {"--total", "--per-rank"})
      if (!kind.sized_by.empty() && app.count(option) > 0)
        return Status(Code::invalid,
                      fmt::format("{}: its size is said by {}, not by {}", kind.name, kind.sized_by, option));
    if (!kind.typed && app.count("--type") > 0)
      return Status(Code::invalid, fmt::format("{}: its elements have types of their own: no --type", kind.name));
  }
  return {};
}

}  // namespace penstock::bench
