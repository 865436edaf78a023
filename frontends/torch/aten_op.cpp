// Arguments by name, conversions, and PyTorch's type promotion.
#include "frontends/torch/aten_op.h"

#include "dialects/sgd/input_attrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "dialects/sgd/no_gradient.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

Type mlir::sgd::torch::getElementType(MLIRContext* context, int scalarType) {
  Builder builder(context);
  switch (static_cast<ScalarType>(scalarType)) {
    case ScalarType::Char:
      return builder.getI8Type();
    case ScalarType::Byte:
    case ScalarType::Short:
      return builder.getI16Type();
    case ScalarType::Int:
      return builder.getI32Type();
    case ScalarType::Long:
      return builder.getI64Type();
    case ScalarType::Half:
      return builder.getF16Type();
    case ScalarType::Float:
      return builder.getF32Type();
    case ScalarType::Double:
      return builder.getF64Type();
    case ScalarType::Bool:
      return builder.getI1Type();
    case ScalarType::BFloat16:
      return builder.getBF16Type();
  }
  return {};
}

const Argument* AtenOp::find(StringRef name) const { return node.find(name); }

bool AtenOp::has(StringRef name) const {
  const Argument* argument = find(name);
  return argument && !std::holds_alternative<std::monostate>(*argument);
}

Value AtenOp::tensor(StringRef name) const {
  const Argument* argument = find(name);
  const auto* tensor = argument ? std::get_if<TensorName>(argument) : nullptr;
  return tensor ? values.lookup(tensor->name) : Value();
}

const TensorInfo* AtenOp::info(StringRef name) const {
  const Argument* argument = find(name);
  const auto* tensor = argument ? std::get_if<TensorName>(argument) : nullptr;
  auto found = tensor ? program.tensors.find(tensor->name) : program.tensors.end();
  return found == program.tensors.end() ? nullptr : &found->second;
}

SmallVector<Value> AtenOp::tensors(StringRef name) const {
  SmallVector<Value> list;
  if (const Argument* argument = find(name))
    if (const auto* names = std::get_if<std::vector<TensorName>>(argument))
      for (const TensorName& one : *names) list.push_back(one.name.empty() ? Value() : values.lookup(one.name));
  return list;
}

int64_t AtenOp::integer(StringRef name, int64_t otherwise) const {
  const Argument* argument = find(name);
  if (!argument) return otherwise;
  if (const auto* number = std::get_if<int64_t>(argument)) return *number;
  if (const auto* flag = std::get_if<bool>(argument)) return *flag;
  return otherwise;
}

SmallVector<int64_t> AtenOp::integers(StringRef name, ArrayRef<int64_t> otherwise) const {
  if (const Argument* argument = find(name)) {
    if (const auto* list = std::get_if<std::vector<int64_t>>(argument))
      return SmallVector<int64_t>(list->begin(), list->end());
    if (const auto* number = std::get_if<int64_t>(argument)) return {*number};
  }
  return SmallVector<int64_t>(otherwise);
}

double AtenOp::number(StringRef name, double otherwise) const {
  const Argument* argument = find(name);
  if (!argument) return otherwise;
  if (const auto* number = std::get_if<double>(argument)) return *number;
  bool isWhole = std::holds_alternative<int64_t>(*argument) || std::holds_alternative<bool>(*argument);
  return isWhole ? static_cast<double>(integer(name, 0)) : otherwise;
}

SmallVector<double> AtenOp::numbers(StringRef name) const {
  const Argument* argument = find(name);
  if (const auto* list = argument ? std::get_if<std::vector<double>>(argument) : nullptr)
    return SmallVector<double>(list->begin(), list->end());
  const auto* whole = argument ? std::get_if<std::vector<int64_t>>(argument) : nullptr;
  return whole ? SmallVector<double>(whole->begin(), whole->end()) : SmallVector<double>();
}

bool AtenOp::flag(StringRef name, bool otherwise) const { return integer(name, otherwise) != 0; }

StringRef AtenOp::text(StringRef name, StringRef otherwise) const {
  const Argument* argument = find(name);
  const auto* text = argument ? std::get_if<std::string>(argument) : nullptr;
  return text ? StringRef(*text) : otherwise;
}

