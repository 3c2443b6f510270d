// penstock-diff: compares the contents of two files by value, in parallel and in bounded memory. The commands `penstock
// diff` and `penstock verify --against` start it and read its JSON lines.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "core/base/utf8.hpp"
#include "core/model/catalogue.hpp"
#include "core/model/tell_apart.hpp"
#include "programs/diff/against.hpp"
#include "programs/diff/windows.hpp"
#include "programs/program.hpp"

namespace penstock::program {
namespace {

using nlohmann::json;
constexpr int trouble = 3;  // the exit status

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
    else if (word == "--errors")
      options.errors = true;
    else if (word == "--nan-differs")
      options.tolerance.nan_differs = true;
    else if (value == nullptr)
      return false;
    else if (word == "--only")
      options.only.insert(words[++i]);
    else if ((word == "--rtol" && parse_number(value, options.tolerance.rtol)) ||
             (word == "--atol" && parse_number(value, options.tolerance.atol)) ||
             (word == "--max-error" && parse_number(value, options.limits.absolute)) ||
             (word == "--max-relative-error" && parse_number(value, options.limits.relative)))
      ++i;
    else
      return false;
  }
  return true;
}

class Comparison {
 public:
  Comparison(Options options, File a, File b)
      : options_(std::move(options)), comm_(a.communicator()), a_(std::move(a)), b_(std::move(b)) {}

  // Collective. Returns whether everything is equal.
  Result<bool> run() {
    PENSTOCK_TRY(check_only(options_, a_, b_));
    const bool whole = tell_unread(options_, a_, b_);
    for (const DatasetInfo& dataset : a_.datasets()) {
      if (!is_wanted(options_, dataset.name)) continue;
      const auto other = b_.dataset(dataset.name);
      if (!other.ok()) {
        differs({{"dataset", dataset.name}, {"only_in", "a"}});
        continue;
      }
      PENSTOCK_TRY(compare_dataset(dataset, *other).in(fmt::format("comparing '{}'", dataset.name)));
    }
    for (const DatasetInfo& dataset : b_.datasets())
      if (is_wanted(options_, dataset.name) && !a_.dataset(dataset.name).ok())
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
    Differences mine;
    PENSTOCK_TRY(
        for_each_window(a_, a, b_, b, [&](const std::byte* ours, const std::byte* theirs, int64_t count, int64_t at) {
          mine.add(compare(a.type, ours, b.type, theirs, count, at, options_.tolerance));
        }));
    PENSTOCK_ASSIGN(const Differences found, add_up(comm_, mine));
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

  // The file, and all requested groups and datasets of both files.
  std::set<std::string> objects() const {
    std::set<std::string> names;
    if (options_.only.empty()) names.insert("");
    for (const File* file : {&a_, &b_})
      for (const DatasetInfo& dataset : file->datasets()) {
        if (!is_wanted(options_, dataset.name)) continue;
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
             {"penstock-diff",
              "A B [--only NAME]... [--rtol R] [--atol A] [--nan-differs] [--ignore-attributes], or "
              "A REFERENCE --errors [--only NAME]... [--max-error X] [--max-relative-error X]",
              2, SIZE_MAX},
             [](const Communicator& comm, std::span<char*> words) -> int {
               Options options;
               if (!parse(words, options)) return usage;
               const auto same = options.errors ? compare_against(comm, options) : diff(comm, options);
               if (same.ok()) return *same ? success : failure;
               if (comm->rank() == 0)
                 std::fprintf(stderr, "penstock-diff: %s\n", printable(same.status().message()).c_str());
               return trouble;
             });
}
