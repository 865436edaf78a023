// The pass sgd-warn-of-repeated-ops: what no sharding divides. Counts the operations that ops report; an op's ranks
// divide it along the axes that shard one of its tensors.
#include "compiler/report/advice.h"
#include "compiler/report/passes.h"
#include "compiler/report/report.h"
#include "dialects/cost/cost_op.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/sharding_rule.h"
#include "dialects/sgd/source_line.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/sharding/propagation/mesh_axes.h"
#include "passes/spmd/collectives/update_region.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_WARNOFREPEATEDOPSPASS
#include "compiler/report/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

static constexpr double kMostRepeated = 0.1;
static constexpr size_t kNumNamed = 3;

namespace {

/// Repeated operations of one kind and source line.
struct RepeatedLine {
  Operation* op;
  std::string text;  // "dot_general at gpt.py:31:8"
  double flops;
};

class RepeatedOps {
 public:
  RepeatedOps(func::FuncOp function, MeshOp mesh)
      : function(function),
        axes(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh()),
        leads(function),
        gathered(axes.getMesh().getAxes().size(), 0),
        reduced(axes.getMesh().getAxes().size(), 0) {}

  void count() { add(function.front(), 1); }
  /// Returns the text of the warning; empty where ranks repeat little.
  std::string warn();

 private:
  void add(Block& block, double times);
  void add(Operation* op, double times);
  void addGather(ReshardOp reshard, double times);
  void addGradient(Operation* op, unsigned axis, double times);
  SmallVector<int64_t> getShards(Value value) const;
  SmallVector<unsigned> getRepeatedAxes(Operation* op) const;
  bool isSharded(unsigned axis);
  Operation* findGather(Operation* op, unsigned axis) const;
  bool isUpdate(Operation* op) const;
  std::string getAdvice(Operation* op, unsigned axis);

  StringRef getName(unsigned axis) const { return axes.getMesh().getAxes()[axis].getName(); }

  func::FuncOp function;
  MeshAxes axes;
  ResultLeads leads;
  SmallVector<double> gathered;    // bytes that a rank receives, by axis
  SmallVector<double> reduced;     // bytes that it would send if gradients that it repeats were reduced
  double total = 0, repeated = 0;  // of a rank
  std::vector<RepeatedLine> lines;
  llvm::StringMap<size_t> indices;  // of `lines`, by text
};

}  // namespace

/// By axis of the mesh: into how many parts it divides `value`.
SmallVector<int64_t> RepeatedOps::getShards(Value value) const {
  SmallVector<int64_t> shards(axes.getMesh().getAxes().size(), 1);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  ShardingAttr sharding = type ? getSharding(type) : ShardingAttr();
  if (!sharding) return shards;
  TensorAxes tensor = axes.toTensorAxes(sharding);
  auto add = [&](const AxisParts& parts) {
    for (const AxisPart& part : parts) shards[part.axis] *= part.size;
  };
  for (const DimAxes& dim : tensor.dims) add(dim.axes);
  add(tensor.unreduced);
  return shards;
}

/// Axes along which ranks compute `op` alike, at least in part.
SmallVector<unsigned> RepeatedOps::getRepeatedAxes(Operation* op) const {
  SmallVector<int64_t> most(axes.getMesh().getAxes().size(), 1);
  auto use = [&](ValueRange values) {
    for (Value value : values)
      for (auto [all, own] : llvm::zip(most, getShards(value))) all = std::max(all, own);
  };
  use(op->getOperands());
  use(op->getResults());
  SmallVector<unsigned> repeated;
  for (auto [axis, parts] : llvm::enumerate(most))
    if (parts < axes.getMesh().getAxes()[axis].getSize()) repeated.push_back(axis);
  return repeated;
}

void RepeatedOps::add(Block& block, double times) {
  llvm::DenseSet<Operation*> dead;
  for (Operation& op : llvm::reverse(block.without_terminator()))
    if (isMemoryEffectFree(&op) && llvm::all_of(op.getUsers(), [&](Operation* user) { return dead.contains(user); }))
      dead.insert(&op);
  for (Operation& op : block.without_terminator()) {
    if (dead.contains(&op)) continue;
    auto loop = dyn_cast<WhileOp>(op);
    if (isControlFlow(&op))
      for (Region& region : op.getRegions())
        for (Block& inner : region) add(inner, times * static_cast<double>(loop ? loop.getTrips().value_or(1) : 1));
    else
      add(&op, times);
  }
}

void RepeatedOps::addGather(ReshardOp reshard, double times) {
  SmallVector<int64_t> before = getShards(reshard.getInput()), after = getShards(reshard.getResult());
  double bytes = times * static_cast<double>(getByteSize(reshard.getType()));
  for (size_t axis = 0; axis < before.size(); ++axis)
    if (before[axis] > after[axis]) gathered[axis] += bytes * (1 - 1 / static_cast<double>(before[axis]));
}

/// Of an op that sums up over rows what state is updated by: had it shards of the rows, its result would be reduced.
void RepeatedOps::addGradient(Operation* op, unsigned axis, double times) {
  if (isElementwise(op) || op->getNumResults() != 1 || !leads.leadsToState(op->getResult(0))) return;
  double parts = static_cast<double>(axes.getMesh().getAxes()[axis].getSize());
  reduced[axis] += times * 2 * (1 - 1 / parts) * static_cast<double>(getByteSize(op->getResult(0).getType()));
}

