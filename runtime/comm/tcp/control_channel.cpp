// All reading and writing is done by the thread; others leave bytes and wake it.
#include "runtime/comm/tcp/control_channel.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/control.h"
#include "runtime/comm/control/rank_text.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::comm {
namespace {

constexpr absl::Duration kFlush = absl::Milliseconds(500);
constexpr absl::Duration kAnswer = absl::Milliseconds(500);  // of rank 0, about who is missing

constexpr absl::Duration kInquiry = absl::Seconds(1);  // for answers about waits; without one a rank has stopped
constexpr absl::Duration kVerdict = absl::Milliseconds(2500);  // of rank 0, after an inquiry that may be the second
constexpr uint64_t kMostUnsent = 1 << 16;                      // bytes; no more is published while so many are not sent
constexpr uint64_t kOverhead = 32;                             // bytes of a rank in EncodeByRank, at most

}  // namespace

absl::StatusOr<std::unique_ptr<ControlChannel>> ControlChannel::Start(std::vector<ControlLink> links,
                                                                      ControlChannelOptions options) {
  std::unique_ptr<ControlChannel> channel(new ControlChannel(std::move(options)));
  for (ControlLink& link : links) channel->peers_.emplace_back(std::move(link));
  channel->wake_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!channel->wake_.valid()) return absl::InternalError(absl::StrCat("eventfd: ", std::strerror(errno)));
  absl::StatusOr<std::thread> thread = SpawnThread("the control channel", [self = channel.get()] { self->Run(); });
  if (!thread.ok()) return thread.status();
  channel->thread_ = *std::move(thread);
  return channel;
}

ControlChannel::~ControlChannel() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    stop_at_ = SteadyNow() + kFlush;
    Wake();
  }
  thread_.join();
}

std::vector<std::string> ControlChannel::interfaces() {
  const std::lock_guard lock(mutex_);
  std::set<std::string> names;
  for (const Peer& peer : peers_) names.insert(peer.link.interface);
  names.erase("");
  return {names.begin(), names.end()};
}

uint64_t ControlChannel::MaxContribution() const { return kMaxPayload / size() - kOverhead; }

absl::StatusOr<std::vector<std::string>> ControlChannel::AllGather(std::string_view bytes, absl::Duration timeout,
                                                                   Lane lane) {
  return Exchange(ControlKind::kGather, bytes, timeout, lane);
}

absl::StatusOr<std::vector<std::string>> ControlChannel::Gather(std::string_view bytes, absl::Duration timeout,
                                                                Lane lane) {
  return Exchange(ControlKind::kCollect, bytes, timeout, lane);
}

absl::Status ControlChannel::Offer(std::string_view bytes, absl::Duration timeout) {
  return Exchange(ControlKind::kOffer, bytes, timeout, Lane::kSteps).status();
}

absl::StatusOr<std::vector<std::string>> ControlChannel::GatherAmong(std::string_view key, std::string_view bytes,
                                                                     absl::Duration timeout) {
  return Exchange(ControlKind::kAmong, EncodeTexts({std::string(key), std::string(bytes)}), timeout, Lane::kSteps);
}

absl::StatusOr<std::string> ControlChannel::OfferOf(uint32_t other, absl::Duration timeout) {
  std::unique_lock lock(mutex_);
  if (other >= size()) return absl::InvalidArgumentError(absl::StrCat("there is no rank ", other));
  if (rank() != 0 && !offers_[other].has_value()) Post(peers_[0], ControlKind::kLookup, other, "");
  const auto has_ended = [&] { return offers_[other].has_value() || abort_.has_value(); };
  changed_.wait_for(lock, absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(100000))), has_ended);
  if (offers_[other].has_value()) return *offers_[other];
  if (abort_.has_value()) return CauseLocked();
  return absl::DeadlineExceededError(
      absl::StrCat("rank 0 did not pass on the address of rank ", other, " within ", absl::FormatDuration(timeout)));
}

