// The body of a tile on buffers: slices and reshapes become offsets and strides, results are written
// in place, everything else is in scratch memory.
#include "passes/plan/lowering/lower_tiled.h"

#include "dialects/cost/cost_op.h"
#include "dialects/fusion/fusion_dialect.h"
#include "passes/kernels/order/buffers.h"
#include "passes/plan/lowering/lower_matmul.h"
#include "passes/plan/lowering/member_lines.h"
#include "passes/plan/memory/arena_planner.h"

using namespace mlir;
using namespace mlir::sgd;
using plan::Space;

namespace {

bool isContiguous(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> wanted = getRowMajorStrides(shape);
  return llvm::all_of(llvm::seq<size_t>(0, shape.size()),
                      [&](size_t dim) { return shape[dim] == 1 || strides[dim] == wanted[dim]; });
}

class TileConverter {
 public:
  TileConverter(OpBuilder& builder, fusion::TiledOp tiled, KernelTable& kernels)
      : builder(builder), tiled(tiled), kernels(kernels) {}

  LogicalResult run(ValueRange inputs, ValueRange outputs) {
    SmallVector<int64_t> strides;
    for (auto [index, input] : llvm::enumerate(inputs))
      addPart(input, tiled.getInputTile(index), tiled.getInputCuts(index), strides);
    for (auto [index, output] : llvm::enumerate(outputs))
      addPart(output, tiled.getResultTile(index), tiled.getResultCuts(index), strides);
    auto target = plan::TiledOp::create(builder, tiled.getLoc(), inputs, outputs, tiled.getLoopsAttr(),
                                        builder.getDenseI64ArrayAttr(strides), builder.getI64IntegerAttr(0));
    OpBuilder::InsertionGuard guard(builder);
    Block* block = builder.createBlock(&target.getBody());
    for (auto [part, type] : llvm::zip(parts, partTypes)) part.buffer = block->addArgument(type, tiled.getLoc());
    for (BlockArgument argument : tiled.getBody().getArguments()) buffers[argument] = parts[argument.getArgNumber()];
    builder.setInsertionPointToEnd(block);
    for (Operation& op : tiled.getBody().front())
      if (failed(convert(&op))) return failure();
    assignScratch(target);
    return success();
  }

 private:
  /// The part of `whole` that one tile reads: a block argument as long as it reaches, and the strides of `tile`'s
  /// dimensions.
  void addPart(Value whole, RankedTensorType tile, ArrayRef<int64_t> cuts, SmallVectorImpl<int64_t>& loopStrides) {
    auto type = cast<MemRefType>(whole.getType());
    SmallVector<int64_t> strides = getRowMajorStrides(type.getShape());
    int64_t bytes = getElementBytes(type.getElementType()), reach = 1;
    for (auto [size, stride] : llvm::zip(tile.getShape(), strides)) reach += (size - 1) * stride;
    SmallVector<int64_t> moves;
    for (int64_t dim : cuts) moves.push_back(dim < 0 ? 0 : strides[dim] * bytes);
    loopStrides.append(moves);
    areAligned.push_back(llvm::all_of(moves, [](int64_t move) { return move % memory::kAlignment == 0; }));
    partTypes.push_back(
        MemRefType::get({reach}, type.getElementType(), MemRefLayoutAttrInterface(), type.getMemorySpace()));
    parts.push_back({Value(), 0, strides});
  }

  LogicalResult convert(Operation* op) {
    if (isa<fusion::TileStoreOp>(op)) return success();
    if (auto slice = dyn_cast<SliceOp>(op)) {
      StridedBuffer part = buffers.at(slice.getInput());
      for (auto [stride, start, step] : llvm::zip(part.strides, slice.getStarts(), slice.getStrides())) {
        part.offset += start * stride;
        stride *= step;
      }
      buffers[slice.getResult()] = part;
      return success();
    }
    if (auto matmul = dyn_cast<fusion::MatmulOp>(op)) {
      fusion::TileStoreOp store = getStore(matmul.getResult());
      StridedBuffer target = buffers[matmul.getResult()] = getTarget(matmul.getResult(), store);
      return createMatmuls(builder, Contraction(matmul), buffers.at(matmul.getLhs()), buffers.at(matmul.getRhs()),
                           target, store && store.getAdd());
    }
    if (auto cluster = dyn_cast<fusion::ClusterOp>(op)) return convert(cluster);
    return op->emitOpError("cannot be computed in tiles");
  }

