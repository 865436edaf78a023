#include "runtime/process/rank_place.h"

#include <unistd.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/process/thread_stack.h"
#include "runtime/thread/thread_state.h"

namespace sgd::process {
namespace {

constexpr size_t kShownThreads = 4, kShownFrames = 12, kMostBytes = 1000;
constexpr absl::Duration kAnswer = absl::Milliseconds(60);

std::string StackText(pid_t thread, const std::string& location) {
  std::vector<std::string> names;
  for (const uintptr_t address : StackOf(thread, kAnswer)) {
    names.push_back(FrameText(address, /*is_return_address=*/!names.empty(), location));
    if (names.size() == kShownFrames || names.back() == "main") break;
  }
  return absl::StrJoin(names, " < ");
}

std::string ThreadText(const ThreadState& state, const std::string& location) {
  const std::string stack = StackText(state.thread, location);
  return absl::StrCat("thread ", state.thread, " (", ThreadStateText(state), ")", stack.empty() ? "" : ": ", stack);
}

// That of the rank's steps first. All states are read before any thread is asked for its stack: threads that wait for
// signals wake at each of them.
std::vector<ThreadState> BusyThreads(pid_t rank_thread) {
  std::vector<ThreadState> busy;
  for (const pid_t thread : ThreadsOf(getpid())) {
    const std::optional<ThreadState> state = ReadThreadState(getpid(), thread);
    if (!state || thread == gettid() || (thread != rank_thread && IsIdle(*state))) continue;
    busy.insert(thread == rank_thread ? busy.begin() : busy.end(), *state);
  }
  if (busy.size() > kShownThreads) busy.resize(kShownThreads);
  return busy;
}

}  // namespace

std::string PlaceText(const launch::RankPosition& position, pid_t rank_thread) {
  std::vector<std::string> texts;
  if (!position.instruction.empty()) texts.push_back(position.instruction);
  for (const ThreadState& state : BusyThreads(rank_thread)) texts.push_back(ThreadText(state, position.location));
  std::string text = absl::StrJoin(texts, "; ");
  if (text.size() > kMostBytes) text = text.substr(0, kMostBytes - 3) + "...";
  return text;
}

}  // namespace sgd::process
