// Numbers come from the generator's bits directly: the standard's distributions differ between libraries.
#include "tests/differential/inputs.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::differential;
using reference::Tensor;

namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed) : random(seed) {}

  void fill(Tensor& tensor, const InputDirectives::Range* range) {
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (tensor.isFloat())
        tensor.setFloat(i, makeFloat(range, cast<FloatType>(tensor.element())));
      else
        tensor.setInteger(i, makeInteger(range));
    }
  }

 private:
  uint64_t below(uint64_t bound) { return random() % bound; }
  double unit() { return static_cast<double>(random() >> 11) * 0x1p-53; }

  double makeFloat(const InputDirectives::Range* range, FloatType type) {
    if (range && !range->isSpecial) return range->low + unit() * (range->high - range->low);
    if (range && below(3) == 0) return makeSpecial(type);
    if (below(4) == 0) return static_cast<double>(below(7)) - 3;
    return unit() * 4 - 2;
  }

  double makeSpecial(FloatType type) {
    const llvm::fltSemantics& semantics = type.getFloatSemantics();
    auto toDouble = [](APFloat value) {
      bool losesInfo;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
      return value.convertToDouble();
    };
    double sign = below(2) == 0 ? 1 : -1;
    switch (below(8)) {
      case 0:
        return sign * std::numeric_limits<double>::infinity();
      case 1:
        return std::numeric_limits<double>::quiet_NaN();
      case 2:
        return sign * 0.0;
      case 3:
        return sign * toDouble(APFloat::getLargest(semantics));
      case 4:
        return sign * toDouble(APFloat::getSmallestNormalized(semantics));
      case 5:
        return sign * (static_cast<double>(below(200)) + 0.5);
      case 6:
        return sign * std::exp2(static_cast<double>(below(60)) - 20);
      default:
        return sign * unit() * 100;
    }
  }

  int64_t makeInteger(const InputDirectives::Range* range) {
    if (range && !range->isSpecial)
      return static_cast<int64_t>(range->low) +
             static_cast<int64_t>(below(static_cast<uint64_t>(range->high - range->low) + 1));
    switch (below(range ? 2 : 8)) {
      case 0:
        return static_cast<int64_t>(random());
      case 1: {
        // An end of the range of some width.
        int64_t end = INT64_MIN >> (64 - (8 << below(4)));
        return below(2) == 0 ? end : ~end;
      }
      default:
        return static_cast<int64_t>(below(17)) - 8;
    }
  }

  std::mt19937_64 random;
};

/// `LOW..HIGH` or `special`.
std::optional<InputDirectives::Range> parseRange(StringRef text) {
  if (text == "special") return InputDirectives::Range{0, 0, true};
  auto [low, high] = text.split("..");
  InputDirectives::Range range;
  if (low.trim().getAsDouble(range.low) || high.trim().getAsDouble(range.high)) return std::nullopt;
  return range;
}

}  // namespace

InputDirectives InputDirectives::parse(StringRef text) {
  InputDirectives directives;
  for (StringRef line : llvm::split(text, '\n')) {
    if (!line.consume_front("//")) continue;
    auto [key, value] = line.split(':');
    key = key.trim();
    if (key == "seed") (void)value.trim().getAsInteger(10, directives.seed);
    unsigned argument;
    if (!key.consume_front("arg") || key.getAsInteger(10, argument)) continue;
    if (auto range = parseRange(value.trim())) directives.arguments[argument] = *range;
  }
  return directives;
}

std::vector<Tensor> differential::makeInputs(func::FuncOp function, const InputDirectives& directives) {
  std::vector<Tensor> inputs;
  Generator generator(directives.seed);
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto range = directives.arguments.find(index);
    generator.fill(inputs.emplace_back(cast<RankedTensorType>(type)),
                   range == directives.arguments.end() ? nullptr : &range->second);
  }
  return inputs;
}
