// Windows: one read of each file for each round.
#include "programs/diff/windows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/guarded.hpp"
#include "core/model/catalogue.hpp"
#include "programs/program.hpp"

namespace penstock::program {

namespace {

constexpr int64_t window_bytes = 8 << 20;

}  // namespace

Status for_each_window(File& a, const DatasetInfo& in_a, File& b, const DatasetInfo& in_b, const Visit& visit) {
  const Communicator comm = a.communicator();
  const int64_t all = elements(in_a.shape), ranks = comm->size(), rank = comm->rank();
  const auto share = [&](int64_t r) { return static_cast<int64_t>(static_cast<__int128>(all) * r / ranks); };
  const int64_t most = std::max<int64_t>(1, window_bytes / std::max(bytes(in_a.type), bytes(in_b.type)));
  const int64_t rounds = ((all + ranks - 1) / ranks + most - 1) / most;
  std::vector<std::byte> ours, theirs;
  int64_t at = share(rank);
  const int64_t end = share(rank + 1);
  for (int64_t round = 0; round < rounds; ++round) {
    const int64_t count = std::min(most, end - at);
    const Run run{at, count};
    PENSTOCK_ASSIGN(const auto part, Decomposition::runs(in_a.shape, std::span(&run, count > 0 ? 1 : 0)));
    PENSTOCK_TRY(agree(comm, guarded([&]() -> Status {
                         ours.resize(static_cast<size_t>(count * bytes(in_a.type)) + 1);
                         theirs.resize(static_cast<size_t>(count * bytes(in_b.type)) + 1);
                         PENSTOCK_TRY(a.get(in_a.name, in_a.type, part, ours.data()));
                         return b.get(in_b.name, in_b.type, part, theirs.data());
                       })));
    PENSTOCK_TRY(a.commit());
    PENSTOCK_TRY(b.commit());
    visit(ours.data(), theirs.data(), count, at);
    at += count;
  }
  return {};
}

bool is_wanted(const Options& options, const std::string& name) {
  return options.only.empty() || options.only.contains(name);
}

Status check_only(const Options& options, const File& a, const File& b) {
  for (const std::string& name : options.only)
    if (!a.dataset(name).ok() && !b.dataset(name).ok())
      return {Code::not_found, fmt::format("neither '{}' nor '{}' has a dataset '{}'", options.a, options.b, name)};
  return {};
}

bool tell_unread(const Options& options, const File& a, const File& b) {
  if (!options.only.empty()) return true;
  bool whole = true;
  for (const File* file : {&a, &b})
    for (const std::string& warning : file->report().warnings) {
      constexpr std::string_view unread = "not read: ";
      if (!warning.starts_with(unread)) continue;
      whole = false;
      if (a.communicator()->rank() == 0)
        print({{"not_compared", warning.substr(unread.size())}, {"in", file == &a ? "a" : "b"}});
    }
  return whole;
}

nlohmann::json index_of(const Dims& shape, int64_t offset) {
  const Dims at = coordinates(shape, offset);
  return std::vector<int64_t>(at.begin(), at.end());
}

}  // namespace penstock::program
