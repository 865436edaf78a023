// Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010; He et al.,
// "Delving deep into rectifiers", 2015; LeCun et al., "Efficient backprop", 1998.
#include "passes/graph/training/initializers.h"

#include <cmath>

#include "passes/graph/functions/random_numbers.h"

using namespace mlir;
using namespace mlir::sgd;
using llvm::Twine;

namespace {

/// The deviation of a standard normal distribution that is cut at two deviations.
constexpr double kTruncatedDeviation = 0.87962566103423978;

/// The numbers between parentheses; nothing where they are no numbers.
std::optional<SmallVector<double>> parseNumbers(StringRef text) {
  SmallVector<double> numbers;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts)
    if (part.trim().getAsDouble(numbers.emplace_back()) || !std::isfinite(numbers.back())) return std::nullopt;
  return numbers;
}

struct Fans {
  double in = 1, out = 1;
};

Fans getFans(RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.empty()) return {};
  double window = 1;
  for (int64_t size : shape.drop_back(std::min<size_t>(2, shape.size()))) window *= static_cast<double>(size);
  double in = static_cast<double>(shape.size() < 2 ? shape.back() : shape[shape.size() - 2]);
  return {std::max(1.0, in * window), std::max(1.0, static_cast<double>(shape.back()) * window)};
}

/// "glorot_uniform" and its like.
std::optional<Initializer> getByFans(StringRef name, RankedTensorType type) {
  auto [family, shape] = name.rsplit('_');
  Fans fans = getFans(type);
  double variance = family == "glorot"  ? 2 / (fans.in + fans.out)
                    : family == "he"    ? 2 / fans.in
                    : family == "lecun" ? 1 / fans.in
                                        : 0;
  if (variance == 0 || (shape != "uniform" && shape != "normal")) return std::nullopt;
  if (shape == "normal") return Initializer{Initializer::Kind::TruncatedNormal, 0, std::sqrt(variance)};
  double bound = std::sqrt(3 * variance);
  return Initializer{Initializer::Kind::Uniform, -bound, bound};
}

std::optional<Initializer> getByNumbers(StringRef name, ArrayRef<double> numbers) {
  using Kind = Initializer::Kind;
  size_t count = numbers.size();
  if (name == "constant" && count == 1) return Initializer{Kind::Constant, numbers[0], 0};
  if (name == "uniform" && count == 2 && numbers[0] <= numbers[1])
    return Initializer{Kind::Uniform, numbers[0], numbers[1]};
  if (name == "normal" && count == 1 && numbers[0] >= 0) return Initializer{Kind::Normal, 0, numbers[0]};
  if (name == "normal" && count == 2 && numbers[1] >= 0) return Initializer{Kind::Normal, numbers[0], numbers[1]};
  if (name == "truncated_normal" && count == 1 && numbers[0] >= 0)
    return Initializer{Kind::TruncatedNormal, 0, numbers[0]};
  return std::nullopt;
}

std::optional<Initializer> find(StringRef text, RankedTensorType type) {
  if (text == "zeros") return Initializer{};
  if (text == "ones") return Initializer{Initializer::Kind::Constant, 1, 0};
  auto [name, rest] = text.split('(');
  if (rest.empty()) return getByFans(text, type);
  if (!rest.consume_back(")")) return std::nullopt;
  std::optional<SmallVector<double>> numbers = parseNumbers(rest);
  return numbers ? getByNumbers(name.trim(), *numbers) : std::nullopt;
}

}  // namespace

llvm::Expected<Initializer> mlir::sgd::parseInitializer(StringRef text, RankedTensorType type) {
  if (std::optional<Initializer> found = find(text.trim(), type)) {
    if (found->kind == Initializer::Kind::Constant || isa<FloatType>(type.getElementType())) return *found;
    return llvm::createStringError("'" + Twine(text) +
                                   "' draws floats, and the elements are integers; expected zeros, "
                                   "ones or constant(c)");
  }
  return llvm::createStringError("'" + Twine(text) +
                                 "' is no initializer; expected zeros, ones, constant(c), uniform(a, b), "
                                 "normal(deviation), truncated_normal(deviation), or glorot_, he_ or lecun_ with "
                                 "uniform or normal");
}

Value mlir::sgd::writeInitial(TensorMath& math, const Initializer& initializer, RankedTensorType type,
                              llvm::function_ref<Value(RankedTensorType)> draw) {
  using Kind = Initializer::Kind;
  bool isFloat = isa<FloatType>(type.getElementType());
  if (initializer.kind == Kind::Constant)
    return isFloat ? math.splat(type, initializer.a) : math.splat(type, static_cast<int64_t>(initializer.a));
  Value words = draw(type.clone(math.getBuilder().getI32Type()));
  auto scale = [&](Value value, double factor, double offset) {
    Value scaled = math.multiply(value, math.splat(factor, value));
    if (offset != 0) scaled = math.add(scaled, math.splat(offset, value));
    return math.convert(scaled, type.getElementType());
  };
  if (initializer.kind == Kind::Uniform)
    return scale(writeUniform(math, words), initializer.b - initializer.a, initializer.a);
  if (initializer.kind == Kind::Normal) return scale(writeNormal(math, words), initializer.b, initializer.a);
  return scale(writeNormal(math, words, 2), initializer.b / kTruncatedDeviation, 0);
}
