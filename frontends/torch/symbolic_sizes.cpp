// Expressions are calls of few functions, numbers and names in quotes.
#include "frontends/torch/symbolic_sizes.h"

#include <cmath>
#include <functional>
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir::sgd;
using namespace mlir::sgd::torch;
using llvm::StringRef;
using llvm::Twine;

namespace {

constexpr int kMostDepth = 64;

std::optional<double> compare(StringRef function, double a, double b) {
  return llvm::StringSwitch<std::optional<double>>(function)
      .Cases({"Equality", "Eq"}, a == b)
      .Cases({"Unequality", "Ne"}, a != b)
      .Cases({"StrictLessThan", "Lt"}, a < b)
      .Cases({"LessThan", "Le"}, a <= b)
      .Cases({"StrictGreaterThan", "Gt"}, a > b)
      .Cases({"GreaterThan", "Ge"}, a >= b)
      .Default(std::nullopt);
}

std::optional<double> applyUnary(StringRef function, double x) {
  return llvm::StringSwitch<std::optional<double>>(function)
      .Cases({"Integer", "Float", "ToFloat"}, x)
      .Cases({"FloorToInt", "floor"}, std::floor(x))
      .Cases({"CeilToInt", "ceiling"}, std::ceil(x))
      .Case("TruncToInt", std::trunc(x))
      .Cases({"OpaqueUnaryFn_sqrt", "sqrt"}, std::sqrt(x))
      .Case("Abs", std::fabs(x))
      .Case("Not", x == 0)
      .Default(std::nullopt);
}

/// f(a, b, ..); nullopt where it is not known for so many arguments.
std::optional<double> apply(StringRef function, llvm::ArrayRef<double> a) {
  if (function == "Add") return std::accumulate(a.begin(), a.end(), 0.0);
  if (function == "Mul") return std::accumulate(a.begin(), a.end(), 1.0, std::multiplies<>());
  auto isTrue = [](double number) { return number != 0; };
  if (function == "And") return llvm::all_of(a, isTrue);
  if (function == "Or") return llvm::any_of(a, isTrue);
  if (function == "Max" && !a.empty()) return *llvm::max_element(a);
  if (function == "Min" && !a.empty()) return *llvm::min_element(a);
  bool isBinary = a.size() == 2, isQuotient = isBinary && a[1] != 0;
  if (function == "Pow" && isBinary) return std::pow(a[0], a[1]);
  if (!isBinary && a.size() != 1) return std::nullopt;
  double x = a[0];
  if (std::optional<double> compared = isBinary ? compare(function, x, a[1]) : std::nullopt) return compared;
  if (isQuotient) {
    using Switch = llvm::StringSwitch<std::optional<double>>;
    return Switch(function)
        .Cases({"FloorDiv", "CleanDiv"}, std::floor(x / a[1]))
        .Case("CeilDiv", std::ceil(x / a[1]))
        .Cases({"Mod", "PythonMod"}, x - a[1] * std::floor(x / a[1]))
        .Cases({"IntTrueDiv", "FloatTrueDiv", "Rational"}, x / a[1])
        .Default(std::nullopt);
  }
  return isBinary ? std::nullopt : applyUnary(function, x);
}

class Evaluator {
 public:
  Evaluator(StringRef text, const SymbolValues& symbols) : rest(text), symbols(symbols) {}

  std::optional<double> run() {
    std::optional<double> value = readValue(0);
    return rest.trim().empty() ? value : std::nullopt;
  }

 private:
  /// A number, bare or in quotes, or a call.
  std::optional<double> readValue(int depth) {
    rest = rest.ltrim();
    StringRef number = rest.take_while([](char c) { return llvm::isDigit(c) || StringRef("+-.eE'").contains(c); });
    if (!number.empty() && !llvm::isAlpha(number.front())) {
      rest = rest.drop_front(number.size());
      double value = 0;
      return number.trim("'").getAsDouble(value) ? std::nullopt : std::optional(value);
    }
    StringRef function = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    rest = rest.drop_front(function.size());
    if (depth > kMostDepth || function.empty() || !rest.consume_front("(")) return std::nullopt;
    if (function == "Symbol") return readSymbol();
    llvm::SmallVector<double> arguments;
    while (!rest.ltrim().starts_with(")")) {
      if (skipOption()) continue;
      std::optional<double> argument = readValue(depth + 1);
      if (!argument) return std::nullopt;
      arguments.push_back(*argument);
      rest = rest.ltrim();
      rest.consume_front(",");
    }
    rest = rest.ltrim().drop_front();
    return apply(function.rsplit('.').second.empty() ? function : function.rsplit('.').second, arguments);
  }

