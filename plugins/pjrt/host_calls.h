// Calls of functions of the framework's process, such as the Python functions of jax.debug.print, while a program runs.
// They run on the thread that runs the program, whose lock is free meanwhile: they may use arrays and run programs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/exec/host_call.h"

namespace sgd::pjrt {

// Counts a program that calls these functions, as long as it lives.
class FunctionReferences {
 public:
  explicit FunctionReferences(std::set<uint64_t> functions);
  ~FunctionReferences();
  FunctionReferences(const FunctionReferences&) = delete;
  FunctionReferences& operator=(const FunctionReferences&) = delete;
  bool empty() const { return functions_.empty(); }

 private:
  const std::set<uint64_t> functions_;
};

// Calls the registered handler. FailedPrecondition without one; else its error, which names the function.
absl::Status CallHandler(const exec::HostCall& call);

// Whether this thread is in a call of the handler.
bool IsInHostCall();

// The programs that run, of which those in host calls have given the lock of RankPools free. Under that lock, which its
// functions may give free while they wait.
class RunningPrograms {
 public:
  // Waits until the program may run: it does not run already, and no other one uses the threads of its ranks, which
  // are null for a rank on the calling thread. FailedPrecondition in a host call, where waiting would never end.
  absl::Status Begin(const void* program, const void* threads, std::recursive_mutex& mutex);
  void End(const void* program);

 private:
  struct Running {
    const void* program;
    const void* threads;
  };
  std::vector<Running> running_;
  std::condition_variable_any ended_;
};

// Hands calls from the threads of ranks to the thread that runs the program. Closed between runs.
class HostCallQueue {
 public:
  void Open();
  // On a rank's thread: waits for the answer. Aborted once the run has ended.
  absl::Status Call(const exec::HostCall& call);
  // Answers calls one by one, and returns after Close.
  void Serve(absl::FunctionRef<absl::Status(const exec::HostCall& call)> answer);
  void Close();

 private:
  struct Request {
    const exec::HostCall* call;
    absl::Status answer;
    bool is_taken = false, is_answered = false;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request*> requests_;  // that nobody answers yet
  bool is_closed_ = true;
};

}  // namespace sgd::pjrt

// For the Python package, through ctypes.
extern "C" {
struct SgdHostTensor {
  const uint64_t* dims;
  size_t num_dims;
  void* bytes;  // valid during the call; of inputs only to be read
  size_t size;
};
// Calls function `id` with the inputs and fills the outputs. An error is given to sgd_pjrt_fail, with `result`. Called
// without the interpreter's lock, on any thread.
using SgdHostCallHandler = void (*)(uint64_t id, uint32_t rank, const SgdHostTensor* inputs, size_t num_inputs,
                                    const SgdHostTensor* outputs, size_t num_outputs, void* result);
void sgd_pjrt_set_host_call_handler(SgdHostCallHandler handler);
// How many compiled programs call the function.
uint64_t sgd_pjrt_host_call_references(uint64_t id);
void sgd_pjrt_fail(void* result, const char* message, size_t size);
}
