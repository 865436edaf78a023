// Writes the LLVM IR of one planned kernel. One class: kernel_emitter.cpp (loops) calls kernel_tiles.cpp,
// kernel_columns.cpp, kernel_accumulators.cpp and kernel_stores.cpp, and these ask kernel_values.cpp for values, which
// calls none of them.
#ifndef SGD_TARGETS_CPU_CODEGEN_KERNEL_EMITTER_H
#define SGD_TARGETS_CPU_CODEGEN_KERNEL_EMITTER_H

#include <functional>
#include <string>

#include "llvm/IR/Module.h"
#include "targets/cpu/codegen/codegen.h"
#include "targets/kernels/kernel_plan.h"
#include "targets/cpu/codegen/kernel_walks.h"
#include "targets/kernels/vector_builder.h"

namespace mlir::sgd::cpu {

/// Reductions whose lanes are parallel points: columns of memory, read row by row.
bool hasColumns(const KernelPlan& plan);

/// Points of a lane variable of the parallel domain that one parallel iteration covers.
int64_t laneBlock(const KernelPlan& plan);

/// Number of parallel iterations.
int64_t parallelRange(const KernelPlan& plan);

class KernelEmitter {
 public:
  /// `registerLanes`: 32-bit lanes of a vector register of the target.
  KernelEmitter(llvm::Module& module, const KernelPlan& plan, llvm::StringRef symbol,
                llvm::ArrayRef<InPlacePair> inPlace, unsigned registerLanes);

  /// Adds the function; emits an error on an op without code.
  LogicalResult run();

 private:
  /// A place where values can be computed: the blocks where `vars` have values, and what was computed there.
  struct Scope {
    Scope(uint64_t vars, unsigned phase) : vars(vars), phase(phase) {}
    uint64_t vars;
    unsigned phase;
    llvm::Instruction* insertBefore = nullptr;  // null: at the builder's position
    llvm::DenseMap<unsigned, llvm::Value*> values;
  };
  /// An index: scalar + laneStep * lane + perLane.
  struct Address {
    llvm::Value* scalar;
    int64_t laneStep = 0;
    llvm::Value* perLane = nullptr;
  };
  struct Accumulator {
    unsigned node;
    llvm::SmallVector<llvm::AllocaInst*, 3> parts;  // one per lane width in use
    llvm::SmallVector<unsigned, 3> widths;
  };
  using Body = llvm::function_ref<void()>;

  void declareFunction();
  void loadPointers(llvm::ArrayRef<InPlacePair> inPlace);
  void emitParallelLoop();
  void emitIteration(llvm::Value* iteration);
  void emitPoint();
  void emitWalk();
  void emitScatter();
  void emitRow(Body body);
  void emitRowLoops(llvm::ArrayRef<unsigned> vars, Body body);
  void emitTiles(Body body);
  void loadTiles(int64_t rows, llvm::Value* firstRow);
  void emitLanes(int64_t extent, llvm::Value* base, Body body);
  /// The stores of walk `inWalk` over the row; 0: those once per parallel point, or all when nothing is reduced.
  void emitStores(unsigned inWalk);
  void emitColumns(int64_t extent, llvm::Value* base);
  void emitColumnRows(llvm::ArrayRef<unsigned> vars, llvm::ArrayRef<unsigned> reductions, int64_t extent,
                      llvm::Value* base);
  void addRows(unsigned var, llvm::Value* first, int64_t count, llvm::ArrayRef<unsigned> reductions);
  void addRow(llvm::ArrayRef<unsigned> reductions);
  /// Buffers on the stack, one per node: `elements` numbers that lanes are stored to and loaded from.
  llvm::AllocaInst* buffer(unsigned node, int64_t elements);
  llvm::Type* bufferType(unsigned node);
  llvm::Value* loadBuffer(unsigned node, llvm::Value* position);
  void storeBuffer(unsigned node, llvm::Value* position, llvm::Value* lanes);
  void loop(int64_t low, int64_t high, int64_t step, llvm::function_ref<void(llvm::Value*)> body);
  /// Runs `body` in a new scope that adds `vars`.
  void inScope(uint64_t vars, Body body);

  llvm::Value* value(unsigned node);
  llvm::Value* lanesOf(unsigned node);  // splat when it does not vary with the lane
  llvm::Value* compute(unsigned node);
  llvm::Value* computeHere(unsigned node);
  llvm::Value* rowPosition();
  llvm::Value* computeLoad(unsigned number);
  llvm::Value* chosenPlace(unsigned number, const Node* before);
  llvm::Value* placeOf(const Node& load);
  llvm::Value* maskedLoad(llvm::Type* type, llvm::Value* where, llvm::Align align, llvm::Value* exists);
  llvm::Value* loadFrom(const Node& node, llvm::Value* where);
  llvm::Value* loadNear(const Node& node, llvm::Value* first, int64_t step);
  llvm::Value* computeIndex(const Node& node);
  llvm::Value* computeInRange(const Node& node);
  llvm::Value* computeClamp(const Node& node);
  Address address(const IndexExpr& index);
  llvm::Value* indexLanes(const IndexExpr& index);
  llvm::Value* laneNumbers();
  llvm::Value* clampOffset(llvm::Value* offset, unsigned buffer);
  llvm::Value* pointer(unsigned buffer);
  int64_t bufferElements(unsigned buffer);
  bool varies(const Node& node) const { return plan.laneVar != kNone && (node.vars >> plan.laneVar & 1); }
  VectorBuilder vectors() { return VectorBuilder(b, width); }
  llvm::Instruction* invariant(llvm::Instruction* load, unsigned buffer);

  void declareAccumulators(unsigned phase);
  void accumulate();
  llvm::Value* finishAccumulator(Accumulator& accumulator);
  llvm::Value* fold(llvm::Value* vector, unsigned from, unsigned to, ReduceKind kind, Type type);
  bool hasNarrowTiles() const;
  unsigned mainWidth(int64_t extent) const;
  /// Lanes at once and number of points of the parts into which `extent` points are cut.
  llvm::SmallVector<std::pair<unsigned, int64_t>> laneParts(int64_t extent) const;
  llvm::SmallVector<size_t> anchorScopes(llvm::Instruction* instruction);

  llvm::Module& module;
  const KernelPlan& plan;
  std::string symbol;
  unsigned registerLanes;
  llvm::IRBuilder<> b;
  llvm::Function* function = nullptr;
  llvm::SmallVector<InPlacePair> inPlace;
  llvm::SmallVector<llvm::Value*> operandPointers, resultPointers, tablePointers;
  llvm::SmallVector<bool> overwritten;
  llvm::DenseMap<unsigned, llvm::Value*> varValues;  // of the lane variable: its value in lane 0
  std::vector<Scope> scopes;
  llvm::SmallVector<Accumulator> accumulators;
  llvm::DenseMap<unsigned, std::function<llvm::Value*()>>
      tiles;                       // load node -> pointer to the lanes of its tile at the current row
  unsigned width = 1;              // lanes of varying values at the builder's position
  llvm::Constant* mask = nullptr;  // lanes that exist, null: all
  KernelWalks walks;
  unsigned walk = 0;  // number of the current walk over the row, 0: none
  llvm::DenseMap<unsigned, llvm::AllocaInst*> buffers;
  llvm::Value* lanePosition = nullptr;  // of lane 0, counted from where the lane loop begins
  bool isHeavy = false;                 // many registers per lane: fewer lanes at once
  bool hasFailed = false;
};

}  // namespace mlir::sgd::cpu

#endif
