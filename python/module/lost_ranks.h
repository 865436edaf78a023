// Ranks that do not return from a step that was ended, such as a loop of years without communication.
#pragma once

#include <memory>

namespace sgd::python {

// Of ranks that are about to be destroyed: where functions of ended jobs still run, leaves them to the end of the
// process, since the destructor would wait for them.
template <typename Ranks>
void KeepWhileLost(const std::shared_ptr<Ranks>& ranks) {
  if (ranks != nullptr && ranks->lost() > 0) new std::shared_ptr<Ranks>(ranks);
}

}  // namespace sgd::python
