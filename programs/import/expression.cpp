// Expression: one pass from left to right, one product at a time.
#include "programs/import/expression.hpp"

#include <charconv>

#include <fmt/format.h>

namespace penstock::importing {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const Values& values) : text_(text), values_(values) {}

  Result<int64_t> sum() {
    PENSTOCK_ASSIGN(int64_t total, product());
    for (char sign = next(); sign == '+' || sign == '-'; sign = next()) {
      ++at_;
      PENSTOCK_ASSIGN(const int64_t more, product());
      const bool over =
          sign == '+' ? __builtin_add_overflow(total, more, &total) : __builtin_sub_overflow(total, more, &total);
      if (over) return too_large();
    }
    if (at_ < text_.size()) return wrong();
    return total;
  }

 private:
  Result<int64_t> product() {
    PENSTOCK_ASSIGN(int64_t total, atom());
    while (next() == '*') {
      ++at_;
      PENSTOCK_ASSIGN(const int64_t more, atom());
      if (__builtin_mul_overflow(total, more, &total)) return too_large();
    }
    return total;
  }

  Result<int64_t> atom() {
    (void)next();
    const auto part_of_word = [](char c) {
      return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    const size_t begin = at_;
    while (at_ < text_.size() && part_of_word(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return wrong();
    if (word[0] < '0' || word[0] > '9') {
      if (const auto found = values_.find(word); found != values_.end()) return found->second;
      return Status(Code::invalid, fmt::format("'{}': no whole number called '{}' was read before", text_, word));
    }
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::result_out_of_range) return too_large();
    if (error != std::errc() || end != word.data() + word.size()) return wrong();
    return value;
  }

  // Skips blanks; NUL at the end.
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  Status wrong() const {
    return {Code::invalid,
            fmt::format("'{}' is not made of names, whole numbers, +, - and * (at character {})", text_, at_ + 1)};
  }
  Status too_large() const { return {Code::damaged, fmt::format("'{}' is beyond 64 bits", text_)}; }

  std::string_view text_;
  const Values& values_;
  size_t at_ = 0;
};

}  // namespace

Result<int64_t> evaluate(std::string_view text, const Values& values) { return Reader(text, values).sum(); }

}  // namespace penstock::importing
