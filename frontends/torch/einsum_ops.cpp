// Einsum: letters name dimensions.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// Dimensions that an ellipsis stands for have the names 0, 1, ... from the last one on.
constexpr char kEllipsis = '\x01';

class Einsum {
 public:
  explicit Einsum(AtenOp& op) : op(op), math(op.math) {}

  LogicalResult lower() {
    StringRef equation = op.text("equation", "");
    std::string plain;
    for (char c : equation)
      if (c != ' ') plain += c;
    auto [left, right] = StringRef(plain).split("->");
    bool hasResult = plain.find("->") != std::string::npos;
    SmallVector<StringRef> texts;
    left.split(texts, ',');
    SmallVector<Value> operands = op.tensors("tensors");
    if (texts.size() != operands.size() || operands.empty()) return refuse();
    SmallVector<std::pair<Value, std::string>> inputs;
    for (auto [text, operand] : llvm::zip(texts, operands)) {
      std::string labels;
      if (!operand || !readLabels(text, tensorType(operand).getRank(), labels)) return refuse();
      Value value = op.convert(operand, op.element());
      if (failed(takeDiagonals(value, labels))) return failure();
      inputs.emplace_back(value, labels);
    }
    std::string result;
    if (hasResult ? !readLabels(right, op.type().getRank(), result) : false) return refuse();
    if (!hasResult) result = getImplicitResult(inputs);
    if (!matchSizes(inputs)) return refuse();
    auto [value, labels] = inputs.front();
    for (size_t next = 1; next < inputs.size(); ++next) {
      std::string kept = result;
      for (size_t later = next + 1; later < inputs.size(); ++later) kept += inputs[later].second;
      value = contract(value, labels, inputs[next].first, inputs[next].second, kept, labels);
    }
    value = sumOut(value, labels, result);
    SmallVector<int64_t> order;
    for (char label : result) order.push_back(static_cast<int64_t>(labels.find(label)));
    bool fits = result.size() == labels.size() && !llvm::is_contained(order, static_cast<int64_t>(std::string::npos));
    return fits ? op.finish(math.transpose(value, order)) : refuse();
  }

 private:
  InFlightDiagnostic refuse() const {
    return op.error() << "has the equation '" << op.text("equation", "")
                      << "', which does not fit the operands; expected a letter for each dimension";
  }

  /// Names of all dimensions; ellipses are written out.
  bool readLabels(StringRef text, int64_t rank, std::string& labels) const {
    size_t dots = text.find("...");
    StringRef before = text.take_front(dots), behind = dots == StringRef::npos ? "" : text.drop_front(dots + 3);
    int64_t hidden = rank - static_cast<int64_t>(before.size() + behind.size());
    for (StringRef part : {before, behind})
      for (char label : part)
        if (!llvm::isAlpha(label)) return false;
    if (hidden < 0 || hidden > 32 || (dots == StringRef::npos && hidden != 0)) return false;
    labels = before.str();
    for (int64_t number = hidden; number-- > 0;) labels += static_cast<char>(kEllipsis + number);
    labels += behind.str();
    return true;
  }

  /// Dimensions of ellipses, then letters that occur once, in the alphabet's order.
  static std::string getImplicitResult(ArrayRef<std::pair<Value, std::string>> inputs) {
    std::string all, hidden, letters;
    for (const auto& [value, labels] : inputs) all += labels;
    std::string sorted = all;
    llvm::sort(sorted);
    for (char label : sorted) {
      if (!llvm::isAlpha(label) && hidden.find(label) == std::string::npos) hidden = label + hidden;
      if (llvm::isAlpha(label) && llvm::count(all, label) == 1) letters += label;
    }
    return hidden + letters;
  }

  /// A letter that occurs twice in an operand names a diagonal.
  LogicalResult takeDiagonals(Value& value, std::string& labels) {
    for (size_t first = 0; first < labels.size(); ++first) {
      size_t second = labels.find(labels[first], first + 1);
      if (second == std::string::npos) continue;
      auto a = static_cast<int64_t>(first), b = static_cast<int64_t>(second);
      if (shapeOf(value)[a] != shapeOf(value)[b]) return refuse();
      Value isSame = math.isEqual(math.iota(shapeOf(value), a), math.iota(shapeOf(value), b));
      Value zero = op.constant(tensorType(value), 0);
      value = math.reduce(math.select(isSame, value, zero), ReduceKind::Add, b);
      labels.erase(second, 1);
      --first;
    }
    return success();
  }

  /// Repeats dimensions of size 1 to the size that others of the name have; false if sizes differ.
  bool matchSizes(SmallVectorImpl<std::pair<Value, std::string>>& inputs) {
    std::map<char, int64_t> sizes;
    for (auto& [value, labels] : inputs)
      for (auto [label, size] : llvm::zip(labels, shapeOf(value)))
        if (auto [known, isNew] = sizes.try_emplace(label, size); !isNew && known->second == 1) known->second = size;
    for (auto& [value, labels] : inputs) {
      SmallVector<int64_t> shape;
      for (auto [label, size] : llvm::zip(labels, shapeOf(value))) {
        if (size != sizes[label] && size != 1) return false;
        shape.push_back(sizes[label]);
      }
      value = stretch(math, value, shape);
    }
    return true;
  }

  /// Sums over labels that `kept` has not.
  Value sumOut(Value value, std::string& labels, StringRef kept) {
    SmallVector<int64_t> dims;
    std::string left;
    for (auto [dim, label] : llvm::enumerate(labels)) {
      if (kept.contains(label))
        left += label;
      else
        dims.push_back(dim);
    }
    labels = left;
    return dims.empty() ? value : math.reduce(value, ReduceKind::Add, dims);
  }

  Value contract(Value a, std::string labelsA, Value b, std::string labelsB, StringRef result, std::string& labels) {
    a = sumOut(a, labelsA, labelsB + result.str());
    b = sumOut(b, labelsB, labelsA + result.str());
    SmallVector<int64_t> batchA, batchB, summedA, summedB, shape;
    std::string batch, freeA, freeB;
    for (auto [dim, label] : llvm::enumerate(labelsA)) {
      size_t other = labelsB.find(label);
      if (other == std::string::npos) {
        freeA += label;
      } else if (result.contains(label)) {
        batchA.push_back(dim), batchB.push_back(other), batch += label;
      } else {
        summedA.push_back(dim), summedB.push_back(other);
      }
    }
    for (char label : labelsB)
      if (labelsA.find(label) == std::string::npos) freeB += label;
    labels = batch + freeA + freeB;
    for (char label : labels) {
      size_t own = labelsA.find(label);
      shape.push_back(own != std::string::npos ? shapeOf(a)[own] : shapeOf(b)[labelsB.find(label)]);
    }
    return math.create<DotGeneralOp>(tensorType(a).clone(shape), a, b, batchA, batchB, summedA, summedB,
                                     /*tf32=*/false);
  }

  AtenOp& op;
  TensorMath& math;
};

LogicalResult lowerEinsum(AtenOp& op) { return Einsum(op).lower(); }

}  // namespace

void mlir::sgd::torch::addEinsumOps(OpTable& table) { enter(table, {"einsum.default"}, {lowerEinsum, {}}); }
