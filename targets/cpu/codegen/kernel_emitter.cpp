// Loops of a kernel: the parallel loop, rows and their phases, lanes. Their bodies: kernel_values.cpp,
// kernel_accumulators.cpp, kernel_stores.cpp; loops over square tiles: kernel_tiles.cpp.
#include "targets/cpu/codegen/kernel_emitter.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/scalar_cost.h"
#include "targets/kernels/element_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;
using LValue = llvm::Value;

bool mlir::sgd::cpu::hasColumns(const KernelPlan& plan) {
  return plan.phases > 0 && plan.laneVar != kNone && !plan.laneInRow;
}

int64_t mlir::sgd::cpu::laneBlock(const KernelPlan& plan) {
  if (!hasColumns(plan)) return plan.isReduction() ? 64 : 512;
  // Long pieces of rows, but enough of them for threads where that is worth it.
  int64_t lanes = plan.space.extent(plan.laneVar), others = plan.product(plan.parallelVars) / lanes;
  bool isSmall = others * lanes * plan.product(plan.rowVars) < 65536;
  bool isGathered = llvm::any_of(plan.nodes, [&](const Node& node) { return plan.isTransposed(node); });
  for (int64_t block : {1024, 256}) {
    // Lines that one row of the walk reads a piece of stay in the nearest cache until the next row.
    if (isGathered && block > 256) continue;
    if (isSmall || others * llvm::divideCeil(lanes, block) >= 16) return block;
  }
  return 64;
}

int64_t mlir::sgd::cpu::parallelRange(const KernelPlan& plan) {
  int64_t points = plan.product(plan.parallelVars);
  if (plan.laneVar == kNone || plan.laneInRow) return points;
  int64_t lanes = plan.space.extent(plan.laneVar);
  return points / lanes * llvm::divideCeil(lanes, laneBlock(plan));
}

KernelEmitter::KernelEmitter(llvm::Module& module, const KernelPlan& plan, StringRef symbol,
                             ArrayRef<InPlacePair> inPlace, unsigned registerLanes)
    : module(module),
      plan(plan),
      symbol(symbol),
      registerLanes(registerLanes),
      b(module.getContext()),
      inPlace(inPlace) {
  int64_t rowPoints = plan.product(plan.rowVars);
  walks = planWalks(plan, inPlace, hasColumns(plan) ? rowPoints * laneBlock(plan) : llvm::alignTo(rowPoints, 64));
  for (const Node& node : plan.nodes) {
    if (!node.op || node.kind != NodeKind::Elementwise || !varies(node)) continue;
    isHeavy |= getScalarCost(node.op) == ScalarCost::Function;
  }
}

void KernelEmitter::declareFunction() {
  auto* type =
      llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty()}, false);
  function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("no-builtins");
  function->getArg(0)->addAttr(llvm::Attribute::NoAlias);
  function->getArg(1)->addAttr(llvm::Attribute::NoAlias);
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function));
}

void KernelEmitter::loadPointers(ArrayRef<InPlacePair> pairs) {
  fusion::ClusterOp cluster = plan.cluster;
  unsigned operands = cluster->getNumOperands(), results = cluster->getNumResults(), slot = 0;
  auto* constantLoad = llvm::MDNode::get(module.getContext(), {});
  auto next = [&] {
    auto* load = b.CreateAlignedLoad(
        b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), function->getArg(0), slot++), llvm::Align(8));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, constantLoad);
    return load;
  };
  overwritten.assign(operands, false);
  for (InPlacePair pair : pairs) overwritten[pair.second] = true;
  operandPointers.resize(operands);
  for (unsigned operand = 0; operand < operands; ++operand)
    if (!overwritten[operand]) operandPointers[operand] = next();
  for (unsigned result = 0; result < results; ++result) resultPointers.push_back(next());
  for (InPlacePair pair : pairs) operandPointers[pair.second] = resultPointers[pair.first];
}

LogicalResult KernelEmitter::run() {
  declareFunction();
  if (parallelRange(plan) > 0) {
    loadPointers(inPlace);
    emitParallelLoop();
  }
  b.CreateRetVoid();
  return success(!hasFailed);
}

