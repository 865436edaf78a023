// Matmuls, convolutions and linear algebra: by their arithmetic.
#include "dialects/cost/cost_op.h"
#include "dialects/sgd/grouped_dot.h"
#include "dialects/sgd/linear_algebra.h"
#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct DotGeneralWork : CostOpInterface::ExternalModel<DotGeneralWork, DotGeneralOp> {
  Work getWork(Operation* op) const {
    auto dot = cast<DotGeneralOp>(op);
    double products = countElements(dot.getResult());
    for (int64_t dim : dot.getLhsContracting())
      products *= static_cast<double>(tensorType(dot.getLhs()).getDimSize(dim));
    Work work = getMoves(op->getOperands(), op->getResults());
    return addMatmul(work, dot.getLhs(), products);
  }
};

struct GroupedDotWork : CostOpInterface::ExternalModel<GroupedDotWork, GroupedDotOp> {
  /// Each row is in one group at most.
  Work getWork(Operation* op) const {
    auto dot = cast<GroupedDotOp>(op);
    GroupedDotSizes sizes(dot);
    double products = static_cast<double>(sizes.m) * static_cast<double>(sizes.k) * static_cast<double>(sizes.n);
    for (int64_t size : sizes.batch) products *= static_cast<double>(size);
    Work work = getMoves(op->getOperands(), op->getResults());
    return addMatmul(work, dot.getLhs(), products);
  }
};

struct ConvolutionWork : CostOpInterface::ExternalModel<ConvolutionWork, ConvolutionOp> {
  Work getWork(Operation* op) const {
    auto convolution = cast<ConvolutionOp>(op);
    RankedTensorType kernel = tensorType(convolution.getRhs()), result = tensorType(convolution.getResult());
    // Of a window: the kernel without its groups and output features, which are last.
    double window = 1;
    for (int64_t size : kernel.getShape().drop_back()) window *= static_cast<double>(size);
    window /= static_cast<double>(std::max<int64_t>(1, result.getDimSize(result.getRank() - 2)));
    // Zeros between elements are left out.
    for (int64_t dilation : convolution.getLhsDilations()) window /= static_cast<double>(dilation);
    Work work = getMoves(op->getOperands(), op->getResults());
    double positions = countElements(convolution.getResult());
    return addMatmul(work, convolution.getLhs(), positions * window,
                     positions * window / static_cast<double>(std::max<int64_t>(1, result.getShape().back())));
  }
};

struct LinearAlgebraWork : CostOpInterface::ExternalModel<LinearAlgebraWork, LinearAlgebraOp> {
  Work getWork(Operation* op) const {
    auto call = cast<LinearAlgebraOp>(op);
    auto flops = static_cast<double>(linear_algebra::FlopsOf(getLinearAlgebraForm(call)));
    for (int64_t size : getLinearAlgebraBatch(call)) flops *= static_cast<double>(size);
    Work work = getMoves(op->getOperands(), op->getResults());
    return addMatmul(work, call.getInputs().front(), flops / 2);
  }
};
}  // namespace

void mlir::sgd::registerContractionWork(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    DotGeneralOp::attachInterface<DotGeneralWork>(*context);
    GroupedDotOp::attachInterface<GroupedDotWork>(*context);
    ConvolutionOp::attachInterface<ConvolutionWork>(*context);
    LinearAlgebraOp::attachInterface<LinearAlgebraWork>(*context);
  });
}