Value AtenOp::constant(RankedTensorType type, double value) {
  if (isa<FloatType>(type.getElementType())) return math.splat(type, value);
  unsigned width = type.getElementTypeBitWidth();
  APInt number(width, static_cast<uint64_t>(static_cast<int64_t>(std::clamp(value, -0x1p63, 0x1.fffffffffffffp62))),
               /*isSigned=*/false, /*implicitTrunc=*/true);
  return math.create<arith::ConstantOp>(DenseElementsAttr::get(type, number));
}

Value AtenOp::extreme(RankedTensorType type, bool isLeast) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (isa<FloatType>(type.getElementType())) return math.splat(type, isLeast ? -kInfinity : kInfinity);
  unsigned width = type.getElementTypeBitWidth();
  APInt end = isLeast ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width);
  return math.create<arith::ConstantOp>(DenseElementsAttr::get(type, end));
}

Value AtenOp::vector(ArrayRef<double> values, Type element) {
  SmallVector<Attribute> attributes;
  for (double value : values) attributes.push_back(math.getBuilder().getFloatAttr(element, value));
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
  return math.create<arith::ConstantOp>(DenseElementsAttr::get(type, attributes));
}

Value AtenOp::vector(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, math.getBuilder().getI64Type());
  return math.create<arith::ConstantOp>(DenseElementsAttr::get(type, values));
}

Value AtenOp::count(RankedTensorType type, int64_t dim) {
  return convert(math.iota(type.getShape(), dim), type.getElementType());
}

Value AtenOp::convert(Value value, Type element) {
  RankedTensorType from = tensorType(value), to = from.clone(element);
  if (from == to) return value;
  bool isFloat = isa<FloatType>(from.getElementType()), becomesFloat = isa<FloatType>(element);
  if (element.isInteger(1)) {
    Value zero = constant(from, 0);
    if (isFloat) return math.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, value, zero);
    return math.create<arith::CmpIOp>(arith::CmpIPredicate::ne, value, zero);
  }
  if (isFloat && becomesFloat) {
    // bf16 and f16 have no conversion into each other.
    if (from.getElementTypeBitWidth() == to.getElementTypeBitWidth())
      value = math.convert(value, math.getBuilder().getF32Type());
    return math.convert(value, element);
  }
  if (isFloat) return math.create<FPToSIOp>(to, value);
  bool isBoolean = from.getElementType().isInteger(1);
  if (becomesFloat)
    return isBoolean ? math.create<arith::UIToFPOp>(to, value) : math.create<arith::SIToFPOp>(to, value);
  if (isBoolean) return math.create<arith::ExtUIOp>(to, value);
  bool grows = to.getElementTypeBitWidth() > from.getElementTypeBitWidth();
  return grows ? math.create<arith::ExtSIOp>(to, value) : math.create<arith::TruncIOp>(to, value);
}

Value AtenOp::expand(Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(value);
  // A tensor of more dimensions does not fit; the op's verifier says so.
  if (type.getShape() == shape || type.getRank() > static_cast<int64_t>(shape.size())) return value;
  auto missing = static_cast<int64_t>(shape.size()) - type.getRank();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(missing, shape.size()));
  return math.broadcast(value, dims, shape);
}

Value AtenOp::operand(StringRef name, RankedTensorType type) {
  if (Value value = tensor(name)) return expand(convert(value, type.getElementType()), type.getShape());
  // A double does not hold all integers.
  if (const Argument* argument = find(name); argument && type.getElementType().isInteger(64))
    if (const auto* whole = std::get_if<int64_t>(argument)) return math.splat(type, *whole);
  return constant(type, number(name, 0));
}

SmallVector<int64_t> AtenOp::broadcastShape(ArrayRef<StringRef> names) const {
  SmallVector<int64_t> shape;
  for (StringRef name : names)
    if (Value value = tensor(name)) widenShape(shape, shapeOf(value));
  return shape;
}

/// Booleans are below integers, and these below floats.
static int getCategory(Type element) { return isa<FloatType>(element) ? 2 : element.isInteger(1) ? 0 : 1; }