  /// `precision=53`.
  bool skipOption() {
    StringRef option = rest.ltrim(), name = option.take_while([](char c) { return llvm::isAlpha(c) || c == '_'; });
    if (name.empty() || !option.drop_front(name.size()).starts_with("=")) return false;
    rest = option.drop_until([](char c) { return c == ',' || c == ')'; });
    rest.consume_front(",");
    return true;
  }

  /// 's27', positive=True, integer=True)
  std::optional<double> readSymbol() {
    auto [arguments, behind] = rest.split(')');
    rest = behind;
    auto value = symbols.find(arguments.split(',').first.trim().trim("'").str());
    return value == symbols.end() ? std::nullopt : std::optional(static_cast<double>(value->second));
  }

  StringRef rest;
  const SymbolValues& symbols;
};

std::string describe(const OpenSize& size) {
  std::string text = "dimension " + std::to_string(size.places.front().dim) + " of ";
  text += llvm::join(llvm::map_range(size.places, [](const auto& place) { return "'" + place.input + "'"; }), ", ");
  text += " (from " + std::to_string(size.least);
  if (size.most < (int64_t{1} << 40)) text += " to " + std::to_string(size.most);
  return text + ")";
}

std::string describeAll(llvm::ArrayRef<OpenSize> open) { return llvm::join(llvm::map_range(open, describe), "; "); }

/// The open sizes that a name may stand for.
llvm::SmallVector<const OpenSize*> findOpen(llvm::ArrayRef<OpenSize> open, StringRef name) {
  llvm::SmallVector<const OpenSize*> found;
  size_t dim = name == "batch" ? 0 : name == "sequence" ? 1 : SIZE_MAX;
  for (const OpenSize& size : open) {
    bool isNamed = size.symbol == name || llvm::any_of(size.places, [&](const OpenSize::Place& place) {
                     return place.dim == dim || name == place.input + "." + std::to_string(place.dim);
                   });
    if (isNamed) found.push_back(&size);
  }
  return found;
}

llvm::Error fail(const Twine& message) { return llvm::createStringError(llvm::inconvertibleErrorCode(), message); }

}  // namespace

llvm::Expected<SymbolValues> mlir::sgd::torch::bindSizes(llvm::ArrayRef<OpenSize> open,
                                                         llvm::ArrayRef<BoundSize> bindings) {
  SymbolValues values;
  for (const BoundSize& binding : bindings) {
    llvm::SmallVector<const OpenSize*> found = findOpen(open, binding.name);
    if (found.size() != 1) {
      std::string there = open.empty() ? "no open sizes: it was exported without dynamic_shapes; leave --bind out"
                                       : "the open sizes " + describeAll(open) +
                                             "; expected batch, sequence, or an input and a dimension, tokens.0=32";
      return fail("--bind " + binding.name + " names " + (found.empty() ? "no open size" : "several open sizes") +
                  "; the model has " + there);
    }
    const OpenSize& size = *found.front();
    if (binding.size < size.least || binding.size > size.most)
      return fail("--bind gives " + std::to_string(binding.size) + " to " + describe(size) +
                  "; expected a size in the range of the export");
    auto [known, isNew] = values.try_emplace(size.symbol, binding.size);
    if (!isNew && known->second != binding.size)
      return fail("--bind gives both " + std::to_string(known->second) + " and " + std::to_string(binding.size) +
                  " to " + describe(size) + "; expected one size");
  }
  llvm::SmallVector<OpenSize> unbound;
  for (const OpenSize& size : open)
    if (!values.contains(size.symbol)) unbound.push_back(size);
  if (unbound.empty()) return values;
  return fail("has open sizes: " + describeAll(unbound) +
              "; expected a number for each, as in --bind batch=32,sequence=128 or --bind " +
              unbound.front().places.front().input + "." + std::to_string(unbound.front().places.front().dim) + "=32");
}

std::optional<double> mlir::sgd::torch::evaluateExpression(StringRef text, const SymbolValues& symbols) {
  return Evaluator(text, symbols).run();
}

std::string mlir::sgd::torch::getSymbol(StringRef text) {
  if (!text.starts_with("Symbol('") || text.count('(') != 1) return "";
  StringRef name = text.split('\'').second.split('\'').first;
  return name.str();
}
