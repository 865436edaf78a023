// One file of shared memory for each communicator.
#include "tests/targets/gpu/doubles/channels.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

namespace sgd::emulated {
namespace {

constexpr uint64_t kCapacity = 64 << 10;
constexpr std::chrono::seconds kPatience(60);

struct Head {
  std::atomic<int> arrived;
};

}  // namespace

struct Channels::Ring {
  std::atomic<uint64_t> produced, consumed;
  std::byte bytes[kCapacity];
};

Channels* Channels::Meet(const std::string& name, int ranks, int rank) {
  const uint64_t size = 4096 + sizeof(Ring) * static_cast<uint64_t>(ranks) * static_cast<uint64_t>(ranks);
  const int file = shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) return nullptr;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  Head& head = *static_cast<Head*>(memory);
  ++head.arrived;
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (head.arrived < ranks) {
    if (std::chrono::steady_clock::now() > deadline) return nullptr;
    sched_yield();
  }
  shm_unlink(name.c_str());  // the first of them; it stays where it is mapped
  return new Channels(static_cast<std::byte*>(memory), ranks, rank);
}

Channels::Ring& Channels::RingOf(int from, int to) {
  return reinterpret_cast<Ring*>(memory_ + 4096)[from * ranks_ + to];
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

bool Channels::Exchange(std::vector<Message> messages) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::erase_if(messages, [](const Message& message) { return message.bytes == 0; });
  while (!messages.empty()) {
    uint64_t moved = 0;
    for (size_t i = 0; i < messages.size(); ++i) {
      // Behind an earlier message of the same pair.
      const bool waits =
          std::any_of(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(i), [&](const Message& other) {
            return other.peer == messages[i].peer && other.is_sent == messages[i].is_sent && other.bytes > 0;
          });
      if (!waits) moved += Advance(messages[i]);
    }
    std::erase_if(messages, [](const Message& message) { return message.bytes == 0; });
    if (moved > 0 || messages.empty()) continue;
    if (std::chrono::steady_clock::now() > deadline) return false;
    sched_yield();
  }
  return true;
}

}  // namespace sgd::emulated