/// Of one category, the type that holds both.
static Type getWider(Type a, Type b) {
  if (!a || a == b) return b;
  if (getCategory(a) != getCategory(b)) return getCategory(a) > getCategory(b) ? a : b;
  unsigned widthA = a.getIntOrFloatBitWidth(), widthB = b.getIntOrFloatBitWidth();
  if (widthA == widthB) return Float32Type::get(a.getContext());  // f16 and bf16
  return widthA > widthB ? a : b;
}

RankedTensorType AtenOp::promote(ArrayRef<StringRef> names, ArrayRef<int64_t> shape) const {
  // Tensors with dimensions decide; tensors without, and numbers, only by a higher category.
  Type tensors, scalars;
  int number = -1;
  for (StringRef name : names) {
    if (Value value = tensor(name)) {
      Type& type = tensorType(value).getRank() ? tensors : scalars;
      type = getWider(type, tensorType(value).getElementType());
    } else if (const Argument* argument = find(name)) {
      number = std::max(number, std::holds_alternative<double>(*argument) ? 2
                                : std::holds_alternative<bool>(*argument) ? 0
                                                                          : 1);
    }
  }
  Type result = tensors;
  if (scalars && (!result || getCategory(scalars) > getCategory(result))) result = scalars;
  Builder builder(types.front().getContext());
  if (number > (result ? getCategory(result) : -1))
    result = number == 2   ? Type(builder.getF32Type())
             : number == 1 ? Type(builder.getI64Type())
                           : Type(builder.getI1Type());
  return RankedTensorType::get(shape, result);
}

LogicalResult AtenOp::requireSameRank(Value a, Value b) const {
  if (tensorType(a).getRank() == tensorType(b).getRank()) return success();
  return error() << "has operands of " << tensorType(a).getRank() << " and " << tensorType(b).getRank()
                 << " dimensions; expected equally many";
}

Value AtenOp::chooseByMode(Value training, Value evaluation) {
  Builder& attributes = math.getBuilder();
  Value trains = constant(tensorType(training).clone(attributes.getI1Type()), 1);
  auto choice = math.create<arith::SelectOp>(trains, training, evaluation).getDefiningOp();
  choice->setAttr(kByModeAttr, attributes.getUnitAttr());
  choice->getParentOfType<func::FuncOp>()->setAttr(kByModeAttr, attributes.getUnitAttr());
  return choice->getResult(0);
}

void AtenOp::overwrite(StringRef name, Value value) {
  const Argument* argument = find(name);
  if (const auto* tensor = argument ? std::get_if<TensorName>(argument) : nullptr)
    writes.emplace_back(tensor->name, value);
}

void mlir::sgd::torch::widenShape(SmallVectorImpl<int64_t>& shape, ArrayRef<int64_t> other) {
  while (shape.size() < other.size()) shape.insert(shape.begin(), 1);
  for (size_t at = 0; at < other.size(); ++at) {
    int64_t& size = shape[shape.size() - other.size() + at];
    if (size == 1) size = other[at];
  }
}

Value mlir::sgd::torch::stopGradient(Value value) {
  if (Operation* op = value.getDefiningOp()) op->setAttr(kNoGradientAttr, UnitAttr::get(op->getContext()));
  return value;
}

Value mlir::sgd::torch::reduceKeeping(TensorMath& math, Value value, ReduceKind kind, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape(shapeOf(value));
  for (int64_t dim : dims) shape[dim] = 1;
  return math.reshape(dims.empty() ? value : math.reduce(value, kind, dims), shape);
}

Value mlir::sgd::torch::stretch(TensorMath& math, Value value, ArrayRef<int64_t> shape) {
  return math.broadcast(value, llvm::to_vector(llvm::seq<int64_t>(0, shape.size())), shape);
}

Value mlir::sgd::torch::multiplyByTransposed(TensorMath& math, Value x, Value w) {
  RankedTensorType type = tensorType(x);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = shapeOf(w)[0];
  return math.create<DotGeneralOp>(type.clone(shape), x, w, ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                                   ArrayRef<int64_t>{type.getRank() - 1}, ArrayRef<int64_t>{1}, /*tf32=*/false);
}
