// Pattern: read from a JSON file and the accompanying step files, and validated, since it determines what is written
// where.
#include "bench/replay/pattern.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace penstock::bench {

namespace {

using Json = nlohmann::json;

constexpr int max_files_played = 100000;
constexpr int64_t max_bytes = int64_t{1} << 40;         // of an offset
constexpr int64_t max_length = (int64_t{1} << 31) - 1;  // of a step; also of an MPI-IO call

Status invalid(const std::string& path, std::string_view what) {
  return Status(Code::invalid, fmt::format("{}: {}", path, what));
}

Status check_steps(const Variant& variant, int ranks, const std::string& path) {
  int64_t of_call = 0;
  for (size_t i = 0; i < variant.steps.size(); ++i) {
    const Step& step = variant.steps[i];
    const auto wrong = [&](std::string_view what) { return invalid(path, fmt::format("step {}: {}", i, what)); };
    const auto act = static_cast<int32_t>(step.act);
    if (act < 0 || act >= acts) return wrong(fmt::format("there is no act {}", act));
    const int places = step.act == Act::broadcast ? ranks : variant.files;
    if (step.file < 0 || step.file >= places) return wrong(fmt::format("{} is not one of {}", step.file, places));
    if (step.offset < 0 || step.length < 0 || step.offset > max_bytes || step.length > max_length)
      return wrong("its offset or its length is none");
    if (variant.interface == Interface::posix) continue;
    if (step.act != Act::write && step.act != Act::read && step.act != Act::broadcast)
      return wrong("MPI-IO only reads and writes");
    of_call = i > 0 && variant.steps[i - 1].call == step.call ? of_call + step.length : step.length;
    if (of_call > max_length) return wrong("its call has 2 GiB or more");
    if (step.call < 0 || (i > 0 && step.call < variant.steps[i - 1].call)) return wrong("its call is out of order");
  }
  return {};
}

struct Place {
  int rank = 0, ranks = 1;
};

Status read_steps(const std::string& path, const Json& counts, const Place& place, Variant& variant) {
  if (!counts.is_array() || counts.size() != static_cast<size_t>(place.ranks))
    return invalid(path, fmt::format("it has steps of {} ranks, this run has {}", counts.size(), place.ranks));
  int64_t before = 0, own = 0;
  for (int rank = 0; rank <= place.rank; ++rank) {
    const Json& count = counts[static_cast<size_t>(rank)];
    if (!count.is_number_integer() || count.get<int64_t>() < 0 || count.get<int64_t>() > max_bytes)
      return invalid(path, "a number of steps is none");
    before += own;
    own = count.get<int64_t>();
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return Status(Code::not_found, fmt::format("{}: cannot be opened", path));
  if (static_cast<int64_t>(file.tellg()) / static_cast<int64_t>(sizeof(Step)) < before + own)
    return Status(Code::damaged, fmt::format("{}: it ends before the steps of rank {}", path, place.rank));
  variant.steps.resize(static_cast<size_t>(own));
  file.seekg(before * static_cast<int64_t>(sizeof(Step)));
  file.read(reinterpret_cast<char*>(variant.steps.data()), own * static_cast<int64_t>(sizeof(Step)));
  if (!file) return Status(Code::io, fmt::format("{}: cannot be read", path));
  return check_steps(variant, place.ranks, path);
}

Result<Variant> read_variant(const Json& json, const std::string& folder, const Place& place) {
  Variant variant;
  variant.name = json.at("name").get<std::string>();
  const auto interface = json.at("interface").get<std::string>();
  if (interface != "posix" && interface != "mpiio")
    return Status(Code::invalid, fmt::format("{}: there is no interface '{}'", variant.name, interface));
  variant.interface = interface == "posix" ? Interface::posix : Interface::mpiio;
  variant.collective = json.value("collective", false);
  variant.views = json.value("views", false);
  variant.hints = json.value("hints", variant.hints);
  variant.files = json.value("files", 1);
  if (variant.files < 1 || variant.files > max_files_played)
    return Status(Code::invalid, fmt::format("{}: files: 1 to {}", variant.name, max_files_played));
  if ((variant.collective || variant.views) && variant.files != 1)
    return Status(Code::invalid, fmt::format("{}: collective calls are of one file", variant.name));
  PENSTOCK_TRY(read_steps(folder + "/" + json.at("steps").get<std::string>(), json.at("counts"), place, variant));
  return variant;
}

Result<Json> json_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status(Code::not_found, fmt::format("{}: cannot be opened", path));
  Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) return invalid(path, "no JSON");
  if (!json.is_object() || json.value("schema", Json()) != "penstock.pattern/1")
    return invalid(path, "no penstock.pattern/1");
  return json;
}

