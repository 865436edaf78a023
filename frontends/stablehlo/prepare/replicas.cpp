// jax.pmap of JAX up to 0.7: a program that every replica runs on its own arguments; see prepare.h. What JAX keeps for
// all replicas is one array with a dimension for the replica, and so are the tensors of files.
#include "dialects/sgd/mesh_name.h"
#include "dialects/sgd/tensor_type.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/input/shape_ops.h"
#include "frontends/stablehlo/prepare/prepare.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr llvm::StringLiteral kAxis = "replica", kSame = "mhlo.is_same_data_across_replicas";

/// How one replica's argument or result is cut from that of all replicas.
struct Layout {
  enum Kind { Same, Along, Stacked } kind = Same;
  int64_t dim = 0;  // that counts the replicas
};

/// The dimension of size 1 without which `shape` is `rest`.
std::optional<int64_t> findUnitDim(ArrayRef<int64_t> shape, ArrayRef<int64_t> rest) {
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim) {
    SmallVector<int64_t> without(shape);
    without.erase(without.begin() + dim);
    if (shape[dim] == 1 && ArrayRef(without) == rest) return dim;
  }
  return std::nullopt;
}

/// The dimension that the program removes before anything else: JAX keeps one for the replica, of size 1.
std::optional<int64_t> findDroppedDim(BlockArgument argument) {
  for (Operation* user : argument.getUsers()) {
    auto reshape = dyn_cast<stablehlo::ReshapeOp>(user);
    return reshape ? findUnitDim(shapeOf(argument), shapeOf(reshape)) : std::nullopt;
  }
  // Without a use: any will do.
  const int64_t* unit = llvm::find(shapeOf(argument), 1);
  return unit == shapeOf(argument).end() ? std::nullopt : std::optional<int64_t>(unit - shapeOf(argument).begin());
}

/// The dimension that the program adds last of all.
std::optional<int64_t> findAddedDim(Value result) {
  Operation* producer = result.getDefiningOp();
  if (!isa_and_nonnull<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(producer)) return std::nullopt;
  return findUnitDim(shapeOf(result), shapeOf(producer->getOperand(0)));
}

class ReplicaProgram {
 public:
  ReplicaProgram(func::FuncOp function, int64_t replicas)
      : function(function), replicas(replicas), builder(function.getContext()) {}

  LogicalResult run();

 private:
  LogicalResult findLayouts();
  RankedTensorType getGlobalType(Type type, Layout layout) const;
  sdy::ShardingAttr getSharding(Type type, Layout layout) const;
  /// The type of a replica's argument: stacked values keep their new dimension, of size 1.
  RankedTensorType getPartType(Type type, Layout layout) const;

  func::FuncOp function;
  int64_t replicas;
  OpBuilder builder;
  SmallVector<Layout> arguments, results;
};

LogicalResult ReplicaProgram::findLayouts() {
  Block& body = function.getBody().front();
  bool keepsDim = true, isMapped = false;
  for (BlockArgument argument : body.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (!isa<RankedTensorType>(argument.getType()))
      return function.emitError(
          "has an argument that is no tensor; expected tensors in a program of several replicas; pass tokens and "
          "tuples as tensors");
    auto same = function.getArgAttrOfType<BoolAttr>(index, kSame);
    std::optional<int64_t> dropped = findDroppedDim(argument);
    bool isSame = same && same.getValue();
    keepsDim &= isSame || dropped.has_value();
    isMapped |= !isSame;
    arguments.push_back({isSame ? Layout::Same : Layout::Along, dropped.value_or(0)});
  }
  keepsDim &= isMapped;
  for (Layout& layout : arguments)
    if (!keepsDim && layout.kind == Layout::Along) layout = {Layout::Stacked, 0};
  for (Value result : body.getTerminator()->getOperands()) {
    if (!isa<RankedTensorType>(result.getType()))
      return function.emitError(
          "has a result that is no tensor; expected tensors in a program of several replicas; return tokens and tuples "
          "as tensors");
    std::optional<int64_t> added = findAddedDim(result);
    if (!keepsDim)
      results.push_back({Layout::Stacked, 0});
    else  // out_axes = None: what the first replica has.
      results.push_back({added ? Layout::Along : Layout::Same, added.value_or(0)});
  }
  return success();
}

RankedTensorType ReplicaProgram::getPartType(Type type, Layout layout) const {
  auto tensor = cast<RankedTensorType>(type);
  if (layout.kind != Layout::Stacked) return tensor;
  SmallVector<int64_t> shape{1};
  llvm::append_range(shape, tensor.getShape());
  return tensor.clone(shape);
}

RankedTensorType ReplicaProgram::getGlobalType(Type type, Layout layout) const {
  RankedTensorType part = getPartType(type, layout);
  if (layout.kind == Layout::Same) return part;
  SmallVector<int64_t> shape(part.getShape());
  shape[layout.dim] = replicas;
  return part.clone(shape);
}

