// Which cores a rank may take for itself, beside the other ranks of its host.
#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace sgd::launch {

// `masks` says where each rank of this host may run, `own` which of them is this one. The cores that it has for itself,
// bound to them: those of its mask when no other rank's has them; a part when all ranks were started with the same
// mask, as by torchrun; else none.
std::vector<int> TakeOwnCores(absl::Span<const cpu_set_t> masks, uint32_t own);

// Gives the thread that it is made on back the cores that it might run on before, when it ends.
class KeptCores {
 public:
  KeptCores();
  ~KeptCores();
  KeptCores(const KeptCores&) = delete;
  KeptCores& operator=(const KeptCores&) = delete;

 private:
  cpu_set_t before_;
  bool is_known_ = false;
};

}  // namespace sgd::launch
