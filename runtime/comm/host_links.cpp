// A message's tag says who sends it, in which stream, and its number. Acknowledgements are messages too, of how many
// have been taken, a quarter of a window apart.
#include "runtime/comm/host_links.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/comm/spin.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kAckEvery = HostLink::kWindow / 4;
// Long enough for most waits on a network whose other end has come too.
constexpr int64_t kSpinNanoseconds = 100'000;
constexpr int64_t kLookNanoseconds = 1'000'000;  // for the job's end
constexpr int kSleepMilliseconds = 10;
// The control channel hears of a death about when the transport does, and knows more of it.
constexpr absl::Duration kGraceOfControl = absl::Milliseconds(50);

bool IsPending(const Completion& completion) { return completion.state == Completion::State::kPending; }

}  // namespace

HostLink::HostLink(Transport& transport, uint32_t rank, uint32_t peer, uint64_t stream)
    : transport_(transport), rank_(rank), peer_(peer), stream_(stream) {
  transport_.Receive(Tag(/*is_ack=*/true, peer_, 0), reinterpret_cast<std::byte*>(&next_ack_.taken),
                     sizeof(next_ack_.taken), next_ack_.completion);
}

// Messages of one sender with one tag come in order, so that numbers may repeat soon.
uint64_t HostLink::Tag(bool is_ack, uint32_t sender, uint64_t number) const {
  constexpr uint64_t kNumbers = uint64_t{1} << 8;
  static_assert(kNumbers > kWindow);
  return uint64_t{is_ack} << 63 | stream_ << 28 | uint64_t{sender} << 8 | number % kNumbers;
}

void HostLink::ReadAcks() {
  while (next_ack_.completion.state == Completion::State::kDone) {
    acknowledged_ = std::max(acknowledged_, next_ack_.taken);
    transport_.Receive(Tag(/*is_ack=*/true, peer_, ++acks_read_), reinterpret_cast<std::byte*>(&next_ack_.taken),
                       sizeof(next_ack_.taken), next_ack_.completion);
  }
}

bool HostLink::MaySend() {
  if (sent_ - acknowledged_ >= kWindow) ReadAcks();
  return sent_ - acknowledged_ < kWindow && !IsPending(sends_[sent_ % kWindow]);
}

uint64_t HostLink::Send(const std::byte* data, uint64_t bytes) {
  transport_.Send(peer_, Tag(/*is_ack=*/false, rank_, sent_), data, bytes, sends_[sent_ % kWindow]);
  return sent_++;
}

bool HostLink::HasLeft(uint64_t number) const {
  return sent_ - number > kWindow || !IsPending(sends_[number % kWindow]);
}

void HostLink::Post(std::byte* data, uint64_t bytes) {
  transport_.Receive(Tag(/*is_ack=*/false, peer_, posted_), data, bytes, receives_[posted_ % kPosted]);
  ++posted_;
}

bool HostLink::HasArrived() {
  SendDueAck();
  return taken_ < posted_ && receives_[taken_ % kPosted].state == Completion::State::kDone;
}

void HostLink::Take() {
  ++taken_;
  SendDueAck();
}

void HostLink::SendDueAck() {
  if (taken_ - told_ < kAckEvery) return;
  Ack& ack = own_acks_[acks_sent_ % own_acks_.size()];
  if (IsPending(ack.completion)) return;
  ack.taken = told_ = taken_;
  transport_.Send(peer_, Tag(/*is_ack=*/true, rank_, acks_sent_++), reinterpret_cast<const std::byte*>(&ack.taken),
                  sizeof(ack.taken), ack.completion);
}

bool HostLink::has_failed() const {
  const auto failed = [](const Completion& completion) { return completion.state == Completion::State::kFailed; };
  return std::ranges::any_of(sends_, failed) || std::ranges::any_of(receives_, failed) || failed(next_ack_.completion);
}

HostLinks::HostLinks(std::unique_ptr<Transport> transport, Control& control, Placement placement,
                     std::vector<std::string> addresses)
    : transport_(std::move(transport)),
      control_(control),
      placement_(std::move(placement)),
      addresses_(std::move(addresses)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)) {}

absl::StatusOr<HostLink*> HostLinks::Open(uint32_t peer, uint64_t stream) {
  std::unique_ptr<HostLink>& link = links_[{peer, stream}];
  if (link != nullptr) return link.get();
  if (absl::Status status = transport_->Connect(peer, addresses_[peer]); !status.ok()) return status;
  link = std::make_unique<HostLink>(*transport_, control_.rank(), peer, stream);
  return link.get();
}

