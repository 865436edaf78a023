// Stacks of threads of this process, asked for by another thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace sgd::process {

// From now on threads of this process answer StackSignal() with their stacks, the calling thread on a stack of its own.
// System calls that the signal interrupts go on.
void AnswerStackRequests();

// Program counters of the thread, the innermost first; those behind the first are return addresses. Empty without
// AnswerStackRequests(), or where the thread does not answer in time, as in an uninterruptible wait. Any thread but
// that one; callers take turns.
std::vector<uintptr_t> StackOf(pid_t thread, absl::Duration timeout);

// "sgd::exec::HostExecutor::RunBlock()", "kernel_12 (+0x40)" in a kernel of the artifact, to which `location` is added,
// or "libc.so.6 (+0x9a3f0)".
std::string FrameText(uintptr_t address, bool is_return_address, const std::string& location);

}  // namespace sgd::process
