// The TCP connections of a job's ranks, a star around rank 0: small agreements, the first cause of the job's end, and
// the notice of ranks and hosts that are gone. A thread per rank serves it, also while the rank computes.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"
#include "runtime/comm/control/control_message.h"
#include "runtime/comm/control/unique_fd.h"
#include "runtime/comm/control/wait_inquiry.h"
#include "runtime/comm/tcp/tcp_meeting.h"

namespace sgd::comm {

struct ControlChannelOptions {
  uint32_t rank = 0;
  uint32_t size = 1;
  // Called once, on any thread, with the rank at fault and the first cause of the job's end. May be empty.
  std::function<void(uint32_t rank, const absl::Status& cause)> on_abort;
  // Called by MarkStateKept. May be empty.
  std::function<void()> on_state_kept;
  // Called when the rank begins a step, with the number of steps that it has begun. May be empty.
  std::function<void(uint64_t begun)> on_step;
  // How long the rank has to end by itself after an abort; then `give_up` is called, once.
  absl::Duration grace = absl::Milliseconds(25);
  std::function<void(const absl::Status& cause)> give_up;
  // Describes this rank's instruction, for a message that it is stuck; takes at most half a second. May be empty.
  std::function<std::string()> where;
};

// Agreements of a thread beside the steps have numbers of their own.
enum class Lane : uint8_t { kSteps, kBeside };
inline constexpr size_t kLanes = 2;

class ControlChannel {
 public:
  // `links` are those of MeetOverTcp. ResourceExhausted without a thread.
  static absl::StatusOr<std::unique_ptr<ControlChannel>> Start(std::vector<ControlLink> links,
                                                               ControlChannelOptions options);
  // Sends what is left to be sent, half a second at most, and stops.
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  uint32_t rank() const { return options_.rank; }
  uint32_t size() const { return options_.size; }
  // The network interfaces of this host through which it is connected with other hosts.
  std::vector<std::string> interfaces();
  // Bytes that a rank may give to AllGather.
  uint64_t MaxContribution() const;

  // Every rank's bytes, by rank; all call it, one thread of each and lane. DeadlineExceeded naming the ranks that did
  // not come, or the cause of the job's end.
  absl::StatusOr<std::vector<std::string>> AllGather(std::string_view bytes, absl::Duration timeout,
                                                     Lane lane = Lane::kSteps);

  // The same for rank 0 alone: the others get empty texts.
  absl::StatusOr<std::vector<std::string>> Gather(std::string_view bytes, absl::Duration timeout,
                                                  Lane lane = Lane::kSteps);

  // As of Control. GatherAmong gives the numbers of the ranks (EncodeRanks), then their bytes.
  absl::StatusOr<std::vector<std::string>> GatherAmong(std::string_view key, std::string_view bytes,
                                                       absl::Duration timeout);
  absl::Status Offer(std::string_view bytes, absl::Duration timeout);
  absl::StatusOr<std::string> OfferOf(uint32_t rank, absl::Duration timeout);

  // See Control.
  bool Publish(Control::Board board, std::string_view bytes);
  std::string PublishedBy(Control::Board board, uint32_t rank);

  // See Control. Rank 0 asks all ranks for their waits, and decides.
  void NoteWait(WaitKind kind, const std::string& description, absl::Span<const uint32_t> awaited);
  void EndWait(WaitKind kind);
  std::optional<Blame> BlameFor(const RankWait& own);

  // Ends the job with a cause that this rank has met; the first cause of the job is kept. Rank 0 decides which that is:
  // this waits for its answer, and then until the others are told, half a second at most each.
  void Abort(const absl::Status& cause);
  // "rank R: cause", or OK.
  absl::Status abort_cause();
  // See Control. Rank 0 has all ranks hold before their next step and say how many they have begun; the most of them is
  // how many all do.
  void RequestStop(int signal);
  absl::StatusOr<bool> BeginStep(uint64_t step, absl::Duration timeout);
  int stop_signal();
  void MarkStateKept();
  bool is_state_kept() const { return is_state_kept_.load(); }
  // From now on this rank's end is not a death.
  void Finish();
  // On rank 0, through which the others hear of each other: waits until they are done as well, or the job has ended.
  // DeadlineExceeded naming those that are not. OK at once on other ranks.
  absl::Status WaitForOthers(absl::Duration timeout);

