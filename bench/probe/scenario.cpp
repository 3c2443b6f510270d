// Scenario: strided rows of all ranks, small enough for many probes.
#include "bench/probe/scenario.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace penstock::probe {
namespace {

constexpr int piece = 1024, pieces = 256;  // bytes; pieces per rank

struct World {
  int rank = 0, size = 1;
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
};

std::vector<char> data_of(int rank) {
  std::vector<char> data(static_cast<size_t>(piece) * pieces);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 31 + static_cast<size_t>(rank) * 7 + 1);
  return data;
}

int64_t offset_of(const World& world, bool blocks, int i) {
  return blocks ? (static_cast<int64_t>(world.rank) * pieces + i) * piece
                : (static_cast<int64_t>(i) * world.size + world.rank) * piece;
}

// Every rank writes or compares its own pieces by system calls.
bool each_piece(const World& world, const std::string& path, bool blocks, bool make) {
  std::vector<char> data = data_of(world.rank), found(piece);
  const int fd = ::open(path.c_str(), make ? O_WRONLY : O_RDONLY);
  bool good = fd >= 0;
  for (int i = 0; good && i < pieces; ++i) {
    const char* mine = data.data() + static_cast<ptrdiff_t>(i) * piece;
    const int64_t at = offset_of(world, blocks, i);
    good = make ? ::pwrite(fd, mine, piece, at) == piece
                : ::pread(fd, found.data(), piece, at) == piece && std::memcmp(found.data(), mine, piece) == 0;
  }
  if (fd >= 0) ::close(fd);
  return good;
}

MPI_Info make_info(const Hints& hints) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [name, value] : hints) MPI_Info_set(info, name.c_str(), value.c_str());
  return info;
}

Hints reported_by(MPI_File file) {
  Hints hints;
  MPI_Info info = MPI_INFO_NULL;
  int keys = 0;
  if (MPI_File_get_info(file, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) return hints;
  MPI_Info_get_nkeys(info, &keys);
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1], value[1024];
    int there = 0;
    MPI_Info_get_nthkey(info, i, key);
    MPI_Info_get(info, key, sizeof value - 1, value, &there);
    if (there) hints[key] = value;
  }
  MPI_Info_free(&info);
  return hints;
}

std::string transfer(const World& world, MPI_File file, MPI_Info info, const std::string& operation) {
  const bool blocks = operation == "write_blocks", reads = operation.starts_with("read");
  const bool independent = operation.ends_with("_independent");
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(pieces, piece, blocks ? piece : piece * world.size, MPI_CHAR, &column);
  MPI_Type_commit(&column);
  std::vector<char> data = data_of(world.rank), buffer = data;
  if (reads) std::fill(buffer.begin(), buffer.end(), '\0');
  int code = MPI_File_set_view(file, offset_of(world, blocks, 0), MPI_CHAR, column, "native", info);
  const int count = piece * pieces;
  if (code == MPI_SUCCESS && reads)
    code = independent ? MPI_File_read_at(file, 0, buffer.data(), count, MPI_CHAR, MPI_STATUS_IGNORE)
                       : MPI_File_read_at_all(file, 0, buffer.data(), count, MPI_CHAR, MPI_STATUS_IGNORE);
  else if (code == MPI_SUCCESS)
    code = independent ? MPI_File_write_at(file, 0, buffer.data(), count, MPI_CHAR, MPI_STATUS_IGNORE)
                       : MPI_File_write_at_all(file, 0, buffer.data(), count, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
  if (code != MPI_SUCCESS) return "an MPI-IO call failed";
  return buffer == data ? "" : "other bytes were read than the file holds";
}

}  // namespace

bool is_operation(const std::string& operation) {
  for (const char* known : {"write", "read", "write_independent", "read_independent", "write_blocks"})
    if (operation == known) return true;
  return false;
}

Seen run_scenario(const std::string& operation, const Hints& hints, const std::string& path) {
  const World world;
  const bool blocks = operation == "write_blocks", reads = operation.starts_with("read");
  Seen seen;
  if (world.rank == 0) {
    ::unlink(path.c_str());
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666);
    if (fd >= 0) ::close(fd);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  bool good = !reads || each_piece(world, path, blocks, true);
  struct stat state{};
  good = ::stat(path.c_str(), &state) == 0 && good;
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Info info = make_info(hints);
  MPI_File file = MPI_FILE_NULL;
  Counts counts{};
  trace_start(state.st_dev, state.st_ino);
  if (MPI_File_open(MPI_COMM_WORLD, path.c_str(), reads ? MPI_MODE_RDONLY : MPI_MODE_RDWR, info, &file) !=
      MPI_SUCCESS) {
    seen.error = "MPI_File_open failed";
    trace_stop(counts.data());
  } else {
    seen.error = transfer(world, file, info, operation);
    seen.reported = reported_by(file);
    if (MPI_File_close(&file) != MPI_SUCCESS && seen.error.empty()) seen.error = "MPI_File_close failed";
    trace_stop(counts.data());
  }
  MPI_Info_free(&info);
  MPI_Barrier(MPI_COMM_WORLD);
  if (seen.error.empty() && !(good && each_piece(world, path, blocks, false))) seen.error = "the file is wrong";

  int failed = seen.error.empty() ? 0 : 1, any = 0;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (any != 0 && seen.error.empty()) seen.error = "another rank failed";
  seen.ranks.resize(static_cast<size_t>(world.size));
  MPI_Gather(counts.data(), trace_fields, MPI_INT64_T, seen.ranks.data(), trace_fields, MPI_INT64_T, 0, MPI_COMM_WORLD);
  if (world.rank == 0) ::unlink(path.c_str());
  MPI_Barrier(MPI_COMM_WORLD);
  return seen;
}

}  // namespace penstock::probe
