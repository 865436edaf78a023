// Writes the LLVM IR of one planned kernel. One class: kernel_emitter.cpp splits points over threads and stores
// results; reductions.cpp reduces over rows; scatter_kernel.cpp and tile_kernel.cpp hold the schedules of these names.
#ifndef SGD_TARGETS_GPU_CODEGEN_KERNEL_EMITTER_H
#define SGD_TARGETS_GPU_CODEGEN_KERNEL_EMITTER_H

#include "targets/gpu/codegen/point_values.h"
#include "targets/gpu/codegen/schedule.h"

namespace mlir::sgd::gpu {

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& module, const KernelPlan& plan, const KernelRequest& request);

  /// Adds the function; emits an error on an op without code.
  LogicalResult run();

  const Schedule& getSchedule() const { return schedule; }

 private:
  using Value = llvm::Value;
  using Scope = PointValues::Scope;
  using Body = llvm::function_ref<void()>;

  /// Neighbouring points of the lane variable, and whether they exist (null: they do).
  struct Chunk {
    Scope scope;
    std::vector<Scope> lanes;
    Value* exists = nullptr;
  };
  /// A thread's part of a reduction: a value per lane.
  struct Accumulator {
    unsigned node;
    SmallVector<llvm::AllocaInst*> lanes;
  };

  /// This block's and thread's number in the grid, of items of `perBlock`; and whether it is less than `count`.
  Value* itemNumber(int64_t perBlock, Value* inBlock);
  Value* isBelow(Value* number, int64_t count);  // null: always
  /// Gives `vars` their values from a row-major number; the lane variable, when it is the last one, counts in chunks.
  void setDigits(Scope& scope, ArrayRef<unsigned> vars, Value* number, unsigned lanes);
  Value* widen(Value* number) { return b.CreateZExt(number, b.getInt64Ty()); }
  llvm::IntegerType* numberType(int64_t count);

  void emitPoints();
  /// `emitLane` in each lane.
  void inLanes(Chunk& chunk, llvm::function_ref<void(unsigned)> emitLane);
  void makeLanes(Chunk& chunk, Value* firstLane);

  /// The values of nodes and the places of stores in the chunk's lanes, which are found again when they are needed.
  void computeAll(Chunk& chunk, ArrayRef<unsigned> nodes, ArrayRef<const Store*> stores);
  /// Stores, their values first, in the chunk's lanes.
  void storeChunk(Chunk& chunk, ArrayRef<const Store*> stores, Value* condition);
  /// Stores at one point of the parallel domain, in the threads where `condition` holds.
  void storePoint(ArrayRef<const Store*> stores, Value* condition);
  void storeElement(const Store& store, Value* result);

  void emitReductions();
  void findWalks();
  bool overwritesRead() const;
  void holdChunks();
  void emitWalk(unsigned walk, Scope& point);
  void forEachChunk(llvm::function_ref<void(Chunk&)> body, ArrayRef<unsigned> roots);
  bool hasRowFunctions() const;
  void setRowDigits(Chunk& chunk, Value* number);
  void declareAccumulators(unsigned walk);
  void accumulate(Chunk& chunk);
  void finishAccumulators(Scope& point);
  Value* joinSlices(Value* value, ReduceKind kind, Type type, unsigned node);

  /// The first element of the part (i64) and the one behind its last, along the first variable that updates move along.
  std::pair<Value*, Value*> partRange(Value* part);
  void storeInitial(Value* low, Value* high);
  /// i1: whether the update falls into the part; null on failure.
  Value* isInPart(Value* low, Value* high);
  void applyUpdate();
  void emitScatter();
  void emitScatterTogether();
  void emitTileOfUpdates(Value* first, Value* low, Value* high, Value* pointExists);
  void emitUpdates(ArrayRef<unsigned> vars, Body body);
  void emitTiles();

  Value* both(Value* x, Value* y) { return !x ? y : !y ? x : b.CreateAnd(x, y); }
  /// `body` where `condition` (null: always) holds.
  void runWhere(Value* condition, Body body);
  VectorBuilder scalars() { return VectorBuilder(b, 1); }

  const KernelPlan& plan;
  const KernelRequest& request;
  Schedule schedule;
  llvm::IRBuilder<> b;
  BlockBuilder block;
  EntryPoint entry;
  PointValues values;

  SmallVector<unsigned> storeWalks;  // by store: the walk over the row, 0: once per parallel point
  unsigned walks = 0;
  SmallVector<Accumulator> accumulators;
  std::vector<Chunk> held;                                        // of the row, when the thread keeps it
  Value* pointExists = nullptr;                                   // null: it does
  Value* slice = nullptr;                                         // i32: of the parallel point
  Value* itemInBlock = nullptr;                                   // i32
  SmallVector<std::pair<unsigned, llvm::GlobalVariable*>> tiles;  // by transposed load
  llvm::GlobalVariable* votes = nullptr;                          // by warp: the updates that fall into the part
};

}  // namespace mlir::sgd::gpu

#endif