absl::StatusOr<std::vector<std::string>> ControlChannel::Exchange(ControlKind kind, std::string_view bytes,
                                                                  absl::Duration timeout, Lane lane) {
  std::unique_lock lock(mutex_);
  if (abort_.has_value()) return CauseLocked();
  const auto index = static_cast<size_t>(lane);
  const uint64_t number = next_gathering_[index]++ * kLanes + index;
  if (rank() == 0) {
    Contribute(kind, number, 0, std::string(bytes));
  } else {
    Post(peers_[0], kind, number, bytes);
  }
  agreements_[index] = number;
  const absl::Cleanup end_wait = [this, index] { agreements_[index].reset(); };
  Gathering& gathering = gatherings_[number];
  const auto has_ended = [&] { return gathering.all.has_value() || abort_.has_value(); };
  if (!changed_.wait_for(lock, absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(100000))), has_ended)) {
    if (rank() != 0) Post(peers_[0], ControlKind::kWho, number, "");
    const auto is_known = [&] { return has_ended() || gathering.missing.has_value(); };
    if (rank() != 0) changed_.wait_for(lock, absl::ToChronoNanoseconds(kAnswer), is_known);
  }
  if (gathering.all.has_value()) {
    std::vector<std::string> all = *std::move(gathering.all);
    gatherings_.erase(number);
    return all;
  }
  if (abort_.has_value()) return CauseLocked();
  const RankWait own{"", rank() == 0 ? MissingFrom(number) : gathering.missing.value_or(std::vector{0u}),
                     lane == Lane::kBeside};
  lock.unlock();
  const std::optional<Blame> blame = BlameFor(own);
  lock.lock();
  return abort_.has_value() ? CauseLocked() : LateError(own, blame, " did not arrive", timeout);
}

// Two ranks may meet errors at once: all report the one that rank 0 heard of first.
void ControlChannel::Abort(const absl::Status& cause) {
  std::unique_lock lock(mutex_);
  if (abort_.has_value()) return;
  if (rank() != 0 && !peers_[0].is_closed) {
    Post(peers_[0], ControlKind::kAbort, 0, EncodeAbort(rank(), cause));
    changed_.wait_for(lock, absl::ToChronoNanoseconds(kAnswer), [&] { return abort_.has_value(); });
  }
  RecordAbort(rank(), cause);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(kFlush), [&] { return IsFlushed(); });
}

bool ControlChannel::Publish(Control::Board board, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  const auto number = static_cast<size_t>(board);
  if (rank() == 0) {
    published_[number][0] = bytes;
    return true;
  }
  if (peers_[0].out.size() >= kMostUnsent) return false;
  Post(peers_[0], ControlKind::kPublish, number, bytes);
  return true;
}

std::string ControlChannel::PublishedBy(Control::Board board, uint32_t other) {
  const std::lock_guard lock(mutex_);
  return other < size() ? published_[static_cast<size_t>(board)][other] : "";
}

void ControlChannel::NoteWait(WaitKind kind, const std::string& description, absl::Span<const uint32_t> awaited) {
  const std::lock_guard lock(mutex_);
  waits_[static_cast<size_t>(kind)] = RankWait{description, {awaited.begin(), awaited.end()}};
}

void ControlChannel::EndWait(WaitKind kind) {
  const std::lock_guard lock(mutex_);
  waits_[static_cast<size_t>(kind)].reset();
}

WaitsMessage ControlChannel::OwnWaits() {
  WaitsMessage message;
  for (const std::optional<RankWait>& wait : waits_) {
    if (wait.has_value()) message.waits.push_back(*wait);
  }
  message.agreements = agreements_;
  return message;
}

WaitsMessage ControlChannel::OwnAnswer() {
  WaitsMessage message = OwnWaits();
  const bool waits = std::ranges::any_of(agreements_, [](const auto& agreement) { return agreement.has_value(); });
  if (message.waits.empty() && !waits && options_.where) message.where = options_.where();
  return message;
}

std::optional<Blame> ControlChannel::BlameFor(const RankWait& own) {
  const std::lock_guard asking(asking_);
  std::unique_lock lock(mutex_);
  if (abort_.has_value() || size() == 1) return std::nullopt;
  verdict_.reset();
  if (rank() == 0) {
    BeginInquiry(0, own);
  } else {
    Post(peers_[0], ControlKind::kBlame, own.is_beside, EncodeWaits({.waits = {own}, .agreements = {}, .where = ""}));
  }
  changed_.wait_for(lock, absl::ToChronoNanoseconds(kVerdict),
                    [&] { return verdict_.has_value() || abort_.has_value(); });
  if (abort_.has_value()) return std::nullopt;
  if (verdict_.has_value()) return verdict_;
  // Nothing goes on without rank 0, wherever this wait leads.
  return Blame{.ranks = {0}, .path = {}, .do_not_answer = true, .where = ""};
}

