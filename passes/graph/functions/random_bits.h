// Random bits by counter-based generators, with the bits that XLA gives. An element depends on its position and the
// state alone, so each rank computes its own.
#ifndef SGD_PASSES_GRAPH_FUNCTIONS_RANDOM_BITS_H
#define SGD_PASSES_GRAPH_FUNCTIONS_RANDOM_BITS_H

#include <array>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

enum class BitGeneratorKind { ThreeFry, Philox };

/// The state that follows, and the bits.
struct RandomBits {
  Value state, bits;
};

/// Bits of `type`, integers of 8 to 64 bits, fewer than 2^32 of them. `state` is a vector of i64: the key, then the
/// counter; two entries, or three for Philox.
RandomBits writeRandomBits(TensorMath& math, Value state, RankedTensorType type, BitGeneratorKind kind);

/// Random words of i32: a hash of each element's position and the key, a scalar of i64. A quarter of a generator's ops,
/// for numbers that are drawn once, by a key of their own for each tensor.
Value writeHashedWords(TensorMath& math, Value key, RankedTensorType type);

/// Adds an argument for the state of a generator, the last one, and returns it.
Value addGenerator(func::FuncOp function);

/// threefry2x32 of words, elementwise; all four of one shape.
std::array<Value, 2> writeThreefry(TensorMath& math, std::array<Value, 2> counter, std::array<Value, 2> key);

}  // namespace mlir::sgd

#endif
