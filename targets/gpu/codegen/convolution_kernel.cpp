// Loops over the taps and input features of one result element.
#include "targets/gpu/codegen/convolution_kernel.h"

#include "dialects/fusion/label_strides.h"
#include "dialects/sgd/tensor_type.h"
#include "targets/gpu/codegen/block_builder.h"
#include "targets/gpu/codegen/entry_point.h"
#include "targets/kernels/in_place.h"
#include "targets/kernels/scalar_loops.h"
#include "targets/kernels/vector_builder.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

namespace {

class ConvolutionEmitter {
 public:
  ConvolutionEmitter(llvm::Module& module, fusion::ConvolutionOp op, const KernelRequest& request)
      : op(op),
        b(module.getContext()),
        block(b),
        loops(b),
        element(tensorType(op.getLhs()).getElementType()),
        sum(op.getType().getElementType()),
        entry(createEntryPoint(module, b, request, 0, kConvolutionThreads)) {
    lhs = entry.operands[cast<BlockArgument>(op.getLhs()).getArgNumber()];
    rhs = entry.operands[cast<BlockArgument>(op.getRhs()).getArgNumber()];
  }

  void run() {
    int64_t count = op.getType().getNumElements();
    if (count > 0) {
      LValue* first = b.CreateMul(wide(block.block()), number(kConvolutionThreads));
      LValue* item = b.CreateAdd(first, wide(block.thread()));
      loops.runIf(b.CreateICmpSLT(item, number(count)), [&] { emitElement(item); });
    }
    b.CreateRetVoid();
  }

 private:
  LValue* number(int64_t value) { return b.getInt64(value); }
  LValue* wide(LValue* value) { return b.CreateZExt(value, b.getInt64Ty()); }
  VectorBuilder scalars() { return VectorBuilder(b, 1); }
  LValue* times(LValue* value, int64_t by) { return by == 1 ? value : b.CreateMul(value, number(by)); }

  void emitElement(LValue* item) {
    LValue* rest = item;
    for (size_t dim = op.getResultLabels().size(); dim-- > 0;) {
      LValue* size = number(op.getType().getDimSize(dim));
      place[op.getResultLabels()[dim]] = b.CreateURem(rest, size);
      rest = b.CreateUDiv(rest, size);
    }
    accumulator = loops.variable(llvm::Constant::getNullValue(scalars().computeType(sum)));
    emitTaps(0, offset(op.getLhsLabels(), op.getLhs(), {fusion::ConvolutionOp::kBatch, fusion::ConvolutionOp::kGroup}),
             offset(op.getRhsLabels(), op.getRhs(), {fusion::ConvolutionOp::kGroup, fusion::ConvolutionOp::kOutput}));
    llvm::Type* memory = scalars().memoryType(sum);
    b.CreateStore(scalars().toMemory(loops.get(accumulator), sum), b.CreateInBoundsGEP(memory, entry.results[0], item));
  }

  LValue* offset(ArrayRef<int64_t> labels, Value tensor, std::initializer_list<int64_t> names) {
    LValue* sum = number(0);
    for (int64_t label : names)
      if (LValue* at = place.lookup(label))
        sum = b.CreateAdd(sum, times(at, fusion::getLabelStride(labels, tensor, label)));
    return sum;
  }

  void emitTaps(int64_t dim, LValue* left, LValue* right) {
    if (dim == op.getNumSpatialDims()) return emitFeatures(left, right);
    int64_t label = fusion::ConvolutionOp::kSpatial + dim, dilation = op.getLhsDilations()[dim];
    LValue* window = place.lookup(label);
    LValue* first = window ? times(window, op.getStrides()[dim]) : number(0);
    loops.count(number(0), number(op.getRhsSize(label)), 1, [&](LValue* tap) {
      LValue* position =
          b.CreateSub(b.CreateAdd(first, times(tap, op.getRhsDilations()[dim])), number(op.getLow()[dim]));
      LValue* at = dilation == 1 ? position : b.CreateSDiv(position, number(dilation));
      LValue* isInside =
          b.CreateAnd(b.CreateICmpSGE(position, number(0)), b.CreateICmpSLT(at, number(op.getLhsSize(label))));
      if (dilation != 1)
        isInside = b.CreateAnd(isInside, b.CreateICmpEQ(b.CreateSRem(position, number(dilation)), number(0)));
      LValue* nextLeft = b.CreateAdd(left, times(at, fusion::getLabelStride(op.getLhsLabels(), op.getLhs(), label)));
      LValue* nextRight = b.CreateAdd(right, times(tap, fusion::getLabelStride(op.getRhsLabels(), op.getRhs(), label)));
      loops.runIf(isInside, [&] { emitTaps(dim + 1, nextLeft, nextRight); });
    });
  }

  void emitFeatures(LValue* left, LValue* right) {
    int64_t leftStride = fusion::getLabelStride(op.getLhsLabels(), op.getLhs(), fusion::ConvolutionOp::kInput);
    int64_t rightStride = fusion::getLabelStride(op.getRhsLabels(), op.getRhs(), fusion::ConvolutionOp::kInput);
    loops.count(number(0), number(op.getLhsSize(fusion::ConvolutionOp::kInput)), 1, [&](LValue* feature) {
      LValue* x = load(lhs, b.CreateAdd(left, times(feature, leftStride)));
      LValue* y = load(rhs, b.CreateAdd(right, times(feature, rightStride)));
      LValue* before = loops.get(accumulator);
      bool isFloat = isa<FloatType>(sum);
      loops.set(accumulator, isFloat ? scalars().fma(x, y, before) : b.CreateAdd(before, b.CreateMul(x, y)));
    });
  }

  /// An element in the type of the sum; narrow integers with their sign, which the low bits of sums do not depend on.
  LValue* load(LValue* base, LValue* index) {
    llvm::Type* memory = scalars().memoryType(element);
    LValue* value = scalars().fromMemory(b.CreateLoad(memory, b.CreateInBoundsGEP(memory, base, index)), element);
    return value->getType()->isIntegerTy() ? b.CreateSExt(value, scalars().computeType(sum)) : value;
  }

  fusion::ConvolutionOp op;
  llvm::IRBuilder<> b;
  BlockBuilder block;
  ScalarLoops loops;
  Type element, sum;
  EntryPoint entry;
  LValue *lhs = nullptr, *rhs = nullptr;
  llvm::DenseMap<int64_t, LValue*> place;  // of the result element, by label
  llvm::AllocaInst* accumulator = nullptr;
};

}  // namespace

fusion::ConvolutionOp mlir::sgd::gpu::getConvolution(fusion::ClusterOp cluster) {
  return dyn_cast<fusion::ConvolutionOp>(cluster.getBody().front().front());
}

KernelInterface mlir::sgd::gpu::describeConvolutionKernel(fusion::ConvolutionOp convolution) {
  KernelInterface kernel;
  kernel.range = llvm::divideCeil(convolution.getType().getNumElements(), kConvolutionThreads);
  return kernel;
}

void mlir::sgd::gpu::emitConvolutionKernel(llvm::Module& module, fusion::ConvolutionOp convolution,
                                           const KernelRequest& request) {
  ConvolutionEmitter(module, convolution, request).run();
}
