// Builds the node graph of a cluster's body: the value of a tensor at an index, as scalar nodes over the loop
// variables. One class, its methods and their rules by op family: node_builder.cpp (elementwise, reductions, index
// arithmetic), movement_nodes.cpp, index_nodes.cpp, scatter_nodes.cpp. kernel_plan.cpp drives it; nothing here calls
// back.
#ifndef SGD_TARGETS_KERNELS_NODE_BUILDER_H
#define SGD_TARGETS_KERNELS_NODE_BUILDER_H

#include <functional>
#include <unordered_map>

#include "dialects/sgd/tensor_layout.h"
#include "dialects/spmd/spmd_dialect.h"
#include "targets/kernels/kernel_plan.h"
#include "targets/kernels/scatter_shape.h"

namespace mlir::sgd::kernels {

/// A result dimension and where a step along it leads in the operand.
struct StridedDim {
  int64_t size;
  int64_t stride;
  bool isolated = false;  // its own index is wanted
};

class NodeBuilder;

/// The node of element `index` of the op's result; see NodeBuilder::build.
using NodeRule = FailureOr<unsigned> (*)(NodeBuilder&, Operation*, const IndexExpr& index, unsigned guard);
/// By op. Elementwise ops and constants need no rule.
using NodeRules = llvm::DenseMap<TypeID, NodeRule>;

class NodeBuilder {
 public:
  /// `plan` has its base variables already; nodes are added to it. Splits that would make indices simpler go to
  /// `requests`.
  NodeBuilder(KernelPlan& plan, llvm::SmallVectorImpl<SplitRequest>& requests) : plan(plan), requests(requests) {}

  /// The node of element `index` (row-major) of `value`, needed only where node `guard` holds. Fails with an error on
  /// the op.
  FailureOr<unsigned> build(Value value, const IndexExpr& index, unsigned guard = kNone);

  /// Plans `op`, the result of the cluster, as loops over its updates: sets variables and `scatter` of the plan.
  LogicalResult buildScatterLoops(ScatterOp op);

  /// The index in a tensor whose dimensions of `extents` (row-major runs over `index`) have `strides`.
  IndexExpr linearize(const IndexExpr& index, llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> strides);

  /// The position in the result of `op` of element `index` (row-major) of its update.
  FailureOr<IndexExpr> placeUpdate(DynamicUpdateSliceOp op, const IndexExpr& index);

  /// Row variables of reductions with these extents of collapsed reduced dimensions; set by the planner.
  struct RowShape {
    llvm::SmallVector<int64_t> extents;
    llvm::SmallVector<IndexExpr> indices;  // one per extent, in row variables
  } row;

  // Rules of ops are made of these.
  FailureOr<unsigned> buildStrided(Value operand, llvm::ArrayRef<StridedDim> dims, int64_t offset,
                                   const IndexExpr& index, unsigned guard);
  /// Indices of the groups: `extents` are row-major sizes whose product is the number of elements that `index` runs
  /// over.
  llvm::SmallVector<IndexExpr> delinearize(const IndexExpr& index, llvm::ArrayRef<int64_t> extents);
  std::pair<IndexExpr, IndexExpr> divide(const IndexExpr& index, int64_t divisor);
  /// Index in the operand; the indices of isolated dimensions are appended to `isolated`.
  IndexExpr stridedIndex(llvm::ArrayRef<StridedDim> dims, int64_t offset, const IndexExpr& index,
                         llvm::SmallVectorImpl<IndexExpr>* isolated = nullptr);
  IndexExpr opaque(Node node, int64_t extent);
  FailureOr<IndexExpr> clampedStart(Value starts, const IndexExpr& at, int64_t extent, bool isUnsigned, unsigned guard);
  /// Node for low <= index < high; kNone when always true.
  unsigned inRange(const IndexExpr& index, int64_t low, int64_t high);
  unsigned both(unsigned left, unsigned right);
  unsigned select(unsigned condition, unsigned yes, unsigned no);
  unsigned addNode(Node node);

 private:
  static const NodeRules& getRules();
  static void addMovementRules(NodeRules& rules);
  static void addIndexRules(NodeRules& rules);
  static void addScatterRules(NodeRules& rules);
  /// A method (op, index, guard), or a function (builder, op, index, guard).
  template <typename Op, auto rule>
  static void addRule(NodeRules& rules) {
    rules[TypeID::get<Op>()] = [](NodeBuilder& builder, Operation* op, const IndexExpr& index, unsigned guard) {
      return std::invoke(rule, builder, cast<Op>(op), index, guard);
    };
  }

  FailureOr<unsigned> buildOp(Operation* op, const IndexExpr& index, unsigned guard);
  FailureOr<unsigned> buildElementwise(Operation* op, const IndexExpr& index, unsigned guard);
  FailureOr<unsigned> buildConstant(Operation* op, const IndexExpr& index, unsigned guard);
  FailureOr<unsigned> buildIota(IotaOp op, const IndexExpr& index, unsigned guard);
  FailureOr<unsigned> buildPad(PadOp op, const IndexExpr& index, unsigned guard);
  void splitAtSeams(ConcatenateOp op, const IndexExpr& position);
  FailureOr<unsigned> buildConcatenate(ConcatenateOp op, const IndexExpr& index, unsigned guard);
  FailureOr<unsigned> buildDynamicSlice(DynamicSliceOp op, const IndexExpr& index, unsigned guard);
  FailureOr<unsigned> buildDynamicUpdateSlice(DynamicUpdateSliceOp op, const IndexExpr& index, unsigned guard);
  FailureOr<unsigned> buildGather(GatherOp op, const IndexExpr& index, unsigned guard);
  FailureOr<unsigned> buildScatter(ScatterOp op, const IndexExpr& index, unsigned guard);
  FailureOr<IndexExpr> scatterStart(ScatterOp op, const ScatterShape& shape, const ScatterShape::OperandDim& dim,
                                    const IndexExpr& indexBase, unsigned guard);
  FailureOr<unsigned> buildReduce(ReduceOp op, const IndexExpr& index, unsigned guard);
  FailureOr<unsigned> buildCoordinate(AxisListAttr axes);
  FailureOr<unsigned> buildPartitionId(spmd::PartitionIdOp op, const IndexExpr& index, unsigned guard);
  FailureOr<unsigned> buildShardSlice(spmd::ShardSliceOp op, const IndexExpr& index, unsigned guard);
  uint64_t varsOf(const IndexExpr& index) const;
  unsigned phaseOf(const IndexExpr& index) const;

  struct Key {
    Value value;
    IndexExpr index;
    unsigned guard;
    bool operator==(const Key& other) const {
      return value == other.value && index == other.index && guard == other.guard;
    }
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return llvm::hash_combine(key.value.getAsOpaquePointer(), hash_value(key.index), key.guard);
    }
  };

  KernelPlan& plan;
  llvm::SmallVectorImpl<SplitRequest>& requests;
  std::unordered_map<Key, unsigned, KeyHash> memo;
  std::unordered_map<size_t, llvm::SmallVector<unsigned, 2>>
      pureNodes;  // by hash: nodes without tensor value, for sharing
};

}  // namespace mlir::sgd::kernels

#endif
