// with_refused: makes the kernel reject a system call, for tests.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstddef>
#include <functional>
#include <iterator>
#include <thread>

namespace penstock {

// Runs WORK in a thread in which system call NUMBER fails with ERROR, as in a container that forbids it. If the kernel
// does not accept a seccomp filter, returns false and does not run WORK.
inline bool with_refused(int number, int error, const std::function<void()>& work) {
  bool ran = false;
  std::thread([&] {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{std::size(code), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      return;
    ran = true;
    work();
  }).join();
  return ran;
}

}  // namespace penstock
