// Updates in place. Works on straight-line functions where every value still has a buffer of its own.
#include "passes/plan/memory/lifetimes.h"
#include "passes/plan/memory/passes.h"
#include "passes/plan/memory/spaces.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SHAREBUFFERSPASS
#include "passes/plan/memory/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;
using plan::Space;

namespace {

using Pair = std::pair<unsigned, unsigned>;  // result, operand

int64_t bytesOf(Value buffer) { return getByteSize(cast<MemRefType>(buffer.getType())); }

/// The alloc or argument that `buffer` covers entirely, or null.
Value getWholeRoot(Value buffer) {
  Value root = plan::getRoot(buffer).root;
  return bytesOf(root) == bytesOf(buffer) ? root : Value();
}

class FunctionSharer {
 public:
  FunctionSharer(func::FuncOp function, SymbolTable& kernels)
      : function(function), kernels(kernels), uses(function, kernels) {
    for (Value argument : function.getArguments()) lastUse[argument] = uses.getLastUse(argument);
    for (auto alloc : function.getOps<plan::AllocOp>()) lastUse[alloc] = uses.getLastUse(alloc);
    for (auto [index, value] : llvm::enumerate(getReturn().getOperands()))
      if (auto argument = getAliasedArgument(index))
        if (Value root = getWholeRoot(value); root && root != argument && bytesOf(root) == bytesOf(argument))
          destination[root] = argument;
    for (Operation& op : function.front()) {
      if (auto launch = dyn_cast<plan::LaunchOp>(op))
        for (Value output : launch.getOutputs())
          if (Value root = getWholeRoot(output)) writers.try_emplace(root, launch);
      if (auto copy = dyn_cast<plan::CopyOp>(op))
        if (Value root = getWholeRoot(copy.getTarget())) writers.try_emplace(root, copy);
    }
    for (auto [root, argument] : SmallVector<std::pair<Value, Value>>(destination.begin(), destination.end()))
      placeUpdates(root, argument);
  }

  void run() {
    SmallVector<Operation*> ops;
    for (Operation& op : function.front()) ops.push_back(&op);
    for (Operation* op : ops) {
      if (auto launch = dyn_cast<plan::LaunchOp>(op)) shareLaunch(launch);
      if (auto collective = dyn_cast<plan::CollectiveOp>(op)) shareCollective(collective);
      if (auto copy = dyn_cast<plan::CopyOp>(op)) shareCopy(copy);
    }
    placeAliases();
    updateFunctionType(function);
  }

 private:
  Operation* getTerminator() { return function.front().getTerminator(); }
  func::ReturnOp getReturn() { return cast<func::ReturnOp>(getTerminator()); }

  BlockArgument getAliasedArgument(unsigned result) {
    auto alias = function.getResultAttrOfType<IntegerAttr>(result, kAliasAttr);
    return alias ? function.getArgument(alias.getInt()) : BlockArgument();
  }

  /// Buffers that `op`, which writes all of `target` first, may overwrite by it: those that it is the last to read.
  SmallVector<Value, 2> getOverwritten(Operation* op, Value target) {
    SmallVector<Value, 2> sources;
    auto add = [&](Value source) {
      Value from = getWholeRoot(source);
      if (from && lastUse.lookup(from) == uses.getPosition(op) && bytesOf(from) == bytesOf(target))
        sources.push_back(from);
    };
    if (auto copy = dyn_cast<plan::CopyOp>(op)) add(copy.getSource());
    auto launch = dyn_cast<plan::LaunchOp>(op);
    auto kernel = launch ? kernels.lookup<plan::KernelOp>(launch.getKernel()) : plan::KernelOp();
    if (!kernel || !kernel.getCandidates()) return sources;
    SmallVector<unsigned> positions = kernel.getInputPositions();
    ArrayRef<int64_t> candidates = *kernel.getCandidates();
    for (size_t i = 0; i + 1 < candidates.size(); i += 2)
      if (plan::getRoot(launch.getOutputs()[candidates[i]]).root == target)
        add(launch.getInputs()[llvm::find(positions, candidates[i + 1]) - positions.begin()]);
    return sources;
  }

