// Instructions without a model here cost nothing by themselves: they end others, or run functions.
#include "dialects/plan/work.h"

#include "dialects/cost/cost_op.h"
#include "dialects/fusion/work.h"
#include "dialects/plan/attention.h"
#include "dialects/plan/host_call.h"
#include "dialects/plan/host_copy.h"
#include "dialects/plan/linear_algebra.h"
#include "dialects/plan/plan_dialect.h"
#include "dialects/spmd/ranges.h"
#include "runtime/comm/collectives/sent_bytes.h"

using namespace mlir;
using namespace mlir::plan;
using mlir::sgd::CostOpInterface;
using mlir::sgd::Exchange;
using mlir::sgd::OperationKind;
using mlir::sgd::Work;

/// The bytes of all buffers that `op` reads, and of all that it writes.
static Work getAccessedBytes(Operation* op) {
  Work work;
  for (auto [operand, access] : llvm::zip(op->getOperands(), getAccesses(op))) {
    if (!isa<MemRefType>(operand.getType())) continue;
    auto bytes = static_cast<double>(getByteSize(operand.getType()));
    (access.writes ? work.writtenBytes : work.readBytes) += bytes;
  }
  return work;
}

/// The same without its workspace.
template <typename Op>
static Work getCallBytes(Op op) {
  Work work = getAccessedBytes(op);
  if (op.getWorkspace()) work.writtenBytes -= static_cast<double>(getByteSize(op.getWorkspace().getType()));
  return work;
}

static double getProduct(ArrayRef<int64_t> sizes) {
  double product = 1;
  for (int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

namespace {
struct LaunchWork : CostOpInterface::ExternalModel<LaunchWork, LaunchOp> {
  Work getWork(Operation* op) const {
    WorkAttr work = cast<LaunchOp>(op).getWorkAttr();
    return work ? work.getValue() : getAccessedBytes(op);
  }
};

struct MatmulWork : CostOpInterface::ExternalModel<MatmulWork, MatmulOp> {
  Work getWork(Operation* op) const {
    auto matmul = cast<MatmulOp>(op);
    Work work = getCallBytes(matmul);
    fusion::addEpilogue(work, matmul.getEpilogue(), getProduct(matmul.getSizes().drop_back()));
    return mlir::sgd::addMatmul(work, matmul.getA(), getProduct(matmul.getSizes()));
  }
};

struct ConvolutionWork : CostOpInterface::ExternalModel<ConvolutionWork, ConvolutionOp> {
  Work getWork(Operation* op) const {
    auto convolution = cast<ConvolutionOp>(op);
    ArrayRef<int64_t> sizes = convolution.getSizes();
    double products = getProduct(sizes) * getProduct(convolution.getOutputs()) * getProduct(convolution.getKernels());
    if (DenseI64ArrayAttr dilations = convolution.getLhsDilationsAttr()) products /= getProduct(dilations);
    Work work = getCallBytes(convolution);
    double written = static_cast<double>(sizes[0] * sizes[1] * sizes[3]) * getProduct(convolution.getOutputs());
    fusion::addEpilogue(work, convolution.getEpilogue(), written);
    return mlir::sgd::addMatmul(work, convolution.getLhs(), products,
                                products / static_cast<double>(std::max<int64_t>(sizes[3], 1)));
  }
};

/// Library kernels, whose rates are given for all scores, masked ones included.
template <typename Op>
struct AttentionWork : CostOpInterface::ExternalModel<AttentionWork<Op>, Op> {
  Work getWork(Operation* op) const {
    auto attention = cast<Op>(op);
    return getCallBytes(attention).add(OperationKind::Attention, mlir::sgd::Precision::Half,
                                       attention.getProducts() * 2);
  }
};

struct LinearAlgebraWork : CostOpInterface::ExternalModel<LinearAlgebraWork, LinearAlgebraOp> {
  Work getWork(Operation* op) const {
    auto call = cast<LinearAlgebraOp>(op);
    Work work = getCallBytes(call);
    auto flops = static_cast<double>(::sgd::linear_algebra::FlopsOf(call.getForm()));
    return mlir::sgd::addMatmul(work, call.getInputs().front(), flops * static_cast<double>(call.getBatch()) / 2);
  }
};

struct TiledWork : CostOpInterface::ExternalModel<TiledWork, TiledOp> {
  Work getWork(Operation* op) const {
    auto tiled = cast<TiledOp>(op);
    Work work = getAccessedBytes(op);
    for (Operation& step : tiled.getBody().front())
      work.addOperations(mlir::sgd::getWork(&step), static_cast<double>(tiled.getNumTiles()));
    return work;
  }
};

/// Moves bytes and computes nothing.
template <typename Op>
struct TransferWork : CostOpInterface::ExternalModel<TransferWork<Op>, Op> {
  Work getWork(Operation* op) const { return getAccessedBytes(op); }
};

/// A message is copied into its place, or out of it.
template <typename Op>
struct MessageWork : CostOpInterface::ExternalModel<MessageWork<Op>, Op> {
  Work getWork(Operation* op) const {
    Work work;
    work.readBytes = work.writtenBytes = static_cast<double>(getOperandBytes(op));
    return work;
  }
};

struct CollectiveWork : CostOpInterface::ExternalModel<CollectiveWork, CollectiveOp> {
  Work getWork(Operation* op) const { return getAccessedBytes(op); }
  std::optional<Exchange> getExchange(Operation* op) const {
    auto collective = cast<CollectiveOp>(op);
    Exchange exchange{collective.getKind(), collective.getAxes()};
    auto buffers = ::sgd::comm::CountsResults(exchange.kind) ? collective.getTargets() : collective.getSources();
    for (Value buffer : buffers) exchange.bytes += static_cast<uint64_t>(getByteSize(buffer.getType()));
    if (ArrayAttr ranges = collective.getRangesAttr()) {
      exchange.to = collective.getToAttr();
      for (auto [range, source, target] :
           llvm::zip(ranges.getAsRange<mlir::sgd::RangeAttr>(), collective.getSources(), collective.getTargets()))
        exchange.loads.push_back(
            spmd::getRangeLoad(range, cast<ShapedType>(source.getType()), cast<ShapedType>(target.getType())));
    }
    return exchange;
  }
};
}  // namespace

void mlir::plan::attachWork(MLIRContext& context) {
  LaunchOp::attachInterface<LaunchWork>(context);
  MatmulOp::attachInterface<MatmulWork>(context);
  ConvolutionOp::attachInterface<ConvolutionWork>(context);
  AttentionOp::attachInterface<AttentionWork<AttentionOp>>(context);
  AttentionGradientOp::attachInterface<AttentionWork<AttentionGradientOp>>(context);
  LinearAlgebraOp::attachInterface<LinearAlgebraWork>(context);
  TiledOp::attachInterface<TiledWork>(context);
  CopyOp::attachInterface<TransferWork<CopyOp>>(context);
  FillOp::attachInterface<TransferWork<FillOp>>(context);
  HostCallOp::attachInterface<TransferWork<HostCallOp>>(context);
  HostCopyOp::attachInterface<TransferWork<HostCopyOp>>(context);
  SendOp::attachInterface<MessageWork<SendOp>>(context);
  ReceiveOp::attachInterface<MessageWork<ReceiveOp>>(context);
  CollectiveOp::attachInterface<CollectiveWork>(context);
}
