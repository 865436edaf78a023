// Matrix multiplication by our own loops: every element type, any strides; what the library does
// not do, or not well.
#pragma once

#include "targets/cpu/device/matmul_problem.h"

namespace sgd::cpu {

// Computes one tile. Integers wrap around; sums of f16 and bf16 are taken in f32, in order of k,
// and rounded once.
using TileFunction = void (*)(const MatmulProblem& problem, const Tile& tile);

// Null for an element type that has no product (bool).
TileFunction LoopsFor(artifact::ElementType element);

// The epilogue after a product without one, on an f32 tile: adds the bias and applies the relu,
// which keeps NaN.
void ApplyBias(const MatmulProblem& problem, const Tile& tile);
void ApplyRelu(const MatmulProblem& problem, const Tile& tile);

}  // namespace sgd::cpu
