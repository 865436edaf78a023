// Scatters whose updates may meet. A thread has one parallel point and a range of the first variable that updates move
// along: it goes through all updates in order and applies those that fall into its range, so that an element's updates
// are combined in the order of the operand, whatever the grid.
#include "targets/gpu/codegen/kernel_emitter.h"
#include "targets/kernels/element_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

/// Nested loops over `vars`.
void KernelEmitter::emitUpdates(ArrayRef<unsigned> vars, Body body) {
  if (vars.empty()) return body();
  block.count(b.getInt64(0), b.getInt64(plan.space.extent(vars.front())), b.getInt64(1), [&](LValue* position) {
    values.inRegion([&] {
      Scope scope;
      scope.set(vars.front(), position);
      values.inScope(scope, [&] { emitUpdates(vars.drop_front(), body); });
    });
  });
}

void KernelEmitter::emitScatter() {
  const ScatterLoops& loops = *plan.scatter;
  ScatterOp op = loops.op;
  Type type = plan.nodes[loops.initValue].type;
  llvm::Type* memory = scalars().memoryType(type);
  llvm::Align align(memory->getScalarSizeInBits() / 8);
  LValue* number = itemNumber(schedule.threads, block.thread());
  auto place = [&](const IndexExpr& index) { return values.address(entry.results[0], type, index); };
  runWhere(isBelow(number, schedule.items), [&] {
    // Neighbouring threads have neighbouring points, in the same part.
    llvm::Type* wide = number->getType();
    auto* points = llvm::ConstantInt::get(wide, plan.product(plan.parallelVars));
    Scope point;
    setDigits(point, plan.parallelVars, b.CreateURem(number, points), 1);
    LValue* part = b.CreateZExt(b.CreateUDiv(number, points), b.getInt64Ty());
    int64_t extent = loops.initVars.empty() ? 1 : plan.space.extent(loops.initVars.front());
    LValue* perPart = b.getInt64(llvm::divideCeil(extent, schedule.parts));
    LValue* low = b.CreateMul(part, perPart);
    LValue* high = scalars().binary(llvm::Intrinsic::smin, b.CreateAdd(low, perPart), b.getInt64(extent));
    values.inScope(point, [&] {
      auto storeInitial = [&] {
        LValue* initial = values.value(loops.initValue);
        if (initial) b.CreateAlignedStore(scalars().toMemory(initial, type), place(loops.initIndex), align);
      };
      if (loops.initVars.empty()) {
        storeInitial();
      } else {
        block.count(low, high, b.getInt64(1), [&](LValue* position) {
          values.inRegion([&] {
            Scope scope;
            scope.set(loops.initVars.front(), position);
            values.inScope(scope, [&] { emitUpdates(ArrayRef(loops.initVars).drop_front(), storeInitial); });
          });
        });
      }
      // Elements of a part lie, beyond the point's first one, in a range: other variables move by less than a step of
      // the first.
      int64_t step = loops.initVars.empty() ? 1 : loops.initIndex.coefficient(loops.initVars.front());
      IndexExpr moved = loops.target + loops.fallback * -1;
      emitUpdates(loops.updateVars, [&] {
        LValue* inside = loops.inside == kNone ? b.getTrue() : values.value(loops.inside);
        if (!inside) return;
        if (!loops.initVars.empty()) {
          LValue* at = values.index(moved);
          LValue* isAbove = b.CreateICmpSGE(at, b.CreateMul(low, b.getInt64(step)));
          inside = b.CreateAnd(inside, b.CreateAnd(isAbove, b.CreateICmpSLT(at, b.CreateMul(high, b.getInt64(step)))));
        }
        runWhere(inside, [&] {
          LValue* update = values.value(loops.update);
          if (!update) return;
          LValue* where = place(loops.target);
          LValue* before = scalars().fromMemory(b.CreateAlignedLoad(memory, where, align), type);
          LValue* after = emitScatterCombiner(scalars(), op.getKind(), type, before, update);
          b.CreateAlignedStore(scalars().toMemory(after, type), where, align);
        });
      });
    });
  });
}
