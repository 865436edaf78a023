// What a process asked of the emulated GPU, written as JSON to the file that SGD_EMULATED_COUNTS names when it ends.
#pragma once

namespace sgd::emulated {

// Memory of the GPU or pinned memory of the host was taken.
void CountAllocation();
// A queue was given something by a call of its own, not as a part of a graph.
void CountCall();

}  // namespace sgd::emulated
