// Code of nodes.
#include "targets/gpu/codegen/point_values.h"

#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/schedule.h"
#include "targets/kernels/element_ops.h"
#include "targets/kernels/table_data.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

PointValues::PointValues(llvm::IRBuilder<>& b, const KernelPlan& plan, const EntryPoint& entry, std::string symbol)
    : b(b), plan(plan), entry(entry), symbol(std::move(symbol)) {}

void PointValues::inScope(Scope& scope, Body body) {
  scope.region = region;
  scopes.push_back(&scope);
  body();
  scopes.pop_back();
}

void PointValues::inRegion(Body body) {
  unsigned outer = region;
  region = ++regions;
  Scope scope;
  inScope(scope, body);
  region = outer;
}

LValue* PointValues::fail(Operation* op, const llvm::Twine& message) {
  if (!failed) op->emitOpError(message);
  failed = true;
  return nullptr;
}

LValue* PointValues::variable(unsigned number) const {
  for (Scope* scope : llvm::reverse(scopes))
    if (auto known = scope->variables.find(number); known != scope->variables.end()) return known->second;
  return b.getInt64(0);
}

LValue* PointValues::value(unsigned number) {
  const Node& node = plan.nodes[number];
  uint64_t vars = 0;
  Scope* home = nullptr;  // the outermost scope of this region that may keep it
  for (Scope* scope : scopes) {
    vars |= scope->vars;
    if (!isKnown(node, vars)) continue;
    if (auto known = scope->values.find(number); known != scope->values.end()) return known->second;
    if (!home && scope->region == region) home = scope;
  }
  LValue* result = compute(number);
  if (result && home) home->values[number] = result;
  return result;
}

void PointValues::prepare(unsigned number) {
  llvm::DenseSet<unsigned> visited;
  prepare(number, visited);
}

void PointValues::prepare(unsigned number, llvm::DenseSet<unsigned>& visited) {
  if (!visited.insert(number).second) return;
  const Node& node = plan.nodes[number];
  uint64_t vars = 0;
  for (Scope* scope : scopes) vars |= scope->vars;
  if (isKnown(node, vars)) {
    value(number);
    return;
  }
  if (node.kind == NodeKind::Reduce) return;
  for (unsigned operand : node.operands) prepare(operand, visited);
  if (node.guard != kNone) prepare(node.guard, visited);
  for (const IndexExpr::Term& term : node.index.getTerms())
    if (auto computed = plan.opaqueVars.find(term.var); computed != plan.opaqueVars.end())
      prepare(computed->second, visited);
}

LValue* PointValues::index(const IndexExpr& index) {
  LValue* sum = b.getInt64(index.getConstant());
  for (const IndexExpr::Term& term : index.getTerms()) {
    auto computed = plan.opaqueVars.find(term.var);
    LValue* position = computed == plan.opaqueVars.end() ? variable(term.var) : value(computed->second);
    if (!position) return sum;
    sum = b.CreateAdd(sum, b.CreateMul(position, b.getInt64(term.coefficient)));
  }
  return sum;
}

LValue* PointValues::compute(unsigned number) {
  const Node& node = plan.nodes[number];
  switch (node.kind) {
    case NodeKind::Load:
      return computeLoad(number);
    case NodeKind::Constant:
      return emitScalarConstant(scalars(), node.value, node.type);
    case NodeKind::Index:
    case NodeKind::InRange:
    case NodeKind::Quotient:
    case NodeKind::Remainder:
      return computeNumber(node);
    case NodeKind::Coordinate:
      return b.CreateTrunc(entry.coordinates[node.buffer], b.getInt32Ty());
    case NodeKind::Clamp:
      return computeClamp(node);
    case NodeKind::Reduce:
      return fail(node.op, "is needed before it is computed");
    case NodeKind::Elementwise:
    case NodeKind::And:
    case NodeKind::Select:
    case NodeKind::Combine:
      break;
  }
  SmallVector<LValue*, 3> operands;
  for (unsigned operand : node.operands) {
    operands.push_back(value(operand));
    if (!operands.back()) return nullptr;
  }
  if (node.kind == NodeKind::And) return b.CreateAnd(operands[0], operands[1]);
  if (node.kind == NodeKind::Select) return b.CreateSelect(operands[0], operands[1], operands[2]);
  if (node.kind == NodeKind::Combine)
    return emitScatterCombiner(scalars(), cast<ScatterOp>(node.op).getKind(), node.type, operands[0], operands[1]);
  LValue* result = emitElementOp(scalars(), node.op, operands);
  return result ? result
                : fail(node.op,
                       "has no GPU code for this type; expected one that docs/reference/operations.md lists for it; "
                       "convert the operands");
}

LValue* PointValues::computeNumber(const Node& node) {
  LValue* number = index(node.index);
  switch (node.kind) {
    case NodeKind::InRange:
      return b.CreateICmpULT(b.CreateSub(number, b.getInt64(node.low)), b.getInt64(node.high - node.low));
    case NodeKind::Quotient:
      return b.CreateUDiv(number, b.getInt64(node.high));
    case NodeKind::Remainder:
      return b.CreateURem(number, b.getInt64(node.high));
    default:
      break;
  }
  VectorBuilder v = scalars();
  llvm::Type* type = v.computeType(node.type);
  if (isa<FloatType>(node.type)) return v.round(b.CreateSIToFP(number, type), node.type);
  return b.CreateSExtOrTrunc(number, type);
}

