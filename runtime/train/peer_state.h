// Copies of a host's state on the next host of a ring, for when the host is lost; and the way back, to the ranks that
// take its place. Ranks of equal number on their hosts send each other what they hold.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/checkpoint/shared_snapshot.h"
#include "runtime/checkpoint/sharded_file.h"
#include "runtime/comm/collectives/communicator.h"
#include "runtime/exec/executor.h"
#include "runtime/train/host_shares.h"
#include "runtime/train/job.h"

namespace sgd::train {

// The part of a state tensor that one rank gives the rank of equal number on the next host.
struct PeerPart {
  size_t tensor = 0;  // among those of the state
  data::Shard shard;  // of the rank that sends it
  Share share;
  uint64_t bytes = 0;
};

// The state that `rank` sends to the next host: its share of the state that only its host holds. Nothing of a job
// on one host.
std::vector<PeerPart> PartsForNextHost(const Job& job, uint32_t rank);
// The parts that the host before sends to `rank`.
std::vector<PeerPart> PartsFromHostBefore(const Job& job, uint32_t rank);
uint64_t BytesOf(const std::vector<PeerPart>& parts);

// The same as tensors of the state; no parts of those that are not sent.
std::vector<checkpoint::LocalTensor> TensorsFromHostBefore(const Job& job, uint32_t rank);

// Whether ranks give each other copies of what they hold: those of CPUs, on several hosts.
bool SendsPeerCopies(const Job& job);
// The same of a job that has memory for them.
bool HasPeerCopies(const Job& job);

// The memory that copies and messages take on this host, and what each copy sends; empty where they send nothing.
std::string PeerCopiesText(const Job& job);

class PeerCopies {
 public:
  // `rank` of a job that HasPeerCopies. Borrows all. ResourceExhausted without memory for messages.
  static absl::StatusOr<std::unique_ptr<PeerCopies>> Create(const Job& job, uint32_t rank,
                                                            comm::Communicator& communicator);
  // Forgets messages in flight.
  ~PeerCopies() { communicator_.DropSideMessages(); }
  PeerCopies(const PeerCopies&) = delete;
  PeerCopies& operator=(const PeerCopies&) = delete;

  // Copies this rank's parts of `state`, that after `steps_done` steps, and begins to send them; steps may follow. What
  // comes of the host before this one is put into `copy` with its checksums, as soon as it is here. `rank` is this
  // one's number on its host. All ranks call it, with what they have just filled into their copies, and Finish before
  // the next time.
  absl::Status Send(uint64_t steps_done, const std::vector<checkpoint::LocalTensor>& state, uint32_t rank,
                    checkpoint::SharedSnapshot& copy);
  // Returns when this rank's part is there, and what it has sent has left. Errors as of Communicator.
  absl::Status Finish();

  uint64_t sent_bytes() const { return messages_.sent.size(); }
  // From Send until what was to come had been put into the copy, of those that were finished last.
  absl::Duration duration() const { return duration_; }

 private:
  PeerCopies(const Job& job, uint32_t rank, comm::Communicator& communicator);
  // Puts the next part of what has come into the copy; false where there is none.
  bool TakePart();

  comm::Communicator& communicator_;
  const absl::Duration deadline_;
  uint32_t next_ = 0, before_ = 0;  // ranks
  std::vector<PeerPart> sent_, received_;
  comm::SideMessages messages_;
  // Of what is in flight.
  checkpoint::SharedSnapshot* copy_ = nullptr;
  uint64_t steps_done_ = 0;
  uint32_t rank_ = 0;
  size_t taken_ = 0;  // parts that are in the copy
  uint64_t taken_bytes_ = 0;
  absl::Time begin_, end_;
  absl::Duration duration_;
};

// Before the first step of ranks of which some have no state: those of hosts job.without_state get theirs from the
// ranks of the next host, which has a copy. All ranks call it. Errors as of Communicator::Exchange.
absl::Status FetchState(const Job& job, uint32_t rank, const exec::Executor& executor,
                        comm::Communicator& communicator);

}  // namespace sgd::train