  LogicalResult convert(fusion::ClusterOp cluster) {
    FailureOr<KernelTable::Entry> entry = kernels.getOrCreate(cluster);
    if (failed(entry)) return failure();
    const KernelDescription& description = entry->description;
    if (!description.coordinates.empty()) return cluster.emitOpError("depends on the rank, which a tile cannot");
    SmallVector<Value> inputs, outputs;
    for (Value input : cluster.getInputs()) inputs.push_back(getContiguous(buffers.at(input), input.getType()));
    for (Value result : cluster.getResults()) {
      buffers[result] = getTarget(result, getStore(result));
      outputs.push_back(getContiguous(buffers[result], result.getType()));
    }
    if (llvm::is_contained(inputs, Value()) || llvm::is_contained(outputs, Value()))
      return cluster.emitOpError(
          "acts on a part of a tensor that is not contiguous, or not at multiples of 64 bytes, in each tile");
    plan::LaunchOp::create(builder, getLocationWithMembers(cluster), entry->symbol, inputs, outputs, ArrayAttr(),
                           builder.getI64IntegerAttr(description.range), builder.getI64IntegerAttr(description.grain),
                           plan::WorkAttr::get(builder.getContext(), getWork(cluster)), /*group=*/IntegerAttr());
    return success();
  }

  static fusion::TileStoreOp getStore(Value value) {
    for (Operation* user : value.getUsers())
      if (auto store = dyn_cast<fusion::TileStoreOp>(user)) return store;
    return {};
  }

  StridedBuffer getTarget(Value value, fusion::TileStoreOp store) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!store) {
      auto alloc =
          plan::AllocOp::create(builder, value.getLoc(), plan::getBufferType(type, Space::Scratch), IntegerAttr());
      return {alloc, 0, getRowMajorStrides(type.getShape())};
    }
    StridedBuffer target = parts[tiled.getInputs().size() + store.getResult()];
    for (auto [stride, start] : llvm::zip(target.strides, store.getStarts())) target.offset += start * stride;
    return target;
  }

  /// The buffer of `part`'s elements with the tensor's shape; null when they are not next to each other or not aligned.
  Value getContiguous(const StridedBuffer& part, Type tensor) {
    auto type = cast<RankedTensorType>(tensor);
    MemRefType wanted = plan::getBufferType(type, plan::getSpace(part.buffer.getType()));
    if (part.buffer.getType() == wanted && part.offset == 0) return part.buffer;
    int64_t offset = part.offset * getElementBytes(type.getElementType());
    auto argument = dyn_cast<BlockArgument>(part.buffer);
    if (!isContiguous(type.getShape(), part.strides) || offset % memory::kAlignment != 0 ||
        (argument && !areAligned[argument.getArgNumber()]))
      return {};
    return plan::ViewOp::create(builder, tiled.getLoc(), wanted, part.buffer, offset);
  }

  /// Places the allocs of the body one beside the other where they live at the same time.
  void assignScratch(plan::TiledOp target) {
    llvm::MapVector<Operation*, memory::ArenaBuffer> allocs;
    for (auto [position, op] : llvm::enumerate(target.getBody().front())) {
      if (auto alloc = dyn_cast<plan::AllocOp>(op)) allocs[alloc].size = getByteSize(alloc.getType());
      if (!isa<plan::InstructionOpInterface>(op)) continue;
      for (Value operand : op.getOperands()) {
        auto found = allocs.find(plan::getRoot(operand).root.getDefiningOp());
        if (found == allocs.end()) continue;
        int64_t at = position;
        if (found->second.lifetimes.empty()) found->second.lifetimes.push_back({at, at});
        found->second.lifetimes.back().last = at;
      }
    }
    std::vector<memory::ArenaBuffer> scratch;
    for (auto& [op, buffer] : allocs) scratch.push_back(buffer);
    memory::ArenaPlan arena = memory::planArena(scratch);
    for (auto [entry, offset] : llvm::zip(allocs, arena.offsets)) cast<plan::AllocOp>(entry.first).setOffset(offset);
    target.setScratchBytes(arena.size);
  }

  OpBuilder& builder;
  fusion::TiledOp tiled;
  KernelTable& kernels;
  SmallVector<StridedBuffer, 0> parts;  // of operands and results, at the first tile
  SmallVector<MemRefType> partTypes;
  SmallVector<bool> areAligned;  // tiles are at multiples of 64 bytes from each other
  llvm::DenseMap<Value, StridedBuffer> buffers;
};

}  // namespace

LogicalResult mlir::sgd::createTiled(OpBuilder& builder, fusion::TiledOp tiled, ValueRange inputs, ValueRange outputs,
                                     KernelTable& kernels) {
  return TileConverter(builder, tiled, kernels).run(inputs, outputs);
}
