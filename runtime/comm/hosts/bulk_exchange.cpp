// Chunks are received where they belong.
#include "runtime/comm/hosts/bulk_exchange.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kBulkChunk = 256 << 10;
// Of the streams below those of channels, the last: collectives are numbered from 0.
constexpr uint64_t kBulkStream = HostLink::kMailboxStreams - 1;
constexpr uint64_t kSideStream = kBulkStream - 1;

}  // namespace

uint64_t BulkExchange::Lane::chunks() const { return (bytes + kBulkChunk - 1) / kBulkChunk; }

uint64_t BulkExchange::Lane::ChunkBytes(uint64_t chunk) const {
  return std::min(kBulkChunk, bytes - chunk * kBulkChunk);
}

absl::Status BulkExchange::Run(ProgressEngine& engine, HostLinks& links, const BulkMessages& messages,
                               absl::Duration timeout) {
  if (messages.sends.empty() && messages.receives.empty()) return absl::OkStatus();
  BulkExchange exchange(engine, kBulkStream, nullptr);
  if (absl::Status status = exchange.Open(links, messages); !status.ok()) return status;
  exchange.Begin();
  return exchange.Finish(timeout);
}

absl::StatusOr<std::unique_ptr<BulkExchange>> BulkExchange::Start(ProgressEngine& engine, HostLinks& links,
                                                                  const BulkMessages& messages,
                                                                  std::function<bool()> take) {
  auto exchange = absl::WrapUnique(new BulkExchange(engine, kSideStream, std::move(take)));
  if (absl::Status status = exchange->Open(links, messages); !status.ok()) return status;
  exchange->Begin();
  engine.Kick(*exchange, [] {});
  return exchange;
}

void BulkExchange::Begin() {
  engine_.Submit(*this);
  is_submitted_ = true;
}

absl::Status BulkExchange::Finish(absl::Duration timeout) {
  const std::string description = "exchange of state with other hosts";
  const ProgressEngine::WaitFor limits{.description = description, .timeout = timeout, .kind = WaitKind::kMessage};
  return engine_.Wait(*this, [this] { return IsDone(); }, &limits);
}

BulkExchange::~BulkExchange() {
  if (is_submitted_) engine_.Remove(*this);
}

absl::Status BulkExchange::Open(HostLinks& links, const BulkMessages& messages) {
  const std::unique_lock lock = engine_.Lock();
  for (const BulkMessages::Send& send : messages.sends) {
    absl::StatusOr<HostLink*> link = links.Open(send.peer, stream_);
    if (!link.ok()) return link.status();
    sends_.push_back({*link, const_cast<std::byte*>(send.bytes.data()), send.bytes.size(), (*link)->sent()});
  }
  for (const BulkMessages::Receive& receive : messages.receives) {
    absl::StatusOr<HostLink*> link = links.Open(receive.peer, stream_);
    if (!link.ok()) return link.status();
    receives_.push_back({*link, receive.bytes.data(), receive.bytes.size(), (*link)->posted()});
  }
  return absl::OkStatus();
}

bool BulkExchange::Send(Lane& lane) {
  bool moved = false;
  for (; lane.begun < lane.chunks() && lane.link->MaySend(); ++lane.begun) {
    lane.link->Send(lane.data + lane.begun * kBulkChunk, lane.ChunkBytes(lane.begun));
    moved = true;
  }
  for (; lane.ended < lane.begun && lane.link->HasLeft(lane.first + lane.ended); ++lane.ended) moved = true;
  return moved;
}

bool BulkExchange::Receive(Lane& lane) {
  bool moved = false;
  do {
    for (; lane.begun < lane.chunks() && lane.link->MayPost(); ++lane.begun)
      lane.link->Post(lane.data + lane.begun * kBulkChunk, lane.ChunkBytes(lane.begun));
    if (lane.ended == lane.begun || !lane.link->HasArrived()) return moved;
    lane.link->Take();
    ++lane.ended;
    moved = true;
  } while (true);
}

Advance BulkExchange::Step() {
  bool moved = false;
  for (Lane& lane : sends_) moved = Send(lane) || moved;
  for (Lane& lane : receives_) moved = Receive(lane) || moved;
  if (take_ != nullptr && HasAll()) return Advance::kComputes;
  return moved ? Advance::kMoved : Advance::kIdle;
}

void BulkExchange::Compute() {
  if (!take_()) take_ = nullptr;
}

bool BulkExchange::HasAll() const {
  return std::ranges::all_of(receives_, [](const Lane& lane) { return lane.ended == lane.chunks(); });
}

bool BulkExchange::IsDone() const {
  return take_ == nullptr && HasAll() &&
         std::ranges::all_of(sends_, [](const Lane& lane) { return lane.ended == lane.chunks(); });
}

void BulkExchange::AppendAwaited(AwaitedPeers* awaited) const {
  for (const Lane& lane : sends_) {
    if (lane.ended < lane.chunks()) awaited->owners.push_back(lane.link->peer());
  }
  for (const Lane& lane : receives_) {
    if (lane.ended < lane.chunks()) awaited->senders.push_back(lane.link->peer());
  }
}

}  // namespace sgd::comm