void ControlChannel::BeginInquiry(uint32_t asker, RankWait wait) {
  const bool is_new = !inquiry_.has_value();
  if (is_new) inquiry_.emplace(++inquiries_, size(), SteadyNow() + kInquiry);
  inquiry_->AddAsker(asker, std::move(wait));
  if (!is_new) return;
  for (Peer& peer : peers_) Post(peer, ControlKind::kWaits, inquiry_->number(), "");
  Wake();
}

// Called when all have answered, or too late for the others.
void ControlChannel::EndInquiry() {
  WaitInquiry inquiry = *std::exchange(inquiry_, std::nullopt);
  inquiry.SetAnswer(0, OwnAnswer());
  for (const Peer& peer : peers_) {
    if (peer.is_done) inquiry.SetDone(peer.link.rank);
  }
  for (const auto& [asker, blame] : inquiry.Decide([&](uint64_t agreement) { return MissingFrom(agreement); })) {
    if (asker == 0) verdict_ = blame;
    for (Peer& peer : peers_) {
      if (peer.link.rank == asker) Post(peer, ControlKind::kVerdict, 0, EncodeBlame(blame));
    }
  }
  changed_.notify_all();
}

// Rank 0 asks; or another rank has answered.
void ControlChannel::HandleWaits(Peer& peer, const Frame& frame) {
  if (rank() != 0) return Post(peer, ControlKind::kWaits, frame.number, EncodeWaits(OwnAnswer()));
  if (!inquiry_.has_value() || inquiry_->number() != frame.number) return;
  inquiry_->SetAnswer(0, OwnWaits());
  inquiry_->SetAnswer(peer.link.rank, DecodeWaits(frame.payload));
  if (inquiry_->HasAllAnswers()) EndInquiry();
}

absl::Status ControlChannel::abort_cause() {
  const std::lock_guard lock(mutex_);
  return CauseLocked();
}

absl::Status ControlChannel::CauseLocked() const {
  if (!abort_.has_value()) return absl::OkStatus();
  const std::string message(abort_->cause.message());
  return absl::Status(abort_->cause.code(), OfRank(abort_->rank, message));
}

void ControlChannel::RequestStop(int signal) {
  const std::lock_guard lock(mutex_);
  if (rank() == 0) {
    Hold(signal);
  } else if (stop_signal_ == 0) {
    Post(peers_[0], ControlKind::kStop, static_cast<uint64_t>(signal), "");
  }
}

int ControlChannel::stop_signal() { return stop_signal_.load(); }

void ControlChannel::MarkStateKept() {
  is_state_kept_.store(true);
  if (options_.on_state_kept) options_.on_state_kept();
}

absl::StatusOr<bool> ControlChannel::BeginStep(uint64_t step, absl::Duration timeout) {
  begun_.store(step + 1);
  if (options_.on_step) options_.on_step(step + 1);
  if (stop_signal_.load() == 0) return true;
  std::unique_lock lock(mutex_);
  const auto is_decided = [&] { return stop_at_step_.has_value() || abort_.has_value(); };
  // A step that waits for the decision has not begun, and must not move it.
  if (!is_decided()) begun_.store(step);
  std::optional<RankWait>& wait = waits_[static_cast<size_t>(WaitKind::kAgreement)];
  wait = RankWait{"the agreement after which step to stop", SilentAboutStop()};
  changed_.wait_for(lock, absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(100000))), is_decided);
  wait.reset();
  if (stop_at_step_.has_value()) return step < *stop_at_step_;
  if (abort_.has_value()) return CauseLocked();
  return absl::DeadlineExceededError(absl::StrCat("asked to stop: rank ", absl::StrJoin(SilentAboutStop(), ", "),
                                                  " did not say how far it is within ", absl::FormatDuration(timeout)));
}

std::vector<uint32_t> ControlChannel::SilentAboutStop() const {
  std::vector<uint32_t> silent;
  for (const Peer& peer : peers_) {
    if (rank() != 0 || !peer.begun.has_value()) silent.push_back(peer.link.rank);
  }
  return silent;
}

