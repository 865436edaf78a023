// By the first elements: of uniform numbers the fourth moment is 1.8 times the square of the second, of normal ones 3.
#include "frontends/torch/initial_values.h"

#include <cmath>
#include <cstring>

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::sgd::torch;
using llvm::APFloat;

namespace {

constexpr int64_t kMostElements = 16384;

template <typename T>
double load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return static_cast<double>(value);
}

double loadNarrow(const char* bytes, const llvm::fltSemantics& semantics) {
  uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof(bits));
  return APFloat(semantics, llvm::APInt(16, bits)).convertToDouble();
}

double loadElement(const char* bytes, int scalarType) {
  switch (static_cast<ScalarType>(scalarType)) {
    case ScalarType::Byte:
    case ScalarType::Bool:
      return load<uint8_t>(bytes);
    case ScalarType::Char:
      return load<int8_t>(bytes);
    case ScalarType::Short:
      return load<int16_t>(bytes);
    case ScalarType::Int:
      return load<int32_t>(bytes);
    case ScalarType::Long:
      return load<int64_t>(bytes);
    case ScalarType::Float:
      return load<float>(bytes);
    case ScalarType::Double:
      return load<double>(bytes);
    case ScalarType::Half:
      return loadNarrow(bytes, APFloat::IEEEhalf());
    case ScalarType::BFloat16:
      return loadNarrow(bytes, APFloat::BFloat());
  }
  return 0;
}

bool isFloat(int scalarType) {
  auto type = static_cast<ScalarType>(scalarType);
  return type == ScalarType::Half || type == ScalarType::Float || type == ScalarType::Double ||
         type == ScalarType::BFloat16;
}

/// "uniform(-0.1, 0.1)"
std::string describe(llvm::StringRef name, llvm::ArrayRef<double> numbers) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << name << "(";
  llvm::interleaveComma(numbers, stream, [&](double number) { stream << llvm::format("%.9g", number); });
  stream << ")";
  return text;
}

std::optional<std::string> describeDistribution(llvm::ArrayRef<double> values) {
  double mean = 0, variance = 0, fourth = 0;
  auto count = static_cast<double>(values.size());
  for (double value : values) mean += value / count;
  for (double value : values) {
    double square = (value - mean) * (value - mean);
    variance += square / count;
    fourth += square * square / count;
  }
  if (!std::isfinite(fourth)) return std::nullopt;
  double deviation = std::sqrt(variance);
  // A mean that a sample of this size has by chance is none.
  if (std::abs(mean) < 4 * deviation / std::sqrt(count)) mean = 0;
  constexpr double kBetween = 2.4;
  if (fourth > kBetween * variance * variance) return describe("normal", {mean, deviation});
  double bound = std::sqrt(3.0) * deviation;
  return describe("uniform", {mean - bound, mean + bound});
}

}  // namespace

std::optional<std::string> mlir::sgd::torch::describeValues(const StoredTensor& stored, bool isDrawn,
                                                            ReadStart readStart) {
  int64_t count = 1, width = getElementBytes(stored.type);
  for (int64_t size : stored.sizes)
    count = size < 0 || count > kMostElements ? count : count * std::max<int64_t>(size, 1);
  if (width == 0 || !stored.isRowMajor()) return std::nullopt;
  bool isWhole = count <= kMostElements;
  auto bytes = readStart(stored.file, static_cast<uint64_t>(std::min(count, kMostElements) * width));
  if (!bytes) {
    llvm::consumeError(bytes.takeError());
    return std::nullopt;
  }
  llvm::SmallVector<double> values;
  for (size_t at = 0; at + static_cast<size_t>(width) <= bytes->size(); at += static_cast<size_t>(width))
    values.push_back(loadElement(bytes->data() + at, stored.type));
  if (values.empty()) return std::nullopt;
  bool areEqual = llvm::all_equal(values) && std::isfinite(values.front());
  if (areEqual && (isDrawn || isWhole)) return describe("constant", {values.front()});
  if (!isDrawn || !isFloat(stored.type)) return std::nullopt;
  return describeDistribution(values);
}
