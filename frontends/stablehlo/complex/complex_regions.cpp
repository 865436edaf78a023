// Expands ops with regions, calls and collectives: each complex operand, result and block argument becomes two.
#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/complex/complex_op.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Operands, results and the arguments of all regions in their order.
LogicalResult expandInOrder(ComplexOp& c) {
  Operation* rebuilt = c.rebuild(c.getExpandedOperands());
  for (Region& region : rebuilt->getRegions())
    if (c.expander.expandRegion(region).failed()) return failure();
  return c.finishAll(rebuilt->getResults());
}

/// The comparator takes a pair of scalars for each operand.
LogicalResult expandSort(ComplexOp& c) {
  SmallVector<Type> types(c.op->getOperandTypes());
  auto rebuilt = cast<stablehlo::SortOp>(c.rebuild(c.getExpandedOperands()));
  Block& comparator = rebuilt.getComparator().front();
  if (comparator.getNumArguments() != 2 * types.size())
    return c.error() << "comparator must take two scalars for each operand and return one";
  unsigned at = 0;
  for (auto [index, type] : llvm::enumerate(types)) {
    bool takesComplex = isComplex(comparator.getArgument(at).getType());
    if (takesComplex != isComplex(type) || takesComplex != isComplex(comparator.getArgument(at + 1).getType()))
      return c.error() << "arguments of the comparator are not of the type of operand " << index;
    if (takesComplex) {
      c.expander.splitArgument(comparator, at, at + 2);
      c.expander.splitArgument(comparator, at + 1, at + 3);
    }
    at += takesComplex ? 4 : 2;
  }
  if (c.expander.expandBody(rebuilt.getComparator()).failed()) return failure();
  return c.finishAll(rebuilt->getResults());
}

/// Sums over ranks: those of the parts. Other reductions mix the parts.
LogicalResult expandRankSum(ComplexOp& c) {
  Region& body = c.op->getRegion(0);
  Type element = c.op->getOperand(0).getType();
  bool isUniform = llvm::all_of(c.op->getOperandTypes(), [&](Type type) {
    return isComplex(type) && getElementTypeOrSelf(type) == getElementTypeOrSelf(element);
  });
  Block& old = body.front();
  Operation* combiner = skipConstraints(old.getTerminator()->getOperand(0)).getDefiningOp();
  if (!isUniform || old.getNumArguments() != 2 || !isa_and_nonnull<stablehlo::AddOp>(combiner) ||
      !matchCombiner(old, 0, 1))
    return c.error() << "combines complex numbers by something else than add; combine real and imaginary parts";
  Operation* rebuilt = c.rebuild(c.getExpandedOperands());
  Region& target = rebuilt->getRegion(0);
  target.dropAllReferences();
  target.getBlocks().clear();
  Block& block = target.emplaceBlock();
  Type scalar = RankedTensorType::get({}, getElementTypeOrSelf(getPartType(element)));
  block.addArguments({scalar, scalar}, {c.loc, c.loc});
  OpBuilder::InsertionGuard guard(c.builder);
  c.builder.setInsertionPointToStart(&block);
  Value sum = c.add(block.getArgument(0), block.getArgument(1));
  stablehlo::ReturnOp::create(c.builder, c.loc, sum);
  return c.finishAll(rebuilt->getResults());
}

/// One operand and result: each part by itself.
LogicalResult expandReduceScatter(ComplexOp& c) {
  Block& old = c.op->getRegion(0).front();
  Operation* combiner = skipConstraints(old.getTerminator()->getOperand(0)).getDefiningOp();
  if (!isa_and_nonnull<stablehlo::AddOp>(combiner) || !matchCombiner(old, 0, 1))
    return c.error() << "combines complex numbers by something else than add; combine real and imaginary parts";
  Complex z = c.operand();
  auto reduce = [&](Value part) {
    Operation* clone = c.cloneForParts(part);
    clone->getRegion(0).walk([](Block* block) {
      for (BlockArgument argument : block->getArguments()) argument.setType(getPartType(argument.getType()));
    });
    clone->getRegion(0).walk([](Operation* inner) {
      for (OpResult result : inner->getResults()) result.setType(getPartType(result.getType()));
    });
    return clone->getResult(0);
  };
  c.expander.setParts(c.op->getResult(0), {reduce(z.re), reduce(z.im)});
  return success();
}

/// A private function's arguments and results are parts, a public one's pairs.
LogicalResult expandCallOf(ComplexOp& c, StringRef callee) {
  func::FuncOp function = c.expander.getFunction(callee);
  if (!function || !function.isPublic()) return expandInOrder(c);
  return c.error() << "calls the public function '" << callee
                   << "' with complex numbers, which is not supported; make it private";
}

LogicalResult expandCall(ComplexOp& c) { return expandCallOf(c, cast<func::CallOp>(c.op).getCallee()); }
LogicalResult expandComposite(ComplexOp& c) {
  return expandCallOf(c, cast<stablehlo::CompositeOp>(c.op).getDecomposition());
}

}  // namespace

void sgd::addComplexRegions(ExpansionTable& table) {
  for (StringRef name :
       {"stablehlo.all_gather", "stablehlo.all_to_all", "stablehlo.case", "stablehlo.collective_broadcast",
        "stablehlo.collective_permute", "stablehlo.if", "stablehlo.optimization_barrier", "stablehlo.reduce",
        "stablehlo.reduce_window", "stablehlo.scatter", "stablehlo.while", "sdy.manual_computation"})
    table[name] = expandInOrder;
  table["func.call"] = expandCall;
  table["stablehlo.all_reduce"] = expandRankSum;
  table["stablehlo.composite"] = expandComposite;
  table["stablehlo.reduce_scatter"] = expandReduceScatter;
  table["stablehlo.sort"] = expandSort;
}
