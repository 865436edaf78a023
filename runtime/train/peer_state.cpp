// A message has all parts of a rank, one behind the other, then their checksums.
#include "runtime/train/peer_state.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/text/amounts.h"
#include "runtime/train/kept_state.h"

namespace sgd::train {
namespace {

uint32_t HostsOf(const Job& job) { return static_cast<uint32_t>(job.file->ranks()) / job.host.count; }

RankRange HostOf(const Job& job, uint32_t host) {
  return {.first = host % HostsOf(job) * job.host.count, .count = job.host.count};
}

// The rank of equal number `hosts` hosts further.
uint32_t RankAt(const Job& job, uint32_t rank, uint32_t hosts) {
  return (rank + hosts * job.host.count) % static_cast<uint32_t>(job.file->ranks());
}

bool IsHeldOn(const Job& job, const RankRange& host, size_t input, const data::Shard& shard) {
  for (uint32_t rank = host.first; rank < host.first + host.count; ++rank) {
    const std::optional<data::Shard> held = HeldShard(job, input, rank);
    if (held && AreAlike(*held, shard)) return true;
  }
  return false;
}

// Inputs by the number of their tensor in the state.
std::vector<size_t> StateInputs(const Job& job) {
  std::vector<size_t> inputs;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    if (!job.IsFed(i)) inputs.push_back(i);
  }
  return inputs;
}

// A rank's share of what its host holds, but for what `except` holds too.
std::vector<PeerPart> PartsOf(const Job& job, uint32_t rank, const std::optional<RankRange>& except) {
  std::vector<PeerPart> parts;
  const uint32_t host = rank / job.host.count;
  const std::vector<Share> shares = SharesOnHost(job, HostOf(job, host), rank);
  const std::vector<size_t> inputs = StateInputs(job);
  for (size_t tensor = 0; tensor < inputs.size(); ++tensor) {
    std::optional<data::Shard> shard = HeldShard(job, inputs[tensor], rank);
    if (!shard || (except && IsHeldOn(job, *except, inputs[tensor], *shard))) continue;
    uint64_t bytes = 0;
    shard->ForEachRunOfPart(shares[tensor].part, shares[tensor].parts,
                            [&](uint64_t, uint64_t, uint64_t run) { bytes += run; });
    parts.push_back({.tensor = tensor, .shard = *std::move(shard), .share = shares[tensor], .bytes = bytes});
  }
  return parts;
}

}  // namespace

std::vector<PeerPart> PartsForNextHost(const Job& job, uint32_t rank) {
  return PartsOf(job, rank, HostOf(job, rank / job.host.count + 1));
}

std::vector<PeerPart> PartsFromHostBefore(const Job& job, uint32_t rank) {
  return PartsForNextHost(job, RankAt(job, rank, HostsOf(job) - 1));
}

uint64_t BytesOf(const std::vector<PeerPart>& parts) {
  uint64_t bytes = 0;
  for (const PeerPart& part : parts) bytes += part.bytes;
  return bytes;
}

std::vector<checkpoint::LocalTensor> TensorsFromHostBefore(const Job& job, uint32_t rank) {
  const uint32_t before = RankAt(job, rank, HostsOf(job) - 1);
  std::vector<checkpoint::LocalTensor> tensors = StateOf(job, before);
  for (checkpoint::LocalTensor& tensor : tensors) tensor.replicas = 0;
  for (const PeerPart& part : PartsFromHostBefore(job, rank)) {
    tensors[part.tensor].shard = part.shard;
    tensors[part.tensor].replica = part.share.part;
    tensors[part.tensor].replicas = part.share.parts;
  }
  return tensors;
}

bool SendsPeerCopies(const Job& job) {
  return job.host.count != 0 && HostsOf(job) > 1 && job.file->root().target()->string_view() == "cpu";
}

namespace {

// With a checksum of each part, and a byte where replicas make all else needless: no copy is newer than that of the
// host that it is for.
uint64_t MessageBytes(const std::vector<PeerPart>& parts) {
  return BytesOf(parts) + parts.size() * sizeof(checkpoint::Digest::Value) + 1;
}

}  // namespace

bool HasPeerCopies(const Job& job) { return job.snapshots != nullptr && SendsPeerCopies(job); }

std::string PeerCopiesText(const Job& job) {
  if (!HasPeerCopies(job)) return "";
  const uint32_t own = job.host.first / job.host.count, hosts = HostsOf(job);
  uint64_t held = 0, sent = 0, received = 0;
  for (uint32_t i = 0; i < job.host.count; ++i) {
    held += BytesOf(PartsOf(job, job.host.first + i, std::nullopt));
    sent += BytesOf(PartsForNextHost(job, job.host.first + i));
    received += BytesOf(PartsFromHostBefore(job, job.host.first + i));
  }
  if (sent + received == 0) return "";
  const std::string every = job.options.peer_copies_by_cost ? "as often as costs little"
                            : SnapshotEvery(job) == 1       ? "every step"
                                                            : absl::StrCat("every ", SnapshotEvery(job), " steps");
  return absl::StrCat("two copies of the state take ", text::BytesText(2 * held), " of this host's memory, and ",
                      text::BytesText(2 * received), " for host ", (own + hosts - 1) % hosts, ", and messages ",
                      text::BytesText(sent + received), "; each, ", every, ", sends ", text::BytesText(sent),
                      " to host ", (own + 1) % hosts);
}

