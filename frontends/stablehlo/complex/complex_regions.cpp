// Expands ops with regions, calls and collectives: each complex operand, result and block argument becomes two.
#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/complex/complex_math.h"
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

/// A map has one result: that of a complex one has a map for each part.
LogicalResult expandMap(ComplexOp& c) {
  Type type = c.op->getResult(0).getType();
  if (!isComplex(type)) return expandInOrder(c);
  SmallVector<Value> operands = c.getExpandedOperands();
  auto create = [&](unsigned part) -> Value {
    OperationState state(c.loc, c.op->getName().getStringRef(), operands, getPartType(type));
    state.addAttributes(llvm::to_vector(c.op->getAttrDictionary()));
    state.addRegion();
    Operation* map = c.builder.create(state);
    OpBuilder::InsertionGuard guard(c.builder);
    IRMapping mapping;
    c.op->getRegion(0).cloneInto(&map->getRegion(0), mapping);
    if (c.expander.expandRegion(map->getRegion(0)).failed()) return {};
    Operation* end = map->getRegion(0).front().getTerminator();
    if (end->getNumOperands() != 2) return c.error() << "body must return one complex number", Value();
    end->setOperands(end->getOperand(part));
    return map->getResult(0);
  };
  Value re = create(0), im = re ? create(1) : Value();
  return im ? c.finish(Complex{re, im}) : failure();
}

/// The values of all ranks of the group along a new first dimension.
Value gatherRanks(ComplexOp& c, Value value, int64_t ranks) {
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, tensorType(value).getShape());
  Value row = c.reshape(value, shape);
  shape[0] = ranks;
  NamedAttrList attributes;
  for (StringRef name : {"replica_groups", "channel_handle", "use_global_device_ids"})
    if (Attribute attribute = c.op->getAttr(name)) attributes.append(name, attribute);
  attributes.append("all_gather_dim", c.builder.getI64IntegerAttr(0));
  return c.create<stablehlo::AllGatherOp>(tensorType(value).clone(shape), row, attributes.getAttrs());
}

/// An all-reduce that multiplies mixes real and imaginary parts: every rank gathers its group's operands and multiplies
/// them pairwise, halving their number at a time.
LogicalResult expandRankProduct(ComplexOp& c, int64_t ranks) {
  SmallVector<Value> results;
  for (unsigned index = 0; index < c.op->getNumOperands(); ++index) {
    Complex own = c.operand(index);
    Complex all{gatherRanks(c, own.re, ranks), gatherRanks(c, own.im, ranks)};
    auto rows = [&](int64_t begin, int64_t end) {
      return Complex{c.sliceDim(all.re, 0, begin, end), c.sliceDim(all.im, 0, begin, end)};
    };
    for (int64_t count = ranks; count > 1; count = count / 2 + count % 2) {
      int64_t half = count / 2;
      Complex product = multiply(c, rows(0, half), rows(half, 2 * half)), rest = rows(2 * half, count);
      all = count % 2 == 0 ? product
                           : Complex{c.concatenate({product.re, rest.re}, 0), c.concatenate({product.im, rest.im}, 0)};
    }
    ArrayRef<int64_t> shape = tensorType(own.re).getShape();
    results.append({c.reshape(all.re, shape), c.reshape(all.im, shape)});
  }
  return c.finishAll(results);
}

/// An all-reduce that adds: one for each part.
LogicalResult expandRankReduction(ComplexOp& c) {
  Region& body = c.op->getRegion(0);
  Type element = c.op->getOperand(0).getType();
  bool isUniform = llvm::all_of(c.op->getOperandTypes(), [&](Type type) {
    return isComplex(type) && getElementTypeOrSelf(type) == getElementTypeOrSelf(element);
  });
  Block& old = body.front();
  Operation* combiner = skipConstraints(old.getTerminator()->getOperand(0)).getDefiningOp();
  auto groups = c.op->getAttrOfType<DenseIntElementsAttr>("replica_groups");
  bool isProduct = isUniform && old.getNumArguments() == 2 && isa_and_nonnull<stablehlo::MulOp>(combiner) &&
                   matchCombiner(old, 0, 1) && groups && groups.getType().getRank() == 2 && groups.getNumElements() > 0;
  if (isProduct) return expandRankProduct(c, groups.getType().getDimSize(1));
  if (!isUniform || old.getNumArguments() != 2 || !isa_and_nonnull<stablehlo::AddOp>(combiner) ||
      !matchCombiner(old, 0, 1))
    return c.error()
           << "combines complex numbers by something else than add or multiply; combine real and imaginary parts";
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

void mlir::sgd::addComplexRegions(ExpansionTable& table) {
  for (StringRef name :
       {"stablehlo.all_gather", "stablehlo.all_to_all", "stablehlo.case", "stablehlo.collective_broadcast",
        "stablehlo.collective_permute", "stablehlo.if", "stablehlo.optimization_barrier", "stablehlo.reduce",
        "stablehlo.reduce_window", "stablehlo.scatter", "stablehlo.while", "sdy.manual_computation"})
    table[name] = expandInOrder;
  table["func.call"] = expandCall;
  table["stablehlo.all_reduce"] = expandRankReduction;
  table["stablehlo.composite"] = expandComposite;
  table["stablehlo.map"] = expandMap;
  table["stablehlo.reduce_scatter"] = expandReduceScatter;
  table["stablehlo.sort"] = expandSort;
}
