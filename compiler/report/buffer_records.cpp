// Positions of a function's instructions become indices of the artifact's.
#include "compiler/report/buffer_records.h"

#include "dialects/plan/plan_dialect.h"
#include "dialects/sgd/phase.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/scope.h"
#include "dialects/sgd/source_line.h"
#include "dialects/sgd/tensor_names.h"
#include "passes/graph/carry/value_names.h"
#include "passes/plan/memory/lifetimes.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Columns of a table.
class Columns {
 public:
  void add(const char* column, nlohmann::json value) { json[column].push_back(std::move(value)); }
  void addText(const char* column, const std::string& text) {
    auto [place, isNew] = places.try_emplace(text, places.size());
    if (isNew) json["texts"].push_back(text);
    add(column, place->second);
  }
  nlohmann::json take() { return std::move(json); }

 private:
  nlohmann::json json = {{"texts", nlohmann::json::array()}};
  std::map<std::string, size_t> places;
};

const char* getName(Phase phase) {
  switch (phase) {
    case Phase::None:
      return "none";
    case Phase::Forward:
      return "forward";
    case Phase::Backward:
      return "backward";
    case Phase::WeightGradients:
      return "weight_gradients";
  }
  llvm_unreachable("all phases are handled");
}

const char* getName(plan::Space space) {
  switch (space) {
    case plan::Space::Private:
      return "private";
    case plan::Space::Window:
      return "window";
    case plan::Space::Host:
      return "host";
    default:
      return "scratch";
  }
}

class Collector {
 public:
  Collector(func::FuncOp program, ArrayRef<Operation*> ops) : program(program), ops(ops) {
    for (auto [index, op] : llvm::enumerate(ops)) indices[op].push_back(index);
  }

  /// The instructions of `function` begin at index `begin` and end before `end`.
  void add(func::FuncOp function, int64_t begin, int64_t end) {
    SymbolTable kernels(function->getParentOfType<ModuleOp>());
    BufferUses uses(function, kernels);
    std::vector<int64_t> starts = getStarts(function, uses, begin, end);
    llvm::DenseSet<Value> passed = getScratchRoots(function);
    auto addRoot = [&](Value root) {
      if (passed.contains(root)) return;
      for (memory::Lifetime lifetime : uses.getLifetimes(root))
        addLifetime(function, root, lifetime, starts, begin, end);
    };
    if (function == program)
      for (BlockArgument argument : function.getArguments()) addRoot(argument);
    for (auto alloc : function.front().getOps<plan::AllocOp>()) addRoot(alloc);
    for (Operation& op : function.front()) addCallees(&op, begin, end);
  }

  nlohmann::json take() { return columns.take(); }

 private:
  /// Memory that loops and branches are given for buffers of their own.
  static llvm::DenseSet<Value> getScratchRoots(func::FuncOp function) {
    llvm::DenseSet<Value> roots;
    for (Operation& op : function.front())
      if (!plan::getCallees(&op).empty())
        for (plan::Space space : {plan::Space::Private, plan::Space::Window})
          for (OpOperand& operand : plan::getScratch(&op, space)) roots.insert(plan::getRoot(operand.get()).root);
    return roots;
  }

  /// The index of `op` in [begin, end); ops that loops share stand at several.
  std::optional<int64_t> getIndex(Operation* op, int64_t begin, int64_t end) const {
    auto found = indices.find(op);
    if (found == indices.end()) return std::nullopt;
    for (int64_t index : found->second)
      if (index >= begin && index < end) return index;
    return std::nullopt;
  }

  /// By position, the index of the instruction there; ops that are no instruction of the artifact have that before.
  std::vector<int64_t> getStarts(func::FuncOp function, const BufferUses& uses, int64_t begin, int64_t end) const {
    std::vector<int64_t> starts(uses.getEnd() + 1, -1);
    for (Operation& op : function.front())
      if (isa<plan::InstructionOpInterface>(op))
        if (std::optional<int64_t> index = getIndex(&op, begin, end))
          if (int64_t& start = starts[uses.getPosition(&op)]; start < 0) start = *index;
    starts.back() = end;
    int64_t before = begin;
    for (int64_t& start : starts) before = start = start < 0 ? before : start;
    return starts;
  }

