// Processes have a session, a job without tensors whose ranks are the processes: in it they agree, and through it they
// hear of each other's end. Programs have jobs of all ranks.
#include "plugins/pjrt/process_ranks.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugins/pjrt/python_signals.h"
#include "runtime/comm/control/control_message.h"
#include "runtime/comm/control/rank_text.h"

namespace sgd::pjrt {
namespace {

constexpr std::chrono::milliseconds kBetweenSignals(100);
constexpr size_t kNextTexts = 3;  // of what a process runs next: program, digest, job
// Begins the message of a process that ends the session since it does not run what was agreed on. Where a process has
// ended, its ranks are missed by those that still need them.
constexpr char kDoesNotRun[] = "does not run the program: ";

// The error for processes that are about to run different things.
absl::Status Mismatch(uint32_t first, const std::vector<std::string>& expected, uint32_t other,
                      const std::vector<std::string>& found) {
  std::string what;
  if (found[0] != expected[0]) {
    what = absl::StrCat("process ", first, " runs program '", expected[0], "', and process ", other, " runs program '",
                        found[0], "'");
  } else if (found[1] != expected[1]) {
    what = absl::StrCat("processes ", first, " and ", other, " have compiled program '", expected[0],
                        "' to different code (", expected[1].substr(0, 12), " and ", found[1].substr(0, 12), ")");
  } else {
    what = absl::StrCat("one of processes ", first, " and ", other, " has loaded program '", expected[0],
                        "' anew, and the other has not");
  }
  return absl::FailedPreconditionError(
      absl::StrCat(what, "; expected that all processes run the same programs on these devices in the same order"));
}

}  // namespace

absl::Status NameProcesses(const absl::Status& status, const std::vector<uint32_t>& process_of, bool keeps_ranks) {
  constexpr std::string_view kRank = "rank ";
  const std::string text(status.message());
  std::string named;
  size_t done = 0;
  for (size_t at = text.find(kRank); at != std::string::npos; at = text.find(kRank, at + 1)) {
    size_t end = at + kRank.size();
    uint64_t rank = 0;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9' && rank < process_of.size())
      rank = 10 * rank + static_cast<uint64_t>(text[end++] - '0');
    if (end == at + kRank.size() || rank >= process_of.size() || (at > 0 && std::isalnum(text[at - 1]))) continue;
    named += text.substr(done, (keeps_ranks ? end : at) - done);
    named +=
        keeps_ranks ? absl::StrCat(" (process ", process_of[rank], ")") : absl::StrCat("process ", process_of[rank]);
    done = end;
  }
  return absl::Status(status.code(), named + text.substr(done));
}

ProcessRanks::ProcessRanks(std::shared_ptr<const Processes> processes, std::vector<uint32_t> process_of,
                           std::string name)
    : processes_(std::move(processes)), process_of_(std::move(process_of)), name_(std::move(name)) {
  for (uint32_t rank = 0; rank < process_of_.size(); ++rank) {
    const uint32_t process = process_of_[rank];
    if (std::ranges::find(members_, process) == members_.end()) members_.push_back(process);
    if (process == processes_->index()) own_.push_back(rank);
  }
}

absl::StatusOr<std::unique_ptr<ProcessRanks>> ProcessRanks::Create(std::shared_ptr<const Processes> processes,
                                                                   std::vector<uint32_t> process_of, std::string name) {
  auto self = absl::WrapUnique(new ProcessRanks(std::move(processes), std::move(process_of), std::move(name)));
  auto pool = embed::RankPool::Start(static_cast<uint32_t>(self->own_.size()), {.single_on_caller = false});
  if (!pool.ok()) return pool.status();
  self->pool_ = *std::move(pool);
  absl::StatusOr<std::unique_ptr<launch::RankThread>> lead = launch::RankThread::Start(0, {});
  if (!lead.ok()) return lead.status();
  self->lead_ = *std::move(lead);
  return self;
}

std::string ProcessRanks::NameOf(std::string_view what) const {
  return absl::StrCat(name_, "/era", era_, "/", std::string(what));
}

absl::StatusOr<comm::HostAndPort> ProcessRanks::Meeting(const std::string& name,
                                                        std::unique_ptr<comm::TcpAcceptor>* acceptor) {
  if (!leads()) {
    absl::StatusOr<comm::HostAndPort> place = processes_->Find(name, [this] { return Interruption(); });
    if (!absl::IsDeadlineExceeded(place.status())) return place;
    return absl::DeadlineExceededError(absl::StrCat("process ", members_[0],
                                                    " has not come to run a program on these devices within ",
                                                    absl::FormatDuration(processes_->deadline()), " (SGD_DEADLINE)"));
  }
  comm::HostAndPort place;
  auto listening = processes_->Listen(name, &place);
  if (!listening.ok()) return listening.status();
  *acceptor = *std::move(listening);
  return place;
}

absl::Status ProcessRanks::MeetProcesses() {
  std::unique_ptr<comm::TcpAcceptor> acceptor;
  absl::StatusOr<comm::HostAndPort> place = Meeting(NameOf("session"), &acceptor);
  if (!place.ok()) return place.status();
  launch::LaunchOptions options;
  options.deadline = processes_->deadline();
  options.secret = processes_->secret();
  options.policy = &policy_;
  launch::TcpRankOptions rank;
  rank.environment.rank = static_cast<uint32_t>(std::ranges::find(members_, processes_->index()) - members_.begin());
  rank.environment.size = static_cast<uint32_t>(members_.size());
  rank.environment.master = *place;
  rank.acceptor = acceptor.get();
  rank.own_failure = [this] { return Interruption(); };
  rank.on_abort = [this](uint32_t at_fault, const absl::Status& cause) {
    NoteEnd(NameProcesses(absl::Status(cause.code(), comm::OfRank(at_fault, std::string(cause.message()))), members_,
                          /*keeps_ranks=*/false));
  };
  auto met = launch::TcpRank::Meet(std::move(rank), options);
  if (!met.ok()) return NameProcesses(met.status(), members_, /*keeps_ranks=*/false);
  const std::lock_guard lock(mutex_);
  session_ = *std::move(met);
  return absl::OkStatus();
}

absl::Status ProcessRanks::Compare(const std::vector<std::string>& all) const {
  std::vector<std::string> first;
  for (size_t member = 0; member < all.size(); ++member) {
    const std::optional<std::vector<std::string>> next = comm::DecodeTexts(all[member]);
    if (!next || next->size() != kNextTexts)
      return absl::InternalError(absl::StrCat("process ", members_[member], " does not say what it runs next"));
    if (member == 0) first = *next;
    if (*next != first) return Mismatch(members_[0], first, members_[member], *next);
  }
  return absl::OkStatus();
}

absl::Status ProcessRanks::Agree(const Next& next) {
  const std::string own = comm::EncodeTexts({next.name, next.digest, absl::StrCat(next.job)});
  std::vector<std::string> all;
  const absl::Status status = RunOnLead([&] {
    if (session_ == nullptr) {
      if (absl::Status met = MeetProcesses(); !met.ok()) return met;
    }
    absl::StatusOr<std::vector<std::string>> gathered = session_->control().AllGatherBytes(own, processes_->deadline());
    if (gathered.ok()) all = *std::move(gathered);
    return NameProcesses(gathered.status(), members_, /*keeps_ranks=*/false);
  });
  // A mismatch is known to all, and leaves the session as it is.
  if (status.ok()) return Compare(all);
  Leave(status);
  return status;
}

absl::StatusOr<std::unique_ptr<embed::RankJob>> ProcessRanks::Open(uint64_t window_bytes) {
  std::unique_ptr<comm::TcpAcceptor> acceptor;
  absl::StatusOr<comm::HostAndPort> place = Meeting(NameOf(absl::StrCat("job", next_job_++)), &acceptor);
  if (!place.ok()) return place.status();
  auto job = pool_->OpenSpread(window_bytes, {.size = static_cast<uint32_t>(process_of_.size()),
                                              .ranks = own_,
                                              .place = *place,
                                              .acceptor = acceptor.get(),
                                              .secret = processes_->secret(),
                                              .deadline = processes_->deadline(),
                                              .own_failure = [this] { return Interruption(); }});
  if (!job.ok()) return NameProcesses(job.status(), process_of_, /*keeps_ranks=*/true);
  return job;
}

absl::Status ProcessRanks::Run(embed::RankJob& job, const embed::RankBody& body) {
  {
    const std::lock_guard lock(mutex_);
    running_ = &job;
  }
  if (absl::Status status = Interruption(); !status.ok()) job.Abort(status);
  const absl::Status status = job.Run(body);
  const std::lock_guard lock(mutex_);
  running_ = nullptr;
  return NameProcesses(status, process_of_, /*keeps_ranks=*/true);
}

void ProcessRanks::NoteEnd(const absl::Status& cause) {
  const std::lock_guard lock(mutex_);
  session_end_ = cause;
  if (running_ != nullptr && absl::StrContains(cause.message(), kDoesNotRun)) running_->Abort(cause);
}

void ProcessRanks::Leave(const absl::Status& cause) {
  if (session_ != nullptr)
    session_->control().Abort(absl::Status(cause.code(), absl::StrCat(kDoesNotRun, cause.message())));
  ++era_;
  next_job_ = 0;
  std::unique_ptr<launch::TcpRank> ended;  // waits for its thread, which may wait for the lock
  const std::lock_guard lock(mutex_);
  ended = std::move(session_);
  session_end_ = absl::OkStatus();
}

absl::Status ProcessRanks::Interruption() {
  const std::lock_guard lock(mutex_);
  return is_interrupted_ ? absl::CancelledError("interrupted by a signal") : session_end_;
}

absl::Status ProcessRanks::RunOnLead(std::function<absl::Status()> body) {
  std::unique_lock lock(mutex_);
  has_ended_ = is_interrupted_ = false;
  lead_->Run(std::move(body), [this](absl::Status outcome) {
    const std::lock_guard ending(mutex_);
    outcome_ = std::move(outcome);
    has_ended_ = true;
    ended_.notify_all();
  });
  while (!ended_.wait_for(lock, kBetweenSignals, [this] { return has_ended_; })) {
    lock.unlock();
    const bool is_signalled = HasPythonSignal();
    lock.lock();
    if (!is_signalled || is_interrupted_) continue;
    is_interrupted_ = true;
    launch::TcpRank* session = session_.get();
    lock.unlock();
    if (session != nullptr) session->control().Abort(absl::CancelledError("interrupted by a signal"));
    lock.lock();
  }
  is_interrupted_ = false;
  return outcome_;
}

}  // namespace sgd::pjrt
