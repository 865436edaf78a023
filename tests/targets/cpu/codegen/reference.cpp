// Reference semantics of the ops that clusters hold, written from their descriptions and nothing of the code generator.
#include "tests/targets/cpu/codegen/reference.h"

#include <cmath>

#include "llvm/ADT/StringMap.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;

namespace {

using Index = SmallVector<int64_t>;

Index unflatten(int64_t flat, ArrayRef<int64_t> shape) {
  Index index(shape.size());
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim)
    index[dim] = flat % shape[dim], flat /= shape[dim];
  return index;
}

int64_t flatten(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [position, size] : llvm::zip(index, shape)) flat = flat * size + position;
  return flat;
}

/// A tensor of doubles (floats) or integers.
struct Values {
  RankedTensorType type;
  std::vector<double> floats;
  std::vector<int64_t> integers;

  explicit Values(RankedTensorType type) : type(type), floats(type.getNumElements()), integers(type.getNumElements()) {}
  bool isFloat() const { return isa<FloatType>(type.getElementType()); }
  void copy(int64_t to, const Values& from, int64_t at) {
    floats[to] = from.floats[at], integers[to] = from.integers[at];
  }
};

double roundTo(double value, Type type) {
  if (type.isF64() || type.isF32()) return value;
  Tensor scratch(RankedTensorType::get({1}, type));
  scratch.set(0, value);
  return scratch.get(0);
}

int64_t wrap(int64_t value, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits == 1 ? value & 1 : llvm::SignExtend64(value, bits);
}
uint64_t asUnsigned(int64_t value, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits == 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

double floatUnary(StringRef name, double x) {
  static const llvm::StringMap<double (*)(double)> table = {{"exp", std::exp},
                                                            {"exp2", std::exp2},
                                                            {"expm1", std::expm1},
                                                            {"log", std::log},
                                                            {"log2", std::log2},
                                                            {"log10", std::log10},
                                                            {"log1p", std::log1p},
                                                            {"tanh", std::tanh},
                                                            {"erf", std::erf},
                                                            {"erfc", std::erfc},
                                                            {"sin", std::sin},
                                                            {"cos", std::cos},
                                                            {"tan", std::tan},
                                                            {"sinh", std::sinh},
                                                            {"cosh", std::cosh},
                                                            {"asin", std::asin},
                                                            {"acos", std::acos},
                                                            {"atan", std::atan},
                                                            {"asinh", std::asinh},
                                                            {"acosh", std::acosh},
                                                            {"atanh", std::atanh},
                                                            {"cbrt", std::cbrt},
                                                            {"sqrt", std::sqrt},
                                                            {"absf", std::fabs},
                                                            {"floor", std::floor},
                                                            {"ceil", std::ceil},
                                                            {"trunc", std::trunc},
                                                            {"round", std::round},
                                                            {"roundeven", std::nearbyint}};
  if (name == "rsqrt") return 1 / std::sqrt(x);
  if (name == "negf") return -x;
  if (name == "extf" || name == "truncf") return x;
  auto known = table.find(name);
  if (known == table.end()) llvm::report_fatal_error("no reference for " + name);
  return known->second(x);
}

double floatBinary(StringRef name, double x, double y) {
  if (name == "addf") return x + y;
  if (name == "subf") return x - y;
  if (name == "mulf") return x * y;
  if (name == "divf") return x / y;
  if (name == "remf") return std::fmod(x, y);
  if (name == "powf") return std::pow(x, y);
  if (name == "atan2") return std::atan2(x, y);
  if (name == "copysign") return std::copysign(x, y);
  if (name == "maxnumf") return std::fmax(x, y);
  if (name == "minnumf") return std::fmin(x, y);
  if (std::isnan(x) || std::isnan(y)) return std::nan("");
  if (name == "maximumf") return std::max(x, y);
  if (name == "minimumf") return std::min(x, y);
  llvm::report_fatal_error("no reference for " + name);
}

int64_t integerBinary(StringRef name, int64_t x, int64_t y, Type type) {
  uint64_t ux = asUnsigned(x, type), uy = asUnsigned(y, type);
  int64_t bits = type.getIntOrFloatBitWidth();
  if (name == "addi") return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
  if (name == "subi") return static_cast<int64_t>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
  if (name == "muli") return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  if (name == "andi") return x & y;
  if (name == "ori") return x | y;
  if (name == "xori") return x ^ y;
  if (name == "maxsi") return std::max(x, y);
  if (name == "minsi") return std::min(x, y);
  if (name == "maxui") return ux > uy ? x : y;
  if (name == "minui") return ux < uy ? x : y;
  if (name == "divsi") return y == 0 ? -1 : y == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x / y;
  if (name == "remsi") return y == 0 ? x : y == -1 ? 0 : x % y;
  if (name == "divui") return y == 0 ? -1 : static_cast<int64_t>(ux / uy);
  if (name == "remui") return y == 0 ? x : static_cast<int64_t>(ux % uy);
  if (name == "shli") return uy >= static_cast<uint64_t>(bits) ? 0 : static_cast<int64_t>(ux << uy);
  if (name == "shrui") return uy >= static_cast<uint64_t>(bits) ? 0 : static_cast<int64_t>(ux >> uy);
  if (name == "shrsi") return x >> std::min<uint64_t>(uy, bits - 1);
  llvm::report_fatal_error("no reference for " + name);
}

bool compareFloats(arith::CmpFPredicate predicate, double x, double y) {
  bool unordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
    case arith::CmpFPredicate::AlwaysFalse:
      return false;
    case arith::CmpFPredicate::OEQ:
      return x == y;
    case arith::CmpFPredicate::OGT:
      return x > y;
    case arith::CmpFPredicate::OGE:
      return x >= y;
    case arith::CmpFPredicate::OLT:
      return x < y;
    case arith::CmpFPredicate::OLE:
      return x <= y;
    case arith::CmpFPredicate::ONE:
      return !unordered && x != y;
    case arith::CmpFPredicate::ORD:
      return !unordered;
    case arith::CmpFPredicate::UEQ:
      return unordered || x == y;
    case arith::CmpFPredicate::UGT:
      return unordered || x > y;
    case arith::CmpFPredicate::UGE:
      return unordered || x >= y;
    case arith::CmpFPredicate::ULT:
      return unordered || x < y;
    case arith::CmpFPredicate::ULE:
      return unordered || x <= y;
    case arith::CmpFPredicate::UNE:
      return unordered || x != y;
    case arith::CmpFPredicate::UNO:
      return unordered;
    case arith::CmpFPredicate::AlwaysTrue:
      return true;
  }
  return false;
}

