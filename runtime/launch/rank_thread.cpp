// A mailbox of one function.
#include "runtime/launch/rank_thread.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::launch {

absl::StatusOr<std::unique_ptr<RankThread>> RankThread::Start(uint32_t rank, const std::vector<int>& cores) {
  std::unique_ptr<RankThread> self(new RankThread);
  absl::StatusOr<std::thread> thread = SpawnThread(absl::StrCat("resident rank ", rank), [self = self.get(), cores] {
    if (!cores.empty()) BindToCores(cores);
    self->Serve();
  });
  if (!thread.ok()) return thread.status();
  self->thread_ = *std::move(thread);
  return self;
}

RankThread::~RankThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wakes_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void RankThread::Run(Body body, Report report) {
  {
    const std::lock_guard lock(mutex_);
    body_ = std::move(body);
    report_ = std::move(report);
  }
  wakes_.notify_one();
}

bool RankThread::is_idle() {
  const std::lock_guard lock(mutex_);
  return report_ == nullptr;
}

void RankThread::Serve() {
  for (std::unique_lock lock(mutex_);;) {
    wakes_.wait(lock, [this] { return ends_ || report_ != nullptr; });
    if (report_ == nullptr) return;
    Body body = std::exchange(body_, nullptr);
    lock.unlock();
    absl::Status outcome = body();
    body = nullptr;
    lock.lock();
    // Idle before it reports: the next function may come at once.
    const Report report = std::exchange(report_, nullptr);
    lock.unlock();
    report(std::move(outcome));
    lock.lock();
  }
}

}  // namespace sgd::launch
