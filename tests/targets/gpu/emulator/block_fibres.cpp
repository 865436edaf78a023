// Rounds: every thread runs to its next wait, then all waits are compared.
#include "tests/targets/gpu/emulator/block_fibres.h"

#include <sys/mman.h>

namespace sgd::emulator {

namespace {
constexpr size_t kStackBytes = 128 << 10;
constexpr uint32_t kWarp = 32;
thread_local BlockFibres* entering = nullptr;
}  // namespace

BlockFibres::~BlockFibres() {
  if (stacks_ != nullptr) munmap(stacks_, stack_count_ * kStackBytes);
}

void BlockFibres::Enter() {
  BlockFibres* self = entering;
  (*self->body_)();
  self->Wait(State::kDone);
}

void BlockFibres::Wait(State state) {
  Fibre& fibre = fibres_[current_];
  fibre.state = state;
  swapcontext(&fibre.context, &scheduler_);
}

void BlockFibres::Barrier() { Wait(State::kAtBarrier); }

int32_t BlockFibres::Exchange(int32_t value, uint32_t distance) {
  const uint32_t self = current_;
  std::vector<int32_t>& words = words_[fibres_[self].exchanges++ % 2];
  words[self] = value;
  Wait(State::kAtExchange);
  return words[self ^ distance];
}

void BlockFibres::RunOneByOne(uint32_t threads, bool backward, const std::function<void()>& body) {
  for (uint32_t i = 0; i < threads; ++i) {
    current_ = backward ? threads - 1 - i : i;
    body();
  }
}

std::string BlockFibres::CheckRound() const {
  const State first = fibres_[0].state;
  for (uint32_t thread = 0; thread < fibres_.size(); ++thread) {
    if (fibres_[thread].state == first) continue;
    const char* names[] = {"ready", "at a barrier", "at an exchange", "done"};
    return std::string("thread 0 is ") + names[static_cast<int>(first)] + " and thread " + std::to_string(thread) +
           " is " + names[static_cast<int>(fibres_[thread].state)];
  }
  if (first == State::kAtExchange && fibres_.size() % kWarp != 0) return "an exchange in a warp with threads missing";
  return "";
}

std::string BlockFibres::Run(uint32_t threads, bool backward, const std::function<void()>& body) {
  if (stack_count_ < threads) {
    if (stacks_ != nullptr) munmap(stacks_, stack_count_ * kStackBytes);
    void* memory = mmap(nullptr, threads * kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    stacks_ = memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
    stack_count_ = stacks_ == nullptr ? 0 : threads;
    if (stacks_ == nullptr) return "no memory for the threads of a block";
  }
  fibres_.resize(threads);
  for (std::vector<int32_t>& words : words_) words.assign(threads, 0);
  body_ = &body;
  entering = this;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    Fibre& fibre = fibres_[thread];
    fibre.state = State::kReady;
    fibre.exchanges = 0;
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = stacks_ + thread * kStackBytes;
    fibre.context.uc_stack.ss_size = kStackBytes;
    fibre.context.uc_link = nullptr;
    makecontext(&fibre.context, &BlockFibres::Enter, 0);
  }
  while (true) {
    for (uint32_t i = 0; i < threads; ++i) {
      current_ = backward ? threads - 1 - i : i;
      swapcontext(&scheduler_, &fibres_[current_].context);
    }
    if (std::string problem = CheckRound(); !problem.empty()) return problem;
    if (fibres_[0].state == State::kDone) return "";
  }
}

}  // namespace sgd::emulator
