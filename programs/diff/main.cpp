// penstock-diff: compares the contents of two files by value, in parallel and in bounded memory. The command `penstock
// diff` starts it and reads its JSON lines.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "core/base/guarded.hpp"
#include "core/base/utf8.hpp"
#include "core/model/catalogue.hpp"
#include "core/model/tell_apart.hpp"
#include "programs/diff/compare.hpp"
#include "programs/program.hpp"

namespace penstock::program {
namespace {

using nlohmann::json;
constexpr int64_t window_bytes = 8 << 20;
constexpr int trouble = 3;  // the exit status

struct Options {
  std::string a, b;
  Tolerance tolerance;
  std::set<std::string> only;
  bool attributes = true;
};

bool parse_number(const char* text, double& value) {
  const char* end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, value);
  return error == std::errc() && at == end && value >= 0;
}

bool parse(std::span<char*> words, Options& options) {
  options.a = words[0];
  options.b = words[1];
  for (size_t i = 2; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const char* value = i + 1 < words.size() ? words[i + 1] : nullptr;
    if (word == "--ignore-attributes")
      options.attributes = false;
    else if (word == "--nan-differs")
      options.tolerance.nan_differs = true;
    else if (value == nullptr)
      return false;
    else if (word == "--only")
      options.only.insert(words[++i]);
    else if ((word == "--rtol" && parse_number(value, options.tolerance.rtol)) ||
             (word == "--atol" && parse_number(value, options.tolerance.atol)))
      ++i;
    else
      return false;
  }
  return true;
}

json index_of(const Dims& shape, int64_t offset) {
  const Dims at = coordinates(shape, offset);
  return std::vector<int64_t>(at.begin(), at.end());
}

class Comparison {
 public:
  Comparison(Options options, File a, File b)
      : options_(std::move(options)), comm_(a.communicator()), a_(std::move(a)), b_(std::move(b)) {}

  // Collective. Returns whether everything is equal.
  Result<bool> run() {
    PENSTOCK_TRY(check_only());
    const bool whole = tell_unread();
    for (const DatasetInfo& dataset : a_.datasets()) {
      if (!is_wanted(dataset.name)) continue;
      const auto other = b_.dataset(dataset.name);
      if (!other.ok()) {
        differs({{"dataset", dataset.name}, {"only_in", "a"}});
        continue;
      }
      PENSTOCK_TRY(compare_dataset(dataset, *other).in(fmt::format("comparing '{}'", dataset.name)));
    }
    for (const DatasetInfo& dataset : b_.datasets())
      if (is_wanted(dataset.name) && !a_.dataset(dataset.name).ok())
        differs({{"dataset", dataset.name}, {"only_in", "b"}});
    if (options_.attributes) compare_attributes();
    PENSTOCK_TRY(a_.close());
    PENSTOCK_TRY(b_.close());
    if (same_ && !whole)
      return Status(Code::unsupported,
                    "everything that can be read is the same in both files, but some objects cannot be read");
    return same_;
  }

 private:
  bool is_wanted(const std::string& name) const { return options_.only.empty() || options_.only.contains(name); }

  Status check_only() const {
    for (const std::string& name : options_.only)
      if (!a_.dataset(name).ok() && !b_.dataset(name).ok())
        return {Code::not_found, fmt::format("neither '{}' nor '{}' has a dataset '{}'", options_.a, options_.b, name)};
    return {};
  }

  // Local. Names what cannot be read, and so not compared. Returns whether there is none.
  bool tell_unread() {
    if (!options_.only.empty()) return true;
    bool whole = true;
    for (const File* file : {&a_, &b_})
      for (const std::string& warning : file->report().warnings) {
        constexpr std::string_view unread = "not read: ";
        if (!warning.starts_with(unread)) continue;
        whole = false;
        if (comm_->rank() == 0)
          print({{"not_compared", warning.substr(unread.size())}, {"in", file == &a_ ? "a" : "b"}});
      }
    return whole;
  }

  void differs(const json& line) {
    same_ = false;
    if (comm_->rank() == 0) print(line);
  }

  Status compare_dataset(const DatasetInfo& a, const DatasetInfo& b) {
    json line{{"dataset", a.name}};
    if (!(a.type == b.type)) line["types"] = {name(a.type), name(b.type)};
    if (!(a.shape == b.shape) || !comparable(a.type, b.type)) {
      line["shapes"] = {describe(a.shape), describe(b.shape)};
      differs(line);
      return {};
    }
    PENSTOCK_ASSIGN(const Differences found, compare_values(a, b));
    line["elements"] = elements(a.shape);
    line["differing"] = found.count;
    if (found.count > 0) {
      line["first"] = index_of(a.shape, found.first);
      if (found.largest_at >= 0) {
        line["largest"] = found.largest;
        line["largest_at"] = index_of(a.shape, found.largest_at);
        line["largest_relative"] = found.largest_relative;
      }
      differs(line);
    } else if (comm_->rank() == 0) {
      print(line);
    }
    return {};
  }