PeerCopies::PeerCopies(const Job& job, uint32_t rank, comm::Communicator& communicator)
    : communicator_(communicator),
      deadline_(job.options.deadline),
      next_(RankAt(job, rank, 1)),
      before_(RankAt(job, rank, HostsOf(job) - 1)),
      sent_(PartsForNextHost(job, rank)),
      received_(PartsFromHostBefore(job, rank)) {}

absl::StatusOr<std::unique_ptr<PeerCopies>> PeerCopies::Create(const Job& job, uint32_t rank,
                                                               comm::Communicator& communicator) {
  auto copies = absl::WrapUnique(new PeerCopies(job, rank, communicator));
  absl::StatusOr<comm::SideMessages> messages = communicator.ReserveSideMessages(
      copies->next_, MessageBytes(copies->sent_), copies->before_, MessageBytes(copies->received_));
  if (!messages.ok()) return messages.status();
  copies->messages_ = *messages;
  return copies;
}

absl::Status PeerCopies::Send(uint64_t steps_done, const std::vector<checkpoint::LocalTensor>& state, uint32_t rank,
                              checkpoint::SharedSnapshot& copy) {
  begin_ = SteadyNow();
  uint64_t at = 0, checksum_at = BytesOf(sent_);
  for (const PeerPart& part : sent_) {
    const uint64_t begin = at;
    part.shard.ForEachRunOfPart(part.share.part, part.share.parts, [&](uint64_t, uint64_t local, uint64_t bytes) {
      std::memcpy(messages_.sent.data() + at, state[part.tensor].bytes.data() + local, bytes);
      at += bytes;
    });
    checkpoint::Digest digest;
    digest.Add(messages_.sent.subspan(begin, at - begin));
    const checkpoint::Digest::Value checksum = digest.value();
    std::memcpy(messages_.sent.data() + checksum_at, &checksum, sizeof(checksum));
    checksum_at += sizeof(checksum);
  }
  copy_ = &copy;
  steps_done_ = steps_done;
  rank_ = rank;
  taken_ = 0;
  taken_bytes_ = 0;
  return communicator_.StartSideMessages([this] { return TakePart(); });
}

bool PeerCopies::TakePart() {
  if (taken_ < received_.size()) {
    const PeerPart& part = received_[taken_];
    const std::span<std::byte> global = copy_->tensor(part.tensor);
    part.shard.ForEachRunOfPart(part.share.part, part.share.parts, [&](uint64_t to, uint64_t, uint64_t bytes) {
      std::memcpy(global.data() + to, messages_.received.data() + taken_bytes_, bytes);
      taken_bytes_ += bytes;
    });
    checkpoint::Digest::Value checksum;
    std::memcpy(&checksum, messages_.received.data() + BytesOf(received_) + taken_ * sizeof(checksum),
                sizeof(checksum));
    copy_->SetChecksumOfOther(rank_, part.tensor, checksum);
    ++taken_;
    return true;
  }
  copy_->AddOfOtherHost(steps_done_);
  end_ = SteadyNow();
  return false;
}

absl::Status PeerCopies::Finish() {
  absl::Status status = communicator_.FinishSideMessages(deadline_);
  duration_ = end_ - begin_;
  return status;
}

absl::Status FetchState(const Job& job, uint32_t rank, const exec::Executor& executor,
                        comm::Communicator& communicator) {
  const auto lacks_state = [&](uint32_t of) {
    return std::ranges::find(job.without_state, of / job.host.count) != job.without_state.end();
  };
  const uint32_t giver = RankAt(job, rank, 1), taker = RankAt(job, rank, HostsOf(job) - 1);
  std::vector<std::byte> sending;
  for (const size_t input : StateInputs(job)) {
    comm::BulkMessages messages;
    if (const std::optional<data::Shard> theirs = HeldShard(job, input, taker); theirs && lacks_state(taker)) {
      sending.resize(theirs->local_bytes());
      theirs->CopyIn(job.initial[input]->bytes(), sending);
      messages.sends.push_back({taker, sending});
    }
    if (lacks_state(rank) && HeldShard(job, input, rank)) {
      messages.receives.push_back({giver, executor.InputBytes(input)});
    } else if (lacks_state(rank) && executor.inputs()[input].is_held) {
      std::ranges::fill(executor.InputBytes(input), std::byte{0});  // padding alone
    }
    if (absl::Status status = communicator.Exchange(messages, job.options.deadline); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace sgd::train
