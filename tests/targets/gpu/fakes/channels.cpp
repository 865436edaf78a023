// One file of shared memory for each communicator.
#include "tests/targets/gpu/fakes/channels.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace sgd::emulated {
namespace {

constexpr uint64_t kCapacity = 64 << 10;
constexpr uint64_t kHeadBytes = 8192;

}  // namespace

struct Channels::Head {
  std::atomic<int> arrived, finalized;
  struct Split {
    std::atomic<int> arrived;
    int colors[kMaxRanks], keys[kMaxRanks];
  } splits[kMaxSplits];
  struct Registration {
    std::atomic<int> arrived;
    uint64_t bytes[kMaxRanks], offsets[kMaxRanks];
  } registrations[kMaxRegistrations];
};

struct Channels::Ring {
  std::atomic<uint64_t> produced, consumed;
  std::byte bytes[kCapacity];
};

Channels::Head& Channels::head() {
  static_assert(sizeof(Head) <= kHeadBytes);
  return *reinterpret_cast<Head*>(memory_);
}

uint64_t Channels::BytesFor(int ranks) {
  return kHeadBytes + sizeof(Ring) * static_cast<uint64_t>(ranks) * static_cast<uint64_t>(ranks);
}

std::unique_ptr<Channels> Channels::Open(const std::string& name, int ranks, int rank) {
  if (ranks > kMaxRanks) return nullptr;
  const uint64_t size = BytesFor(ranks);
  const int file = shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) return nullptr;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  std::unique_ptr<Channels> channels(new Channels(name, static_cast<std::byte*>(memory), ranks, rank));
  ++channels->head().arrived;
  return channels;
}

Channels::~Channels() { munmap(memory_, BytesFor(ranks_)); }

bool Channels::AreAllHere() {
  if (head().arrived < ranks_) return false;
  Abandon();  // it stays where it is mapped
  return true;
}

void Channels::Abandon() {
  if (!std::exchange(has_unlinked_, true)) shm_unlink(name_.c_str());
}

void Channels::Finalize() { ++head().finalized; }
bool Channels::AreAllFinalized() { return head().finalized >= ranks_; }

void Channels::BeginSplit(int index, int color, int key) {
  Head::Split& split = head().splits[index];
  split.colors[rank_] = color;
  split.keys[rank_] = key;
  ++split.arrived;
}

std::optional<std::unique_ptr<Channels>> Channels::EndSplit(int index) {
  const Head::Split& split = head().splits[index];
  if (split.arrived < ranks_) return std::nullopt;
  const int color = split.colors[rank_], key = split.keys[rank_];
  int ranks = 0, rank = 0;
  for (int other = 0; other < ranks_; ++other) {
    if (split.colors[other] != color) continue;
    ++ranks;
    if (split.keys[other] < key || (split.keys[other] == key && other < rank_)) ++rank;
  }
  return Open(name_ + "_" + std::to_string(index) + "_" + std::to_string(color), ranks, rank);
}

void Channels::BeginRegistration(int index, uint64_t bytes, uint64_t offset) {
  Head::Registration& registration = head().registrations[index];
  registration.bytes[rank_] = bytes;
  registration.offsets[rank_] = offset;
  ++registration.arrived;
}

Channels::Agreement Channels::EndRegistration(int index) {
  const Head::Registration& registration = head().registrations[index];
  if (registration.arrived < ranks_) return {};
  Agreement agreement{true, true};
  for (int other = 0; other < ranks_; ++other) {
    agreement.is_equal = agreement.is_equal && registration.bytes[other] == registration.bytes[rank_] &&
                         registration.offsets[other] == registration.offsets[rank_];
  }
  return agreement;
}

Channels::Ring& Channels::RingOf(int from, int to) {
  return reinterpret_cast<Ring*>(memory_ + kHeadBytes)[from * ranks_ + to];
}

bool Channels::IsTaken(int peer) {
  const Ring& ring = RingOf(rank_, peer);
  return ring.consumed.load(std::memory_order_acquire) == ring.produced.load(std::memory_order_acquire);
}

uint64_t Channels::Advance(Message& message) {
  Ring& ring = message.is_sent ? RingOf(rank_, message.peer) : RingOf(message.peer, rank_);
  const uint64_t produced = ring.produced.load(std::memory_order_acquire),
                 consumed = ring.consumed.load(std::memory_order_acquire);
  const uint64_t at = (message.is_sent ? produced : consumed) % kCapacity;
  const uint64_t room = message.is_sent ? kCapacity - (produced - consumed) : produced - consumed;
  const uint64_t count = std::min({message.bytes, room, kCapacity - at});
  if (count == 0) return 0;
  if (message.is_sent) {
    std::memcpy(ring.bytes + at, message.memory, count);
    ring.produced.store(produced + count, std::memory_order_release);
  } else {
    std::memcpy(message.memory, ring.bytes + at, count);
    ring.consumed.store(consumed + count, std::memory_order_release);
  }
  message.memory += count;
  message.bytes -= count;
  return count;
}

void Channels::Advance(std::vector<Message>& messages) {
  for (uint64_t moved = 1; moved > 0 && !messages.empty();) {
    moved = 0;
    for (size_t i = 0; i < messages.size(); ++i) {
      // Behind an earlier message of the same pair.
      const bool waits =
          std::any_of(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(i), [&](const Message& other) {
            return other.peer == messages[i].peer && other.is_sent == messages[i].is_sent && other.bytes > 0;
          });
      if (!waits) moved += Advance(messages[i]);
    }
    std::erase_if(messages, [](const Message& message) { return message.bytes == 0; });
  }
}

}  // namespace sgd::emulated
