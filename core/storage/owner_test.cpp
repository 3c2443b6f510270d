// Tests of owners: names round-trip, dead and live processes are distinguished, and unknown states are reported.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <random>

#include "core/storage/owner.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

// A process of this machine that lives until it is told to end.
class Child {
 public:
  Child() {
    EXPECT_EQ(::pipe(ends_.data()), 0);
    EXPECT_EQ(::pipe(words_.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const std::string word = text(this_process());
      ssize_t done = ::write(words_[1], word.data(), word.size());
      ::close(ends_[1]);
      char end = 0;
      done += ::read(ends_[0], &end, 1);
      ::_exit(done > 0 ? 0 : 1);
    }
    std::array<char, 256> word{};
    const ssize_t size = ::read(words_[0], word.data(), word.size());
    name_ = partial_name("f.h5", 7, std::string(word.data(), static_cast<size_t>(size)));
  }
  ~Child() {
    end();
    wait();
    for (const int fd : {ends_[0], words_[0], words_[1]}) ::close(fd);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void end() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  void wait() {
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  const std::string& name() const { return name_; }
  Owner owner() const { return parse_partial(name_)->owner; }

 private:
  std::array<int, 2> ends_{}, words_{};
  pid_t pid_ = -1;
  std::string name_;
};

TEST(Owner, ThisProcessIsAlive) {
  const Owner owner = this_process();
  EXPECT_EQ(owner.pid, ::getpid());
  EXPECT_GT(owner.start, 0);
  EXPECT_EQ(life_of(owner), Life::alive);
}

TEST(Owner, AProcessThatEndedIsDeadAlsoBeforeItIsWaitedFor) {
  Child child;
  EXPECT_EQ(life_of(child.owner()), Life::alive);
  child.end();
  for (int tenths = 0; life_of(child.owner()) == Life::alive && tenths < 100; ++tenths) ::usleep(100000);
  EXPECT_EQ(life_of(child.owner()), Life::dead);
  child.wait();
  EXPECT_EQ(life_of(child.owner()), Life::dead);
}

TEST(Owner, ALaterProcessWithItsNumberIsNotIt) {
  Owner earlier = this_process();
  earlier.start -= 1;
  EXPECT_EQ(life_of(earlier), Life::dead);
}

TEST(Owner, OfAnotherMachineNothingIsKnown) {
  Owner other = this_process();
  other.pid = 1 << 22;  // above the kernel's range
  EXPECT_EQ(life_of(other), Life::dead);
  other.machine[0] = other.machine[0] == '0' ? '1' : '0';
  EXPECT_EQ(life_of(other), Life::unknown);
  other.machine = std::string(12, '0');
  EXPECT_EQ(life_of(other), Life::unknown);
}

TEST(Owner, TheJobIsThatOfTheScheduler) {
  for (const char* name :
       {"SLURM_JOB_ID", "SLURM_CLUSTER_NAME", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID", "PMIX_NAMESPACE"})
    ::unsetenv(name);
  EXPECT_EQ(this_process().job, "none");
  ::setenv("PBS_JOBID", "1234.server.site", 1);
  EXPECT_EQ(this_process().job, "pbs-1234_server_site");
  ::setenv("SLURM_JOB_ID", "4711", 1);
  EXPECT_EQ(this_process().job, "slurm-4711");
  ::setenv("SLURM_CLUSTER_NAME", "blue", 1);
  EXPECT_EQ(this_process().job, "slurm-4711-blue");
  for (const char* name : {"SLURM_JOB_ID", "SLURM_CLUSTER_NAME", "PBS_JOBID"}) ::unsetenv(name);
}

TEST(PartialName, ComesBackWhateverTheTargetIsCalled) {
  const Owner owner{"0123456789ab", 4194303, 123456789012, "slurm-4711-blue", "node-17"};
  const std::string long_name(255, 'x');
  std::string characters;
  for (int i = 0; i < 127; ++i) characters += "\xC3\xA9";
  for (const std::string& base :
       {std::string("f.h5"), std::string(".hidden"), std::string("a.0123456789abcdef.b.partial"),
        std::string("new\nline"), long_name, characters}) {
    const std::string name = partial_name(base, 0xFEDCBA9876543210, text(owner));
    EXPECT_LE(name.size(), max_partial_name);
    const auto back = parse_partial(name);
    ASSERT_TRUE(back.has_value()) << name;
    EXPECT_TRUE(back->is_of(base)) << name;
    EXPECT_FALSE(back->is_of(base + "x"));
    EXPECT_FALSE(back->is_of("other"));
    EXPECT_EQ(text(back->owner), text(owner));
    if (base == characters) {
      EXPECT_EQ(back->base.substr(back->base.find('~') - 2, 2), "\xC3\xA9");
    }
  }
  EXPECT_NE(partial_name(long_name, 1, text(owner)), partial_name(long_name.substr(0, 254) + "y", 1, text(owner)));
}

TEST(PartialName, OthersAreNone) {
  const std::string good = partial_name("f.h5", 7, text(this_process()));
  ASSERT_TRUE(parse_partial(good).has_value());
  for (const char* name : {"", ".", "..", ".partial", "f.h5", ".f.h5.0000000000000007.partial", ".f.h5.partial"})
    EXPECT_FALSE(parse_partial(name).has_value()) << name;
  EXPECT_FALSE(parse_partial(partial_name("f", 7, "0123456789ab-1-2.job.host\x1b[31m")).has_value());
  EXPECT_FALSE(parse_partial(partial_name("f", 7, "0123456789ab-1-2.job\n.host")).has_value());
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string name = good;
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes) {
      const size_t at = random() % name.size();
      if (random() % 2 == 0)
        name[at] = ".-0fz~"[random() % 6];
      else
        name.erase(at, 1 + random() % 5);
      if (name.empty()) break;
    }
    if (const auto back = parse_partial(name)) (void)life_of(back->owner);
  }
}

TEST(LookBeside, FindsPartialFilesThatThisProcessDoesNotMakeAndParts) {
  std::string folder = fs::current_path() / "owner-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto storage = posix_storage();
  const auto put = [&](const std::string& name) { std::ofstream(folder + "/" + name) << "x"; };
  put(partial_name("f.h5", 1, text(this_process())));
  put(partial_name("g.h5", 2, text(this_process())));
  EXPECT_EQ(look_beside(*storage, folder + "/f.h5").others, "");
  Child child;
  put(child.name());
  EXPECT_EQ(look_beside(*storage, folder + "/g.h5").others, "");
  EXPECT_NE(look_beside(*storage, folder + "/f.h5").others.find("writing now"), std::string::npos);
  child.end();
  child.wait();
  const std::string said = look_beside(*storage, folder + "/f.h5").others;
  EXPECT_NE(said.find(child.name()), std::string::npos) << said;
  EXPECT_NE(said.find("has ended"), std::string::npos) << said;
  EXPECT_NE(said.find("'penstock clean'"), std::string::npos) << said;
  put("g.h5.g0123456789abcdef.0001.h5");
  EXPECT_TRUE(look_beside(*storage, folder + "/g.h5").parts);
  EXPECT_FALSE(look_beside(*storage, folder + "/f.h5").parts);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace penstock