bool compareIntegers(arith::CmpIPredicate predicate, int64_t x, int64_t y, Type type) {
  uint64_t ux = asUnsigned(x, type), uy = asUnsigned(y, type);
  if (type.isInteger(1)) x = -x, y = -y;
  switch (predicate) {
    case arith::CmpIPredicate::eq:
      return x == y;
    case arith::CmpIPredicate::ne:
      return x != y;
    case arith::CmpIPredicate::slt:
      return x < y;
    case arith::CmpIPredicate::sle:
      return x <= y;
    case arith::CmpIPredicate::sgt:
      return x > y;
    case arith::CmpIPredicate::sge:
      return x >= y;
    case arith::CmpIPredicate::ult:
      return ux < uy;
    case arith::CmpIPredicate::ule:
      return ux <= uy;
    case arith::CmpIPredicate::ugt:
      return ux > uy;
    case arith::CmpIPredicate::uge:
      return ux >= uy;
  }
  return false;
}

int64_t saturate(double x, Type type, bool isSigned) {
  unsigned bits = type.getIntOrFloatBitWidth();
  if (std::isnan(x)) return 0;
  APSInt result(bits, !isSigned);
  bool isExact;
  APFloat(x).convertToInteger(result, APFloat::rmTowardZero, &isExact);  // saturates
  return static_cast<int64_t>(result.getRawData()[0]);
}

