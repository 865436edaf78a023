// Rounds: every thread runs to its next wait, then all waits are compared.
#include "tests/targets/gpu/emulator/block_fibres.h"

#include <sys/mman.h>
#include <ucontext.h>

namespace sgd::emulator {

namespace {
constexpr size_t kStackBytes = 128 << 10;
constexpr uint32_t kWarp = 32;
thread_local BlockFibres* entering = nullptr;

// Unlike swapcontext it asks the kernel for nothing: signals are masked alike on all fibres.
[[noreturn]] __attribute__((noinline)) void Resume(void** jump) { __builtin_longjmp(jump, 1); }
}  // namespace

BlockFibres::~BlockFibres() {
  if (stacks_ != nullptr) munmap(stacks_, stack_count_ * kStackBytes);
}

void BlockFibres::Enter() {
  BlockFibres* const self = entering;
  while (true) {
    (*self->body_)();
    self->Wait(State::kDone, 0);
  }
}

void BlockFibres::Switch(Fibre& fibre) {
  if (__builtin_setjmp(scheduler_) != 0) return;
  if (fibre.is_started) Resume(fibre.jump);
  fibre.is_started = true;
  ucontext_t before, first;
  getcontext(&first);
  first.uc_stack.ss_sp = stacks_ + current_ * kStackBytes;
  first.uc_stack.ss_size = kStackBytes;
  first.uc_link = nullptr;
  makecontext(&first, &BlockFibres::Enter, 0);
  entering = this;
  swapcontext(&before, &first);
}

void BlockFibres::Wait(State state, uint32_t site) {
  Fibre& fibre = fibres_[current_];
  fibre.state = state;
  fibre.site = site;
  if (__builtin_setjmp(fibre.jump) == 0) Resume(scheduler_);
}

void BlockFibres::Barrier(uint32_t site) { Wait(State::kAtBarrier, site); }

const std::vector<int32_t>& BlockFibres::Gather(uint32_t site, uint32_t lanes, int32_t value) {
  const uint32_t self = current_;
  std::vector<int32_t>& words = words_[fibres_[self].exchanges++ % 2];
  words[self] = value;
  fibres_[self].lanes = lanes;
  Wait(State::kAtExchange, site);
  return words;
}

int32_t BlockFibres::Exchange(uint32_t site, uint32_t lanes, int32_t value, uint32_t distance) {
  return Gather(site, lanes, value)[current_ ^ distance];
}

uint32_t BlockFibres::Ballot(uint32_t site, uint32_t lanes, bool vote) {
  const std::vector<int32_t>& votes = Gather(site, lanes, vote ? 1 : 0);
  uint32_t result = 0;
  for (uint32_t lane = 0; lane < kWarp; ++lane) {
    if (votes[current_ / kWarp * kWarp + lane] != 0) result |= uint32_t{1} << lane;
  }
  return result;
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
  if (first == State::kDone) return "";
  if (first == State::kAtExchange && fibres_.size() % kWarp != 0) return "an exchange in a warp with threads missing";
  for (uint32_t thread = 0; thread < fibres_.size(); ++thread) {
    const std::string name = "thread " + std::to_string(thread);
    if (fibres_[thread].site != fibres_[thread / kWarp * kWarp].site) {
      return name + " is at another " + (first == State::kAtBarrier ? "barrier" : "exchange") + " than its warp";
    }
    if (first == State::kAtExchange && fibres_[thread].lanes != ~uint32_t{0}) {
      return name + " exchanges with some lanes of its warp, but all are here";
    }
  }
  return "";
}

std::string BlockFibres::Run(uint32_t threads, bool backward, const std::function<void()>& body,
                             const std::function<void()>& at_barrier) {
  if (stack_count_ < threads) {
    if (stacks_ != nullptr) munmap(stacks_, stack_count_ * kStackBytes);
    void* memory = mmap(nullptr, threads * kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    stacks_ = memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
    stack_count_ = stacks_ == nullptr ? 0 : threads;
    fibres_.clear();
    if (stacks_ == nullptr) return "no memory for the threads of a block";
  }
  fibres_.resize(threads);
  for (std::vector<int32_t>& words : words_) words.assign(threads, 0);
  body_ = &body;
  for (Fibre& fibre : fibres_) {
    // One that a problem has left inside of another body begins anew.
    fibre.is_started = fibre.is_started && fibre.state == State::kDone;
    fibre.state = State::kReady;
    fibre.exchanges = 0;
  }
  while (true) {
    for (uint32_t i = 0; i < threads; ++i) {
      current_ = backward ? threads - 1 - i : i;
      Switch(fibres_[current_]);
    }
    if (std::string problem = CheckRound(); !problem.empty()) return problem;
    if (fibres_[0].state == State::kDone) return "";
    if (fibres_[0].state == State::kAtBarrier) at_barrier();
  }
}

}  // namespace sgd::emulator
