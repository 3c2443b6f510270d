// Nearest: counts letters that are changed, added, omitted or swapped.
#include "core/base/nearest.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace penstock {
namespace {

constexpr size_t longest = 200;  // longer names are not typing errors
constexpr int change = 4, other_case = 1;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

int cost_of(char a, char b) { return a == b ? 0 : lower(a) == lower(b) ? other_case : change; }

int changes(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = change * static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = change * static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + change, row[j - 1] + change, last[j - 1] + cost_of(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + change);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

using Letters = std::array<int, 256>;

Letters letters_of(std::string_view name) {
  Letters count{};
  for (const char c : name) ++count[static_cast<unsigned char>(lower(c))];
  return count;
}

// What it costs at least to change NAME, whose letters are COUNT, into OTHER: of most names it tells enough, and fast.
int min_changes(Letters count, std::string_view name, std::string_view other) {
  const auto without_partner =
      std::ranges::count_if(other, [&](char c) { return --count[static_cast<unsigned char>(lower(c))] < 0; });
  const auto more = std::ssize(name) - std::ssize(other);
  return change * static_cast<int>(std::max(without_partner, without_partner + more));
}

// Matches "rho" with "fluid/rho" and the reverse.
bool same_end(std::string_view a, std::string_view b) {
  const auto last = [](std::string_view name) { return name.substr(name.rfind('/') + 1); };
  return !last(a).empty() && last(a) == last(b);
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& names) {
  std::string best;
  if (name.size() > longest) return best;
  int least = change * static_cast<int>(name.size() / 3 + 1) + 1;
  const Letters letters = letters_of(name);
  for (const std::string& one : names) {
    if (one.size() > longest) continue;
    const int by_end = same_end(name, one) ? change : least;
    const int far = min_changes(letters, name, one) < least ? std::min(by_end, changes(name, one)) : by_end;
    if (far >= least) continue;
    least = far;
    best = one;
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& names) {
  const std::string found = nearest(name, names);
  return found.empty() ? found : fmt::format("; did you mean '{}'?", found);
}

}  // namespace penstock