void elementwise(Operation* op, ArrayRef<const Values*> in, Values& out) {
  StringRef name = op->getName().stripDialect();
  Type type = out.type.getElementType(), from = in[0]->type.getElementType();
  for (int64_t i = 0; i < out.type.getNumElements(); ++i) {
    auto f = [&](unsigned operand) { return in[operand]->floats[i]; };
    auto n = [&](unsigned operand) { return in[operand]->integers[i]; };
    if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
      out.integers[i] = compareFloats(compare.getPredicate(), f(0), f(1));
    } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      out.integers[i] = compareIntegers(compare.getPredicate(), n(0), n(1), from);
    } else if (name == "select") {
      out.copy(i, n(0) ? *in[1] : *in[2], i);
    } else if (name == "sitofp" || name == "uitofp") {
      int64_t value = from.isInteger(1) && name == "sitofp" ? -n(0) : n(0);
      out.floats[i] = name == "sitofp" ? static_cast<double>(value) : static_cast<double>(asUnsigned(n(0), from));
    } else if (name == "fptosi" || name == "fptoui") {
      out.integers[i] = wrap(saturate(f(0), type, name == "fptosi"), type);
    } else if (name == "extsi" || name == "trunci") {
      out.integers[i] = wrap(from.isInteger(1) ? -n(0) : n(0), type);
    } else if (name == "extui") {
      out.integers[i] = wrap(asUnsigned(n(0), from), type);
    } else if (name == "absi") {
      out.integers[i] = wrap(n(0) < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(n(0))) : n(0), type);
    } else if (name == "isfinite") {
      out.integers[i] = std::isfinite(f(0));
    } else if (out.isFloat()) {
      out.floats[i] = op->getNumOperands() == 1 ? floatUnary(name, f(0)) : floatBinary(name, f(0), f(1));
    } else {
      out.integers[i] = wrap(integerBinary(name, n(0), n(1), type), type);
    }
    if (out.isFloat()) out.floats[i] = roundTo(out.floats[i], type);
  }
}

double combine(ReduceKind kind, double x, double y) {
  switch (kind) {
    case ReduceKind::Add:
      return x + y;
    case ReduceKind::Mul:
      return x * y;
    case ReduceKind::Max:
      return floatBinary("maximumf", x, y);
    case ReduceKind::Min:
      return floatBinary("minimumf", x, y);
    default:
      llvm::report_fatal_error("kind of a float reduction");
  }
}

int64_t combine(ReduceKind kind, int64_t x, int64_t y, Type type) {
  static const char* names[] = {"addi", "muli", "maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori"};
  return wrap(integerBinary(names[static_cast<int>(kind)], x, y, type), type);
}

void reduce(ReduceOp op, const Values& in, Values& out) {
  OpBuilder builder(op.getContext());
  Type type = out.type.getElementType();
  TypedAttr neutral = getNeutralElement(builder, op.getKind(), type);
  for (int64_t i = 0; i < out.type.getNumElements(); ++i) {
    if (out.isFloat())
      out.floats[i] = cast<FloatAttr>(neutral).getValueAsDouble();
    else
      out.integers[i] = wrap(cast<IntegerAttr>(neutral).getValue().getSExtValue(), type);
  }
  for (int64_t i = 0; i < in.type.getNumElements(); ++i) {
    Index index = unflatten(i, in.type.getShape()), kept;
    for (auto [dim, position] : llvm::enumerate(index))
      if (!llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim))) kept.push_back(position);
    int64_t target = flatten(kept, out.type.getShape());
    if (out.isFloat())
      out.floats[target] = combine(op.getKind(), out.floats[target], in.floats[i]);
    else
      out.integers[target] = combine(op.getKind(), out.integers[target], in.integers[i], type);
  }
  for (int64_t i = 0; i < out.type.getNumElements(); ++i) out.floats[i] = roundTo(out.floats[i], type);
}

int64_t clampStart(int64_t start, int64_t size, int64_t bound) {
  return std::max<int64_t>(0, std::min(start, bound - size));
}

void gather(GatherOp op, const Values& in, const Values& indices, Values& out) {
  for (int64_t i = 0; i < out.type.getNumElements(); ++i) {
    Index index = unflatten(i, out.type.getShape()), batch, window, start(in.type.getRank(), 0),
          full(in.type.getRank(), 0);
    for (auto [dim, position] : llvm::enumerate(index))
      (llvm::is_contained(op.getOffsetDims(), static_cast<int64_t>(dim)) ? window : batch).push_back(position);
    for (auto [component, dim] : llvm::enumerate(op.getStartIndexMap())) {
      Index at(batch);
      if (op.getIndexVectorDim() < static_cast<uint64_t>(indices.type.getRank()))
        at.insert(at.begin() + op.getIndexVectorDim(), component);
      start[dim] = clampStart(indices.integers[flatten(at, indices.type.getShape())], op.getSliceSizes()[dim],
                              in.type.getDimSize(dim));
    }
    for (auto [operandDim, indexDim] : llvm::zip(op.getOperandBatchingDims(), op.getIndicesBatchingDims()))
      start[operandDim] = batch[indexDim - (indexDim > static_cast<int64_t>(op.getIndexVectorDim()) ? 1 : 0)];
    unsigned next = 0;
    for (int64_t dim = 0; dim < in.type.getRank(); ++dim) {
      bool isWindow =
          !llvm::is_contained(op.getCollapsedSliceDims(), dim) && !llvm::is_contained(op.getOperandBatchingDims(), dim);
      full[dim] = start[dim] + (isWindow ? window[next++] : 0);
    }
    out.copy(i, in, flatten(full, in.type.getShape()));
  }
}

