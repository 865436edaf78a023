// The threads of one block as fibres of the calling thread.
#ifndef SGD_TESTS_TARGETS_GPU_EMULATOR_BLOCK_FIBRES_H
#define SGD_TESTS_TARGETS_GPU_EMULATOR_BLOCK_FIBRES_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sgd::emulator {

class BlockFibres {
 public:
  BlockFibres() = default;
  ~BlockFibres();
  BlockFibres(const BlockFibres&) = delete;
  BlockFibres& operator=(const BlockFibres&) = delete;

  // Calls `body` in `threads` threads until all have returned, and `at_barrier` where all are at one. Empty, or why
  // they cannot all go on.
  std::string Run(uint32_t threads, bool backward, const std::function<void()>& body,
                  const std::function<void()>& at_barrier);
  // The same for a body that never waits.
  void RunOneByOne(uint32_t threads, bool backward, const std::function<void()>& body);

  // For the running thread. `site`: the number of the instruction, which is one for all threads of a warp.
  uint32_t thread() const { return current_; }
  void Barrier(uint32_t site);
  int32_t Exchange(uint32_t site, uint32_t lanes, int32_t value, uint32_t distance);
  // The lanes of the warp that vote for it.
  uint32_t Ballot(uint32_t site, uint32_t lanes, bool vote);

 private:
  enum class State { kReady, kAtBarrier, kAtExchange, kDone };
  struct Fibre {
    void* jump[5];  // where it goes on, as __builtin_setjmp says
    State state;
    uint32_t site;   // where it waits
    uint32_t lanes;  // that it says take part in the exchange
    uint32_t exchanges;
    bool is_started = false;  // its stack has a frame
  };

  static void Enter();
  // From the scheduler to a fibre, until that waits; and back.
  __attribute__((noinline)) void Switch(Fibre& fibre);
  __attribute__((noinline)) void Wait(State state, uint32_t site);
  // The values that the threads have given, by thread, once all have.
  const std::vector<int32_t>& Gather(uint32_t site, uint32_t lanes, int32_t value);
  std::string CheckRound() const;

  std::vector<Fibre> fibres_;
  std::vector<int32_t>
      words_[2];  // by parity of the thread's exchanges: the last one is read while the next is written
  char* stacks_ = nullptr;
  uint32_t stack_count_ = 0;
  void* scheduler_[5];
  uint32_t current_ = 0;
  const std::function<void()>* body_ = nullptr;
};

}  // namespace sgd::emulator

#endif
