// Messages of the control channel, as the kinds and payloads of frames.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/comm/control/blame.h"

namespace sgd::comm {

// Rank 0 is one end of every connection. Numbers of frames are those of the gathering meant.
enum class ControlKind : uint32_t {
  kReady = 1,       // from rank 0: all ranks have come
  kAbort = 2,       // both ways: the job has ended
  kDone = 3,        // both ways: the sender's end is from now on not a death
  kGather = 4,      // to rank 0: the sender's bytes
  kGathered = 5,    // from rank 0: everybody's bytes
  kWho = 6,         // to rank 0: who has not come to this gathering?
  kMissing = 7,     // from rank 0: these ranks
  kCollect = 8,     // to rank 0, for it alone: the sender's bytes; answered by kGathered without any
  kStop = 9,        // to rank 0, with a signal's number: all ranks are asked to stop
  kHold = 10,       // from rank 0, with the signal's number: say how many steps you have begun, and begin none
  kBegun = 11,      // to rank 0, with that number
  kStopAt = 12,     // from rank 0, with the number of steps to do in all
  kAmong = 13,      // to rank 0: a key and the sender's bytes
  kToldAmong = 14,  // from rank 0: the ranks with the receiver's key, and their bytes
  kOffer = 15,      // to rank 0, for whoever asks: the sender's bytes; answered by kGathered without any
  kLookup = 16,     // to rank 0, with a rank's number: what has it offered?
  kBlame = 18,      // to rank 0: the sender's wait has taken too long, who is at fault?
  kWaits = 19,      // from rank 0, with the number of the inquiry: what do you wait for? and the answer
  kVerdict = 20,    // from rank 0: the ranks at fault
  kOffered = 17,    // from rank 0, with that number: its bytes
  kPublish = 21,    // to rank 0, with a board's number: the sender's latest bytes (Control::Publish)
};

// The first cause of a job's end and the rank at fault. Long messages are cut.
std::string EncodeAbort(uint32_t rank, const absl::Status& cause);
struct AbortMessage {
  uint32_t rank = 0;
  absl::Status cause;
};
std::optional<AbortMessage> DecodeAbort(std::string_view payload);

std::string EncodeTexts(absl::Span<const std::string> texts);
std::optional<std::vector<std::string>> DecodeTexts(std::string_view payload);

// A text of each rank. Equal texts are sent once, and neighbours with equal texts together: ranks agree on little else
// than equal texts, so that their length does not grow with the job.
std::string EncodeByRank(absl::Span<const std::string> texts);
// Nothing unless there are `ranks` texts.
std::optional<std::vector<std::string>> DecodeByRank(std::string_view payload, uint32_t ranks);

// The agreements of all ranks that a rank waits in, by their numbers: among its steps, and of a thread beside them.
using AgreementNumbers = std::array<std::optional<uint64_t>, 2>;
// The waits of a rank. Rank 0 knows which ranks an agreement misses.
struct WaitsMessage {
  std::vector<RankWait> waits;
  AgreementNumbers agreements;
  std::string where;  // as of RankReport
};
std::string EncodeWaits(const WaitsMessage& message);
std::optional<WaitsMessage> DecodeWaits(std::string_view payload);

std::string EncodeBlame(const Blame& blame);
std::optional<Blame> DecodeBlame(std::string_view payload);

std::string EncodeRanks(absl::Span<const uint32_t> ranks);
std::optional<std::vector<uint32_t>> DecodeRanks(std::string_view payload);

}  // namespace sgd::comm
