// The profile of a program: what one instruction took, beside what it had to do.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::trace {

// {"instruction": 7, "op": "matmul", "what": "f32 2048x384x1536 x1", "microseconds": 31.5, "flops": 0, "bytes": 0,
// "gflops_per_second": 0, "gbytes_per_second": 0, "operations": {"matmul single": 0}, "loc": "mlp.py:31:8", "scope":
// "encoder/layer0"}, without a line end. `what` is a kernel's symbol or a matmul's element type, m x n x k and batch;
// `operations` are those that estimates count. `program` belongs to the verified `root`; `executions` of the
// instruction in a step, as artifact::ExecutionsOf says.
std::string InstructionTimeJson(const artifact::Artifact& root, const artifact::Program& program, uint32_t index,
                                uint64_t executions, absl::Duration time);

// A kernel's symbol, or the shape of a matmul or convolution; else empty.
std::string WhatOf(const artifact::Artifact& root, const artifact::Instruction& instruction);

// The scope in the user's program, "encoder/layer0"; empty where it has none.
std::string ScopeOf(const artifact::Program& program, const artifact::Instruction& instruction);

// The source location; empty where it is not known.
std::string LocationOf(const artifact::Program& program, const artifact::Instruction& instruction);

}  // namespace sgd::trace
