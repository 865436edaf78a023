// One handler in a process, set when the package is imported.
#include "plugins/pjrt/host_calls.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace sgd::pjrt {
namespace {

std::atomic<SgdHostCallHandler> registered_handler = nullptr;
std::mutex references_mutex;
std::map<uint64_t, uint64_t>& References() {  // of functions by compiled programs
  static auto& references = *new std::map<uint64_t, uint64_t>();
  return references;
}

thread_local int calls_in_progress = 0;

std::vector<SgdHostTensor> TensorsOf(const std::vector<exec::HostTensor>& tensors) {
  std::vector<SgdHostTensor> result;
  for (const exec::HostTensor& tensor : tensors)
    result.push_back({tensor.dims.data(), tensor.dims.size(), tensor.bytes.data(), tensor.bytes.size()});
  return result;
}

}  // namespace

FunctionReferences::FunctionReferences(std::set<uint64_t> functions) : functions_(std::move(functions)) {
  const std::lock_guard lock(references_mutex);
  for (const uint64_t function : functions_) ++References()[function];
}

FunctionReferences::~FunctionReferences() {
  const std::lock_guard lock(references_mutex);
  for (const uint64_t function : functions_) {
    if (--References()[function] == 0) References().erase(function);
  }
}

bool IsInHostCall() { return calls_in_progress > 0; }

absl::Status CallHandler(const exec::HostCall& call) {
  const SgdHostCallHandler handler = registered_handler;
  if (handler == nullptr)
    return absl::FailedPreconditionError(
        absl::StrCat("the program calls '", absl::CEscape(call.name),
                     "', and no functions are registered; import the Python package jax_plugins.sgd"));
  const std::vector<SgdHostTensor> inputs = TensorsOf(call.inputs), outputs = TensorsOf(call.outputs);
  std::string error;
  ++calls_in_progress;
  handler(call.id, call.rank, inputs.data(), inputs.size(), outputs.data(), outputs.size(), &error);
  --calls_in_progress;
  if (error.empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(call.name, " failed: ", error));
}

absl::Status RunningPrograms::Begin(const void* program, const void* threads, std::recursive_mutex& mutex) {
  const auto is_in_the_way = [&](const Running& other) {
    return other.program == program || (threads != nullptr && other.threads == threads);
  };
  while (std::ranges::any_of(running_, is_in_the_way)) {
    if (IsInHostCall())
      return absl::FailedPreconditionError(
          absl::StrCat("a function that a program calls cannot run this program, which waits for the function",
                       threads != nullptr ? " with the threads of its devices" : "",
                       "; compute with NumPy in the function, or return the values from the program"));
    ended_.wait(mutex);
  }
  running_.push_back({program, threads});
  return absl::OkStatus();
}

void RunningPrograms::End(const void* program) {
  std::erase_if(running_, [&](const Running& other) { return other.program == program; });
  ended_.notify_all();
}

void HostCallQueue::Open() {
  const std::lock_guard lock(mutex_);
  is_closed_ = false;
}

absl::Status HostCallQueue::Call(const exec::HostCall& call) {
  Request request{&call, absl::OkStatus()};
  std::unique_lock lock(mutex_);
  if (is_closed_) return absl::AbortedError("the run has ended");
  requests_.push_back(&request);
  changed_.notify_all();
  changed_.wait(lock, [&] { return request.is_answered || (is_closed_ && !request.is_taken); });
  if (request.is_answered) return request.answer;
  std::erase(requests_, &request);
  return absl::AbortedError("the run has ended");
}

void HostCallQueue::Serve(absl::FunctionRef<absl::Status(const exec::HostCall& call)> answer) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_closed_ || !requests_.empty(); });
    if (is_closed_) return;
    Request* request = requests_.front();
    requests_.pop_front();
    request->is_taken = true;
    lock.unlock();
    absl::Status status = answer(*request->call);
    lock.lock();
    request->answer = std::move(status);
    request->is_answered = true;
    changed_.notify_all();
  }
}

void HostCallQueue::Close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

}  // namespace sgd::pjrt

extern "C" {

__attribute__((visibility("default"))) void sgd_pjrt_set_host_call_handler(SgdHostCallHandler handler) {
  sgd::pjrt::registered_handler = handler;
}

__attribute__((visibility("default"))) uint64_t sgd_pjrt_host_call_references(uint64_t id) {
  const std::lock_guard lock(sgd::pjrt::references_mutex);
  const auto found = sgd::pjrt::References().find(id);
  return found == sgd::pjrt::References().end() ? 0 : found->second;
}

__attribute__((visibility("default"))) void sgd_pjrt_fail(void* result, const char* message, size_t size) {
  static_cast<std::string*>(result)->assign(size == 0 ? std::string("an error without a message")
                                                      : std::string(message, size));
}
}