void KernelEmitter::emitParallelLoop() {
  scopes.emplace_back(0, 0);
  LValue *begin = function->getArg(2), *end = function->getArg(3);
  llvm::BasicBlock* entry = b.GetInsertBlock();
  auto* body = llvm::BasicBlock::Create(module.getContext(), "iteration", function);
  auto* exit = llvm::BasicBlock::Create(module.getContext(), "exit", function);
  scopes.back().insertBefore = b.CreateCondBr(b.CreateICmpSLT(begin, end), body, exit);
  b.SetInsertPoint(body);
  auto* iteration = b.CreatePHI(b.getInt64Ty(), 2);
  iteration->addIncoming(begin, entry);
  emitIteration(iteration);
  LValue* next = b.CreateNSWAdd(iteration, b.getInt64(1));
  iteration->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, end), body, exit);
  b.SetInsertPoint(exit);
}

/// Gives the parallel variables their values for one iteration, the last one fastest.
void KernelEmitter::emitIteration(LValue* iteration) {
  bool laneInParallel = plan.laneVar != kNone && !plan.laneInRow;
  SmallVector<unsigned> vars(plan.parallelVars);
  LValue *rest = iteration, *block = b.getInt64(0);
  auto takeDigit = [&](int64_t extent, bool isLast) -> LValue* {
    if (extent == 1) return b.getInt64(0);
    LValue* digit = isLast ? rest : b.CreateURem(rest, b.getInt64(extent));
    rest = b.CreateUDiv(rest, b.getInt64(extent));
    return digit;
  };
  int64_t lanes = laneInParallel ? plan.space.extent(plan.laneVar) : 0, blockSize = laneBlock(plan);
  if (laneInParallel) {
    vars.pop_back();
    block = takeDigit(llvm::divideCeil(lanes, blockSize), vars.empty());
  }
  for (size_t position = vars.size(); position-- > 0;)
    varValues[vars[position]] = takeDigit(plan.space.extent(vars[position]), position == 0);
  inScope(plan.mask(vars), [&] {
    if (!laneInParallel) return emitPoint();
    auto emitBlock = [&](int64_t extent, LValue* base) {
      hasColumns(plan) ? emitColumns(extent, base) : emitLanes(extent, base, [&] { emitPoint(); });
    };
    if (lanes <= blockSize) return emitBlock(lanes, b.getInt64(0));
    LValue* base = b.CreateMul(block, b.getInt64(blockSize));
    if (lanes % blockSize == 0) return emitBlock(blockSize, base);
    auto* whole = llvm::BasicBlock::Create(module.getContext(), "whole", function);
    auto* part = llvm::BasicBlock::Create(module.getContext(), "part", function);
    auto* joined = llvm::BasicBlock::Create(module.getContext(), "joined", function);
    llvm::Instruction* branch = b.CreateCondBr(b.CreateICmpULT(block, b.getInt64(lanes / blockSize)), whole, part);
    SmallVector<size_t> anchored = anchorScopes(branch);
    for (auto [target, extent] : {std::make_pair(whole, blockSize), std::make_pair(part, lanes % blockSize)}) {
      b.SetInsertPoint(target);
      emitBlock(extent, base);
      b.CreateBr(joined);
    }
    b.SetInsertPoint(joined);
    for (size_t scope : anchored) scopes[scope].insertBefore = nullptr;
  });
}

/// All row phases and stores of one point of the parallel domain.
void KernelEmitter::emitPoint() {
  if (plan.scatter) return emitScatter();
  if (!plan.isReduction()) return plan.rowVars.empty() ? emitStores(0) : emitRow([&] { emitStores(0); });
  for (walk = 1; walk <= walks.walks; ++walk) emitWalk();
  walk = 0;
  emitStores(0);
}

void KernelEmitter::emitWalk() {
  declareAccumulators(walk);
  emitRow([&] {
    accumulate();
    emitStores(walk);
  });
  for (Accumulator& accumulator : accumulators) {
    LValue* result = finishAccumulator(accumulator);
    scopes.back().values[accumulator.node] = result;
  }
  accumulators.clear();
  scopes.back().phase = walk;
}

void KernelEmitter::emitRow(Body body) {
  if (plan.tileVar != kNone) return emitTiles(body);
  ArrayRef<unsigned> vars = plan.rowVars;
  emitRowLoops(plan.laneInRow ? vars.drop_back() : vars, body);
}

