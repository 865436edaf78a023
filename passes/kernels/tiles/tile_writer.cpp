// For each block of rows, the ops of the group once more, with the block's shapes.
#include "passes/kernels/tiles/tile_writer.h"

#include "dialects/fusion/fusion_dialect.h"
using namespace mlir;
using namespace mlir::sgd;

namespace {

RankedTensorType getType(Value like, const IndexBox& box) {
  SmallVector<int64_t> shape;
  for (IndexRange range : box) shape.push_back(range.size);
  return RankedTensorType::get(shape, cast<RankedTensorType>(like.getType()).getElementType());
}

bool isWhole(RankedTensorType type, const IndexBox& box) {
  return llvm::all_of(llvm::enumerate(box), [&](auto entry) {
    return entry.value().begin == 0 && entry.value().size == type.getDimSize(entry.index());
  });
}

Value slice(OpBuilder& builder, Value value, const IndexBox& box) {
  if (isWhole(cast<RankedTensorType>(value.getType()), box)) return value;
  SmallVector<int64_t> starts, limits, strides(box.size(), 1);
  for (IndexRange range : box) {
    starts.push_back(range.begin);
    limits.push_back(range.begin + range.size);
  }
  return SliceOp::create(builder, value.getLoc(), getType(value, box), value, starts, limits, strides);
}

class Writer {
 public:
  Writer(OpBuilder& builder, const TileGroup& group) : builder(builder), group(group) {}

  fusion::TiledOp write() {
    SmallVector<Location> locations;
    for (Operation* op : group.ops)
      if (locations.size() < 4) locations.push_back(op->getLoc());
    SmallVector<int64_t> loops, cuts;
    for (unsigned loop : group.loops) loops.push_back(group.dims[loop].size);
    SmallVector<Type> types;
    for (Value output : group.getOutputs()) types.push_back(output.getType());
    for (ArrayRef<Value> values : {group.getInputs(), group.getOutputs()})
      for (Value value : values)
        for (unsigned loop : group.loops) cuts.push_back(group.dims.getDim(value, loop));
    auto tiled =
        fusion::TiledOp::create(builder, FusedLoc::get(builder.getContext(), locations), types, group.getInputs(),
                                builder.getDenseI64ArrayAttr(loops), builder.getDenseI64ArrayAttr(cuts));
    OpBuilder::InsertionGuard guard(builder);
    Block* block = builder.createBlock(&tiled.getBody());
    for (Value input : group.getInputs())
      arguments[input] = block->addArgument(getType(input, group.getTileBox(input)), input.getLoc());
    for (const RowBlock& rows : group.blocks) writeBlock(rows, &rows == group.blocks.begin());
    return tiled;
  }

 private:
  void writeBlock(const RowBlock& block, bool isFirst) {
    parts.clear();
    for (Operation* op : group.ops) {
      if (auto matmul = dyn_cast<fusion::MatmulOp>(op))
        writeMatmul(matmul, block);
      else
        writeCluster(cast<fusion::ClusterOp>(op), block);
      for (Value result : op->getResults())
        if (!group.isInternal(result)) writeStore(op, result, block, isFirst);
    }
  }

  /// A matmul reads any part of a tile.
  void writeMatmul(fusion::MatmulOp op, const RowBlock& block) {
    auto operand = [&](Value value) {
      if (Value part = parts.lookup(value)) return part;
      return slice(builder, arguments.at(value), group.getBox(value, block));
    };
    Value lhs = operand(op.getLhs()), rhs = operand(op.getRhs());
    parts[op.getResult()] = fusion::MatmulOp::create(
        builder, op.getLoc(), getType(op.getResult(), group.getBox(op.getResult(), block)), lhs, rhs,
        op.getLhsLabelsAttr(), op.getRhsLabelsAttr(), op.getResultLabelsAttr(), op.getTf32Attr());
  }

