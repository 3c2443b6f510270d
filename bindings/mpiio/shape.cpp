// Shape: what the ranks tell each other about a collective call, and when they need not.
#include "bindings/mpiio/shape.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "bindings/mpiio/advice.hpp"

namespace penstock::mpiio {
namespace {

constexpr int64_t few_runs = 16;          // ranks with so few move them by themselves,
constexpr int64_t few_bytes = 256 << 10;  // and no more bytes: to arrange an exchange would take longer
constexpr int64_t short_span = 1 << 20;   // ranks whose bytes are no farther apart read them by themselves
constexpr int64_t too_sparse = 1024;      // bytes of the file for one that is moved: windows would be all but empty
constexpr int enough_alone = 4;           // calls in a row, before the next ones are foreseen:
constexpr int most_foreseen = 16;         // so many at most
constexpr int most_penalty = 4096;
constexpr int most_senders = 256;
constexpr int while_scattered = 256;  // calls

bool is_easy(const Shape& shape, Direction direction, int64_t ranks) {
  return (shape.last + shape.minus_first) / too_sparse > shape.bytes * ranks || -shape.minus_run >= long_run ||
         (shape.runs <= few_runs && shape.bytes <= few_bytes) ||
         (direction == Direction::read && shape.span <= short_span);
}

const Plan* advised(const File& file, Direction direction, const Shape& shape) {
  return file.advice == nullptr ? nullptr : file.advice->plan(direction, shape);
}

}  // namespace

void Shape::add(std::span<const Run> runs) {
  const int64_t sum = bytes_of(runs);
  bytes += sum;
  this->runs += std::ssize(runs);
  if (const Hull hull = hull_of(runs); hull.first < hull.last) {
    span = std::max(span, hull.last - hull.first);
    minus_first = std::max(minus_first, -hull.first);
    last = std::max(last, hull.last);
  }
  if (!runs.empty()) minus_run = std::max(minus_run, -(sum / std::ssize(runs)));
}

void append(std::vector<int64_t>& words, const Shape& shape) {
  words.insert(words.end(), {shape.bytes, shape.minus_run, shape.runs, shape.span, shape.minus_first, shape.last,
                             shape.size, shape.failed, shape.unforeseen, shape.calls});
}
Shape shape_of(std::span<const int64_t> words) {
  return {words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7], words[8], words[9]};
}

const Plan& plan_for(const File& file, Direction direction, const Shape& shape) {
  const Plan* wiser = advised(file, direction, shape);
  return wiser != nullptr ? *wiser : file.plan;
}

bool is_alone(const File& file, Direction direction, const Shape& shape) {
  if (!file.automatic || advised(file, direction, shape) != nullptr)
    return plan_for(file, direction, shape).transport == "independent";
  return is_easy(shape, direction, file.comm->size()) || file.comm->size() == 1;
}

bool is_foreseen(File& file, Direction direction, const Shape& own) {
  if (file.writable() && !file.is_asking) return false;
  if (direction == Direction::write && file.background != nullptr) return false;  // all must know what waits
  Foresight& foresight = file.foresight[static_cast<size_t>(direction)];
  if (foresight.left == 0) return false;
  --foresight.left;
  foresight.missed |= !is_alone(file, direction, own);
  return true;
}

void learn(File& file, Direction direction, const Shape& shape) {
  Foresight& foresight = file.foresight[static_cast<size_t>(direction)];
  foresight.missed = false;
  if (shape.unforeseen != 0) {
    foresight.penalty = std::min(2 * foresight.penalty, most_penalty);
    foresight.streak = -foresight.penalty;
  } else {
    foresight.streak = is_alone(file, direction, shape) ? foresight.streak + 1 : std::min(foresight.streak, 0);
  }
  if (foresight.scattered > 0) --foresight.scattered;
  const int size = file.comm->size();
  foresight.small = file.gathers && file.automatic && file.background == nullptr && size > 1 && size <= most_senders &&
                    foresight.scattered == 0 && advised(file, direction, shape) == nullptr &&
                    shape.bytes + shape.runs * static_cast<int64_t>(sizeof(Place)) <= most_gathered / size / 2;
  const int beyond = foresight.streak - enough_alone;
  foresight.left = beyond < 0 ? 0 : std::min(1 << std::min(beyond, 10), most_foreseen);
}

Status answer_of(File& file) {
  PENSTOCK_TRY(settle(file));
  const std::optional<Answer> answer = std::exchange(file.gathering.answer, {});
  if (!answer) return {};
  const Shape shape = shape_of(answer->words);
  if (answer->scattered) file.foresight[static_cast<size_t>(Direction::write)].scattered = while_scattered;
  learn(file, Direction::write, shape);
  if (!answer->status.ok() || shape.failed == 0) return answer->status;
  return agree(file.comm, std::exchange(file.kept.failed, {}));
}

}  // namespace penstock::mpiio
