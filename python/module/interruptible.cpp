// A thread waits on a condition with a timeout, and asks Python in between.
#include "python/module/interruptible.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/thread/spawn_thread.h"

namespace sgd::python {
namespace {

namespace nb = nanobind;

constexpr std::chrono::milliseconds kBetweenSignals(100);

std::thread::id main_thread;

// Shared by a body on another thread and its caller.
struct Call {
  std::mutex mutex;
  std::condition_variable ended;
  bool has_ended = false;
  std::exception_ptr thrown;

  void Run(const std::function<void()>& body) {
    try {
      body();
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    has_ended = true;
    ended.notify_all();
  }
  bool WaitFor(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex);
    return ended.wait_for(lock, time, [&] { return has_ended; });
  }
};

// Takes the lock for a moment. Returns what a handler of a signal raises, or else null.
std::exception_ptr RunSignalHandlers() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() == 0) return nullptr;
  try {
    throw nb::python_error();
  } catch (...) {
    return std::current_exception();
  }
}

// Likewise, of `tick`.
std::exception_ptr CallTick(const std::function<void()>& tick) {
  const nb::gil_scoped_acquire lock;
  try {
    tick();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

// Returns the first exception that a handler raised until the body has ended, or null. After an exception of `tick` it
// is not called again.
std::exception_ptr WaitForEnd(Call& call, const std::function<void(int)>& interrupt, std::function<void()> tick) {
  std::exception_ptr raised;
  int times = 0;
  bool has_ended = false;
  while (!has_ended) {
    has_ended = call.WaitFor(kBetweenSignals);
    std::exception_ptr found = has_ended ? nullptr : RunSignalHandlers();
    if (tick) {
      if (std::exception_ptr thrown = CallTick(tick)) {
        tick = nullptr;
        if (!found) found = thrown;
      }
    }
    if (!found) continue;
    if (!raised) raised = found;
    if (!has_ended) interrupt(++times);
  }
  return raised;
}

// Returns null once the body has ended, or before that what a handler raised.
std::exception_ptr WaitForEndOrSignal(Call& call) {
  while (!call.WaitFor(kBetweenSignals))
    if (std::exception_ptr raised = RunSignalHandlers()) return raised;
  return nullptr;
}

}  // namespace

void RememberMainThread() {
  const nb::object main = nb::module_::import_("threading").attr("main_thread")().attr("ident");
  const nb::object here = nb::module_::import_("threading").attr("get_ident")();
  if (main.equal(here)) main_thread = std::this_thread::get_id();
}

absl::Status RunInterruptibly(const std::function<void()>& body, const std::function<void(int times)>& interrupt,
                              const std::function<void()>& tick) {
  std::exception_ptr raised;
  Call call;
  {
    const nb::gil_scoped_release unlocked;
    if (std::this_thread::get_id() != main_thread && !tick) {
      body();
      return absl::OkStatus();
    }
    absl::StatusOr<std::thread> thread = SpawnThread("a call from Python", [&] { call.Run(body); });
    if (!thread.ok()) return thread.status();
    raised = WaitForEnd(call, interrupt, tick);
    thread->join();
  }
  if (raised) std::rethrow_exception(raised);
  if (call.thrown) std::rethrow_exception(call.thrown);
  return absl::OkStatus();
}

absl::Status RunAbandonably(std::function<void()> body) {
  const auto call = std::make_shared<Call>();
  std::exception_ptr raised;
  {
    const nb::gil_scoped_release unlocked;
    if (std::this_thread::get_id() != main_thread) {
      body();
      return absl::OkStatus();
    }
    absl::StatusOr<std::thread> thread =
        SpawnThread("a call from Python", [call, body = std::move(body)] { call->Run(body); });
    if (!thread.ok()) return thread.status();
    raised = WaitForEndOrSignal(*call);
    if (raised) {
      thread->detach();
    } else {
      thread->join();
    }
  }
  if (raised) std::rethrow_exception(raised);
  if (call->thrown) std::rethrow_exception(call->thrown);
  return absl::OkStatus();
}

}  // namespace sgd::python
