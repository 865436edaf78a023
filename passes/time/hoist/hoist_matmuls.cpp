// The pass sgd-hoist-matmuls: the matmul that saves most bytes first, since others may share what it stacks.
#include "passes/time/hoist/loop_matmuls.h"
#include "passes/time/hoist/passes.h"

#include "dialects/sgd/decision.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_HOISTMATMULSPASS
#include "passes/time/hoist/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// Most bytes of new stacks, as a multiple of what the loop steps over.
static constexpr int64_t kHeldFactor = 2;

static int64_t getSteppedBytes(const LayerLoop& layers) {
  int64_t bytes = 0;
  WhileOp loop = layers.op;
  for (auto [iterArg, init] : llvm::enumerate(loop.getInits()))
    if (layers.isStacked(iterArg)) bytes += getByteSize(init.getType());
  return bytes;
}

/// Whether all that happens to `iterArg` is that something is added to it.
static bool isSum(WhileOp loop, unsigned iterArg) {
  BlockArgument argument = loop.getBody().getArgument(iterArg);
  Operation* add = loop.getYielded()[iterArg].getDefiningOp();
  return isa_and_nonnull<arith::AddFOp>(add) && argument.hasOneUse() && *argument.user_begin() == add;
}

/// Whether a trip needs what the one before it has computed, other than sums.
static bool isRecurrent(const LayerLoop& layers) {
  WhileOp loop = layers.op;
  return llvm::any_of(llvm::enumerate(layers.roles), [&](auto role) {
    return role.value() == LayerLoop::Role::Carried && !isSum(loop, role.index()) &&
           isa<FloatType>(tensorType(loop.getInits()[role.index()]).getElementType());
  });
}

static void eraseDead(Block& block) {
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op)) op.erase();
}

namespace {
struct HoistMatmulsPass : mlir::sgd::impl::HoistMatmulsPassBase<HoistMatmulsPass> {
  using HoistMatmulsPassBase::HoistMatmulsPassBase;

  void getDependentDialects(DialectRegistry& registry) const override {
    HoistMatmulsPassBase::getDependentDialects(registry);
    registerBatchRules(registry);
  }

  void runOnOperation() override {
    bool isChanged = false;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      for (Block* block : getProgramBlocks(function))
        for (WhileOp loop : llvm::to_vector(block->getOps<WhileOp>())) isChanged |= visit(function, loop);
    }
    if (!isChanged) return;
    // Iter_args without uses are left.
    OpPassManager cleaning(ModuleOp::getOperationName());
    cleaning.addPass(createCanonicalizerPass());
    if (failed(runPipeline(cleaning, getOperation()))) signalPassFailure();
  }

 private:
  /// Whether a matmul was moved out of `loop`.
  bool visit(func::FuncOp function, WhileOp loop);
  void count(MovedMatmul::Kind kind);
};
}  // namespace

void HoistMatmulsPass::count(MovedMatmul::Kind kind) {
  switch (kind) {
    case MovedMatmul::Kind::Projection:
      ++numProjections;
      return;
    case MovedMatmul::Kind::Sum:
      ++numSums;
      return;
    case MovedMatmul::Kind::Rows:
      ++numRows;
      return;
  }
}

bool HoistMatmulsPass::visit(func::FuncOp function, WhileOp loop) {
  if (loop.getBody().front().getOps<DotGeneralOp>().empty()) return false;
  std::optional<LayerLoop> layers = LayerLoop::find(loop);
  if (!layers || !isRecurrent(*layers)) return false;
  Location loc = loop.getLoc();
  const int64_t room = kHeldFactor * getSteppedBytes(*layers);
  int64_t held = 0;
  unsigned number = 0;
  while (true) {
    TripValues values(*layers);
    std::optional<MovedMatmul> moved = findMatmul(values, room - held);
    if (!moved) break;
    moveMatmul(values, *moved);
    held += moved->heldBytes * layers->trips;
    layers = values.getLoop();
    eraseDead(layers->op.getBody().front());
    count(moved->kind);
    ++number;
  }
  if (number == 0) return false;
  Decision decision = Decision::at(DecisionKind::Hoist, loc);
  decision.chosen = "outside of the loop";
  llvm::raw_string_ostream(decision.why) << "loop at " << decision.source << ": " << number
                                         << (number == 1 ? " of its matmuls is" : " of its matmuls are")
                                         << " computed for all " << layers->trips
                                         << " iterations at once, outside of it; " << held
                                         << " bytes are held for that";
  addDecision(function, decision);
  return true;
}