absl::Status HostLinks::Drive(absl::FunctionRef<Advance()> advance, absl::Duration timeout, bool spins,
                              const std::string& description, absl::FunctionRef<Missing()> describe_missing) {
  std::unique_lock lock(mutex_);
  ++drivers_;
  const absl::Cleanup leave = [&] {
    if (--drivers_ == 0) nobody_drives_.notify_one();
  };
  int64_t moved_at = SteadyNanoseconds(), looked_at = moved_at;
  const int64_t limit = std::min(absl::ToInt64Nanoseconds(timeout), INT64_MAX - moved_at);
  while (true) {
    const Advance result = advance();
    if (result == Advance::kDone) return absl::OkStatus();
    const bool progressed = Progress();
    const int64_t now = SteadyNanoseconds();
    if (progressed || result == Advance::kMoved) moved_at = now;
    if (now - looked_at > kLookNanoseconds) {
      looked_at = now;
      if (absl::Status status = Failure(description); !status.ok()) return status;
    }
    if (progressed || result == Advance::kMoved) continue;
    if (now - moved_at > limit) {
      const Missing missing = describe_missing();
      if (missing.is_direct || now - moved_at - limit > absl::ToInt64Nanoseconds(PatienceOf(timeout))) {
        return absl::DeadlineExceededError(
            absl::StrCat(description, ": ", missing.text, " within ", absl::FormatDuration(timeout)));
      }
    }
    if (spins && now - moved_at < kSpinNanoseconds) {
      Pause();
    } else {
      Sleep(lock);
    }
  }
}

bool HostLinks::Progress() {
  const bool moved = transport_->Progress();
  if (!moved || sleepers_ == 0) return moved;
  while (write(wake_.get(), &sleepers_, sizeof(sleepers_)) < 0 && errno == EINTR) {
  }
  return moved;
}

void HostLinks::Sleep(std::unique_lock<std::mutex>& lock) {
  if (!transport_->Arm()) return;
  pollfd descriptors[] = {{transport_->descriptor(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  ++sleepers_;
  lock.unlock();
  poll(descriptors, 2, kSleepMilliseconds);
  lock.lock();
  --sleepers_;
  uint64_t count = 0;
  if (descriptors[1].revents != 0 && read(wake_.get(), &count, sizeof(count)) < 0) count = 0;
}

absl::Status HostLinks::StartThread(std::function<void()> advance) {
  if (thread_.joinable()) return absl::OkStatus();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  absl::Status status;
  try {
    thread_ = std::thread([this, advance = std::move(advance)] { RunThread(advance); });
  } catch (const std::system_error& error) {
    status = absl::ResourceExhaustedError(absl::StrCat("messages between hosts: no thread: ", error.what()));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

void HostLinks::RunThread(const std::function<void()>& advance) {
  std::unique_lock lock(mutex_);
  while (true) {
    nobody_drives_.wait(lock, [&] { return drivers_ == 0 || is_closing_; });
    if (is_closing_) return;
    for (const auto& [key, link] : links_) link->SendDueAck();
    advance();
    if (!Progress()) Sleep(lock);
  }
}

void HostLinks::Close() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
      nobody_drives_.notify_one();
    }
    thread_.join();
  }
  transport_.reset();
}

absl::Status HostLinks::Failure(const std::string& description) {
  if (absl::Status cause = control_.Poll(); !cause.ok())
    return absl::AbortedError(absl::StrCat(description, " was given up: ", cause.message()));
  for (const auto& [key, link] : links_) {
    absl::Status error = transport_->ErrorOf(link->peer());
    if (error.ok() && link->has_failed())
      error = absl::InternalError("a message was lost or had another size than the artifact says");
    if (!error.ok()) return FailureOf(link->peer(), error, description);
  }
  return absl::OkStatus();
}

absl::Status HostLinks::FailureOf(uint32_t peer, const absl::Status& error, const std::string& description) {
  for (const absl::Time end = absl::Now() + kGraceOfControl; absl::Now() < end; absl::SleepFor(absl::Milliseconds(1))) {
    if (absl::Status cause = control_.Poll(); !cause.ok())
      return absl::AbortedError(absl::StrCat(description, " was given up: ", cause.message()));
  }
  return absl::UnavailableError(
      absl::StrCat(description, ": the connection to ", placement_.Describe(peer), " is lost: ", error.message()));
}

}  // namespace sgd::comm
