// The messages of one part of a collective between hosts.
#pragma once

#include "runtime/comm/hosts/operation.h"
#include "runtime/comm/hosts/reduction_part.h"

namespace sgd::comm {

// A part of an Operation; its functions are called as that one's.
class Flow {
 public:
  virtual ~Flow() = default;
  virtual Advance Step() = 0;
  virtual void Compute(TileScratch& scratch) = 0;
  virtual bool IsDone() const = 0;
  virtual void AppendAwaited(AwaitedPeers* awaited) const = 0;
};

}  // namespace sgd::comm
