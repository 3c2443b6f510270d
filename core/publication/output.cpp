// Output: completes, publishes or removes the files of a commit.
#include "core/publication/output.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/guarded.hpp"
#include "core/comm/share.hpp"
#include "core/format/format.hpp"
#include "core/mesh/xdmf.hpp"
#include "core/storage/owner.hpp"

namespace penstock {
namespace {

// The generations of the set at the target, and of the set that it replaced; empty if there is none.
struct Ancestors {
  std::string published, before;
};

Ancestors ancestors_of(const Target& target) {
  const Format* format = find_format(target.method.format);
  if (format == nullptr || !target.storage->stat(target.path).ok()) return {};
  auto contents = format->read(target.path);
  if (!contents.ok()) return {};
  return {std::move(contents->generation), std::move(contents->replaced)};
}

bool is_generation(const std::string& text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Does nothing without a generation, as for engines without a format.
void remove_parts(const Target& target, const std::string& generation) {
  if (!generation.empty()) remove_parts(*target.storage, folder_of(target.path), stem_of(target), generation);
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

Status sync_file(Storage& storage, const std::string& path) {
  PENSTOCK_ASSIGN(auto file, storage.open(path, Io::buffered, true));
  PENSTOCK_TRY(file->sync());
  return file->close();
}

// Synced only if needed: if a power loss restores the longer file, its data is complete. Parity knows its length.
Status cut_parts(const Target& target, const Output& output) {
  for (const Extent& cut : output.placed.cuts) {
    const Part& part = output.placed.parts[static_cast<size_t>(cut.part)];
    if (cut.length == part.bytes) continue;
    PENSTOCK_TRY(target.storage->truncate(part.path, cut.length));
    if (target.durable && target.parity) PENSTOCK_TRY(sync_file(*target.storage, part.path));
  }
  return {};
}

Status write_master(const Target& target, const Output& output) {
  PENSTOCK_ASSIGN(const auto bytes, find_format(target.method.format)->master(output.placed.contents));
  PENSTOCK_ASSIGN(auto file, target.storage->open(output.partial, Io::buffered, true));
  PENSTOCK_TRY(file->write(0, bytes));
  if (target.durable) PENSTOCK_TRY(file->sync());
  return file->close();
}

Status put_in_target(Target& target, const Output& output) {
  return publish(*target.storage, output.partial, target.path, target.expected_file, target.durable);
}

Status publish(Target& target, Output& output, std::vector<std::string>& warnings) {
  if (target.restart) {
    if (target.set) PENSTOCK_TRY(write_master(target, output));
    return rotate(target, output.partial);
  }
  Ancestors ancestors;
  if (target.set || target.parts_beside) ancestors = ancestors_of(target);
  if (target.set) {
    output.placed.contents.replaced = ancestors.published;
    PENSTOCK_TRY(write_master(target, output));
    // The names of the parts are durable before the master that refers to them.
    if (target.durable) PENSTOCK_TRY(target.storage->sync_directory(target.path));
  }
  PENSTOCK_TRY(put_in_target(target, output));
  if (ancestors.before != ancestors.published) remove_parts(target, ancestors.before);
  // A single file cannot record what it replaced.
  if (!target.set) remove_parts(target, ancestors.published);
  target.parts_beside = false;
  if (output.xdmf.empty()) return {};
  // The data is complete: a missing description does not make the commit fail.
  if (const Status beside = write_file(*target.storage, xdmf_path(target), output.xdmf); !beside.ok())
    warnings.push_back(fmt::format("'{}' was not written: {}", xdmf_path(target), beside.message()));
  return {};
}

Result<std::string> describe_meshes(const Target& target, const Catalogue& catalogue) {
  if (target.method.format != "hdf5")
    return Status(Code::unsupported, fmt::format("XDMF refers to HDF5 files, but '{}' is written by '{}'", target.path,
                                                 target.method.writer));
  if (target.restart) return Status(Code::unsupported, "restart files change their names: they have no XDMF beside");
  std::string text;
  const auto describe = [&]() -> Status {
    PENSTOCK_ASSIGN(const auto grids, grids_of(catalogue));
    text = xdmf(target.path.substr(folder_of(target.path).size()), grids);
    return check_target(*target.storage, xdmf_path(target)).status();
  };
  PENSTOCK_TRY(agree(target.comm, target.comm->rank() > 0 ? Status() : guarded(describe)));
  return text;
}

void remove_created(const Target& target, const Output& output) {
  // The first error counts. The file that marks the owner of the parts is removed last.
  for (auto path = output.created.rbegin(); path != output.created.rend(); ++path)
    (void)(target.method.folders ? target.storage->remove_tree(*path) : target.storage->remove(*path));
}

}  // namespace penstock
