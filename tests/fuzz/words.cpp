// Words: all that is one text: plans, wisdom, hints, overrides, profiles, sizes, types, partial files, mounts, layouts.
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/base/utf8.hpp"
#include "core/methods/methods.hpp"
#include "core/methods/output_profile.hpp"
#include "core/model/catalogue.hpp"
#include "core/netcdf/note.hpp"
#include "core/plan/hints.hpp"
#include "core/plan/override.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/wisdom.hpp"
#include "core/storage/filesystem.hpp"
#include "core/storage/lustre.hpp"
#include "core/storage/owner.hpp"
#include "core/transport/servers/message.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace penstock;

void try_plan(std::string_view text) {
  const auto plan = parse_plan(text, "hdf5", vocabulary());
  if (!plan.ok()) return fuzz::check_refusal(plan.status());
  const auto again = parse_plan(plan->json(), "hdf5", vocabulary());
  fuzz::must(again.ok() && again->json() == plan->json(), "a plan changes when it is written again");
}

void try_hints(const std::string& text) {
  if (text.find('@') != std::string::npos) return;  // files of this machine
  const std::string setting = "PENSTOCK_HINTS=" + text;
  const std::array<const char*, 3> environment = {setting.c_str(), text.c_str(), nullptr};
  const auto hints = hints_of_environment(environment.data());
  if (!hints.ok()) return fuzz::check_refusal(hints.status());
  std::map<std::string, std::string> parameters = knob_parameters(*hints, *hints);
  const auto knobs = take_knobs(parameters);
  if (knobs.ok()) fuzz::must(knobs->hints == *hints && parameters.empty(), "hints change as parameters");
}

void try_override(std::string_view text) {
  const int fd = ::memfd_create("plans", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  const std::string setting = fmt::format("PENSTOCK_PLANS=/proc/self/fd/{}", fd);
  const std::array<const char*, 2> environment = {setting.c_str(), nullptr};
  const auto plan = plan_override("chk_1.h5", "phdf5", environment.data());
  if (!plan.ok()) fuzz::check_refusal(plan.status());
  ::close(fd);
}

void try_profile(std::string_view text) {
  OutputProfile profile{"p.toml", std::string(text), {}, {}};
  Status status = parse_output_profile(profile);
  if (status.ok()) status = choose_rules(profile, "a.h5", *parse_plan("hdf5", "hdf5", vocabulary()));
  if (!status.ok()) return fuzz::check_refusal(status);
  for (const OutputRule& rule : profile.rules) {
    const auto subset = subset_of(rule, {Kind::f64}, {9, 7}, false);
    if (!subset.ok()) return fuzz::check_refusal(subset.status());
    if (*subset) fuzz::must(check_shape({Kind::f64}, (*subset)->stored()).ok(), "a subset without a shape");
    if (const auto options = options_of(rule, {Kind::f64}, "type=f32", *parse_plan("hdf5", "hdf5", vocabulary()));
        !options.ok())
      fuzz::check_refusal(options.status());
  }
}

void try_wisdom(std::string_view text) {
  const auto wisdom = parse_wisdom(text, "2026-11-27");
  if (!wisdom.ok()) return fuzz::check_refusal(wisdom.status());
  for (const Wise& wise : wisdom->entries)
    fuzz::must(wisdom->find(wise.problem) != nullptr, "an entry does not apply to its own problem");
  const auto again = parse_wisdom(text_of(*wisdom), "");
  fuzz::must(again.ok() && text_of(*again) == text_of(*wisdom), "wisdom changes when it is written again");
}

void try_names(const std::string& text) {
  if (const auto partial = parse_partial(text)) {
    (void)partial->is_of("chk.h5");
    (void)life_of(partial->owner);
  }
  if (const auto size = parse_bytes(text); size.ok())
    fuzz::must(*size >= 0, "a size below zero");
  else
    fuzz::check_refusal(size.status());
  if (const auto type = parse_type(text); type.ok())
    fuzz::must(name(*type).size() <= text.size(), "a type of another name");
  if (const auto name = dataset_name(text); name.ok())
    fuzz::must(*dataset_name(*name) == *name, "a name that is none the second time");
  (void)utf8_length(text);
  (void)netcdf::parse_note(text);
}

// A file system that answers with the input.
class Answers : public FileSystemCalls {
 public:
  Answers(std::string text, uint32_t magic) : text_(std::move(text)), magic_(magic) {}
  int statfs(const char*, struct statfs* result) const override {
    result->f_type = static_cast<decltype(result->f_type)>(magic_);
    return 0;
  }
  std::string mountinfo() const override { return text_; }
  int open(const char*, int, int) const override { return 0; }
  int ioctl(int, unsigned long, void* argument) const override {
    std::memcpy(argument, text_.data(), std::min<size_t>(text_.size(), 64 << 10));
    return 0;
  }
  int close(int) const override { return 0; }
  int unlink(const char*) const override { return 0; }

 private:
  std::string text_;
  uint32_t magic_;
};

void try_file_system(const std::string& text) {
  for (const uint32_t magic : {uint32_t{0xEF53}, lustre::super_magic}) {
    const auto info = detect_file_system("/", Answers(text, magic));
    if (info.ok()) (void)info->text();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(fuzz::text_of(data, size));
  try_plan(text);
  try_hints(text);
  try_override(text);
  try_profile(text);
  try_wisdom(text);
  try_names(text);
  try_file_system(text);
  return 0;
}