void RepeatedOps::add(Operation* op, double times) {
  if (auto reshard = dyn_cast<ReshardOp>(op)) return addGather(reshard, times);
  if (op->hasTrait<OpTrait::ConstantLike>()) return;
  double flops = times * getWork(op).getFlops(), copies = 1, parts = 1;
  SmallVector<unsigned> along = getRepeatedAxes(op);
  for (auto [axis, attr] : llvm::enumerate(axes.getMesh().getAxes()))
    (llvm::is_contained(along, axis) ? copies : parts) *= static_cast<double>(attr.getSize());
  total += flops / parts;
  if (copies == 1 || flops == 0) return;
  for (unsigned axis : along) addGradient(op, axis, times);
  double again = flops / parts * (1 - 1 / copies);
  repeated += again;
  std::string location = getSourceLine(op->getLoc());
  std::string text = op->getName().stripDialect().str() + (location.empty() ? "" : " at " + location);
  auto [place, isNew] = indices.try_emplace(text, lines.size());
  if (isNew) lines.push_back({op, text, 0});
  lines[place->second].flops += again;
}

/// Whether any tensor of the program is sharded over `axis`.
bool RepeatedOps::isSharded(unsigned axis) {
  return function
      .walk([&](Operation* op) {
        return llvm::any_of(op->getOperands(), [&](Value value) { return getShards(value)[axis] > 1; })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The reshard that gathers over `axis` what `op` is computed from; null where nothing near does.
Operation* RepeatedOps::findGather(Operation* op, unsigned axis) const {
  constexpr size_t kMostOps = 200;
  llvm::SetVector<Operation*> near;
  near.insert(op);
  for (size_t next = 0; next < near.size() && near.size() < kMostOps; ++next) {
    Operation* current = near[next];
    if (isa<ReshardOp>(current) && getShards(current->getOperand(0))[axis] > getShards(current->getResult(0))[axis])
      return current;
    for (Value operand : current->getOperands()) {
      Operation* source = operand.getDefiningOp();
      if (auto argument = dyn_cast<BlockArgument>(operand))
        if (auto loop = dyn_cast<WhileOp>(argument.getOwner()->getParentOp()))
          source = loop.getInits()[argument.getArgNumber()].getDefiningOp();
      if (source) near.insert(source);
    }
  }
  return nullptr;
}

/// Whether `op` leads to the next value of state by ops on elements alone.
bool RepeatedOps::isUpdate(Operation* op) const {
  while (isElementwise(op) && op->getNumResults() == 1 && !op->use_empty()) {
    OpOperand& use = *op->use_begin();
    if (isa<func::ReturnOp>(use.getOwner())) return getCarriedArgument(function, use.getOperandNumber()).has_value();
    op = use.getOwner();
  }
  return false;
}

std::string RepeatedOps::getAdvice(Operation* op, unsigned axis) {
  std::string name = ("\"" + getName(axis) + "\"").str();
  if (!isSharded(axis))
    return "no tensor is sharded over " + name + "; shard an input over it, as \"batch\": " + name +
           " in a recipe does";
  if (isUpdate(op))
    return "they update state that each of these ranks holds whole; shard it, as \"zero\": 1 in a recipe does";
  if (Operation* gather = findGather(op, axis)) {
    if (gathered[axis] < reduced[axis])
      return llvm::formatv(
          "gathering operands over {0} sends {1:f0} bytes a step, reducing the gradients that these "
          "operations compute would send {2:f0}; feed more rows: then gradients are reduced",
          name, gathered[axis], reduced[axis]);
    std::string location = getSourceLine(gather->getLoc());
    return "their operands are gathered over " + name + (location.empty() ? "" : " at " + location) +
           "; shard a dimension that these operations leave apart, by a rule for their scope or for an input";
  }
  return "their operands are whole on each of these ranks; shard one over " + name +
         ", by a rule for their scope or for an input";
}

std::string RepeatedOps::warn() {
  if (repeated <= kMostRepeated * total) return "";
  std::sort(lines.begin(), lines.end(), [](const RepeatedLine& a, const RepeatedLine& b) {
    return std::pair(-a.flops, StringRef(a.text)) < std::pair(-b.flops, StringRef(b.text));
  });
  Operation* first = lines.front().op;
  SmallVector<unsigned> along = getRepeatedAxes(first);
  int64_t ranks = 1;
  std::string names;
  for (unsigned axis : along) {
    ranks *= axes.getMesh().getAxes()[axis].getSize();
    names += (names.empty() ? "\"" : ", \"") + getName(axis).str() + "\"";
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("{0:f0} % of a rank's operations repeat those of other ranks: ", 100 * repeated / total) << ranks
     << " ranks along " << names << " compute the same ";
  llvm::interleaveComma(ArrayRef(lines).take_front(kNumNamed), os, [&](const RepeatedLine& line) {
    os << line.text << llvm::formatv(" ({0:f0} %)", 100 * line.flops / total);
  });
  os << "; " << getAdvice(first, along.front());
  first->emitWarning() << text;
  return text;
}

namespace {
struct WarnOfRepeatedOpsPass : mlir::sgd::impl::WarnOfRepeatedOpsPassBase<WarnOfRepeatedOpsPass> {
  using WarnOfRepeatedOpsPassBase::WarnOfRepeatedOpsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getReportedFunction(getPrograms(getOperation()));
    MeshOp mesh = function ? getMesh(function->getParentOfType<ModuleOp>()) : MeshOp();
    if (!mesh || mesh.getMesh().getAxes().empty() || function.getBody().empty()) return;
    RepeatedOps ops(function, mesh);
    ops.count();
    if (std::string text = ops.warn(); !text.empty()) addAdvice(getOperation(), text);
  }
};
}  // namespace
