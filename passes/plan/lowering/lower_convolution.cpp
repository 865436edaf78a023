// One plan.convolution per phase of a dilated lhs; without dilation there is one phase.
#include "passes/plan/lowering/lower_convolution.h"

#include "passes/plan/lowering/call_buffers.h"

#include <numeric>

#include "dialects/fusion/label_strides.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Windows `first`, `first + every`, ... of one spatial dimension, and the elements `tap`, `tap + tapEvery`, ... of the
/// kernel that they find on elements of the lhs: `taps` of them, which may be none.
struct Phase {
  int64_t first, every, windows;
  int64_t tap, tapEvery, taps;
  int64_t stride, dilation, low;  // in elements of the lhs
};

int64_t floorDivide(int64_t value, int64_t by) { return value / by - (value % by < 0); }

/// Element k of window o is at (o * stride + k * dilation - low) / lhsDilation of the lhs where that divides.
SmallVector<Phase> getPhases(int64_t windows, int64_t taps, int64_t stride, int64_t dilation, int64_t low,
                             int64_t lhsDilation) {
  SmallVector<Phase> phases;
  int64_t every = lhsDilation / std::gcd(lhsDilation, stride);
  int64_t tapEvery = lhsDilation / std::gcd(lhsDilation, std::abs(dilation));
  for (int64_t first = 0; first < std::min(every, windows); ++first) {
    Phase phase{first, every, (windows - first + every - 1) / every, 0, tapEvery, 0, 0, 0, 0};
    auto position = [&](int64_t tap) { return first * stride + tap * dilation - low; };
    while (phase.tap < std::min(tapEvery, taps) && position(phase.tap) % lhsDilation != 0) ++phase.tap;
    if (phase.tap < std::min(tapEvery, taps)) {
      phase.taps = (taps - phase.tap + tapEvery - 1) / tapEvery;
      phase.low = -floorDivide(position(phase.tap), lhsDilation);
    } else {
      phase.tap = 0;
    }
    phase.stride = every * stride / lhsDilation;
    phase.dilation = tapEvery * dilation / lhsDilation;
    phases.push_back(phase);
  }
  return phases;
}

/// Strides of the dimensions called `labels` in a tensor whose own are `own`.
SmallVector<int64_t> getStrides(ArrayRef<int64_t> own, Value tensor, ArrayRef<int64_t> labels) {
  return llvm::map_to_vector(labels, [&](int64_t label) { return fusion::getLabelStride(own, tensor, label); });
}

template <typename OpTy>
class ConvolutionCreator {
 public:
  ConvolutionCreator(OpBuilder& builder, OpTy op, Value lhs, Value rhs, Value bias, fusion::Epilogue epilogue,
                     Value result, const LibraryModel& libraries)
      : builder(builder),
        op(op),
        lhs(lhs),
        rhs(rhs),
        bias(bias),
        result(result),
        epilogue(epilogue),
        libraries(libraries) {
    for (int64_t dim = 0; dim < op.getNumSpatialDims(); ++dim) {
      int64_t label = fusion::ConvolutionOp::kSpatial + dim;
      space.push_back(label);
      // Positions count the zeros of dilations that are the library's.
      phases.push_back(getPhases(op.getResultSize(label), op.getRhsSize(label), op.getStrides()[dim],
                                 op.getRhsDilations()[dim], op.getLow()[dim],
                                 libraries.readsDilated() ? 1 : op.getLhsDilations()[dim]));
    }
  }

  void run() {
    SmallVector<size_t> index(phases.size(), 0);
    while (true) {
      create(index);
      int64_t dim = static_cast<int64_t>(index.size()) - 1;
      while (dim >= 0 && ++index[dim] == phases[dim].size()) index[dim--] = 0;
      if (dim < 0) return;
    }
  }

 private:
  SmallVector<int64_t> before(std::initializer_list<int64_t> labels) const {
    SmallVector<int64_t> all(labels);
    llvm::append_range(all, space);
    return all;
  }

  void create(ArrayRef<size_t> index) {
    SmallVector<int64_t> inputs, outputs, kernels, strides, dilations, low;
    SmallVector<int64_t> lhsStrides = getStrides(
        op.getLhsLabels(), op.getLhs(),
        before({fusion::ConvolutionOp::kBatch, fusion::ConvolutionOp::kGroup, fusion::ConvolutionOp::kInput}));
    SmallVector<int64_t> rhsStrides = getStrides(
        op.getRhsLabels(), op.getRhs(),
        before({fusion::ConvolutionOp::kGroup, fusion::ConvolutionOp::kInput, fusion::ConvolutionOp::kOutput}));
    SmallVector<int64_t> resultStrides = getStrides(
        op.getResultLabels(), op.getResult(),
        before({fusion::ConvolutionOp::kBatch, fusion::ConvolutionOp::kGroup, fusion::ConvolutionOp::kOutput}));
    int64_t rhsOffset = 0, resultOffset = 0;
    for (size_t dim = 0; dim < index.size(); ++dim) {
      const Phase& phase = phases[dim][index[dim]];
      inputs.push_back(op.getLhsSize(space[dim]));
      outputs.push_back(phase.windows);
      kernels.push_back(phase.taps);
      strides.push_back(phase.stride);
      dilations.push_back(phase.dilation);
      low.push_back(phase.low);
      rhsOffset += phase.tap * rhsStrides[3 + dim];
      resultOffset += phase.first * resultStrides[3 + dim];
      rhsStrides[3 + dim] *= phase.tapEvery;
      resultStrides[3 + dim] *= phase.every;
    }
    SmallVector<int64_t> sizes = {
        op.getLhsSize(fusion::ConvolutionOp::kBatch), op.getLhsSize(fusion::ConvolutionOp::kGroup),
        op.getLhsSize(fusion::ConvolutionOp::kInput), op.getRhsSize(fusion::ConvolutionOp::kOutput)};
    Location loc = op.getLoc();
    bool isDilated = libraries.readsDilated() && llvm::any_of(op.getLhsDilations(), [](int64_t by) { return by != 1; });
    plan::ConvolutionOp::create(
        builder, loc, lhs, viewFrom(builder, loc, rhs, rhsOffset), viewFrom(builder, loc, result, resultOffset), bias,
        createWorkspace(builder, loc, libraries.getConvolutionWorkspace(getConvolutionCall(op))), sizes, inputs,
        outputs, kernels, strides, dilations, low, isDilated ? op.getLhsDilationsAttr() : DenseI64ArrayAttr(),
        lhsStrides, rhsStrides, resultStrides, epilogue, op.getTf32());
  }

  OpBuilder& builder;
  OpTy op;
  Value lhs, rhs, bias, result;
  fusion::Epilogue epilogue;
  const LibraryModel& libraries;
  SmallVector<int64_t> space;  // labels
  SmallVector<SmallVector<Phase>> phases;
};

}  // namespace

void mlir::sgd::createConvolutions(OpBuilder& builder, fusion::ConvolutionOp op, Value lhs, Value rhs, Value result,
                                   const LibraryModel& libraries) {
  ConvolutionCreator(builder, op, lhs, rhs, Value(), fusion::Epilogue(), result, libraries).run();
}

void mlir::sgd::createConvolutions(OpBuilder& builder, fusion::LibraryConvolutionOp op, Value lhs, Value rhs,
                                   Value bias, Value result, const LibraryModel& libraries) {
  ConvolutionCreator(builder, op, lhs, rhs, bias, op.getEpilogue(), result, libraries).run();
}
