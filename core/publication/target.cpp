// Target: names of its files; what holds the published one.
#include "core/publication/target.hpp"

#include <fmt/format.h>

#include "core/base/encode.hpp"
#include "core/comm/share.hpp"
#include "core/storage/owner.hpp"

namespace penstock {
namespace {

std::string base_name(const std::string& path) { return path.substr(folder_of(path).size()); }

}  // namespace

std::string stem_of(const Target& target) {
  const std::string name = base_name(target.path);
  const MethodFacts& method = target.method;
  const std::string end = fmt::format(".{}", method.master_extension);
  return method.master_extension != method.extension && name.ends_with(end) ? name.substr(0, name.size() - end.size())
                                                                            : name;
}

std::string published_path(std::string path, const Target& target) {
  const auto [extension, master] = std::pair(target.method.extension, target.method.master_extension);
  if (!target.set || master == extension) return path;
  return path.ends_with(fmt::format(".{}", master)) ? path : fmt::format("{}.{}", path, master);
}

std::string part_path(const Target& target, std::string_view label) {
  return fmt::format("{}{}.g{:016x}{}{}.{}", folder_of(target.path), stem_of(target), target.token,
                     label.empty() ? "" : ".", label, target.method.extension);
}

std::string parity_path(const Target& target, const std::string& generation) {
  const std::string again =
      generation == fmt::format("{:016x}", target.token) ? "" : fmt::format(".{:016x}", target.token);
  return fmt::format("{}{}.g{}{}.parity", folder_of(target.path), stem_of(target), generation, again);
}

std::string partial_path(const Target& target) {
  return folder_of(target.path) + partial_name(base_name(target.path), target.token, target.owner);
}

std::string xdmf_path(const Target& target) {
  const std::string name = base_name(target.path);
  const size_t dot = name.rfind('.');
  return folder_of(target.path) + name.substr(0, dot == 0 ? std::string::npos : dot) + ".xmf";
}

Status own_partial_files(Target& target) {
  const auto message = from_rank_0(target.comm, [](Encoder& out) -> Status {
    out.text(text(this_process()));
    return {};
  });
  PENSTOCK_TRY(message.status());
  target.owner = Decoder(*message).text();
  return {};
}

Status hold(Target& target) {
  if (target.comm->rank() != 0) return {};
  PENSTOCK_ASSIGN(target.held, target.storage->open(target.path, Io::buffered, false));
  if (target.expected_file) return {};
  PENSTOCK_ASSIGN(target.expected_file, existing_file(*target.storage, target.path));
  return {};
}

Status look_at_held(const Target& target) {
  if (target.comm->rank() > 0 || !target.expected_file) return {};
  const auto now = target.storage->stat(target.path);
  if (now.ok() && same_file(*now, *target.expected_file)) return {};
  return {Code::mismatch, "somebody replaced the file since it was opened: open it again"};
}

Status check_held(const Target& target) { return agree(target.comm, look_at_held(target)); }

}  // namespace penstock
