// The nodes of an exported program as ops of the graph level, and the graphs of its branches and loops as regions.
#ifndef SGD_FRONTENDS_TORCH_GRAPH_LOWERING_H
#define SGD_FRONTENDS_TORCH_GRAPH_LOWERING_H

#include "frontends/frontend.h"
#include "frontends/torch/memory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd::torch {

/// Targets of branches and loops, which have graphs of their own: "higher_order.cond".
ArrayRef<StringRef> getControlFlowTargets();

/// Calls `visit` for each node, those of branches and loops among them.
void forEachNode(ArrayRef<Node> nodes, function_ref<void(const Node&)> visit);

/// Lowers nodes at the end of a function's body. Tensors have names; an op that writes to its operand rebinds the name.
class GraphLowering {
 public:
  GraphLowering(func::FuncOp function, OpBuilder& builder, const ExportedProgram& program, StringRef fileName,
                const ImportOptions& options);

  /// The current value of each tensor, by name.
  AtenOp::Values values;

  /// Lowers all nodes of the program. Unsupported ops are named together, each once, before any is lowered.
  LogicalResult run();

  /// Gives `name` its current value, if writes to its memory have outdated the one it has.
  LogicalResult refresh(StringRef name);

  FailureOr<RankedTensorType> getType(StringRef name, Location loc) const;
  bool isUnsignedByte(StringRef name) const;

  /// The state of the program's generator behind the last draw, and the argument that it starts from; null: none.
  Value getGenerator() const { return scopes.front().generator; }
  unsigned getGeneratorArgument() const { return generatorArgument; }

 private:
  /// A block that is being lowered.
  struct Scope {
    /// Makes the state of the generator, a value of the block around, an argument of this block.
    llvm::unique_function<Value(Value)> addGeneratorArgument;
    Value generator = {};  ///< the state after the last draw; null before the first
  };

  Location getLoc(const Node& node) const;
  /// Names all ops that are not supported.
  LogicalResult checkOps();
  LogicalResult lower(const Node& node);
  LogicalResult lowerOp(const Node& node, Location loc);
  /// Lowers an op and sets the values of its outputs. `writes` receives what it writes to operands.
  LogicalResult compute(const Node& node, Location loc,
                        SmallVectorImpl<std::pair<std::string, Value>>* writes = nullptr);
  bool setEmptyOutputs(const Node& node, ArrayRef<RankedTensorType> types, Location loc);
  LogicalResult checkOperands(const Node& node, const AtenOp& op, Location loc);
  LogicalResult refreshOperands(const Node& node);
  LogicalResult write(const Node& node, TensorMath& math, StringRef name, Value value);
  Value cutToByte(Value value, Location loc);
  /// Draws from the program's generator, whose state is an argument and, advanced, a result.
  Value draw(TensorMath& math, RankedTensorType type);
  Value getGeneratorState(size_t scope);

  // Branches and loops (control_flow.cpp)
  // ---------------------------------------------------------------------------------------------------------------

  /// The results of a graph, and the state of the generator behind it; null where it draws nothing.
  struct Lowered {
    SmallVector<Value> values;
    Value generator;
  };
  struct Loop;

  LogicalResult lowerControlFlow(const Node& node, Location loc);
  LogicalResult lowerCond(const Node& node, Location loc);
  LogicalResult lowerBranches(const Node& node, Value index, ArrayRef<Value> operands, Location loc);
  LogicalResult lowerWhile(const Node& node, Location loc);
  LogicalResult lowerCondition(const Node& node, Loop& loop, Block& condition,
                               function_ref<SmallVector<Value>()> createInputs, Location loc);
  /// Loops over the rows of tensors; "map_impl" carries nothing from row to row.
  LogicalResult lowerScan(const Node& node, Location loc);
  /// Lowers the last graph of `node` into the body of `loop`, whose iter_args from `firstCarried` on get the first of
  /// its outputs as next values; `others` receives those behind them.
  LogicalResult lowerBody(const Node& node, Loop& loop, unsigned firstCarried, size_t numCarried,
                          function_ref<SmallVector<Value>()> createInputs, SmallVectorImpl<Value>& others,
                          Location loc);
  /// Unrolls short loops, as `options` say. Returns the values of the results.
  SmallVector<Value> finishLoop(Loop& loop);

  /// Lowers `graph` at the end of `block`, in front of its terminator. `createInputs` returns the values of its inputs
  /// there.
  FailureOr<Lowered> lowerRegion(const Node& node, const Graph& graph, Block& block,
                                 function_ref<SmallVector<Value>()> createInputs,
                                 llvm::unique_function<Value(Value)> addGeneratorArgument, Location loc);
  /// Lowers `graph` at the builder's insertion point, with the values of its inputs.
  LogicalResult lowerGraph(const Node& node, const Graph& graph, ValueRange inputs, SmallVectorImpl<Value>& outputs,
                           Location loc);
  /// The values of a list of tensors; fails if it has something else.
  FailureOr<SmallVector<Value>> getTensors(const Node& node, StringRef argument, Location loc) const;
  LogicalResult setOutputs(const Node& node, ValueRange results, Location loc);

  func::FuncOp function;
  OpBuilder& builder;
  const ExportedProgram& program;
  StringRef fileName;
  const ImportOptions& options;
  Memory memory;
  llvm::StringSet<> renamed;      // tensors whose dimensions an op has changed, which have another name since then
  llvm::StringSet<> used;         // names that ops read or that are outputs
  llvm::StringSet<> graphInputs;  // of branches and loops
  std::vector<Scope> scopes;      // the function's, then those of regions, from the outermost one
  unsigned generatorArgument = 0;
};

}  // namespace mlir::sgd::torch

#endif
