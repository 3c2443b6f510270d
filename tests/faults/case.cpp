// Cases: listing them, running them in a process of their own, judging them.
#include "tests/faults/case.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace penstock::test {

namespace {

constexpr int check_seconds = 60;

// What a child says to its parent.
struct Answer {
  int given;
  int code;
  char text[4096];
};

Answer& fresh_answer() {
  static auto* answer =
      static_cast<Answer*>(::mmap(nullptr, sizeof(Answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *answer = {};
  return *answer;
}

bool is_partial(const std::string& name) { return name.ends_with(".partial"); }

bool chosen(std::string_view faults, std::string_view name) {
  while (!faults.empty()) {
    const size_t comma = std::min(faults.find(','), faults.size());
    if (faults.substr(0, comma) == name) return true;
    faults.remove_prefix(std::min(comma + 1, faults.size()));
  }
  return false;
}

// What the library should call it. A server that was killed is an error of its ranks.
Code expected(const Fault& fault) { return fault.kills() ? Code::io : Status::from_errno(fault.error, "").code(); }

std::string_view defect_of_success(const Case& one, const fault_page& page, const After& after) {
  if (after.found.word != "new") return "state";
  const bool cannot_remove = one.fault->sticky && (one.fault->calls & call_unlink) != 0;
  if (!cannot_remove && std::any_of(after.after.begin(), after.after.end(), is_partial)) return "leftover";
  const bool should_tell = (page.struck_call & (call_sync | call_close)) != 0;
  if (page.struck > 0 && should_tell && one.fault->kind == fault_error && !one.fault->harmless()) return "swallowed";
  return "";
}

std::string_view defect_of_failure(const Case& one, const fault_page& page, const After& after) {
  const Code code = after.statuses[0].code();
  if (page.struck == 0 || one.fault->harmless()) return "refused";
  if (code != Code::in_doubt) {
    if (after.found.word != "old") return "state";
    const bool read_only = one.fault->cuts_power() && code == Code::denied;  // what ext4 becomes
    if (code != expected(*one.fault) && !read_only) return "misnamed";
  }
  const bool cannot_remove = one.fault->sticky && (one.fault->calls & call_unlink) != 0;
  if (cannot_remove) return "";
  if (std::any_of(after.after.begin(), after.after.end(), is_partial)) return "leftover";
  return code != Code::in_doubt && after.after != after.before ? "leftover" : "";
}

}  // namespace

std::vector<Case> cases(const Pages& pages, int size, std::string_view faults, int64_t most) {
  std::vector<Case> list;
  for (const Fault& fault : all_faults()) {
    if (!chosen(faults, fault.name)) continue;
    for (int rank = 0; rank < size; ++rank)
      for (const int64_t at : spread(pages.points(rank, fault) + (fault.kind == fault_power ? 1 : 0), most))
        list.push_back({&fault, rank, at});
  }
  return list;
}

Ended in_child(int seconds, const std::function<void()>& work) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    std::perror("fork");
    std::exit(2);
  }
  if (child == 0) {
    work();
    ::_exit(0);
  }
  Ended ended;
  const int watch = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  pollfd one{watch, POLLIN, 0};
  if (watch >= 0 && ::poll(&one, 1, seconds * 1000) == 0) {
    ended.hung = true;
    ::kill(child, SIGKILL);
  }
  if (watch >= 0) ::close(watch);
  int state = 0;
  ::waitpid(child, &state, 0);
  if (WIFSIGNALED(state)) ended.signal = WTERMSIG(state);
  if (WIFEXITED(state) && WEXITSTATUS(state) != 0) ended.signal = SIGABRT;  // somebody called exit
  return ended;
}

Ended in_child(int seconds, const std::function<Status()>& work, Status& status) {
  Answer& answer = fresh_answer();
  const Ended ended = in_child(seconds, [&] {
    const Status result = work();
    answer.code = static_cast<int>(result.code());
    std::snprintf(answer.text, sizeof answer.text, "%s", result.message().c_str());
    answer.given = 1;
  });
  status = answer.given ? Status(static_cast<Code>(answer.code), answer.text)
                        : Status(Code::internal, "the process ended without an answer");
  return ended;
}

Finding find_in_child(const std::string& path) {
  static constexpr std::string_view words[] = {"old", "new", "lost", "damaged"};
  Answer& answer = fresh_answer();
  const Ended ended = in_child(check_seconds, [&] {
    const Finding found = find_checkpoint(path);
    answer.code = static_cast<int>(std::find(std::begin(words), std::end(words), found.word) - std::begin(words));
    std::snprintf(answer.text, sizeof answer.text, "%s", found.why.c_str());
    answer.given = 1;
  });
  if (answer.given) return {words[answer.code], answer.text};
  return {"lost", ended.hung ? "reading it hung" : "reading it crashed"};
}

std::set<std::string> listing(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

std::string_view defect(const Case& one, const fault_page& page, const After& after) {
  const bool killed = after.ended.signal == SIGKILL && one.fault->kills() && page.struck > 0;
  if (after.ended.hung) return "hang";
  if (after.ended.signal != 0 && !killed) return "crash";
  if (after.found.word == "lost" || after.found.word == "damaged") return after.found.word;
  if (killed) return "";
  for (const Status& status : after.statuses)
    if (status.code() != after.statuses[0].code() || status.message() != after.statuses[0].message()) return "differ";
  return after.statuses[0].ok() ? defect_of_success(one, page, after) : defect_of_failure(one, page, after);
}

void report(size_t number, const Case& one, const fault_page& page, const After& after) {
  const bool killed = after.ended.signal == SIGKILL;
  std::string outcome =
      killed ? "killed" : std::string(name(after.statuses.empty() ? Code::internal : after.statuses[0].code()));
  std::string message = after.found.why;
  for (const Status& status : after.statuses)
    if (message.empty() && !killed) message = status.message();
  for (const std::string& name : after.after)
    if (!after.before.contains(name)) message += " +" + name;
  for (char& c : message)
    if (c == '\t' || c == '\n') c = ' ';
  const std::string_view wrong = defect(one, page, after), call = call_name(page.struck_call);
  std::printf("case\t%zu\t%s\t%d\t%lld\t%.*s\t%s\t%s\t%.*s\t%s\n", number, std::string(one.fault->name).c_str(),
              one.rank, static_cast<long long>(one.at), static_cast<int>(call.size()), call.data(), outcome.c_str(),
              std::string(after.found.word).c_str(), static_cast<int>(wrong.size()), wrong.data(), message.c_str());
  std::fflush(stdout);
}

}  // namespace penstock::test
