// Output: names, creation and publication of the files of a commit.
#include "core/session/output.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/guarded.hpp"
#include "core/comm/share.hpp"
#include "core/format/format.hpp"
#include "core/mesh/xdmf.hpp"
#include "core/session/method.hpp"
#include "core/session/restart.hpp"
#include "core/storage/owner.hpp"
#include "core/storage/target.hpp"

namespace penstock {
namespace {

std::string base_name(const std::string& path) { return path.substr(folder_of(path).size()); }

// The start of the names of a set's parts: "heat.h5" for "heat.h5", "heat" for the sidecar "heat.json", "heat.raw" for
// "heat.raw.json".
std::string stem_of(const File::State& state) {
  const std::string name = base_name(state.path);
  const MethodFacts& method = state.method->facts();
  const std::string end = fmt::format(".{}", method.master_extension);
  return method.master_extension != method.extension && name.ends_with(end) ? name.substr(0, name.size() - end.size())
                                                                            : name;
}

// The generations of the set at the target, and of the set that it replaced; empty if there is none.
struct Ancestors {
  std::string published, before;
};

Ancestors ancestors_of(File::State& state) {
  const Format* format = find_format(state.method->facts().format);
  if (format == nullptr || !state.storage->stat(state.path).ok()) return {};
  auto contents = format->read(state.path);
  if (!contents.ok()) return {};
  return {std::move(contents->generation), std::move(contents->replaced)};
}

bool is_generation(const std::string& text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Does nothing without a generation, as for engines without a format.
void remove_parts(File::State& state, const std::string& generation) {
  if (!generation.empty()) remove_parts(*state.storage, folder_of(state.path), stem_of(state), generation);
}

}  // namespace

void remove_parts(Storage& storage, const std::string& folder, const std::string& stem, const std::string& generation) {
  if (!is_generation(generation)) return;
  const auto names = storage.list(folder.empty() ? "." : folder);
  if (!names.ok()) return;
  for (const std::string& name : *names)
    if (name.starts_with(stem + ".g" + generation + "."))
      (void)storage.remove(folder + name);  // leftovers are not an error: the commit is complete
}

Status own_partial_files(File::State& state) {
  const auto message = from_rank_0(state.comm, [](Encoder& out) -> Status {
    out.text(text(this_process()));
    return {};
  });
  PENSTOCK_TRY(message.status());
  state.owner = Decoder(*message).text();
  return {};
}

Status sync_file(Storage& storage, const std::string& path) {
  PENSTOCK_ASSIGN(auto file, storage.open(path, Io::buffered, true));
  PENSTOCK_TRY(file->sync());
  return file->close();
}

std::string part_path(const File::State& state, std::string_view label) {
  return fmt::format("{}{}.g{:016x}{}{}.{}", folder_of(state.path), stem_of(state), state.token,
                     label.empty() ? "" : ".", label, state.method->facts().extension);
}

std::string parity_path(const File::State& state, const std::string& generation) {
  const std::string again =
      generation == fmt::format("{:016x}", state.token) ? "" : fmt::format(".{:016x}", state.token);
  return fmt::format("{}{}.g{}{}.parity", folder_of(state.path), stem_of(state), generation, again);
}

std::string partial_path(const File::State& state) {
  return folder_of(state.path) + partial_name(base_name(state.path), state.token, state.owner);
}

// Synced only if needed: if a power loss restores the longer file, its data is complete. Parity knows its length.
Status cut_parts(File::State& state, const Output& output) {
  for (const Extent& cut : output.placed.cuts) {
    const Part& part = output.placed.parts[static_cast<size_t>(cut.part)];
    if (cut.length == part.bytes) continue;
    PENSTOCK_TRY(state.storage->truncate(part.path, cut.length));
    if (state.durable() && state.has_parity()) PENSTOCK_TRY(sync_file(*state.storage, part.path));
  }
  for (const std::string& path : output.created) PENSTOCK_TRY(state.storage->permit(path));
  return {};
}

Status write_master(File::State& state, const Output& output) {
  PENSTOCK_ASSIGN(const auto bytes, find_format(state.method->facts().format)->master(output.placed.contents));
  PENSTOCK_ASSIGN(auto file, state.storage->open(output.partial, Io::buffered, true));
  PENSTOCK_TRY(file->write(0, bytes));
  if (state.durable()) PENSTOCK_TRY(file->sync());
  return file->close();
}

Status put_in_target(File::State& state, const Output& output) {
  PENSTOCK_ASSIGN(const FileStat ours, state.storage->stat(output.partial));
  const Status published = publish(*state.storage, output.partial, state.path, state.occupant, state.durable());
  if (published.ok() || published.code() == Code::in_doubt) state.occupant = ours;
  return published;
}

Status publish(File::State& state, Output& output) {
  if (state.restart) {
    if (state.is_set()) PENSTOCK_TRY(write_master(state, output));
    return rotate(state, output.partial);
  }
  Ancestors ancestors;
  if (state.is_set() || state.parts_beside) ancestors = ancestors_of(state);
  if (state.is_set()) {
    output.placed.contents.replaced = ancestors.published;
    PENSTOCK_TRY(write_master(state, output));
    // The names of the parts are durable before the master that refers to them.
    if (state.durable()) PENSTOCK_TRY(state.storage->sync_directory(state.path));
  }
  PENSTOCK_TRY(put_in_target(state, output));
  if (ancestors.before != ancestors.published) remove_parts(state, ancestors.before);
  // A single file cannot record what it replaced.
  if (!state.is_set()) remove_parts(state, ancestors.published);
  state.parts_beside = false;
  if (output.xdmf.empty()) return {};
  // The data is complete: a missing description does not make the commit fail.
  if (const Status beside = write_file(*state.storage, xdmf_path(state), output.xdmf); !beside.ok())
    state.report.warnings.push_back(fmt::format("'{}' was not written: {}", xdmf_path(state), beside.message()));
  return {};
}

std::string xdmf_path(const File::State& state) {
  const std::string name = base_name(state.path);
  const size_t dot = name.rfind('.');
  return folder_of(state.path) + name.substr(0, dot == 0 ? std::string::npos : dot) + ".xmf";
}

Status describe_meshes(File::State& state, const Catalogue& catalogue, Output& output) {
  if (!state.xdmf) return {};
  if (state.method->facts().format != "hdf5")
    return {Code::unsupported, fmt::format("XDMF refers to HDF5 files, but '{}' is written by '{}'", state.path,
                                           state.method->facts().writer)};
  if (state.restart) return {Code::unsupported, "restart files change their names: they have no XDMF beside"};
  return agree(state.comm, state.comm->rank() > 0 ? Status() : guarded([&]() -> Status {
                 PENSTOCK_ASSIGN(const auto grids, grids_of(catalogue));
                 output.xdmf = xdmf(base_name(state.path), grids);
                 return check_target(*state.storage, xdmf_path(state));
               }));
}

void remove_created(File::State& state, const Output& output) {
  // The first error counts. The file that marks the owner of the parts is removed last.
  for (auto path = output.created.rbegin(); path != output.created.rend(); ++path)
    (void)(state.method->facts().folders ? state.storage->remove_tree(*path) : state.storage->remove(*path));
}

}  // namespace penstock
