// Rewrites a module of the input dialects to the graph level: one walk over each public function,
// with calls inlined on the way.
#ifndef SGD_FRONTENDS_STABLEHLO_IMPORTER_H
#define SGD_FRONTENDS_STABLEHLO_IMPORTER_H

#include "frontends/stablehlo/counted_loop.h"
#include "frontends/stablehlo/import.h"
#include "frontends/stablehlo/inlined_callee.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/op_lowering.h"
#include "frontends/stablehlo/sharding_import.h"
#include "frontends/stablehlo/window.h"

namespace mlir::sgd {

class Importer {
 public:
  Importer(ModuleOp module, const ImportOptions& options);
  LogicalResult run();

  /// Names of the ops of the input dialects that are not refused as such, sorted.
  static SmallVector<std::string> getSupportedOps();

 private:
  LogicalResult importFunction(func::FuncOp function);
  FailureOr<DictionaryAttr> importArgumentAttributes(func::FuncOp function, unsigned index, RankedTensorType type);
  FailureOr<DictionaryAttr> importResultAttributes(func::FuncOp function, unsigned index, RankedTensorType type);
  LogicalResult importDonation(func::FuncOp function, unsigned index, NamedAttrList& attributes);

  /// Lowers the ops of `function`, whose arguments have been mapped; `caller` is the location of the
  /// call, or nullopt for a public function.
  LogicalResult importBody(func::FuncOp function, std::optional<Location> caller, SmallVectorImpl<Value>& returned);
  /// Lowers the ops of a block whose arguments have been mapped, in the function being imported; `returned` are the
  /// terminator's operands.
  LogicalResult importBlock(Block& block, SmallVectorImpl<Value>& returned);
  LogicalResult importOp(Operation* op, Location loc);
  LogicalResult importManual(Operation* op, Location loc);
  FailureOr<ArrayAttr> importManualShardings(ArrayRef<sdy::ShardingAttr> attributes, TypeRange types, Location loc,
                                             StringRef what);
  LogicalResult importWhile(Operation* op, Location loc);
  LogicalResult unroll(Operation* op, const CountedLoop& counted, Location loc);
  LogicalResult importConditional(Operation* op, Location loc);
  LogicalResult importCase(Operation* op, Value index, Location loc);
  /// Imports `block` as the block of `region`, a region of the graph level. Of the pairs, the first is what ops of
  /// `block` read, the second the imported value outside: an argument of the new block, or a constant made in it.
  LogicalResult importRegion(Block& block, Region& region, ArrayRef<std::pair<Value, Value>> arguments,
                             ArrayRef<std::pair<Value, Value>> constants, SmallVectorImpl<Value>& returned);
  LogicalResult importReduce(OpLowering& l);
  LogicalResult importSort(OpLowering& l);
  LogicalResult importMap(OpLowering& l);
  LogicalResult importScatter(OpLowering& l);
  LogicalResult importReduceWindow(OpLowering& l);
  LogicalResult importSelectAndScatter(OpLowering& l);
  /// The number of the position, in row-major order, at which each window of a select_and_scatter selects its element.
  FailureOr<Value> selectPositions(OpLowering& l, const Window& window);
  /// `init` with each window's source value combined into the element at its position, by any body.
  LogicalResult scatterToPositions(OpLowering& l, const Window& window, Value positions, Value init);
  /// The ops of `from`, a function of scalars, into the new block `to` of an op of the graph level: arguments become
  /// scalars, and `sgd.yield` ends it.
  LogicalResult importScalarBody(Block& from, Block& to, Location loc);
  /// Any associative body: applied to the first half of a dimension and the second, until one element is left.
  LogicalResult reduceByHalves(OpLowering& l, stablehlo::ReduceOp op);
  /// The ops of a body on scalars, applied element by element to `arguments`, which have one shape.
  LogicalResult importLifted(Block& body, ArrayRef<Value> arguments, SmallVectorImpl<Value>& returned);
  LogicalResult importCall(Operation* op, FlatSymbolRefAttr callee, Location loc);
  LogicalResult importConstraint(Operation* op, sdy::ShardingAttr sharding, Location loc);
  LogicalResult lower(Operation* op, Location loc);
  /// The value of an imported integer scalar where it is a constant.
  std::optional<APInt> getKnownInteger(Value original);
  /// Replaces results computed from scalar constants alone: indices that depend on the counter of an unrolled loop.
  void foldScalars(SmallVectorImpl<Value>& results);

  /// Records the results of `op`, behind constraints where `op` is annotated with shardings.
  LogicalResult mapResults(Operation* op, ValueRange results, Location loc);
  /// `value` behind a constraint, or itself when `sharding` is null.
  Value constrain(Value value, ShardingAttr sharding, Location loc);
  /// The location of an op of an inlined function: its own, called from the location of the call.
  Location inlineLocation(Location loc, std::optional<Location> caller);
  bool hasFile(Location loc);
  /// Where to report an argument of `function`: with debug information functions have no location of
  /// their own, then where it is first used.
  Location locate(func::FuncOp function, Value value);

  ModuleOp module;
  ImportOptions options;
  OpBuilder builder;
  ShardingImport shardings;
  DenseMap<OperationName, LowerFn> lowerings;
  /// Lowerings of ops whose bodies are imported.
  using ImportFn = LogicalResult (Importer::*)(OpLowering&);
  DenseMap<OperationName, ImportFn> regionLowerings;
  static ArrayRef<std::pair<StringRef, ImportFn>> getRegionLowerings();
  DenseMap<StringAttr, func::FuncOp> functions;
  InlinedOps inlinedOps{functions, getInlinedCallee};
  bool hasToldOfHost = false;  // that a placement on the host is not taken as it is
  int64_t importedOps = 0;     // by all functions, unrolled loops included
  unsigned depth = 0;          // of blocks being imported
  /// A function being imported, and the location of its call: nullopt for a public function.
  struct Frame {
    func::FuncOp function;
    std::optional<Location> caller;
  };
  SmallVector<Frame> callStack;
  DenseMap<Value, Value> values;
  DenseMap<Attribute, bool> locationHasFile;
  DenseMap<std::pair<Operation*, unsigned>, unsigned> aliasedResults;  // of functions: by which argument
};

}  // namespace mlir::sgd

#endif