void scatter(ScatterOp op, const Values& in, const Values& indices, const Values& updates, Values& out) {
  for (int64_t i = 0; i < out.type.getNumElements(); ++i) out.copy(i, in, i);
  Type type = out.type.getElementType();
  for (int64_t i = 0; i < updates.type.getNumElements(); ++i) {
    Index index = unflatten(i, updates.type.getShape()), batch, window, full(in.type.getRank(), 0);
    for (auto [dim, position] : llvm::enumerate(index))
      (llvm::is_contained(op.getUpdateWindowDims(), static_cast<int64_t>(dim)) ? window : batch).push_back(position);
    for (auto [component, dim] : llvm::enumerate(op.getScatterDimsToOperandDims())) {
      Index at(batch);
      if (op.getIndexVectorDim() < static_cast<uint64_t>(indices.type.getRank()))
        at.insert(at.begin() + op.getIndexVectorDim(), component);
      full[dim] = indices.integers[flatten(at, indices.type.getShape())];
    }
    for (auto [operandDim, indexDim] : llvm::zip(op.getInputBatchingDims(), op.getIndicesBatchingDims()))
      full[operandDim] = batch[indexDim - (indexDim > static_cast<int64_t>(op.getIndexVectorDim()) ? 1 : 0)];
    unsigned next = 0;
    bool inside = true;
    // An update window that does not lie inside is dropped as a whole.
    SmallVector<int64_t> windowSizes;
    for (int64_t dim : op.getUpdateWindowDims()) windowSizes.push_back(updates.type.getDimSize(dim));
    for (int64_t dim = 0; dim < in.type.getRank(); ++dim) {
      bool isWindow =
          !llvm::is_contained(op.getInsertedWindowDims(), dim) && !llvm::is_contained(op.getInputBatchingDims(), dim);
      int64_t size = isWindow ? windowSizes[next] : 1;
      inside &= full[dim] >= 0 && full[dim] + size <= in.type.getDimSize(dim);
      if (isWindow) full[dim] += window[next++];
    }
    if (!inside) continue;
    int64_t target = flatten(full, in.type.getShape());
    if (op.getKind() == ScatterKind::Set) {
      out.copy(target, updates, i);
      continue;
    }
    auto kind = static_cast<ReduceKind>(static_cast<int>(op.getKind()) - 1);
    if (out.isFloat())
      out.floats[target] = roundTo(combine(kind, out.floats[target], updates.floats[i]), type);
    else
      out.integers[target] = combine(kind, out.integers[target], updates.integers[i], type);
  }
}

void pad(PadOp op, const Values& in, const Values& value, Values& out) {
  for (int64_t i = 0; i < out.type.getNumElements(); ++i) out.copy(i, value, 0);
  for (int64_t i = 0; i < in.type.getNumElements(); ++i) {
    Index index = unflatten(i, in.type.getShape());
    bool inside = true;
    for (auto [dim, position] : llvm::enumerate(index)) {
      position = op.getLow()[dim] + position * (op.getInterior()[dim] + 1);
      inside &= position >= 0 && position < out.type.getDimSize(dim);
    }
    if (inside) out.copy(flatten(index, out.type.getShape()), in, i);
  }
}

