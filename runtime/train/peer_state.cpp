// One tensor after the other, so that a message takes little memory.
#include "runtime/train/peer_state.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
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

uint64_t BytesOf(const std::vector<PeerPart>& parts) {
  uint64_t bytes = 0;
  for (const PeerPart& part : parts) bytes += part.bytes;
  return bytes;
}

std::vector<checkpoint::LocalTensor> TensorsFromHostBefore(const Job& job, uint32_t rank) {
  const uint32_t before = RankAt(job, rank, HostsOf(job) - 1);
  std::vector<checkpoint::LocalTensor> tensors = StateOf(job, before);
  for (checkpoint::LocalTensor& tensor : tensors) tensor.replicas = 0;
  for (const PeerPart& part : PartsForNextHost(job, before)) {
    tensors[part.tensor].shard = part.shard;
    tensors[part.tensor].replica = part.share.part;
    tensors[part.tensor].replicas = part.share.parts;
  }
  return tensors;
}

bool SendsPeerCopies(const Job& job) {
  return job.host.count != 0 && HostsOf(job) > 1 && job.file->root().target()->string_view() == "cpu";
}

bool HasPeerCopies(const Job& job) { return job.snapshots != nullptr && SendsPeerCopies(job); }

std::string PeerCopiesText(const Job& job) {
  if (!HasPeerCopies(job)) return "";
  const uint32_t own = job.host.first / job.host.count, hosts = HostsOf(job);
  uint64_t held = 0, sent = 0, received = 0;
  for (uint32_t i = 0; i < job.host.count; ++i) {
    held += BytesOf(PartsOf(job, job.host.first + i, std::nullopt));
    sent += BytesOf(PartsForNextHost(job, job.host.first + i));
    received += BytesOf(PartsForNextHost(job, RankAt(job, job.host.first + i, hosts - 1)));
  }
  if (sent + received == 0) return "";
  return absl::StrCat("two copies of the state take ", text::BytesText(2 * held), " of this host's memory, and ",
                      text::BytesText(2 * received), " for host ", (own + hosts - 1) % hosts, "; each, every ",
                      SnapshotEvery(job), SnapshotEvery(job) == 1 ? " step" : " steps", ", sends ",
                      text::BytesText(sent), " to host ", (own + 1) % hosts);
}

PeerCopies::PeerCopies(const Job& job, uint32_t rank, comm::Communicator& communicator)
    : communicator_(communicator),
      deadline_(job.options.deadline),
      next_(RankAt(job, rank, 1)),
      before_(RankAt(job, rank, HostsOf(job) - 1)),
      sent_(PartsForNextHost(job, rank)),
      received_(PartsForNextHost(job, before_)) {
  const auto most = [](const std::vector<PeerPart>& parts) {
    uint64_t bytes = 0;
    for (const PeerPart& part : parts) bytes = std::max(bytes, part.bytes);
    return bytes;
  };
  sending_.resize(most(sent_));
  receiving_.resize(most(received_));
}

absl::Status PeerCopies::Exchange(const std::vector<checkpoint::LocalTensor>& state, uint32_t rank,
                                  checkpoint::SharedSnapshot& copy) {
  // Behind all parts, also where replicas make these needless: no copy is newer than that of the host it is for.
  constexpr checkpoint::Digest::Value kMark = {1, 0};
  std::vector<checkpoint::Digest::Value> sent(sent_.size(), kMark), received(received_.size() + 1, kMark);
  for (size_t i = 0; i < std::max(sent_.size(), received_.size()); ++i) {
    comm::BulkMessages messages;
    if (i < sent_.size() && sent_[i].bytes > 0) {
      const PeerPart& part = sent_[i];
      uint64_t at = 0;
      part.shard.ForEachRunOfPart(part.share.part, part.share.parts, [&](uint64_t, uint64_t local, uint64_t bytes) {
        std::memcpy(sending_.data() + at, state[part.tensor].bytes.data() + local, bytes);
        at += bytes;
      });
      messages.sends.push_back({next_, std::span(sending_).first(part.bytes)});
      checkpoint::Digest digest;
      digest.Add(std::span(sending_).first(part.bytes));
      sent[i] = digest.value();
    }
    if (i < received_.size() && received_[i].bytes > 0)
      messages.receives.push_back({before_, std::span(receiving_).first(received_[i].bytes)});
    if (absl::Status status = communicator_.Exchange(messages, deadline_); !status.ok()) return status;
    if (messages.receives.empty()) continue;
    const PeerPart& part = received_[i];
    const std::span<std::byte> global = copy.tensor(part.tensor);
    uint64_t at = 0;
    part.shard.ForEachRunOfPart(part.share.part, part.share.parts, [&](uint64_t to, uint64_t, uint64_t bytes) {
      std::memcpy(global.data() + to, receiving_.data() + at, bytes);
      at += bytes;
    });
  }
  sent.push_back(kMark);
  absl::Status status = communicator_.Exchange({.sends = {{next_, std::as_bytes(std::span(sent))}},
                                                .receives = {{before_, std::as_writable_bytes(std::span(received))}}},
                                               deadline_);
  for (size_t i = 0; status.ok() && i < received_.size(); ++i)
    copy.SetChecksumOfOther(rank, received_[i].tensor, received[i]);
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
