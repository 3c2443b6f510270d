// Pattern: converts iterations to names and back; only names made by path_of are steps.
#include "core/series/pattern.hpp"

#include <fmt/format.h>

#include "core/base/words.hpp"

namespace penstock {
namespace {

std::string digits_of(int64_t iteration) { return fmt::format("{:08}", iteration); }

std::optional<int64_t> parse_digits(std::string_view digits) {
  const auto value = parse_number<int64_t>(digits);
  return value && *value >= 0 && digits_of(*value) == digits ? value : std::nullopt;
}

}  // namespace

std::string Pattern::path_of(int64_t iteration) const { return folder + prefix + digits_of(iteration) + suffix; }

std::optional<int64_t> Pattern::iteration_of(std::string_view name) const {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  for (const std::string& end : {suffix, suffix + ".json"}) {
    if (!name.ends_with(end)) continue;
    if (const auto found = parse_digits(name.substr(0, name.size() - end.size()))) return found;
  }
  return std::nullopt;
}

std::string Pattern::stem() const {
  std::string name = prefix;
  while (!name.empty() && std::string_view("-_.").find(name.back()) != std::string_view::npos) name.pop_back();
  return folder + (name.empty() ? "series" : name);
}

Result<Pattern> parse_pattern(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return Status(Code::invalid, fmt::format("'{}' is no pattern of a series: {}, as in 'run/out-*.h5'", text, why));
  };
  if (text.find('\0') != std::string_view::npos) return bad("it holds a NUL byte");
  const size_t slash = text.rfind('/'), begin = slash == std::string_view::npos ? 0 : slash + 1;
  const std::string_view name = text.substr(begin);
  const size_t star = name.find('*');
  if (star == std::string_view::npos) return bad("its file name needs one '*', where the iteration goes");
  if (name.find('*', star + 1) != std::string_view::npos || text.substr(0, begin).find('*') != std::string_view::npos)
    return bad("it has one '*', in its file name");
  Pattern pattern{std::string(text.substr(0, begin)), std::string(name.substr(0, star)),
                  std::string(name.substr(star + 1))};
  if (pattern.prefix.starts_with('.'))
    return bad("hidden files are for what is not finished: it cannot begin with '.'");
  return pattern;
}

}  // namespace penstock