 private:
  struct Peer {
    explicit Peer(ControlLink link) : link(std::move(link)) {}
    ControlLink link;
    std::string out;  // not yet sent
    bool is_done = false;
    bool is_closed = false;
    std::optional<uint64_t> begun;  // steps, as it has answered to kHold; on rank 0
  };
  struct Gathering {
    std::vector<std::optional<std::string>> parts;  // on rank 0, by rank
    std::optional<std::vector<std::string>> all;
    std::optional<std::vector<uint32_t>> missing;  // as rank 0 answered
  };

  explicit ControlChannel(ControlChannelOptions options) : options_(std::move(options)), offers_(size()) {
    published_.fill(std::vector<std::string>(size()));
  }

  // The thread. Functions below it are called with the mutex held.
  void Run();
  bool WaitForEvents();
  void Serve(Peer& peer, short events);
  void Read(Peer& peer);
  void Write(Peer& peer);
  void Handle(Peer& peer, const Frame& frame);
  void HandleGathered(const Peer& peer, const Frame& frame);
  void HandleEnd(Peer& peer, const absl::Status& error);
  void HandleWaits(Peer& peer, const Frame& frame);
  bool IsFlushed() const;

  void Post(Peer& peer, ControlKind kind, uint64_t number, std::string_view payload);
  absl::StatusOr<std::vector<std::string>> Exchange(ControlKind kind, std::string_view bytes, absl::Duration timeout,
                                                    Lane lane);
  void Contribute(ControlKind kind, uint64_t number, uint32_t rank, std::string bytes);
  std::vector<std::string> TellAmong(uint64_t number, const std::vector<std::string>& contributions);
  std::vector<uint32_t> MissingFrom(uint64_t number);
  std::vector<uint32_t> SilentAboutStop() const;
  void Hold(int signal);
  void DecideStop();
  void StopAt(uint64_t steps);
  void RecordAbort(uint32_t rank, const absl::Status& cause);
  WaitsMessage OwnWaits();
  // Also says where this rank is, if it waits for nobody.
  WaitsMessage OwnAnswer();
  void BeginInquiry(uint32_t asker, RankWait wait);
  void EndInquiry();
  absl::Status CauseLocked() const;
  void Wake();

  ControlChannelOptions options_;
  UniqueFd wake_;  // eventfd
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Peer> peers_;  // rank 0: all others; else rank 0
  std::map<uint64_t, Gathering> gatherings_;
  std::array<uint64_t, kLanes> next_gathering_ = {};  // by lane
  std::vector<std::optional<std::string>> offers_;    // by rank: all on rank 0, elsewhere what it has looked up
  std::array<std::vector<std::string>, Control::kBoards> published_;  // by rank, on rank 0
  // A step is begun without the mutex: the number is stored before the signal is read, and the other way round by who
  // holds, so one of the two sees the other.
  std::atomic<uint64_t> begun_ = 0;   // steps that this rank has begun
  std::atomic<int> stop_signal_ = 0;  // once it holds
  std::atomic<bool> is_state_kept_ = false;
  std::optional<uint64_t> stop_at_step_;  // how many steps to do in all
  std::array<std::optional<RankWait>, kWaitKinds> waits_;
  AgreementNumbers agreements_;         // that this rank waits in
  std::optional<WaitInquiry> inquiry_;  // of rank 0: one at a time
  uint64_t inquiries_ = 0;
  std::mutex asking_;             // held by the thread that waits for a verdict
  std::optional<Blame> verdict_;  // for this rank
  bool is_stopping_ = false;
  absl::Time stop_at_ = absl::InfiniteFuture();
  std::optional<AbortMessage> abort_;
  absl::Time give_up_at_ = absl::InfiniteFuture();
  std::thread thread_;
};

}  // namespace sgd::comm
