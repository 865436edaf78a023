// Values of the ops that select among elements at an index: iota, pad, concatenate, dynamic slices, gather, and rank
// coordinates.
#include <numeric>

#include "dialects/sgd/tensor_type.h"
#include "targets/kernels/node_builder.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

/// Shorter pieces of a concatenation are told apart by lane, not by loops of their own.
static constexpr int64_t kLeastSeam = 16;

unsigned NodeBuilder::inRange(const IndexExpr& index, int64_t low, int64_t high) {
  auto [least, most] = plan.space.range(index);
  if (low <= least && most < high) return kNone;
  Node node{NodeKind::InRange, IntegerType::get(plan.cluster.getContext(), 1)};
  node.index = index;
  node.low = low;
  node.high = high;
  // Whole multiples of a limit need not be told apart.
  for (const IndexExpr::Term& term : index.getTerms()) {
    int64_t unit = std::abs(term.coefficient);
    if (unit <= 1 || low % unit != 0 || high % unit != 0) continue;
    auto quotient = plan.space.divide(index, unit);
    if (!quotient) continue;
    node.index = quotient->first;
    node.low = low / unit;
    node.high = high / unit;
    break;
  }
  return addNode(node);
}

unsigned NodeBuilder::both(unsigned left, unsigned right) {
  if (left == kNone || left == right) return right;
  if (right == kNone) return left;
  Node node{NodeKind::And, plan.nodes[left].type};
  node.operands = {left, right};
  return addNode(node);
}

unsigned NodeBuilder::select(unsigned condition, unsigned yes, unsigned no) {
  if (condition == kNone || yes == no) return yes;
  Node node{NodeKind::Select, plan.nodes[yes].type};
  node.operands = {condition, yes, no};
  return addNode(node);
}

FailureOr<unsigned> NodeBuilder::buildIota(IotaOp op, const IndexExpr& index, unsigned) {
  auto type = tensorType(op.getResult());
  SmallVector<StridedDim> dims;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) dims.push_back({size, dim == op.getDimension() ? 1 : 0});
  Node node{NodeKind::Index, type.getElementType()};
  node.index = stridedIndex(dims, 0, index);
  return addNode(node);
}

FailureOr<unsigned> NodeBuilder::buildPad(PadOp op, const IndexExpr& index, unsigned guard) {
  auto input = tensorType(op.getInput()), result = tensorType(op.getResult());
  FailureOr<unsigned> padding = build(op.getValue(), IndexExpr(0), guard);
  if (failed(padding) || input.getNumElements() == 0) return padding;
  SmallVector<int64_t> strides = getRowMajorStrides(input.getShape());
  SmallVector<StridedDim> dims;
  SmallVector<unsigned> isolated;
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    bool padded = op.getLow()[dim] != 0 || op.getHigh()[dim] != 0 || op.getInterior()[dim] != 0;
    dims.push_back({result.getDimSize(dim), padded ? 0 : strides[dim], padded});
    if (padded) isolated.push_back(dim);
  }
  SmallVector<IndexExpr> positions;
  IndexExpr operandIndex = stridedIndex(dims, 0, index, &positions);
  unsigned inside = kNone;
  for (auto [dim, position] : llvm::zip(isolated, positions)) {
    IndexExpr operandPosition = position + IndexExpr(-op.getLow()[dim]);
    if (int64_t step = op.getInterior()[dim] + 1; step > 1) {
      auto [quotient, remainder] = divide(operandPosition, step);
      inside = both(inside, inRange(remainder, 0, 1));
      operandPosition = quotient;
    }
    inside = both(inside, inRange(operandPosition, 0, input.getDimSize(dim)));
    operandIndex = operandIndex + operandPosition * strides[dim];
  }
  FailureOr<unsigned> value = build(op.getInput(), operandIndex, both(guard, inside));
  if (failed(value)) return failure();
  return select(inside, *value, *padding);
}

/// Asks for loops in which whole vectors come from one operand, when the operands' sizes have a divisor for that.
void NodeBuilder::splitAtSeams(ConcatenateOp op, const IndexExpr& position) {
  int64_t unit = 0;
  for (Value input : op.getInputs()) unit = std::gcd(unit, tensorType(input).getDimSize(op.getDimension()));
  ArrayRef<IndexExpr::Term> terms = position.getTerms();
  if (unit < kLeastSeam || terms.size() != 1 || terms[0].coefficient != 1 || position.getConstant() != 0) return;
  if (plan.opaqueVars.count(terms[0].var) || plan.space.extent(terms[0].var) % unit != 0) return;
  if (plan.space.extent(terms[0].var) > unit) requests.push_back({terms[0].var, unit});
}

