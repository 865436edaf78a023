// The values of a plan's nodes in one thread: each is computed once where it is first needed, and found again as long
// as the place where it was computed dominates.
#ifndef SGD_TARGETS_GPU_CODEGEN_POINT_VALUES_H
#define SGD_TARGETS_GPU_CODEGEN_POINT_VALUES_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "targets/gpu/codegen/block_builder.h"
#include "targets/gpu/codegen/entry_point.h"
#include "targets/kernels/kernel_plan.h"
#include "targets/kernels/vector_builder.h"

namespace mlir::sgd::gpu {

class PointValues {
 public:
  using Value = llvm::Value;
  using Body = llvm::function_ref<void()>;

  /// Some loop variables with values, and what was computed from them. A scope that is entered again finds its values.
  struct Scope {
    llvm::DenseMap<unsigned, Value*> variables;  // i64
    uint64_t vars = 0;                           // of these variables
    llvm::DenseMap<unsigned, Value*> values;     // by node; of a reduction: its result
    unsigned region = 0;
    Scope* chunk = nullptr;  // of a lane: the scope of all lanes, which is the next one outside
    unsigned lane = 0;       // of a lane: its number
    // Of a chunk:
    unsigned lanes = 1;
    Value* firstLane = nullptr;                // the lane variable's value in lane 0
    llvm::DenseMap<unsigned, Value*> vectors;  // by load: all lanes as stored in memory

    void set(unsigned variable, Value* value) {
      variables[variable] = value;
      vars |= uint64_t{1} << variable;
    }
  };

  PointValues(llvm::IRBuilder<>& b, const KernelPlan& plan, const EntryPoint& entry, std::string symbol);

  /// Runs `body` where the variables of `scope` have values.
  void inScope(Scope& scope, Body body);
  /// Runs `body`, whose code may be executed any number of times: what it computes is not found afterwards.
  void inRegion(Body body);
  /// Reductions up to this phase have results.
  void setPhase(unsigned finished) { phase = finished; }

  /// The value of a node in its computing type (an index: i64); null, with an error, for an op without code.
  Value* value(unsigned node);
  /// Computes now what `node` needs and does not depend on variables that have no values yet.
  void prepare(unsigned node);
  /// An index as i64.
  Value* index(const IndexExpr& index);

  /// The address of element `index` of a buffer in global memory.
  Value* address(Value* base, Type type, const IndexExpr& index);
  /// Elements that loads find somewhere else than in their buffer.
  void setLoad(unsigned node, std::function<Value*()> load) { loads[node] = std::move(load); }
  /// The memory's element that load `node` reads, from its buffer.
  Value* loadElement(unsigned node);

  bool hasFailed() const { return failed; }

 private:
  void prepare(unsigned node, llvm::DenseSet<unsigned>& visited);
  Value* compute(unsigned node);
  Value* computeLoad(unsigned node);
  Value* loadLane(unsigned node, Scope& lane);
  Value* computeNumber(const Node& node);
  Value* computeClamp(const Node& node);
  Value* fail(Operation* op, const llvm::Twine& message);
  bool isKnown(const Node& node, uint64_t vars) const { return (node.vars & ~vars) == 0 && node.phase <= phase; }
  Value* variable(unsigned number) const;
  Value* buffer(unsigned number);
  int64_t elements(unsigned buffer) const;
  Value* clamp(Value* offset, int64_t low, int64_t high);
  llvm::LoadInst* load(llvm::Type* type, Value* where, int64_t bytes, unsigned buffer);
  VectorBuilder scalars() const { return VectorBuilder(b, 1); }

  llvm::IRBuilder<>& b;
  const KernelPlan& plan;
  const EntryPoint& entry;
  std::string symbol;
  std::vector<Scope*> scopes;
  unsigned region = 0, regions = 0, phase = 0;
  llvm::DenseMap<unsigned, Value*> tables;
  llvm::DenseMap<unsigned, std::function<Value*()>> loads;
  bool failed = false;
};

}  // namespace mlir::sgd::gpu

#endif