  /// An argument that is updated several times until it is `root` is so in its own buffer.
  void placeUpdates(Value root, Value argument) {
    SmallVector<Value> updates;
    for (Value update = root; update != argument;) {
      auto writer = writers.find(update);
      if (writer == writers.end()) return;
      SmallVector<Value, 2> sources = getOverwritten(writer->second, update);
      bool isFirst = llvm::is_contained(sources, argument);
      auto* next = llvm::find_if(sources, [](Value source) { return source.getDefiningOp<plan::AllocOp>(); });
      if (!isFirst && (next == sources.end() || destination.contains(*next))) return;
      if (!isFirst) updates.push_back(*next);
      update = isFirst ? argument : *next;
    }
    for (Value update : updates) destination[update] = argument;
  }

  /// Whether the instruction at `position` may write `target`'s value over `source`: the last to read it, and nobody
  /// else's to keep.
  bool mayOverwrite(Operation* op, int64_t position, Value source, Value target) {
    Value from = getWholeRoot(source), to = plan::getRoot(target).root;
    if (!from || from == to || !to.getDefiningOp<plan::AllocOp>() || bytesOf(from) != bytesOf(target) ||
        bytesOf(to) != bytesOf(target))
      return false;
    auto last = lastUse.find(from);
    if (last == lastUse.end() || last->second != position) return false;
    bool isReadTwice =
        llvm::count_if(op->getOperands(), [&](Value operand) { return plan::getRoot(operand).root == from; }) > 1;
    // A result with an argument's buffer may only overwrite that one, and an argument only be overwritten by it.
    Value wanted = destination.lookup(to);
    return !isReadTwice && (wanted || isa<BlockArgument>(from) ? wanted == from : true);
  }

  /// Makes `target` (an alloc) the memory of `source`'s root from here on.
  void merge(Value target, Value source) {
    Value from = plan::getRoot(source).root;
    auto alloc = target.getDefiningOp<plan::AllocOp>();
    lastUse[from] = std::max(lastUse[from], lastUse[target]);
    replaceBuffer(alloc, from);
  }

  void shareLaunch(plan::LaunchOp launch) {
    auto kernel = kernels.lookup<plan::KernelOp>(launch.getKernel());
    if (!kernel || !kernel.getCandidates()) return;
    SmallVector<unsigned> positions = kernel.getInputPositions();
    auto getInput = [&](unsigned operand) {
      return launch.getInputs()[llvm::find(positions, operand) - positions.begin()];
    };
    int64_t position = uses.getPosition(launch);
    ArrayRef<int64_t> candidates = *kernel.getCandidates();
    SmallVector<Pair> chosen;
    // An argument's own update first: other results then cannot take it.
    for (bool forArguments : {true, false})
      for (size_t i = 0; i + 1 < candidates.size(); i += 2) {
        unsigned result = candidates[i], operand = candidates[i + 1];
        bool isTaken = llvm::any_of(chosen, [&](Pair pair) { return pair.first == result || pair.second == operand; });
        Value source = getInput(operand), target = launch.getOutputs()[result];
        if (isTaken || isa<BlockArgument>(plan::getRoot(source).root) != forArguments ||
            !mayOverwrite(launch, position, source, target))
          continue;
        chosen.push_back({result, operand});
      }
    if (!chosen.empty()) relaunch(launch, kernel, chosen);
  }

  void relaunch(plan::LaunchOp launch, plan::KernelOp kernel, ArrayRef<Pair> chosen) {
    SmallVector<unsigned> positions = kernel.getInputPositions();
    SmallVector<Value> inputs;
    for (auto [operand, input] : llvm::zip(positions, launch.getInputs())) {
      auto pair = llvm::find_if(chosen, [&, operand = operand](Pair pair) { return pair.second == operand; });
      if (pair == chosen.end())
        inputs.push_back(input);
      else
        merge(launch.getOutputs()[pair->first], input);
    }
    launch.getInputsMutable().assign(inputs);
    launch.setKernelAttr(getVariant(kernel, chosen));
  }