FailureOr<unsigned> NodeBuilder::buildConcatenate(ConcatenateOp op, const IndexExpr& index, unsigned guard) {
  auto result = tensorType(op.getResult());
  int64_t along = op.getDimension(), start = 0;
  // The result as [outer, along, inner]; each operand is the same with another size in the middle.
  int64_t inner = getRowMajorStrides(result.getShape())[along], size = result.getDimSize(along);
  SmallVector<IndexExpr> positions =
      delinearize(index, {result.getNumElements() / std::max<int64_t>(size * inner, 1), size, inner});
  splitAtSeams(op, positions[1]);
  SmallVector<std::pair<unsigned, unsigned>> pieces;  // condition, value
  for (Value input : op.getInputs()) {
    int64_t length = tensorType(input).getDimSize(along);
    if (length == 0) continue;
    unsigned inside = inRange(positions[1], start, start + length);
    IndexExpr operandIndex =
        positions[0] * (length * inner) + (positions[1] + IndexExpr(-start)) * inner + positions[2];
    FailureOr<unsigned> value = build(input, operandIndex, both(guard, inside));
    if (failed(value)) return failure();
    pieces.push_back({inside, *value});
    start += length;
  }
  unsigned value = pieces.pop_back_val().second;
  for (auto [inside, piece] : llvm::reverse(pieces)) value = select(inside, piece, value);
  return value;
}

/// The integer element `at` of `starts` limited to [0, extent).
FailureOr<IndexExpr> NodeBuilder::clampedStart(Value starts, const IndexExpr& at, int64_t extent, bool isUnsigned,
                                               unsigned guard) {
  if (extent <= 1) return IndexExpr(0);
  FailureOr<unsigned> start = build(starts, at, guard);
  if (failed(start)) return failure();
  Node node{NodeKind::Clamp};
  node.operands.push_back(*start);
  node.high = extent;
  node.isUnsigned = isUnsigned;
  return opaque(node, extent);
}

FailureOr<unsigned> NodeBuilder::buildDynamicSlice(DynamicSliceOp op, const IndexExpr& index, unsigned guard) {
  auto input = tensorType(op.getInput());
  SmallVector<int64_t> strides = getRowMajorStrides(input.getShape());
  SmallVector<StridedDim> dims;
  IndexExpr offset;
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    dims.push_back({op.getSizes()[dim], strides[dim]});
    FailureOr<IndexExpr> start =
        clampedStart(op.getStarts()[dim], IndexExpr(0), input.getDimSize(dim) - op.getSizes()[dim] + 1, false, guard);
    if (failed(start)) return failure();
    offset = offset + *start * strides[dim];
  }
  return build(op.getInput(), stridedIndex(dims, 0, index) + offset, guard);
}

FailureOr<IndexExpr> NodeBuilder::placeUpdate(DynamicUpdateSliceOp op, const IndexExpr& index) {
  auto input = tensorType(op.getInput()), update = tensorType(op.getUpdate());
  SmallVector<int64_t> strides = getRowMajorStrides(input.getShape());
  SmallVector<StridedDim> dims;
  IndexExpr offset;
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    dims.push_back({update.getDimSize(dim), strides[dim]});
    FailureOr<IndexExpr> start = clampedStart(op.getStarts()[dim], IndexExpr(0),
                                              input.getDimSize(dim) - update.getDimSize(dim) + 1, false, kNone);
    if (failed(start)) return failure();
    offset = offset + *start * strides[dim];
  }
  return stridedIndex(dims, 0, index) + offset;
}

FailureOr<unsigned> NodeBuilder::buildDynamicUpdateSlice(DynamicUpdateSliceOp op, const IndexExpr& index,
                                                         unsigned guard) {
  auto input = tensorType(op.getInput()), update = tensorType(op.getUpdate());
  if (update.getNumElements() == 0) return build(op.getInput(), index, guard);
  SmallVector<int64_t> strides = getRowMajorStrides(update.getShape());
  SmallVector<StridedDim> dims;
  SmallVector<int64_t> isolated;
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    bool partial = update.getDimSize(dim) != input.getDimSize(dim);
    dims.push_back({input.getDimSize(dim), partial ? 0 : strides[dim], partial});
    if (partial) isolated.push_back(dim);
  }
  SmallVector<IndexExpr> positions;
  IndexExpr updateIndex = stridedIndex(dims, 0, index, &positions);
  unsigned inside = kNone;
  for (auto [dim, position] : llvm::zip(isolated, positions)) {
    FailureOr<IndexExpr> start = clampedStart(op.getStarts()[dim], IndexExpr(0),
                                              input.getDimSize(dim) - update.getDimSize(dim) + 1, false, guard);
    if (failed(start)) return failure();
    IndexExpr relative = position + *start * -1;
    inside = both(inside, inRange(relative, 0, update.getDimSize(dim)));
    updateIndex = updateIndex + relative * strides[dim];
  }
  FailureOr<unsigned> inner = build(op.getUpdate(), updateIndex, both(guard, inside));
  FailureOr<unsigned> outer = inside == kNone ? inner : build(op.getInput(), index, guard);
  if (failed(inner) || failed(outer)) return failure();
  return select(inside, *inner, *outer);
}

