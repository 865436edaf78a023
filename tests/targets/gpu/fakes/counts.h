// Counts the requests of a process to the emulated GPU and writes them as JSON to the file that SGD_EMULATED_COUNTS
// names.
#pragma once

#include <cstdint>

namespace sgd::emulated {

// Memory of the GPU or pinned memory of the host was taken.
void CountAllocation();
// A stream was given something by a call of its own, not as a part of a graph.
void CountCall();
// Bytes of the device's memory that are taken now; the most are reported.
void CountBytes(uint64_t used);
// Its second call makes a file of the process's number in the folder that SGD_EMULATED_REPLAYS names: steps are
// replayed.
void CountGraph();

}  // namespace sgd::emulated
