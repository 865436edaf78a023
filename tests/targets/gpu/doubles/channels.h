// Bytes between ranks for the double of NCCL: memory that processes share, a ring for every ordered pair of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sgd::emulated {

struct Message {
  int peer;
  std::byte* memory;  // written when received
  uint64_t bytes;
  bool is_sent;
};

class Channels {
 public:
  // Waits until all ranks have come; null when they do not in time.
  static Channels* Meet(const std::string& name, int ranks, int rank);

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }

  // Moves all messages at once; those of a pair in their order. False when peers do not come in time.
  bool Exchange(std::vector<Message> messages);

 private:
  struct Ring;
  Channels(std::byte* memory, int ranks, int rank) : memory_(memory), ranks_(ranks), rank_(rank) {}
  Ring& RingOf(int from, int to);
  // How many bytes could be moved now.
  uint64_t Advance(Message& message);

  std::byte* memory_;
  int ranks_, rank_;
};

}  // namespace sgd::emulated