void KernelEmitter::emitRowLoops(ArrayRef<unsigned> vars, Body body) {
  if (vars.empty()) {
    if (!plan.laneInRow) return body();
    return emitLanes(plan.space.extent(plan.laneVar), b.getInt64(0), body);
  }
  loop(0, plan.space.extent(vars.front()), 1, [&](LValue* position) {
    varValues[vars.front()] = position;
    inScope(uint64_t{1} << vars.front(), [&] { emitRowLoops(vars.drop_front(), body); });
  });
}

/// Tiles of 16 bits take whole cache lines: half lines would be fetched again by the next tile when the rows' distance
/// is a power of two.
bool KernelEmitter::hasNarrowTiles() const {
  return llvm::all_of(plan.nodes, [&](const Node& node) {
    return node.kind != NodeKind::Load || !plan.isTransposed(node) || node.type.getIntOrFloatBitWidth() == 16;
  });
}

/// Lanes at once in the main part of a lane loop.
unsigned KernelEmitter::mainWidth(int64_t extent) const {
  if (plan.tileVar != kNone) return registerLanes * (hasNarrowTiles() ? 2 : 1);
  unsigned reductions = llvm::count_if(plan.nodes, [](const Node& node) { return node.kind == NodeKind::Reduce; });
  unsigned lanes = registerLanes * (isHeavy || reductions > 3 ? 2 : 4);
  while (lanes > registerLanes && lanes > extent) lanes /= 2;
  return lanes;
}

SmallVector<std::pair<unsigned, int64_t>> KernelEmitter::laneParts(int64_t extent) const {
  SmallVector<std::pair<unsigned, int64_t>> parts;
  int64_t done = 0;
  for (unsigned lanes : {mainWidth(extent), registerLanes}) {
    int64_t points = (extent - done) / lanes * lanes;
    if (points > 0) parts.push_back({lanes, points});
    done += points;
  }
  if (done < extent) parts.push_back({static_cast<unsigned>(llvm::PowerOf2Ceil(extent - done)), extent - done});
  return parts;
}

/// `extent` points of the lane variable from `base` on: wide vectors, then single registers, then what is left under a
/// mask.
void KernelEmitter::emitLanes(int64_t extent, LValue* base, Body body) {
  int64_t done = 0;
  for (auto [lanes, points] : laneParts(extent)) {
    width = lanes;
    mask = nullptr;
    if (points < lanes) {
      SmallVector<llvm::Constant*> exists;
      for (unsigned lane = 0; lane < lanes; ++lane) exists.push_back(b.getInt1(lane < points));
      mask = llvm::ConstantVector::get(exists);
    }
    loop(done, done + points, lanes, [&](LValue* position) {
      lanePosition = position;
      varValues[plan.laneVar] = b.CreateAdd(base, position);
      inScope(uint64_t{1} << plan.laneVar, body);
    });
    done += points;
  }
  width = 1;
  mask = nullptr;
}

// Control flow
// ----------------------------------------------------------------------------------------------------------

void KernelEmitter::inScope(uint64_t vars, Body body) {
  scopes.emplace_back(scopes.back().vars | vars, scopes.back().phase);
  body();
  scopes.pop_back();
}

/// From here on, values of scopes that wrote at the builder's position go before `instruction`.
SmallVector<size_t> KernelEmitter::anchorScopes(llvm::Instruction* instruction) {
  SmallVector<size_t> anchored;
  for (auto [number, scope] : llvm::enumerate(scopes)) {
    if (scope.insertBefore) continue;
    scope.insertBefore = instruction;
    anchored.push_back(number);
  }
  return anchored;
}

void KernelEmitter::loop(int64_t low, int64_t high, int64_t step, llvm::function_ref<void(LValue*)> body) {
  if (low >= high) return;
  if (low + step >= high) return body(b.getInt64(low));
  llvm::BasicBlock* before = b.GetInsertBlock();
  auto* block = llvm::BasicBlock::Create(module.getContext(), "loop", function);
  auto* exit = llvm::BasicBlock::Create(module.getContext(), "done", function);
  SmallVector<size_t> anchored = anchorScopes(b.CreateBr(block));
  b.SetInsertPoint(block);
  auto* position = b.CreatePHI(b.getInt64Ty(), 2);
  position->addIncoming(b.getInt64(low), before);
  body(position);
  LValue* next = b.CreateAdd(position, b.getInt64(step), "", /*HasNUW=*/true, /*HasNSW=*/true);
  position->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(next, b.getInt64(high)), block, exit);
  b.SetInsertPoint(exit);
  for (size_t scope : anchored) scopes[scope].insertBefore = nullptr;
}
