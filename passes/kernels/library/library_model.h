// The calls that a target's libraries compute, asked by passes before they create such calls. A target has one model
// (targets/*/libraries): passes know no library's name and none of its limits.
#ifndef SGD_PASSES_KERNELS_LIBRARY_LIBRARY_MODEL_H
#define SGD_PASSES_KERNELS_LIBRARY_LIBRARY_MODEL_H

#include <optional>

#include "dialects/fusion/library_calls.h"
#include "passes/kernels/library/contraction_shape.h"

namespace mlir {
class Pass;
}

namespace mlir::sgd {

struct MatmulCall {
  Type lhs, rhs, result;  ///< element types
  ContractionShape shape;
  bool tf32 = false;  ///< operands of f32 may be rounded to TF32
  fusion::Epilogue epilogue;
};

/// Element types of a call: `operand` of both its operands, `result` as the library writes it.
struct CallTypes {
  Type operand;
  Type result;
};

/// One dimension of a convolution: its stride in each tensor, 0 where the tensor has it not.
struct ConvolutionDim {
  int64_t size = 1, lhs = 0, rhs = 0, result = 0;
};

/// One spatial dimension, in the terms of fusion.convolution.
struct ConvolutionWindow {
  int64_t input = 1, output = 1, kernel = 1;
  int64_t stride = 1, dilation = 1, low = 0, lhsDilation = 1;
  int64_t lhs = 0, rhs = 0, result = 0;  ///< strides
};

struct ConvolutionCall {
  Type operand, result;  ///< element types
  ConvolutionDim batch, groups, inputs, outputs;
  SmallVector<ConvolutionWindow, 3> windows;
  fusion::Epilogue epilogue;
};

/// The convolution of the op as a call without epilogue.
ConvolutionCall getConvolutionCall(fusion::ConvolutionOp op);
ConvolutionCall getConvolutionCall(fusion::LibraryConvolutionOp op);

/// Fused attention or its gradients, tensors being [batch, heads, rows, depth].
struct AttentionCall {
  Type element;  ///< f16 or bf16
  int64_t batch = 1, heads = 1, keyHeads = 1;
  int64_t rows = 0, columns = 0, depth = 0, valueDepth = 0;
  Type biasElement;  ///< null: there is no bias
  std::optional<int64_t> diagonal;
  bool isGradient = false;
};

/// How a call is cut: so many batches and heads at once, with a workspace of so many bytes, used again for each part.
struct AttentionParts {
  int64_t batch = 1, heads = 1;
  int64_t workspaceBytes = 0;
};

/// Types that collectives reduce without conversion, and layouts that they move without staging.
struct CollectiveLimits {
  bool combinesShortIntegers = true;  ///< of 16 bits
  bool combinesBits = true;           ///< integers by and and or
  bool movesRows = true;              ///< data that is not contiguous; else it is packed in memory of the plan
};

class LibraryModel {
 public:
  virtual ~LibraryModel() = default;

  /// Whether a matmul takes operands of these elements as they are and writes such results.
  virtual bool multiplies(Type lhs, Type rhs, Type result) const = 0;
  /// The elements that operands are converted to, and results from, for a matmul of these. Nothing is rounded before
  /// the accumulation.
  virtual CallTypes getMatmulTypes(Type lhs, Type rhs, Type result) const = 0;
  /// How a contraction is cut into calls.
  virtual MatmulLimits getMatmulLimits() const = 0;
  /// Whether it is one call, where it needs no more of them for its shape.
  virtual bool takes(const MatmulCall& call) const = 0;
  /// Columns of the blocks in which a matmul of these sizes reads its second operand fastest, if that is packed so
  /// beforehand; 0: in none. `element` is that of operands and result.
  virtual int64_t getPackedColumns(Type element, int64_t m, int64_t n, int64_t k) const = 0;
  /// Memory that the library may use while it computes results of these elements, in bytes, where operands and result
  /// are `touchedBytes` together; 0: none.
  virtual int64_t getMatmulWorkspace(Type result, int64_t touchedBytes) const = 0;
  /// Whether matmuls of f32 round their operands to TF32 where the program allows it.
  virtual bool roundsToTf32() const = 0;
  /// Where calls may be made by one thread, for tiles that stay in its cache: so many operations cost what writing and
  /// reading a byte of memory does. nullopt: calls are of whole tensors.
  virtual std::optional<int64_t> getTileFlopsPerByte() const = 0;

  /// The elements of a convolution's calls: operands are converted to `operand` without loss, and results of another
  /// type than `result` are converted from it.
  virtual CallTypes getConvolutionTypes(Type operand, Type result) const = 0;
  virtual bool takes(const ConvolutionCall& call) const = 0;
  /// Whether one call reads a dilated lhs; else each kind of window on it is a call of its own.
  virtual bool readsDilated() const = 0;
  /// Memory that the library may use while it computes the call, in bytes; 0: none.
  virtual int64_t getConvolutionWorkspace(const ConvolutionCall& call) const = 0;

  /// Attention and its gradients are kernels of the target for keys and values of at most so many elements; 0: they
  /// are not.
  virtual int64_t getAttentionDepth() const = 0;
  /// How the library computes it; nullopt: it does not.
  virtual std::optional<AttentionParts> getAttentionParts(const AttentionCall& call) const = 0;

  virtual CollectiveLimits getCollectiveLimits() const = 0;
};

/// For Pass::initialize: fails, with an error, where a pass that needs a library model was created without one.
LogicalResult requireLibraries(const LibraryModel* libraries, const Pass& pass, MLIRContext* context);

}  // namespace mlir::sgd

#endif
