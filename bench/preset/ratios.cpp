// ratios: the ratios that measure this library's quality, with their targets.
//
// Each rival is represented by the variants that were fastest of their kind in ordinary runs of the same workload; the
// run itself determines which of them counts.
#include <utility>

#include "bench/preset/preset.hpp"
#include "core/base/units.hpp"

namespace penstock::bench {

namespace {

using Methods = std::vector<std::string>;

// Rivals run without features that their own programs do not have: our checksums, and mpiio's verification of written
// data.
Methods plain(Methods methods) {
  for (std::string& method : methods) {
    method += method.find(':') == std::string::npos ? ":" : ",";
    method += method.starts_with("raw/mpiio") ? "checksums=none,read_back=none" : "checksums=none";
  }
  return methods;
}

const Methods ours = {"hdf5/two_phase"};
const Methods per_process = plain({"raw/per_process"});
const Methods direct_per_process = plain({"raw/per_process:io=direct,preallocate=true"});
const Methods write_all = plain({"raw/mpiio:level=3"});  // MPI_File_write_all of all data of a rank
const Methods device = {"reference/device:streams=2", "reference/device:streams=4", "reference/device:streams=16"};
const Methods engines =
    plain({"phdf5", "phdf5:alignment=1048576", "phdf5:collective=true", "pnetcdf:mode=independent",
           "pnetcdf:mode=nonblocking", "netcdf4:mode=independent", "raw/mpiio:level=2", "raw/mpiio:level=3"});
const Methods cached_engines =
    plain({"phdf5", "pnetcdf:mode=independent", "netcdf4:mode=independent", "raw/mpiio:level=2"});
const Methods for_many =
    plain({"phdf5", "phdf5:collective=true", "pnetcdf", "pnetcdf:mode=independent", "pnetcdf:mode=nonblocking"});
const Methods for_map = plain({"pnetcdf:mode=nonblocking", "raw/mpiio:level=3"});
const Methods behind = {"hdf5/two_phase", "hdf5/servers"};

// 400 datasets of 128 KiB, or smaller if the whole run is to be smaller.
void set_many(CaseWords& words) {
  const auto total = parse_bytes(words.total), each = parse_bytes(words.dataset_bytes);
  if (total && each && *total < *each * words.datasets) words.dataset_bytes = std::to_string(*total / words.datasets);
}

std::vector<PresetCase> cases() {
  return {{"block2d", "block2d", "block2d", [](CaseWords& words) { words.control = true; }},
          {"block2d ghosts", "block2d", "block2d", [](CaseWords& words) { words.ghosts = 2; }},
          {"block2d own ranks", "block2d", "block2d", [](CaseWords& words) { words.own_ranks = true; }},
          {"block2d put", "block2d", "block2d", [](CaseWords& words) { words.put = true; }},
          {"block2d cached", "block2d cached", "block2d", [](CaseWords& words) { words.regime = "cached"; }},
          {"block3d", "block3d", "block3d", [](CaseWords&) {}},
          {"block3d ghosts", "block3d", "block3d", [](CaseWords& words) { words.ghosts = 2; }},
          {"short rows", "short rows", "block3d", [](CaseWords& words) { words.row_bytes = "512"; }},
          {"many", "many", "many", set_many},
          {"map F", "map F", "map", [](CaseWords& words) { words.variables = 50; }},
          {"background", "background", "block2d", [](CaseWords& words) { words.compute_seconds = 1; }},
          {"small", "small", "block2d", [](CaseWords& words) { words.total = "1MiB"; }}};
}

RatioRow grown(std::string id, std::string name, CountedSide counted) {
  const std::optional<double> target = counted.weak ? std::nullopt : std::optional(1.0);
  return {.id = std::move(id), .name = std::move(name), .target = target, .counted = std::move(counted)};
}

std::vector<RatioRow> rows() {
  return {
      {"1a", "2-D blocks, durable / a file per process", {"block2d", ours}, {"block2d", per_process}, 0.65},
      {"1b", "3-D blocks, durable / a file per process", {"block3d", ours}, {"block3d", per_process}, 0.65},
      {"1c",
       "2-D blocks / the same, direct and preallocated",
       {"block2d", ours},
       {"block2d", direct_per_process},
       1.05},
      {"1d",
       "3-D blocks / the same, direct and preallocated",
       {"block3d", ours},
       {"block3d", direct_per_process},
       1.05},
      {"1e", "2-D blocks, durable / best engine or MPI-IO", {"block2d", ours}, {"block2d", engines}, 0.5, 0.75},
      {"1f", "2-D blocks, CDF-5 / HDF5", {"block2d", {"netcdf/two_phase"}}, {"block2d", ours}, 1.05},
      {"2a", "2-D blocks, cached / a file per process", {"block2d cached", ours}, {"block2d cached", per_process}, 1.0},
      {"2b",
       "2-D blocks, cached / best engine or MPI-IO",
       {"block2d cached", ours},
       {"block2d cached", cached_engines}},
      {"3", "2-D blocks, durable / the device, direct", {"block2d", ours}, {"block2d", device}, 1 / 0.95},
      {"4a", "rows of 512 bytes / MPI_File_write_all", {"short rows", ours}, {"short rows", write_all}, 0.3},
      {.id = "4b",
       .name = "rows of 512 bytes / MPI_File_write_all of ROMIO",
       .ours = {"short rows", ours},
       .other = {"short rows", write_all},
       .target = 0.3,
       .romio = true},
      {"4c", "rows of 512 bytes / strided pwrite", {"short rows", ours}, {"short rows", plain({"raw/independent"})}},
      {"5a", "many datasets / best of phdf5 and pnetcdf", {"many", ours}, {"many", for_many}, 0.2},
      {"5b", "many datasets / a file per process", {"many", ours}, {"many", per_process}, 2.5},
      {"6", "E3SM map F / best of pnetcdf and MPI_File_write_all", {"map F", ours}, {"map F", for_map}, 0.2},
      {"7a", "2-D blocks with ghost cells / without", {"block2d ghosts", ours}, {"block2d", ours}, 1.1},
      {"7c", "3-D blocks with ghost cells / without", {"block3d ghosts", ours}, {"block3d", ours}, 1.1},
      {"7b", "2-D blocks with ghost cells / without, MPI-IO", {"block2d ghosts", write_all}, {"block2d", write_all}},
      {"7d", "3-D blocks with ghost cells / without, MPI-IO", {"block3d ghosts", write_all}, {"block3d", write_all}},
      {"8a",
       "read back on other ranks / best engine or MPI-IO",
       {"block2d", ours, Measure::read},
       {"block2d", engines, Measure::read},
       0.5},
      {"8b",
       "read back on other ranks / files by their own ranks",
       {"block2d", ours, Measure::read},
       {"block2d own ranks", per_process, Measure::read},
       1.0},
      {"9",
       "visible time of a background write / a memory copy",
       {"background", behind},
       {"background", behind, Measure::copy},
       1.2},
      grown("10a", "2-D blocks: messages of a rank, 64 to 4096 ranks / log P", {"block2d"}),
      grown("10b", "2-D blocks: bytes of plans of a rank, 64 to 4096 / log P", {"block2d", true}),
      grown("10c", "3-D blocks: messages of a rank, 64 to 4096 ranks / log P", {"block3d"}),
      grown("10d", "3-D blocks: bytes of plans of a rank, 64 to 4096 / log P", {"block3d", true}),
      grown("10e", "as 10a with 8 MiB on each rank", {"block2d", false, true}),
      grown("10f", "as 10b with 8 MiB on each rank", {"block2d", true, true}),
      grown("10g", "as 10c with 8 MiB on each rank", {"block3d", false, true}),
      grown("10h", "as 10d with 8 MiB on each rank", {"block3d", true, true}),
      {"11", "1 MiB, durable / pwrite and fsync by one rank", {"small", ours}, {"small", {"reference/pwrite"}}, 1.5},
      {"12", "2-D blocks by put / by lend", {"block2d put", ours}, {"block2d", ours}},
  };
}

}  // namespace

Preset ratios_preset() { return {"ratios", cases(), rows()}; }

}  // namespace penstock::bench