  void addCallees(Operation* op, int64_t begin, int64_t end) {
    std::optional<int64_t> at = getIndex(op, begin, end);
    if (!at) return;
    int64_t next = *at + 1;
    for (func::FuncOp callee : plan::getCallees(op)) {
      int64_t length = countInstructions(callee);
      add(callee, next, next + length);
      next += length;
    }
  }

  /// As they are exported.
  int64_t countInstructions(func::FuncOp function) const {
    int64_t count = 0;
    for (Operation& op : function.front()) {
      count += indices.contains(&op);
      for (func::FuncOp callee : plan::getCallees(&op)) count += countInstructions(callee);
    }
    return count;
  }

  void addLifetime(func::FuncOp function, Value root, memory::Lifetime lifetime, const std::vector<int64_t>& starts,
                   int64_t begin, int64_t end) {
    auto argument = dyn_cast<BlockArgument>(root);
    plan::Space space = plan::getSpace(root.getType());
    if (space == plan::Space::Constant || space == plan::Space::Scratch) return;
    auto getInstruction = [&](int64_t position) { return position < 0 ? begin : starts[position]; };
    int64_t first = getInstruction(lifetime.first), last = std::min(getInstruction(lifetime.last), end - 1);
    // An instruction with all that it runs.
    if (lifetime.last >= 0 && lifetime.last + 1 < static_cast<int64_t>(starts.size()))
      last = std::max(last, starts[lifetime.last + 1] - 1);
    bool isReturned = function == program && lifetime.last == static_cast<int64_t>(starts.size()) - 1;
    Location location = getMaker(root, first);
    columns.add("bytes", getByteSize(cast<MemRefType>(root.getType())));
    columns.add("first", first);
    columns.add("last", std::max(first, last));
    columns.add("spaces", getName(space));
    columns.add("phases", getName(argument ? Phase::None : getPhase(location)));
    columns.add("kinds", argument     ? stringifyRole(getRole(program, argument.getArgNumber())).str()
                         : isReturned ? "output"
                                      : "value");
    columns.addText("names", argument     ? getDottedName(program, argument.getArgNumber())
                             : isReturned ? getOutputName(root)
                                          : "");
    columns.addText("scopes", getScope(location).path);
    columns.addText("locs", getSourceLine(location));
  }

  /// Where the instruction is from that makes the value, else the buffer, else what loops do with it: they carry sums
  /// and stacks, which are nobody's line.
  Location getMaker(Value root, int64_t first) const {
    bool isMade = !isa<BlockArgument>(root) && first >= 0 && first < static_cast<int64_t>(ops.size());
    if (isMade && !getSourceLine(ops[first]->getLoc()).empty()) return ops[first]->getLoc();
    if (isa<BlockArgument>(root) || !getSourceLine(root.getLoc()).empty()) return root.getLoc();
    return findUse(root).value_or(root.getLoc());
  }

  /// The location of the first instruction with a source line that uses the buffer, in loops and branches too.
  static std::optional<Location> findUse(Value buffer) {
    for (Operation* user : buffer.getUsers()) {
      if (isa<plan::InstructionOpInterface>(user) && !getSourceLine(user->getLoc()).empty()) return user->getLoc();
      for (Value view : user->getResults())
        if (isa<MemRefType>(view.getType()))
          if (std::optional<Location> found = findUse(view)) return found;
      for (func::FuncOp callee : plan::getCallees(user))
        for (auto [argument, passed] : llvm::zip(callee.getArguments(), plan::getPassedBuffers(user)))
          if (passed == buffer)
            if (std::optional<Location> found = findUse(argument)) return found;
    }
    return std::nullopt;
  }

  std::string getOutputName(Value root) {
    for (OpOperand& operand : program.front().getTerminator()->getOpOperands())
      if (plan::getRoot(operand.get()).root == root)
        return getDottedName(::mlir::sgd::getOutputName(program, operand.getOperandNumber()));
    return "";
  }

  func::FuncOp program;
  ArrayRef<Operation*> ops;
  llvm::DenseMap<Operation*, SmallVector<int64_t, 1>> indices;
  Columns columns;
};

}  // namespace

nlohmann::json mlir::sgd::getBufferRecords(func::FuncOp function, ArrayRef<Operation*> ops) {
  Collector collector(function, ops);
  collector.add(function, 0, static_cast<int64_t>(ops.size()));
  return collector.take();
}
