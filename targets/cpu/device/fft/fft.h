// Fourier transforms by code of our own; see docs/decisions/034-fourier-transforms-in-lanes.md.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/device/device.h"
#include "targets/cpu/device/threads/thread_pool.h"
#include "targets/cpu/device/threads/thread_scratch.h"

namespace sgd::cpu {

// Of a verified instruction whose kind is a transform. Pool and scratch must outlive the thunk.
device::PreparedThunk MakeFft(ThreadPool& pool, ThreadScratch& scratch, const artifact::LinearAlgebra& call,
                              const device::MemoryMap& memory);

}  // namespace sgd::cpu
