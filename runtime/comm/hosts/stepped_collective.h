// A collective that runs in steps between waits, so that a thread which serves others meanwhile can run it.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/comm/hosts/operation.h"
#include "runtime/comm/shared_memory/shared_memory_control.h"

namespace sgd::comm {

// The condition of the next step.
struct CollectiveWait {
  enum class For : uint8_t { kNothing, kHost, kMessages };  // kNothing: the collective is complete
  For what = For::kNothing;
  HostWait host;  // of kHost
};

// One thread uses it at a time, and no other collective of the rank runs between Begin and its end.
class SteppedCollective {
 public:
  virtual ~SteppedCollective() = default;

  // Steps work on memory and may take long; they run without the lock of ProgressEngine.
  virtual CollectiveWait Begin() = 0;
  virtual CollectiveWait Continue() = 0;

  // The messages of kMessages; null for a collective that has none.
  virtual Operation* messages() { return nullptr; }
  virtual bool HaveMessagesEnded() const { return true; }

  virtual const std::string& description() const = 0;
};

}  // namespace sgd::comm