  // Each rank compares a share, window by window; all ranks take part in all of them.
  Result<Differences> compare_values(const DatasetInfo& a, const DatasetInfo& b) {
    const int64_t all = elements(a.shape), ranks = comm_->size(), rank = comm_->rank();
    const auto share = [&](int64_t r) { return static_cast<int64_t>(static_cast<__int128>(all) * r / ranks); };
    const int64_t most = std::max<int64_t>(1, window_bytes / std::max(bytes(a.type), bytes(b.type)));
    const int64_t rounds = ((all + ranks - 1) / ranks + most - 1) / most;
    Differences found;
    std::vector<std::byte> ours, theirs;
    int64_t at = share(rank);
    const int64_t end = share(rank + 1);
    for (int64_t round = 0; round < rounds; ++round) {
      const int64_t count = std::min(most, end - at);
      const Run run{at, count};
      PENSTOCK_ASSIGN(const auto part, Decomposition::runs(a.shape, std::span(&run, count > 0 ? 1 : 0)));
      PENSTOCK_TRY(agree(comm_, guarded([&]() -> Status {
                           ours.resize(static_cast<size_t>(count * bytes(a.type)) + 1);
                           theirs.resize(static_cast<size_t>(count * bytes(b.type)) + 1);
                           PENSTOCK_TRY(a_.get(a.name, a.type, part, ours.data()));
                           return b_.get(b.name, b.type, part, theirs.data());
                         })));
      PENSTOCK_TRY(a_.commit());
      PENSTOCK_TRY(b_.commit());
      found.add(compare(a.type, ours.data(), b.type, theirs.data(), count, at, options_.tolerance));
      at += count;
    }
    return add_up(found);
  }

  // The same on all ranks.
  Result<Differences> add_up(const Differences& mine) {
    PENSTOCK_ASSIGN(const auto all, comm_->gather(std::as_bytes(std::span(&mine, 1)), 0));
    Differences sum;
    for (const auto& one : all) {
      Differences other;
      std::memcpy(&other, one.data(), sizeof other);
      sum.add(other);
    }
    std::vector<std::byte> said(sizeof sum);
    std::memcpy(said.data(), &sum, sizeof sum);
    PENSTOCK_TRY(comm_->broadcast(said, 0));
    std::memcpy(&sum, said.data(), sizeof sum);
    return sum;
  }

  // The file, and all requested groups and datasets of both files.
  std::set<std::string> objects() const {
    std::set<std::string> names;
    if (options_.only.empty()) names.insert("");
    for (const File* file : {&a_, &b_})
      for (const DatasetInfo& dataset : file->datasets()) {
        if (!is_wanted(dataset.name)) continue;
        names.insert(dataset.name);
        for (size_t slash = dataset.name.find('/'); slash != std::string::npos && options_.only.empty();
             slash = dataset.name.find('/', slash + 1))
          names.insert(dataset.name.substr(0, slash));
      }
    return names;
  }

  // Whether only the types of two different attributes differ. LINE gets the description.
  static bool compare_attribute(const Attribute& a, const Attribute& b, json& line) {
    if (!(a.type == b.type)) line["types"] = {name(a.type), name(b.type)};
    if (a.shape == b.shape && comparable(a.type, b.type)) {
      const int64_t all = elements(a.shape);
      if (!(a.type == b.type) && compare(a.type, a.value.data(), b.type, b.value.data(), all, 0, {}).count == 0)
        return true;
    }
    const auto [one, other] = tell_apart(a, b);
    line["values"] = {one, other};
    return false;
  }

  void compare_attributes() {
    for (const std::string& object : objects()) {
      std::set<std::string> names;
      for (const File* file : {&a_, &b_})
        for (const Attribute& attribute : file->attributes(object)) names.insert(attribute.name);
      for (const std::string& name : names) {
        const auto a = a_.attribute(object, name), b = b_.attribute(object, name);
        if (a.ok() && b.ok() && *a == *b) continue;
        json line{{"attribute", name}, {"of", object}};
        if (!a.ok() || !b.ok())
          line["only_in"] = a.ok() ? "a" : "b";
        else if (compare_attribute(*a, *b, line)) {
          if (comm_->rank() == 0) print(line);
          continue;
        }
        differs(line);
      }
    }
  }

  Options options_;
  Communicator comm_;
  File a_, b_;
  bool same_ = true;
};

Result<bool> diff(const Communicator& comm, const Options& options) {
  PENSTOCK_ASSIGN(File a, File::open(comm, options.a));
  PENSTOCK_ASSIGN(File b, File::open(comm, options.b));
  return Comparison(options, std::move(a), std::move(b)).run();
}

}  // namespace
}  // namespace penstock::program

int main(int argc, char** argv) {
  using namespace penstock;           // NOLINT(google-build-using-namespace): this is a main
  using namespace penstock::program;  // NOLINT(google-build-using-namespace): this is a main
  return run(argc, argv,
             {"penstock-diff", "A B [--rtol R] [--atol A] [--nan-differs] [--only NAME]... [--ignore-attributes]", 2,
              SIZE_MAX},
             [](const Communicator& comm, std::span<char*> words) -> int {
               Options options;
               if (!parse(words, options)) return usage;
               const auto same = diff(comm, options);
               if (same.ok()) return *same ? success : failure;
               if (comm->rank() == 0)
                 std::fprintf(stderr, "penstock-diff: %s\n", printable(same.status().message()).c_str());
               return trouble;
             });
}
