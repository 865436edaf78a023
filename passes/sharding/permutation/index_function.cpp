// Walks up from a value through integer arithmetic and ops that move elements, a chunk of indices at a time.
#include "passes/sharding/permutation/index_function.h"

#include "dialects/sgd/splat.h"
#include "dialects/sgd/tensor_type.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sgd;

/// Stands for the dimension of a value along which all elements are the same.
static constexpr int64_t kUniform = -1;

static constexpr int64_t kChunk = 4096;

std::optional<int64_t> mlir::sgd::getReshapedDim(RankedTensorType from, RankedTensorType to, int64_t dim) {
  auto before = [](RankedTensorType type, int64_t dim) {
    int64_t count = 1;
    for (int64_t size : type.getShape().take_front(dim)) count *= size;
    return count;
  };
  for (int64_t candidate = 0; candidate < from.getRank(); ++candidate)
    if (from.getDimSize(candidate) == to.getDimSize(dim) && before(from, candidate) == before(to, dim))
      return candidate;
  return std::nullopt;
}

/// The operand's dimension that is `dim` of the result of an op that moves elements; nullopt for other ops.
static std::optional<int64_t> getSourceDim(Operation* op, int64_t dim) {
  if (isa<OptimizationBarrierOp, ShardingConstraintOp>(op)) return dim;
  if (!isa<BroadcastInDimOp, ReshapeOp, TransposeOp>(op)) return std::nullopt;
  if (dim == kUniform) return kUniform;
  if (auto transpose = dyn_cast<TransposeOp>(op)) return transpose.getPermutation()[dim];
  RankedTensorType from = tensorType(op->getOperand(0)), to = tensorType(op->getResult(0));
  if (isa<ReshapeOp>(op)) return getReshapedDim(from, to, dim);
  for (auto [source, target] : llvm::enumerate(cast<BroadcastInDimOp>(op).getDims()))
    if (target == dim) return from.getDimSize(source) == to.getDimSize(dim) ? static_cast<int64_t>(source) : kUniform;
  return kUniform;
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  switch (predicate) {
    case arith::CmpIPredicate::eq:
      return a == b;
    case arith::CmpIPredicate::ne:
      return a != b;
    case arith::CmpIPredicate::slt:
      return a < b;
    case arith::CmpIPredicate::sle:
      return a <= b;
    case arith::CmpIPredicate::sgt:
      return a > b;
    case arith::CmpIPredicate::sge:
      return a >= b;
    default:
      return static_cast<uint64_t>(a) != static_cast<uint64_t>(b) &&
             (predicate == arith::CmpIPredicate::ult || predicate == arith::CmpIPredicate::ule) ==
                 (static_cast<uint64_t>(a) < static_cast<uint64_t>(b));
  }
}

/// One element; nullopt for ops that indices are not computed with, and where 64 bits are too few to be sure.
static std::optional<int64_t> computeElement(Operation* op, ArrayRef<int64_t> in) {
  constexpr int64_t kLimit = int64_t(1) << 31;
  if (llvm::any_of(in, [](int64_t element) { return element < -kLimit || element >= kLimit; })) return std::nullopt;
  return TypeSwitch<Operation*, std::optional<int64_t>>(op)
      .Case([&](arith::AddIOp) { return in[0] + in[1]; })
      .Case([&](arith::SubIOp) { return in[0] - in[1]; })
      .Case([&](arith::MulIOp) { return in[0] * in[1]; })
      .Case([&](arith::MinSIOp) { return std::min(in[0], in[1]); })
      .Case([&](arith::MaxSIOp) { return std::max(in[0], in[1]); })
      .Case([&](arith::AndIOp) { return in[0] & in[1]; })
      .Case([&](arith::OrIOp) { return in[0] | in[1]; })
      .Case([&](arith::SelectOp) { return in[0] ? in[1] : in[2]; })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>([&](Operation* op) -> std::optional<int64_t> {
        // Non-negative integers are the same with and without a sign; a boolean has none.
        if (in[0] < 0 || (isa<arith::ExtSIOp>(op) && tensorType(op->getOperand(0)).getElementType().isInteger(1)))
          return std::nullopt;
        return in[0];
      })
      .Case<DivSIOp, RemSIOp>([&](Operation* op) -> std::optional<int64_t> {
        if (in[1] == 0) return std::nullopt;
        return isa<DivSIOp>(op) ? in[0] / in[1] : in[0] % in[1];
      })
      .Case([&](arith::CmpIOp cmp) -> std::optional<int64_t> {
        bool isUnsigned = cmp.getPredicate() >= arith::CmpIPredicate::ult;
        if (isUnsigned && (in[0] < 0 || in[1] < 0)) return std::nullopt;
        return compare(cmp.getPredicate(), in[0], in[1]);
      })
      .Default(std::nullopt);
}