/// https://github.com/openxla/stablehlo/blob/main/docs/spec.md#gather
FailureOr<unsigned> NodeBuilder::buildGather(GatherOp op, const IndexExpr& index, unsigned guard) {
  auto input = tensorType(op.getInput()), indices = tensorType(op.getIndices()), result = tensorType(op.getResult());
  SmallVector<int64_t> inputStrides = getRowMajorStrides(input.getShape()),
                       indexStrides = getRowMajorStrides(indices.getShape());
  int64_t vectorDim = op.getIndexVectorDim();
  SmallVector<int64_t> windowDims;  // operand dimension of each offset dimension
  for (int64_t dim = 0; dim < input.getRank(); ++dim)
    if (!llvm::is_contained(op.getCollapsedSliceDims(), dim) && !llvm::is_contained(op.getOperandBatchingDims(), dim))
      windowDims.push_back(dim);

  // Where a step along each result dimension leads: in the operand for offset and batching dimensions, in the indices
  // for batch ones.
  SmallVector<StridedDim> inOperand, inIndices;
  int64_t nextWindow = 0, nextBatch = 0;
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    int64_t size = result.getDimSize(dim);
    if (llvm::is_contained(op.getOffsetDims(), dim)) {
      inOperand.push_back({size, inputStrides[windowDims[nextWindow++]]});
      inIndices.push_back({size, 0});
      continue;
    }
    int64_t indexDim = nextBatch + (nextBatch >= vectorDim ? 1 : 0);
    ++nextBatch;
    inIndices.push_back({size, indexStrides[indexDim]});
    auto batching = llvm::find(op.getIndicesBatchingDims(), indexDim);
    bool isBatching = batching != op.getIndicesBatchingDims().end();
    inOperand.push_back(
        {size,
         isBatching ? inputStrides[op.getOperandBatchingDims()[batching - op.getIndicesBatchingDims().begin()]] : 0});
  }
  IndexExpr operandIndex = stridedIndex(inOperand, 0, index), indexBase = stridedIndex(inIndices, 0, index);
  int64_t component = vectorDim < indices.getRank() ? indexStrides[vectorDim] : 0;
  for (auto [number, dim] : llvm::enumerate(op.getStartIndexMap())) {
    FailureOr<IndexExpr> start =
        clampedStart(op.getIndices(), indexBase + IndexExpr(static_cast<int64_t>(number) * component),
                     input.getDimSize(dim) - op.getSliceSizes()[dim] + 1, op.getUnsignedIndices(), guard);
    if (failed(start)) return failure();
    operandIndex = operandIndex + *start * inputStrides[dim];
  }
  return build(op.getInput(), operandIndex, guard);
}

FailureOr<unsigned> NodeBuilder::buildCoordinate(AxisListAttr axes) {
  Node node{NodeKind::Coordinate, IntegerType::get(plan.cluster.getContext(), 32)};
  auto known = llvm::find(plan.coordinates, axes);
  node.buffer = known - plan.coordinates.begin();
  if (known == plan.coordinates.end()) plan.coordinates.push_back(axes);
  return addNode(node);
}

FailureOr<unsigned> NodeBuilder::buildPartitionId(spmd::PartitionIdOp op, const IndexExpr&, unsigned) {
  return buildCoordinate(op.getAxes());
}

FailureOr<unsigned> NodeBuilder::buildShardSlice(spmd::ShardSliceOp op, const IndexExpr& index, unsigned guard) {
  auto input = tensorType(op.getInput()), result = tensorType(op.getResult());
  SmallVector<int64_t> strides = getRowMajorStrides(input.getShape());
  SmallVector<StridedDim> dims;
  for (auto [size, stride] : llvm::zip(result.getShape(), strides)) dims.push_back({size, stride});
  int64_t dim = op.getDim(), size = result.getDimSize(dim), parts = size == 0 ? 1 : input.getDimSize(dim) / size;
  FailureOr<unsigned> coordinate = buildCoordinate(op.getAxes());
  if (failed(coordinate)) return failure();
  Node node{NodeKind::Clamp};
  node.operands.push_back(*coordinate);
  node.high = parts;
  return build(op.getInput(), stridedIndex(dims, 0, index) + opaque(node, parts) * (size * strides[dim]), guard);
}

void NodeBuilder::addIndexRules(NodeRules& rules) {
  addRule<IotaOp, &NodeBuilder::buildIota>(rules);
  addRule<PadOp, &NodeBuilder::buildPad>(rules);
  addRule<ConcatenateOp, &NodeBuilder::buildConcatenate>(rules);
  addRule<DynamicSliceOp, &NodeBuilder::buildDynamicSlice>(rules);
  addRule<DynamicUpdateSliceOp, &NodeBuilder::buildDynamicUpdateSlice>(rules);
  addRule<GatherOp, &NodeBuilder::buildGather>(rules);
  addRule<spmd::PartitionIdOp, &NodeBuilder::buildPartitionId>(rules);
  addRule<spmd::ShardSliceOp, &NodeBuilder::buildShardSlice>(rules);
}