std::string folder_of_pattern(const std::string& path) { return std::filesystem::absolute(path).parent_path(); }

Result<std::vector<PatternCase>> read_own(const std::string& path, const Place& place) {
  PENSTOCK_ASSIGN(const Json json, json_of(path));
  try {
    std::vector<PatternCase> cases;
    for (const Json& one : json.at("cases")) {
      cases.push_back({.name = one.at("name").get<std::string>(), .variants = {}});
      for (const Json& variant : one.at("variants")) {
        PENSTOCK_ASSIGN(Variant read, read_variant(variant, folder_of_pattern(path), place));
        cases.back().variants.push_back(std::move(read));
      }
      if (cases.back().variants.empty()) return invalid(path, fmt::format("{} has no variants", cases.back().name));
    }
    if (cases.empty()) return invalid(path, "no cases");
    return cases;
  } catch (const Json::exception& error) {
    return invalid(path, error.what());
  }
}

constexpr int64_t word_bytes = 8;

// splitmix64, as in Steele, Lea and Flood (OOPSLA 2014): adjacent words are unrelated.
uint64_t word_at(int64_t index) {
  uint64_t z = (static_cast<uint64_t>(index) + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

int64_t Variant::bytes() const {
  int64_t sum = 0;
  for (const Step& step : steps) sum += step.act == Act::write || step.act == Act::read ? step.length : 0;
  return sum;
}

Result<std::vector<PatternCase>> read_pattern(const Communicator& comm, const std::string& path) {
  auto cases = read_own(path, {comm->rank(), comm->size()});
  PENSTOCK_TRY(agree(comm, cases.status()));
  return cases;
}

Result<std::vector<Variant>> read_first_variant(const std::string& path) {
  PENSTOCK_ASSIGN(const Json json, json_of(path));
  try {
    const Json& first = json.at("cases").at(0).at("variants").at(0);
    const int ranks = static_cast<int>(first.at("counts").size());
    std::vector<Variant> of_ranks;
    for (int rank = 0; rank < ranks; ++rank) {
      PENSTOCK_ASSIGN(Variant variant, read_variant(first, folder_of_pattern(path), {rank, ranks}));
      of_ranks.push_back(std::move(variant));
    }
    if (of_ranks.empty()) return invalid(path, "no ranks");
    return of_ranks;
  } catch (const Json::exception& error) {
    return invalid(path, error.what());
  }
}

void fill_content(int64_t offset, std::span<std::byte> into) {
  for (size_t at = 0; at < into.size();) {
    const int64_t place = offset + static_cast<int64_t>(at);
    const uint64_t word = word_at(place / word_bytes);
    const auto skip = static_cast<size_t>(place % word_bytes);
    const size_t count = std::min(sizeof word - skip, into.size() - at);
    std::memcpy(&into[at], reinterpret_cast<const std::byte*>(&word) + skip, count);
    at += count;
  }
}

int64_t first_wrong(int64_t offset, std::span<const std::byte> found) {
  std::array<std::byte, 4096> expected{};
  for (size_t at = 0; at < found.size(); at += expected.size()) {
    const auto part = found.subspan(at, std::min(expected.size(), found.size() - at));
    fill_content(offset + static_cast<int64_t>(at), std::span(expected).first(part.size()));
    const auto wrong = std::mismatch(part.begin(), part.end(), expected.begin());
    if (wrong.first != part.end()) return static_cast<int64_t>(at) + (wrong.first - part.begin());
  }
  return -1;
}

}  // namespace penstock::bench