// From here on this rank begins no step until it knows how many there are.
void ControlChannel::Hold(int signal) {
  if (stop_signal_ != 0) return;
  stop_signal_ = signal;
  if (rank() != 0) {
    Post(peers_[0], ControlKind::kBegun, begun_.load(), "");
    return;
  }
  for (Peer& peer : peers_) Post(peer, ControlKind::kHold, static_cast<uint64_t>(signal), "");
  DecideStop();
}

// Once all have answered. A rank that is done has done all steps, so the others are to do them too.
void ControlChannel::DecideStop() {
  if (rank() != 0 || stop_signal_ == 0 || stop_at_step_.has_value()) return;
  uint64_t most = begun_.load();
  for (const Peer& peer : peers_) {
    if (!peer.is_done && !peer.begun.has_value()) return;
    most = std::max(most, peer.is_done ? UINT64_MAX : *peer.begun);
  }
  for (Peer& peer : peers_) Post(peer, ControlKind::kStopAt, most, "");
  StopAt(most);
}

void ControlChannel::StopAt(uint64_t steps) {
  stop_at_step_ = steps;
  changed_.notify_all();
}

void ControlChannel::Finish() {
  const std::lock_guard lock(mutex_);
  for (Peer& peer : peers_) Post(peer, ControlKind::kDone, 0, "");
}

absl::Status ControlChannel::WaitForOthers(absl::Duration timeout) {
  if (rank() != 0) return absl::OkStatus();
  std::unique_lock lock(mutex_);
  const auto are_done = [&] { return std::ranges::all_of(peers_, &Peer::is_done); };
  changed_.wait_for(lock, absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(100000))),
                    [&] { return are_done() || abort_.has_value(); });
  if (abort_.has_value()) return CauseLocked();
  if (are_done()) return absl::OkStatus();
  std::vector<uint32_t> late;
  for (const Peer& peer : peers_) {
    if (!peer.is_done) late.push_back(peer.link.rank);
  }
  const absl::Status cause =
      absl::DeadlineExceededError(absl::StrCat("did not end within ", absl::FormatDuration(timeout),
                                               " after rank 0 had ended, as ranks ", absl::StrJoin(late, ", ")));
  RecordAbort(late[0], cause);
  return CauseLocked();
}

