// Output: the contents of the text files of a RAMSES output, and the list of files.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "programs/import/ramses.hpp"

namespace penstock::importing {
namespace {

namespace fs = std::filesystem;
constexpr int max_processes = 10'000'000;
constexpr size_t max_text = 64 << 20;

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string() : std::string(text.substr(first, last - first + 1));
}

Result<std::vector<std::string>> lines_of(const fs::path& path) {
  std::error_code error;
  if (const auto size = fs::file_size(path, error); error || size > max_text)
    return Status(error ? Code::not_found : Code::damaged,
                  fmt::format("'{}': {}", path.string(), error ? error.message() : "too large for a text of RAMSES"));
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (!file.eof()) return Status(Code::io, fmt::format("'{}' cannot be read", path.string()));
  return lines;
}

// "info_00002.txt" -> 2; -1 for other names.
int number_in(const std::string& name, std::string_view before, std::string_view behind) {
  if (!name.starts_with(before) || !name.ends_with(behind) || name.size() <= before.size() + behind.size()) return -1;
  const std::string_view digits =
      std::string_view(name).substr(before.size(), name.size() - before.size() - behind.size());
  int number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : -1;
}

Status read_info(Output& output) {
  const fs::path path = fs::path(output.folder) / fmt::format("info_{:05}.txt", output.number);
  PENSTOCK_ASSIGN(const auto lines, lines_of(path));
  for (const std::string& line : lines) {
    if (const auto equals = line.find('='); equals != std::string::npos) {
      output.info.emplace_back(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
      continue;
    }
    std::istringstream words(line);
    int64_t domain = 0;
    double first = 0, last = 0;
    if (words >> domain >> first >> last) output.domains.push_back({first, last});
  }
  for (const auto& [name, value] : output.info) {
    if (name != "ncpu") continue;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), output.processes);
    if (error != std::errc() || output.processes < 1 || output.processes > max_processes)
      return {Code::damaged, fmt::format("'{}': ncpu is '{}', no number of processes", path.string(), value)};
  }
  if (output.processes == 0) return {Code::damaged, fmt::format("'{}' has no line 'ncpu = ...'", path.string())};
  return {};
}

// " 1, density, d" in version 1; "variable #1: density" before versions existed.
Status read_descriptor(Output& output, const std::string& kind) {
  const fs::path path = fs::path(output.folder) / (kind + "_file_descriptor.txt");
  if (!fs::exists(path)) return {};
  PENSTOCK_ASSIGN(const auto lines, lines_of(path));
  auto& names = output.variables[kind];
  for (const std::string& line : lines) {
    if (line.starts_with("#")) continue;
    if (const auto colon = line.find(':'); line.find("variable #") != std::string::npos && colon != std::string::npos) {
      names.emplace_back(trimmed(line.substr(colon + 1)), 'd');
      continue;
    }
    const auto first = line.find(','), second = line.find(',', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string type = trimmed(line.substr(second + 1));
    names.emplace_back(trimmed(line.substr(first + 1, second - first - 1)), type.empty() ? 'd' : type[0]);
  }
  for (auto& [name, type] : names) {
    std::ranges::replace_if(
        name, [](char c) { return c == '/' || c == ' ' || static_cast<unsigned char>(c) < ' '; }, '_');
    if (name.empty() || name == "." || name == "..")
      return {Code::damaged, fmt::format("'{}' has a variable without a name that a dataset can have", path.string())};
  }
  return {};
}

}  // namespace

std::string Output::path(const std::string& kind, int process) const {
  return (fs::path(folder) / fmt::format("{}_{:05}.out{:05}", kind, number, process)).string();
}

Result<Output> find_output(const std::string& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) return Status(Code::not_found, fmt::format("'{}': {}", folder, error.message()));
  Output output;
  output.folder = folder;
  std::vector<int> numbers;
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename();
    if (const int number = number_in(name, "info_", ".txt"); number >= 0) numbers.push_back(number);
    names.push_back(name);
  }
  if (numbers.empty())
    return Status(
        Code::not_found,
        fmt::format("'{}' is no output of RAMSES: it has no file info_NNNNN.txt (name the folder output_NNNNN)",
                    folder));
  if (numbers.size() > 1)
    return Status(Code::invalid,
                  fmt::format("'{}' has {} files info_NNNNN.txt: an output has one", folder, numbers.size()));
  output.number = numbers[0];
  for (const std::string& name : names)
    if (const size_t kind = name.find('_'); kind != std::string::npos)
      if (number_in(name, fmt::format("{}_{:05}.out", name.substr(0, kind), output.number), "") >= 0)
        output.kinds.insert(name.substr(0, kind));
  PENSTOCK_TRY(read_info(output));
  for (const char* kind : {"hydro", "rt", "part"}) PENSTOCK_TRY(read_descriptor(output, kind));
  return output;
}

}  // namespace penstock::importing
