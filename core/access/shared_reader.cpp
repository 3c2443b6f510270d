// SharedReader: all ranks know the contents of a file; each reads by itself through the node's cache.
#include <penstock/shared_reader.hpp>

#include <unistd.h>

#include <fmt/format.h>

#include "core/access/here.hpp"
#include "core/access/node_cache.hpp"
#include "core/access/recognise.hpp"
#include "core/comm/calling.hpp"

namespace penstock {

struct SharedReader::State {
  std::string path;
  Contents contents;
  std::shared_ptr<NodeCache> cache;
  std::shared_ptr<Files> files;
};

namespace {

constexpr int64_t min_block = 4096;

int64_t node_memory() { return static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE); }

std::vector<std::string> files_of(const Contents& contents, const std::string& path) {
  return contents.parts.empty() ? std::vector{path} : contents.parts;
}

// Rank 0 determines their sizes.
Result<std::vector<CachedFile>> measured(const Communicator& comm, Storage& storage, std::vector<std::string> paths) {
  std::vector<int64_t> bytes(paths.size(), 0);
  Status status;
  for (size_t i = 0; i < paths.size() && comm->rank() == 0 && status.ok(); ++i) {
    const auto about = storage.stat(paths[i]);
    if (about.ok())
      bytes[i] = about->bytes;
    else if (about.status().code() != Code::not_found)  // a lost part, without blocks
      status = about.status();
  }
  PENSTOCK_TRY(agree(comm, status));
  PENSTOCK_TRY(comm->all_reduce_max(bytes));
  std::vector<CachedFile> files;
  for (size_t i = 0; i < paths.size(); ++i) files.push_back({std::move(paths[i]), bytes[i]});
  return files;
}

// The elements of PART: one claim for each box or for all runs, in DATA.
Status claims_of(const Decomposition& part, int dataset, int64_t size, std::byte* data, std::vector<Claim>& claims) {
  switch (part.form()) {
    case Decomposition::Form::boxes:
      for (const Box& box : part.box_list()) {
        claims.push_back({dataset, Selection::of_box(part.shape(), box), data});
        data += elements(box.count) * size;
      }
      return {};
    case Decomposition::Form::runs:
      claims.push_back({dataset, Selection::of_runs(part.shape(), part.run_list()), data});
      return {};
    default:
      return {Code::invalid,
              "a shared reader reads boxes or runs: what is ragged, replicated or of each rank takes all ranks"};
  }
}

}  // namespace

SharedReader::SharedReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
SharedReader::SharedReader(SharedReader&&) noexcept = default;
SharedReader& SharedReader::operator=(SharedReader&&) noexcept = default;
SharedReader::~SharedReader() = default;

Result<SharedReader> SharedReader::open(const Communicator& comm, std::string path, const SharedReading& how) {
  const Calling calling(comm, "open for shared reading", path, false);
  Status status;
  if (how.memory_bytes < 0) status = {Code::invalid, fmt::format("memory_bytes={}: at least 0", how.memory_bytes)};
  if (how.block_bytes < min_block || how.block_bytes > (int64_t{1} << 30))
    status = {Code::invalid, fmt::format("block_bytes={}: from {} to 1 GiB", how.block_bytes, min_block)};
  PENSTOCK_TRY(agree(comm, status));
  auto state = std::make_unique<State>();
  state->path = std::move(path);
  const std::shared_ptr<Storage> files = posix_storage();
  PENSTOCK_ASSIGN(state->contents, read_contents(comm, *files, state->path));
  PENSTOCK_ASSIGN(auto list, measured(comm, *files, files_of(state->contents, state->path)));
  PENSTOCK_ASSIGN(const Communicator node, comm->node());
  const int64_t memory = how.memory_bytes > 0 ? how.memory_bytes : node_memory() / 4;
  auto cache = NodeCache::create(node, std::move(list), memory, how.block_bytes);
  PENSTOCK_TRY(agree(comm, cache.status()).in(fmt::format("opening '{}'", state->path)));
  state->cache = *std::move(cache);
  state->files = cached_files(files, state->cache);
  return SharedReader(std::move(state));
}

Status SharedReader::get(std::string_view name, ElementType type, const Decomposition& part, void* data) const {
  const Contents& contents = state_->contents;
  const auto in = [&](Status status) { return status.in(fmt::format("reading '{}' of '{}'", name, state_->path)); };
  const int index = contents.catalogue.index_of(name);
  if (index < 0) return in(Status(Code::not_found, "there is no such dataset"));
  const Dataset& dataset = contents.catalogue.datasets[static_cast<size_t>(index)];
  if (!(dataset.type == type) || !(dataset.shape == part.shape()))
    return in(Status(Code::mismatch, fmt::format("it is {}, not {} {}", describe(dataset), penstock::name(type),
                                                 describe(part.shape()))));
  std::vector<Claim> claims;
  PENSTOCK_TRY(in(claims_of(part, index, bytes(type), static_cast<std::byte*>(data), claims)));
  return in(read_here(contents, state_->path, claims, state_->files));
}

int64_t SharedReader::fetched_bytes() const { return state_->cache->fetched_bytes(); }
bool SharedReader::holds_all() const { return state_->cache->holds_all(); }

}  // namespace penstock