void ControlChannel::Wake() {
  const uint64_t one = 1;
  while (write(wake_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void ControlChannel::Post(Peer& peer, ControlKind kind, uint64_t number, std::string_view payload) {
  if (peer.is_closed) return;
  absl::StatusOr<std::string> wire = peer.link.encoder.Encode(static_cast<uint32_t>(kind), number, payload);
  if (!wire.ok()) {
    // Closed before the abort tries to tell it to this peer too, which sees the end of the connection.
    peer.is_closed = true;
    shutdown(peer.link.socket.get(), SHUT_RDWR);
    RecordAbort(rank(), wire.status());
    return;
  }
  peer.out += *wire;
  Wake();
}

void ControlChannel::Contribute(ControlKind kind, uint64_t number, uint32_t from, std::string bytes) {
  Gathering& gathering = gatherings_[number];
  gathering.parts.resize(size());
  gathering.parts[from] = std::move(bytes);
  if (std::ranges::any_of(gathering.parts, [](const auto& part) { return !part.has_value(); })) return;
  std::vector<std::string> all;
  for (std::optional<std::string>& part : gathering.parts) all.push_back(*std::move(part));
  if (kind == ControlKind::kAmong) {
    gathering.all = TellAmong(number, all);
  } else {
    const bool is_for_all = kind == ControlKind::kGather;
    const std::string payload = EncodeByRank(is_for_all ? all : std::vector<std::string>(size()));
    for (Peer& peer : peers_) Post(peer, ControlKind::kGathered, number, payload);
    if (kind == ControlKind::kOffer) std::ranges::copy(all, offers_.begin());
    gathering.all = std::move(all);
  }
  changed_.notify_all();
}

// To each rank the texts of those with its key, behind their numbers; returns those of this rank.
std::vector<std::string> ControlChannel::TellAmong(uint64_t number, const std::vector<std::string>& contributions) {
  struct Group {
    std::vector<uint32_t> ranks;
    std::vector<std::string> texts = {""};
  };
  std::map<std::string, Group> groups;
  std::vector<Group*> group_of;
  for (uint32_t from = 0; from < size(); ++from) {
    std::vector<std::string> texts = DecodeTexts(contributions[from]).value_or(std::vector<std::string>());
    texts.resize(2);
    Group& group = groups[texts[0]];
    group.ranks.push_back(from);
    group.texts.push_back(std::move(texts[1]));
    group_of.push_back(&group);
  }
  for (auto& [key, group] : groups) group.texts[0] = EncodeRanks(group.ranks);
  for (Peer& peer : peers_) Post(peer, ControlKind::kToldAmong, number, EncodeTexts(group_of[peer.link.rank]->texts));
  return group_of[0]->texts;
}

std::vector<uint32_t> ControlChannel::MissingFrom(uint64_t number) {
  std::vector<uint32_t> missing;
  const auto found = gatherings_.find(number);
  for (uint32_t other = 0; other < size(); ++other) {
    const bool has_come = found != gatherings_.end() && other < found->second.parts.size() &&
                          (found->second.all.has_value() || found->second.parts[other].has_value());
    if (!has_come) missing.push_back(other);
  }
  return missing;
}

void ControlChannel::RecordAbort(uint32_t at_fault, const absl::Status& cause) {
  if (abort_.has_value()) return;
  abort_ = AbortMessage{at_fault, cause};
  give_up_at_ = SteadyNow() + options_.grace;
  for (Peer& peer : peers_) Post(peer, ControlKind::kAbort, 0, EncodeAbort(at_fault, cause));
  if (options_.on_abort) options_.on_abort(at_fault, cause);
  changed_.notify_all();
  Wake();
}

void ControlChannel::Run() {
  while (WaitForEvents()) {
  }
}

bool ControlChannel::IsFlushed() const {
  return std::ranges::all_of(peers_, [](const Peer& peer) { return peer.is_closed || peer.out.empty(); });
}

// Returns false when the channel is to stop.
bool ControlChannel::WaitForEvents() {
  std::vector<pollfd> descriptors = {{wake_.get(), POLLIN, 0}};
  absl::Time due;
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_ && (IsFlushed() || SteadyNow() > stop_at_)) return false;
    for (const Peer& peer : peers_) {
      const short events = static_cast<short>(POLLIN | (peer.out.empty() ? 0 : POLLOUT));
      descriptors.push_back({peer.is_closed ? -1 : peer.link.socket.get(), events, 0});
    }
    due = std::min(stop_at_, is_stopping_ ? absl::InfiniteFuture() : give_up_at_);
    if (inquiry_.has_value()) due = std::min(due, inquiry_->end());
  }
  const int64_t left = due == absl::InfiniteFuture() ? -1 : absl::ToInt64Milliseconds(due - SteadyNow()) + 1;
  poll(descriptors.data(), descriptors.size(), static_cast<int>(std::clamp<int64_t>(left, -1, 60'000)));
  uint64_t count = 0;
  if (descriptors[0].revents != 0 && read(wake_.get(), &count, sizeof(count)) < 0) count = 0;
  std::unique_lock lock(mutex_);
  for (size_t i = 0; i < peers_.size(); ++i) Serve(peers_[i], descriptors[i + 1].revents);
  if (inquiry_.has_value() && SteadyNow() > inquiry_->end()) EndInquiry();
  if (abort_.has_value() && IsFlushed()) changed_.notify_all();
  if (is_stopping_ || SteadyNow() < give_up_at_) return true;
  give_up_at_ = absl::InfiniteFuture();
  const absl::Status cause = CauseLocked();
  lock.unlock();
  options_.give_up(cause);
  return true;
}

void ControlChannel::Serve(Peer& peer, short events) {
  if (!peer.is_closed && !peer.out.empty()) Write(peer);
  if (!peer.is_closed && (events & ~POLLOUT) != 0) Read(peer);
}

void ControlChannel::Write(Peer& peer) {
  const ssize_t count = send(peer.link.socket.get(), peer.out.data(), peer.out.size(), MSG_NOSIGNAL);
  // A broken connection shows when reading.
  if (count > 0) peer.out.erase(0, static_cast<size_t>(count));
  if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) peer.out.clear();
}

void ControlChannel::Read(Peer& peer) {
  char buffer[1 << 16];
  const ssize_t count = recv(peer.link.socket.get(), buffer, sizeof(buffer), 0);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  absl::Status error;
  if (count > 0) {
    peer.link.decoder.Feed({buffer, static_cast<size_t>(count)});
    while (std::optional<Frame> frame = peer.link.decoder.Next(error)) Handle(peer, *frame);
    if (error.ok()) return;
  }
  if (count < 0) error = absl::UnavailableError(std::strerror(errno));
  HandleEnd(peer, error);
}

void ControlChannel::Handle(Peer& peer, const Frame& frame) {
  switch (static_cast<ControlKind>(frame.kind)) {
    case ControlKind::kAbort:
      if (const std::optional<AbortMessage> abort = DecodeAbort(frame.payload)) RecordAbort(abort->rank, abort->cause);
      return;
    case ControlKind::kDone:
      peer.is_done = true;
      DecideStop();
      changed_.notify_all();
      return;
    case ControlKind::kGather:
    case ControlKind::kCollect:
    case ControlKind::kAmong:
    case ControlKind::kOffer:
      if (rank() == 0) {
        Contribute(static_cast<ControlKind>(frame.kind), frame.number, peer.link.rank, frame.payload);
      }
      return;
    case ControlKind::kGathered:
      HandleGathered(peer, frame);
      return;
    case ControlKind::kToldAmong:
      gatherings_[frame.number].all = DecodeTexts(frame.payload).value_or(std::vector<std::string>());
      changed_.notify_all();
      return;
    case ControlKind::kLookup:
      if (rank() == 0 && frame.number < size())
        Post(peer, ControlKind::kOffered, frame.number, offers_[frame.number].value_or(""));
      return;
    case ControlKind::kOffered:
      if (frame.number < size()) offers_[frame.number] = frame.payload;
      changed_.notify_all();
      return;
    case ControlKind::kBlame: {
      std::optional<WaitsMessage> asked = DecodeWaits(frame.payload);
      if (rank() != 0 || !asked.has_value() || asked->waits.empty()) return;
      asked->waits[0].is_beside = frame.number != 0;
      BeginInquiry(peer.link.rank, std::move(asked->waits[0]));
      return;
    }
    case ControlKind::kWaits:
      HandleWaits(peer, frame);
      return;
    case ControlKind::kVerdict:
      verdict_ = DecodeBlame(frame.payload).value_or(Blame());
      changed_.notify_all();
      return;
    case ControlKind::kWho:
      if (rank() == 0) Post(peer, ControlKind::kMissing, frame.number, EncodeRanks(MissingFrom(frame.number)));
      return;
    case ControlKind::kMissing:
      gatherings_[frame.number].missing = DecodeRanks(frame.payload);
      changed_.notify_all();
      return;
    case ControlKind::kStop:
      if (rank() == 0) Hold(static_cast<int>(frame.number));
      return;
    case ControlKind::kHold:
      Hold(static_cast<int>(frame.number));
      return;
    case ControlKind::kBegun:
      peer.begun = frame.number;
      DecideStop();
      return;
    case ControlKind::kStopAt:
      StopAt(frame.number);
      return;
    case ControlKind::kPublish:
      if (rank() == 0 && frame.number < Control::kBoards)
        published_[frame.number][peer.link.rank] = frame.payload.substr(0, Control::kMostPublished);
      return;
    case ControlKind::kReady:
      return;
  }
}

// Callers take the text of each rank by its number.
void ControlChannel::HandleGathered(const Peer& peer, const Frame& frame) {
  if (rank() == 0) return;
  std::optional<std::vector<std::string>> texts = DecodeByRank(frame.payload, size());
  if (!texts.has_value()) {
    return RecordAbort(peer.link.rank, absl::InternalError(absl::StrCat(
                                           "gave no ", size(),
                                           " texts in an agreement; expected one of each rank; start all ranks with "
                                           "the same sgdrun")));
  }
  gatherings_[frame.number].all = std::move(texts);
  changed_.notify_all();
}

void ControlChannel::HandleEnd(Peer& peer, const absl::Status& error) {
  peer.is_closed = true;
  peer.out.clear();
  if (peer.is_done) return;
  RecordAbort(peer.link.rank, absl::UnavailableError(absl::StrCat(
                                  "its process or host has ended: the connection to ", peer.link.address, " was ",
                                  error.ok() ? "closed" : absl::StrCat("lost (", error.message(), ")"))));
}

}  // namespace sgd::comm
