// Notes a wait of this thread while it lasts.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "runtime/comm/control/control.h"

namespace sgd::comm {

class WaitNote {
 public:
  WaitNote(Control& control, WaitKind kind) : control_(control), kind_(kind) {}
  ~WaitNote() {
    if (is_noted_) control_.EndWait(kind_);
  }
  WaitNote(const WaitNote&) = delete;
  WaitNote& operator=(const WaitNote&) = delete;

  void Update(const std::string& description, absl::Span<const uint32_t> awaited) {
    is_noted_ = true;
    control_.NoteWait(kind_, description, awaited);
  }

 private:
  Control& control_;
  WaitKind kind_;
  bool is_noted_ = false;
};

}  // namespace sgd::comm