  void writeStore(Operation* op, Value result, const RowBlock& block, bool isFirst) {
    SmallVector<int64_t> starts;
    for (IndexRange range : group.getBox(result, block)) starts.push_back(range.begin);
    unsigned number = llvm::find(group.getOutputs(), result) - group.getOutputs().begin();
    bool adds = group.sumsOverRows(op) && !isFirst;
    fusion::TileStoreOp::create(builder, op->getLoc(), parts.lookup(result), builder.getI64IntegerAttr(number),
                                builder.getDenseI64ArrayAttr(starts), adds ? builder.getUnitAttr() : UnitAttr());
  }

  /// The largest contiguous part of an input that holds `box`, which can be a kernel's operand.
  IndexBox getKernelBox(Value input, const IndexBox& box) const {
    IndexBox whole = group.getTileBox(input);
    for (size_t count = box.size() + 1; count-- > 0;) {
      IndexBox part = whole;
      std::copy(box.begin(), box.begin() + count, part.begin());
      if (group.isContiguous(input, part)) return part;
    }
    return whole;
  }

  void writeCluster(fusion::ClusterOp op, const RowBlock& block) {
    SmallVector<Value> operands;
    SmallVector<IndexBox> inside;  // of the operand, what the kernel's body reads
    for (Value operand : op.getInputs()) {
      IndexBox box = group.getBox(operand, block);
      if (Value part = parts.lookup(operand)) {
        operands.push_back(part);
        inside.push_back(getWholeBox(part));
        continue;
      }
      IndexBox given = getKernelBox(operand, box);
      operands.push_back(slice(builder, arguments.at(operand), given));
      for (auto [range, from] : llvm::zip(box, given)) range.begin -= from.begin;
      inside.push_back(box);
    }
    SmallVector<Type> types;
    for (Value result : op.getResults()) types.push_back(getType(result, group.getBox(result, block)));
    auto copy = fusion::ClusterOp::create(builder, op.getLoc(), types, operands);
    for (auto [result, part] : llvm::zip(op.getResults(), copy.getResults())) parts[result] = part;
    OpBuilder::InsertionGuard guard(builder);
    Block* body = builder.createBlock(&copy.getBody());
    IRMapping mapping;
    for (auto [argument, operand, box] : llvm::zip(op.getBody().getArguments(), operands, inside))
      mapping.map(argument, slice(builder, body->addArgument(operand.getType(), operand.getLoc()), box));
    for (Operation& inner : op.getBody().front()) writeInnerOp(&inner, block, mapping);
  }

  void writeInnerOp(Operation* op, const RowBlock& block, IRMapping& mapping) {
    Operation* copy = builder.clone(*op, mapping);
    for (auto [result, part] : llvm::zip(op->getResults(), copy->getResults()))
      part.setType(getType(result, group.getBox(result, block)));
    if (auto constant = dyn_cast<arith::ConstantOp>(copy)) {
      auto type = cast<RankedTensorType>(constant.getType());
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue())) constant.setValueAttr(splat.resizeSplat(type));
    }
    auto iota = dyn_cast<IotaOp>(op);
    if (!iota) return;
    int64_t begin = group.getBox(iota.getResult(), block)[iota.getDimension()].begin;
    if (begin != 0) mapping.map(iota.getResult(), addOffset(copy->getResult(0), begin));
  }

  Value addOffset(Value indices, int64_t offset) {
    auto type = cast<RankedTensorType>(indices.getType());
    Type element = type.getElementType();
    TypedAttr number = isa<FloatType>(element) ? TypedAttr(builder.getFloatAttr(element, static_cast<double>(offset)))
                                               : TypedAttr(builder.getIntegerAttr(element, offset));
    Value splat = arith::ConstantOp::create(builder, indices.getLoc(), DenseElementsAttr::get(type, Attribute(number)));
    return createCombiner(builder, indices.getLoc(), ReduceKind::Add, indices, splat);
  }

  OpBuilder& builder;
  const TileGroup& group;
  llvm::DenseMap<Value, Value> arguments;  // input -> block argument
  llvm::DenseMap<Value, Value> parts;      // value of the group -> its part of the block being written
};

}  // namespace

fusion::TiledOp mlir::sgd::writeTiled(OpBuilder& builder, const TileGroup& group) {
  return Writer(builder, group).write();
}