  /// The kernel that overwrites these operands, made at the first need.
  FlatSymbolRefAttr getVariant(plan::KernelOp kernel, ArrayRef<Pair> chosen) {
    SmallVector<int64_t> inPlace(kernel.getCluster().getNumResults(), -1);
    if (kernel.getInPlace()) inPlace.assign(kernel.getInPlace()->begin(), kernel.getInPlace()->end());
    std::string name = kernel.getSymName().str() + "_over";
    for (auto [result, operand] : chosen) inPlace[result] = operand;
    for (int64_t operand : inPlace) name += operand < 0 ? "_x" : "_" + std::to_string(operand);
    auto symbol = FlatSymbolRefAttr::get(kernel.getContext(), name);
    if (kernels.lookup(name)) return symbol;
    OpBuilder builder(kernel);
    builder.setInsertionPointAfter(kernel);
    auto variant = cast<plan::KernelOp>(builder.clone(*kernel));
    variant.setSymName(name);
    variant.setInPlaceAttr(builder.getDenseI64ArrayAttr(inPlace));
    variant.removeCandidatesAttr();
    kernels.insert(variant);
    return symbol;
  }

  void shareCollective(plan::CollectiveOp collective) {
    if (collective.getKind() != plan::CollectiveKind::kAllReduce) return;
    for (auto [source, target] : llvm::zip(collective.getSources(), collective.getTargets()))
      if (mayOverwrite(collective, uses.getPosition(collective), source, target)) merge(target, source);
  }

  /// A copy of what dies there is the same memory.
  void shareCopy(plan::CopyOp copy) {
    if (!mayOverwrite(copy, uses.getPosition(copy), copy.getSource(), copy.getTarget())) return;
    merge(copy.getTarget(), copy.getSource());
    copy.erase();
  }

  /// Results that belong in an argument's buffer and are not there yet: written there when it is free by then, else
  /// copied at the end.
  void placeAliases() {
    func::ReturnOp ret = getReturn();
    for (unsigned index = 0; index < ret->getNumOperands(); ++index) {
      BlockArgument argument = getAliasedArgument(index);
      Value value = ret->getOperand(index), root = plan::getRoot(value).root;
      if (!argument || root == argument) continue;
      auto alloc = destination.lookup(root) == argument ? root.getDefiningOp<plan::AllocOp>() : plan::AllocOp();
      if (alloc && uses.getAccesses(root).front().position > lastUse[argument]) {
        replaceBuffer(alloc, argument);
        continue;
      }
      OpBuilder builder(ret);
      plan::CopyOp::create(builder, ret.getLoc(), value, viewAs(builder, argument, cast<MemRefType>(value.getType())));
      ret->setOperand(index, argument);
    }
  }

  func::FuncOp function;
  SymbolTable& kernels;
  BufferUses uses;                            // before any sharing: positions and first uses
  llvm::DenseMap<Value, int64_t> lastUse;     // of roots, kept up to date
  llvm::MapVector<Value, Value> destination;  // root of a result, or update -> argument whose buffer it belongs in
  llvm::DenseMap<Value, Operation*> writers;  // the first op that writes all of a root
};

struct ShareBuffersPass : mlir::sgd::impl::ShareBuffersPassBase<ShareBuffersPass> {
  void runOnOperation() final {
    SymbolTable kernels(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      if (failed(checkIsPlan(function))) return signalPassFailure();
      FunctionSharer(function, kernels).run();
    }
    eraseUnusedKernels();
  }

  void eraseUnusedKernels() {
    llvm::StringSet<> used;
    getOperation().walk([&](plan::LaunchOp launch) { used.insert(launch.getKernel()); });
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<plan::KernelOp>()))
      if (!used.contains(kernel.getSymName())) kernel.erase();
  }
};

}  // namespace
