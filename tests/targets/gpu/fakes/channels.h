// Bytes between ranks for the fake of NCCL: memory that processes share, a ring for every ordered pair of ranks.
// Nothing here waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
  static constexpr int kMaxRanks = 16;
  static constexpr int kMaxSplits = 16;
  static constexpr int kMaxRegistrations = 4;

  // Null when there is no memory. The others may come later: AreAllHere.
  static std::unique_ptr<Channels> Open(const std::string& name, int ranks, int rank);

  ~Channels();
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  bool AreAllHere();

  // Says that this rank has come to its end; whether all have.
  void Finalize();
  bool AreAllFinalized();
  // Gives back the name when nobody else will come.
  void Abandon();

  // Announces this rank's part in the split number `index`; the child once all have done so.
  void BeginSplit(int index, int color, int key);
  std::optional<std::unique_ptr<Channels>> EndSplit(int index);

  // Announces this rank's part in the registration number `index`; whether all have done so, with equal ones.
  struct Agreement {
    bool are_all_here = false, is_equal = false;
  };
  void BeginRegistration(int index, uint64_t bytes, uint64_t offset);
  Agreement EndRegistration(int index);

  // Whether the peer has taken all that was sent to it.
  bool IsTaken(int peer);

  // Moves what can be moved now, messages of a pair in their order, and takes out of the list what is complete.
  void Advance(std::vector<Message>& messages);

 private:
  struct Head;
  struct Ring;
  Channels(std::string name, std::byte* memory, int ranks, int rank)
      : name_(std::move(name)), memory_(memory), ranks_(ranks), rank_(rank) {}
  static uint64_t BytesFor(int ranks);
  Head& head();
  Ring& RingOf(int from, int to);
  // How many bytes could be moved now.
  uint64_t Advance(Message& message);

  std::string name_;
  std::byte* memory_;
  int ranks_, rank_;
  bool has_unlinked_ = false;
};

}  // namespace sgd::emulated
