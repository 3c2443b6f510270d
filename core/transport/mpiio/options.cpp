// Options of mpiio: the standard's table of accesses has gaps, and some of its rows work only for some files.
#include "core/transport/mpiio/options.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace penstock::mpiio {
namespace {

Positioning positioning_of(std::string_view word) {
  if (word == "individual") return Positioning::individual;
  return word == "shared" ? Positioning::shared : Positioning::by_offset;
}

Synchronism synchronism_of(std::string_view word) {
  if (word == "nonblocking") return Synchronism::nonblocking;
  return word == "split" ? Synchronism::split : Synchronism::blocking;
}

Verify verify_of(std::string_view word) {
  if (word == "none") return Verify::none;
  return word == "full" ? Verify::full : Verify::spot;
}

Status refuse(std::string message) { return {Code::unsupported, "mpiio: " + std::move(message)}; }

}  // namespace

Options::Options(const Settings& settings)
    : positioning(positioning_of(settings.word("positioning"))),
      collective(settings.word("coordination") == "collective"),
      synchronism(synchronism_of(settings.word("synchronism"))),
      datatype(settings.word("request") == "datatype"),
      apart(settings.word("puts") == "apart"),
      datarep(settings.word("datarep")),
      atomicity(settings.boolean("atomicity")),
      buffer_bytes(settings.integer("buffer_bytes")),
      round_bytes(settings.integer("round_bytes")),
      round_runs(settings.integer("round_runs")),
      record_bytes(settings.integer("record_bytes")),
      verify(verify_of(settings.word("read_back"))) {
  // Up to eight non-blocking calls are in progress, each with a buffer; an entry of a type takes about 48 bytes.
  const int64_t memory = settings.integer("memory_bytes");
  buffer_bytes =
      std::min(buffer_bytes, std::max<int64_t>(4096, memory / (synchronism == Synchronism::nonblocking ? 16 : 2)));
  round_runs = std::min(round_runs, std::max<int64_t>(64, memory / 4 / 48));
  const std::string& level = settings.word("level");
  if (level == "none") return;
  collective = level == "1" || level == "3";
  datatype = level == "2" || level == "3";
}

Status check_options(const Options& o, const FileKind& file, Direction direction) {
  const bool writing = direction == Direction::write;
  if (o.synchronism == Synchronism::split && !o.collective)
    return refuse("the MPI standard has no split independent access: synchronism=split needs coordination=collective");
  if (o.synchronism == Synchronism::nonblocking && o.shared() && o.collective)
    return refuse(
        "the MPI standard has no non-blocking ordered access: with positioning=shared,coordination=collective, "
        "synchronism is blocking or split");
  if (o.shared() && o.apart)
    return refuse("puts=apart is of accesses with addresses: positioning=explicit or individual, not shared");
  if (o.shared() && o.datarep != "native")
    return refuse(fmt::format("positioning=shared has datarep=native only, not {}", o.datarep));
  if (o.shared() && writing && !file.rank_order)
    return refuse("positioning=shared needs layout=chunks: a shared pointer writes in the order of ranks");
  if (o.records() && !file.gaps)
    return refuse(
        fmt::format("positioning=shared,coordination=independent puts a header before every block, which format {} has "
                    "no room for: use format raw",
                    file.format));
  if (o.portable() && !file.big_endian)
    return refuse(fmt::format(
        "datarep=external32 stores big-endian numbers, which format {} does not: use format netcdf", file.format));
  return {};
}

}  // namespace penstock::mpiio