/// Whether an integer of `type` holds `element`; booleans are 0 and 1.
static bool holds(Type type, int64_t element) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1) return element == 0 || element == 1;
  return width >= 64 || (element >= -(int64_t(1) << (width - 1)) && element < int64_t(1) << (width - 1));
}

std::optional<IndexFunctions::Elements> IndexFunctions::evaluate(ValueDim of, Chunk chunk, Memo& memo) const {
  auto key = std::make_pair(of.value, of.dim);
  if (auto found = memo.find(key); found != memo.end()) return found->second;
  std::optional<Elements> elements = compute(of, chunk, memo);
  memo[key] = elements;
  return elements;
}

std::optional<IndexFunctions::Elements> IndexFunctions::compute(ValueDim of, Chunk chunk, Memo& memo) const {
  auto type = dyn_cast<RankedTensorType>(of.value.getType());
  if (!type || !isa<IntegerType>(type.getElementType())) return std::nullopt;
  if (auto alias = aliases.find(of.value); alias != aliases.end())
    return alias->second.dim == of.dim ? evaluate(alias->second.source, chunk, memo) : std::nullopt;
  Operation* op = of.value.getDefiningOp();
  auto iota = dyn_cast_or_null<IotaOp>(op);
  if ((identities.contains(of.value) && of.dim == 0) || (iota && static_cast<int64_t>(iota.getDimension()) == of.dim)) {
    if (!holds(type.getElementType(), chunk.begin + chunk.size - 1)) return std::nullopt;
    return llvm::to_vector<0>(llvm::seq(chunk.begin, chunk.begin + chunk.size));
  }
  if (!op || identities.contains(of.value)) return std::nullopt;
  if (SplatElementsAttr splat = getSplatElements(of.value)) {
    APInt element = splat.getSplatValue<APInt>();
    if (element.getBitWidth() > 64) return std::nullopt;
    return Elements(chunk.size, element.getBitWidth() == 1 ? element.getZExtValue() : element.getSExtValue());
  }
  if (std::optional<int64_t> dim = getSourceDim(op, of.dim))
    return evaluate({op->getOperand(cast<OpResult>(of.value).getResultNumber()), *dim}, chunk, memo);
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 || op->getNumOperands() == 0)
    return std::nullopt;
  SmallVector<Elements, 3> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Elements> elements = evaluate({operand, of.dim}, chunk, memo);
    if (!elements) return std::nullopt;
    operands.push_back(std::move(*elements));
  }
  Elements result;
  for (int64_t index = 0; index < chunk.size; ++index) {
    auto in = llvm::map_to_vector<3>(operands, [&](const Elements& elements) { return elements[index]; });
    std::optional<int64_t> element = computeElement(op, in);
    if (!element || !holds(type.getElementType(), *element)) return std::nullopt;
    result.push_back(*element);
  }
  return result;
}

bool IndexFunctions::forEach(ValueDim of, llvm::function_ref<bool(int64_t, int64_t)> check) const {
  int64_t size = tensorType(of.value).getDimSize(of.dim);
  for (int64_t begin = 0; begin < size; begin += kChunk) {
    Memo memo;
    std::optional<Elements> elements = evaluate(of, {begin, std::min(kChunk, size - begin)}, memo);
    if (!elements) return false;
    for (auto [offset, element] : llvm::enumerate(*elements))
      if (!check(begin + static_cast<int64_t>(offset), element)) return false;
  }
  return true;
}

bool IndexFunctions::isKnown(ValueDim of) const {
  return forEach(of, [](int64_t, int64_t) { return true; });
}