LValue* PointValues::computeClamp(const Node& node) {
  LValue* start = value(node.operands[0]);
  if (!start) return nullptr;
  VectorBuilder v = scalars();
  llvm::Type* type = b.getInt64Ty();
  LValue* limit = b.getInt64(node.high - 1);
  if (node.isUnsigned) return v.binary(llvm::Intrinsic::umin, b.CreateZExtOrTrunc(start, type), limit);
  LValue* low = b.getInt64(node.low);
  return b.CreateSub(clamp(b.CreateSExtOrTrunc(start, type), node.low, node.high - 1), low);
}

LValue* PointValues::clamp(LValue* offset, int64_t low, int64_t high) {
  VectorBuilder v = scalars();
  return v.binary(llvm::Intrinsic::smax, v.binary(llvm::Intrinsic::smin, offset, b.getInt64(high)), b.getInt64(low));
}

// Memory
// ----------------------------------------------------------------------------------------------------------------

LValue* PointValues::buffer(unsigned number) {
  if (number < entry.operands.size()) return entry.operands[number];
  LValue*& table = tables[number];
  if (!table) {
    llvm::Constant* data = tableData(plan.tables[number - entry.operands.size()], b.getContext());
    auto* global = new llvm::GlobalVariable(*entry.function->getParent(), data->getType(), true,
                                            llvm::GlobalValue::InternalLinkage, data, symbol + "_table", nullptr,
                                            llvm::GlobalValue::NotThreadLocal, kGlobal);
    global->setAlignment(llvm::Align(64));
    table = global;
  }
  return table;
}

int64_t PointValues::elements(unsigned number) const {
  if (number >= entry.operands.size()) return plan.tables[number - entry.operands.size()].getNumElements();
  fusion::ClusterOp cluster = plan.cluster;
  return cast<RankedTensorType>(cluster->getOperand(number).getType()).getNumElements();
}

LValue* PointValues::address(LValue* base, Type type, const IndexExpr& at) {
  return b.CreateGEP(scalars().memoryType(type), base, index(at));
}

llvm::LoadInst* PointValues::load(llvm::Type* type, LValue* where, int64_t bytes, unsigned number) {
  llvm::LoadInst* result = b.CreateAlignedLoad(type, where, llvm::Align(bytes));
  if (number >= entry.overwritten.size() || !entry.overwritten[number])
    result->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
  return result;
}

LValue* PointValues::loadElement(unsigned number) {
  const Node& node = plan.nodes[number];
  llvm::Type* type = scalars().memoryType(node.type);
  LValue* offset = index(node.index);
  // Where the guard is false the index may be outside: any element will do.
  if (node.guard != kNone) offset = clamp(offset, 0, elements(node.buffer) - 1);
  LValue* where = b.CreateGEP(type, buffer(node.buffer), offset);
  return load(type, where, type->getScalarSizeInBits() / 8, node.buffer);
}

LValue* PointValues::computeLoad(unsigned number) {
  const Node& node = plan.nodes[number];
  LValue* memory = nullptr;
  if (auto elsewhere = loads.find(number); elsewhere != loads.end())
    memory = elsewhere->second();
  else if (scopes.back()->chunk && (node.vars >> plan.laneVar & 1))
    memory = loadLane(number, *scopes.back());
  return scalars().fromMemory(memory ? memory : loadElement(number), node.type);
}

/// The element of `lane` out of what is loaded for all lanes of its chunk at once; null where that is not possible.
LValue* PointValues::loadLane(unsigned number, Scope& lane) {
  const Node& node = plan.nodes[number];
  Scope& chunk = *lane.chunk;
  bool guardVaries = node.guard != kNone && (plan.nodes[node.guard].vars >> plan.laneVar & 1);
  bool isWide = chunk.lanes > 1 && chunk.region == region && !guardVaries && isVector(plan, node.index, chunk.lanes) &&
                elements(node.buffer) % chunk.lanes == 0;
  if (!isWide) return nullptr;
  if (LValue* loaded = chunk.vectors.lookup(number)) return b.CreateExtractElement(loaded, lane.lane);
  Scope first;
  first.set(plan.laneVar, chunk.firstLane);
  scopes.back() = &first;
  LValue* offset = index(node.index);
  scopes.back() = &lane;
  if (node.guard != kNone) offset = clamp(offset, 0, elements(node.buffer) - chunk.lanes);
  llvm::Type* scalar = scalars().memoryType(node.type);
  LValue* where = b.CreateGEP(scalar, buffer(node.buffer), offset);
  LValue* vector = load(llvm::FixedVectorType::get(scalar, chunk.lanes), where,
                        scalar->getScalarSizeInBits() / 8 * chunk.lanes, node.buffer);
  chunk.vectors[number] = vector;
  return b.CreateExtractElement(vector, lane.lane);
}