/// Ops that take each result element from one element of an operand.
void move(Operation* op, ArrayRef<const Values*> in, Values& out) {
  for (int64_t i = 0; i < out.type.getNumElements(); ++i) {
    Index index = unflatten(i, out.type.getShape()), from(in[0]->type.getRank(), 0);
    const Values* source = in[0];
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
      for (auto [dim, to] : llvm::enumerate(broadcast.getDims()))
        from[dim] = source->type.getDimSize(dim) == 1 ? 0 : index[to];
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      for (auto [to, dim] : llvm::enumerate(transpose.getPermutation())) from[dim] = index[to];
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      for (size_t dim = 0; dim < from.size(); ++dim)
        from[dim] = slice.getStarts()[dim] + index[dim] * slice.getStrides()[dim];
    } else if (auto reverse = dyn_cast<ReverseOp>(op)) {
      from = index;
      for (int64_t dim : reverse.getDimensions()) from[dim] = source->type.getDimSize(dim) - 1 - index[dim];
    } else if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
      from = index;
      unsigned operand = 0;
      int64_t& along = from[concatenate.getDimension()];
      while (along >= in[operand]->type.getDimSize(concatenate.getDimension()))
        along -= in[operand++]->type.getDimSize(concatenate.getDimension());
      source = in[operand];
    } else if (auto slice = dyn_cast<DynamicSliceOp>(op)) {
      for (size_t dim = 0; dim < from.size(); ++dim)
        from[dim] =
            index[dim] + clampStart(in[1 + dim]->integers[0], out.type.getDimSize(dim), source->type.getDimSize(dim));
    } else if (isa<DynamicUpdateSliceOp>(op)) {
      bool inside = true;
      Index inUpdate(index);
      for (size_t dim = 0; dim < from.size(); ++dim) {
        inUpdate[dim] -= clampStart(in[2 + dim]->integers[0], in[1]->type.getDimSize(dim), out.type.getDimSize(dim));
        inside &= inUpdate[dim] >= 0 && inUpdate[dim] < in[1]->type.getDimSize(dim);
      }
      from = inside ? inUpdate : index;
      source = inside ? in[1] : in[0];
    } else {
      llvm::report_fatal_error("no reference for " + op->getName().getStringRef());
    }
    out.copy(i, *source, flatten(from, source->type.getShape()));
  }
}

Values fromTensor(const Tensor& tensor) {
  Values values(tensor.type);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (values.isFloat())
      values.floats[i] = tensor.get(i);
    else
      values.integers[i] = tensor.getInteger(i);
  }
  return values;
}

void evaluateOp(Operation* op, ArrayRef<const Values*> in, Values& out) {
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant))) {
    for (auto [i, element] : llvm::enumerate(constant.getValues<Attribute>())) {
      if (out.isFloat())
        out.floats[i] = cast<FloatAttr>(element).getValueAsDouble();
      else
        out.integers[i] = wrap(cast<IntegerAttr>(element).getValue().getSExtValue(), out.type.getElementType());
    }
  } else if (auto iota = dyn_cast<IotaOp>(op)) {
    for (int64_t i = 0; i < out.type.getNumElements(); ++i) {
      int64_t position = unflatten(i, out.type.getShape())[iota.getDimension()];
      out.floats[i] = roundTo(position, out.type.getElementType()), out.integers[i] = position;
    }
  } else if (isa<ReshapeOp>(op)) {
    out.floats = in[0]->floats, out.integers = in[0]->integers;
  } else if (auto reduceOp = dyn_cast<ReduceOp>(op)) {
    reduce(reduceOp, *in[0], out);
  } else if (auto gatherOp = dyn_cast<GatherOp>(op)) {
    gather(gatherOp, *in[0], *in[1], out);
  } else if (auto scatterOp = dyn_cast<ScatterOp>(op)) {
    scatter(scatterOp, *in[0], *in[1], *in[2], out);
  } else if (auto padOp = dyn_cast<PadOp>(op)) {
    pad(padOp, *in[0], *in[1], out);
  } else if (op->hasTrait<OpTrait::Elementwise>()) {
    elementwise(op, in, out);
  } else {
    move(op, in, out);
  }
}

}  // namespace

std::vector<Tensor> mlir::sgd::cpu::evaluate(ClusterOp cluster, const std::vector<Tensor>& inputs) {
  DenseMap<Value, std::unique_ptr<Values>> known;
  Block& block = cluster.getBody().front();
  for (auto [argument, input] : llvm::zip(block.getArguments(), inputs))
    known[argument] = std::make_unique<Values>(fromTensor(input));
  for (Operation& op : block.without_terminator()) {
    SmallVector<const Values*> in;
    for (Value operand : op.getOperands()) in.push_back(known[operand].get());
    auto out = std::make_unique<Values>(cast<RankedTensorType>(op.getResult(0).getType()));
    evaluateOp(&op, in, *out);
    known[op.getResult(0)] = std::move(out);
  }
  std::vector<Tensor> results;
  for (Value value : block.getTerminator()->getOperands()) {
    const Values& from = *known[value];
    results.emplace_back(from.type);
    for (int64_t i = 0; i < from.type.getNumElements(); ++i) {
      if (from.isFloat())
        results.back().set(i, from.floats[i]);
      else
        results.back().setInteger(i, from.integers[i]);
    }
  }
  return results;
}