sdy::ShardingAttr ReplicaProgram::getSharding(Type type, Layout layout) const {
  MLIRContext* context = builder.getContext();
  SmallVector<sdy::DimShardingAttr> dims;
  for (int64_t dim = 0; dim < getPartType(type, layout).getRank(); ++dim) {
    SmallVector<sdy::AxisRefAttr> axes;
    if (layout.kind != Layout::Same && dim == layout.dim) axes.push_back(sdy::AxisRefAttr::get(context, kAxis, 0, 0));
    dims.push_back(sdy::DimShardingAttr::get(context, axes, /*isOpen=*/false, std::nullopt));
  }
  return sdy::ShardingAttr::get(context, FlatSymbolRefAttr::get(context, kMeshName), dims, {}, {});
}

LogicalResult ReplicaProgram::run() {
  if (!function.getBody().hasOneBlock())
    return function.emitError(
        "has several blocks; expected one; use 'stablehlo.while' and 'stablehlo.case' for control flow");
  if (findLayouts().failed()) return failure();
  MLIRContext* context = function.getContext();
  Location loc = function.getLoc();
  Block* local = &function.getBody().front();
  Operation* end = local->getTerminator();
  SmallVector<sdy::ShardingAttr> in, out;
  SmallVector<Type> argumentTypes, resultTypes;
  for (auto [argument, layout] : llvm::zip(local->getArguments(), arguments)) {
    in.push_back(getSharding(argument.getType(), layout));
    argumentTypes.push_back(getGlobalType(argument.getType(), layout));
  }
  builder.setInsertionPoint(end);
  SmallVector<Value> returned;
  for (auto [result, layout] : llvm::zip(end->getOperands(), results)) {
    out.push_back(getSharding(result.getType(), layout));
    resultTypes.push_back(getGlobalType(result.getType(), layout));
    RankedTensorType part = getPartType(result.getType(), layout);
    returned.push_back(part == result.getType() ? result
                                                : stablehlo::ReshapeOp::create(builder, loc, part, result).getResult());
  }
  sdy::ReturnOp::create(builder, end->getLoc(), returned);
  end->erase();
  builder.setInsertionPointToStart(local);
  for (auto [argument, layout] : llvm::zip(local->getArguments(), arguments)) {
    Type type = argument.getType();
    if (layout.kind != Layout::Stacked) continue;
    argument.setType(getPartType(type, layout));
    Value whole = stablehlo::ReshapeOp::create(builder, loc, type, argument);
    argument.replaceAllUsesExcept(whole, whole.getDefiningOp());
  }
  auto* global = new Block;
  for (auto [argument, type] : llvm::zip(local->getArguments(), argumentTypes))
    global->addArgument(type, argument.getLoc());
  function.getBody().push_front(global);
  builder.setInsertionPointToStart(global);
  auto manual = sdy::ManualComputationOp::create(
      builder, loc, resultTypes, global->getArguments(), sdy::ShardingPerValueAttr::get(context, in),
      sdy::ShardingPerValueAttr::get(context, out), sdy::ManualAxesAttr::get(context, builder.getStringAttr(kAxis)));
  local->moveBefore(&manual.getBody(), manual.getBody().end());
  func::ReturnOp::create(builder, loc, manual.getResults());
  function.setType(builder.getFunctionType(argumentTypes, resultTypes));
  return success();
}

}  // namespace

LogicalResult mlir::sgd::createReplicaAxis(ModuleOp module) {
  auto replicas = module->getAttrOfType<IntegerAttr>("mhlo.num_replicas"),
       partitions = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  if (!replicas || replicas.getInt() <= 1) return success();
  bool hasMesh =
      llvm::any_of(module.getOps<sdy::MeshOp>(), [](sdy::MeshOp op) { return !op.getMesh().getNames().empty(); });
  if (hasMesh || (partitions && partitions.getInt() != 1))
    return emitError(module.getLoc())
           << "program has " << replicas.getInt()
           << " replicas, as jax.pmap makes them, and shardings within each; expected replicas of one device; use "
              "jax.jit or jax.shard_map over one mesh instead";
  MLIRContext* context = module.getContext();
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto mesh = sdy::MeshAttr::get(context, builder.getStringAttr(kAxis), replicas.getInt(), {});
  sdy::MeshOp::create(builder, module.getLoc(), builder.getStringAttr(kMeshName), mesh);
  // The only partition of a replica is the rank with its number.
  SmallVector<Operation*> ids;
  module.walk([&](Operation* op) {
    if (isa<stablehlo::ReplicaIdOp>(op)) ids.push_back(op);
  });
  for (Operation* op : ids) {
    builder.setInsertionPoint(op);
    Value rank = stablehlo::PartitionIdOp::create(builder, op->getLoc(), op->getResult(0).getType());
    op->replaceAllUsesWith(ValueRange(rank));
    op->erase();
  }
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal() && ReplicaProgram(function, replicas.getInt()).run().failed())
      return failure();
  return success();
}
