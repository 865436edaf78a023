// One table of fields, read and written alike.
#include "passes/partition/explanation.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr llvm::StringLiteral kCauses[] = {"producer", "user", "constant", "moves"};

namespace {

/// Adds fields to a dictionary.
class FieldWriter {
 public:
  explicit FieldWriter(MLIRContext* context) : builder(context) {}

  void field(StringRef name, const std::string& value) {
    if (!value.empty()) fields.push_back(builder.getNamedAttr(name, builder.getStringAttr(value)));
  }
  void field(StringRef name, MovementCause cause) {
    fields.push_back(builder.getNamedAttr(name, builder.getStringAttr(kCauses[static_cast<size_t>(cause)])));
  }
  void field(StringRef name, int64_t value) {
    fields.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
  }
  void field(StringRef name, uint64_t value) { field(name, static_cast<int64_t>(value)); }
  void field(StringRef name, double value) {
    fields.push_back(builder.getNamedAttr(name, builder.getF64FloatAttr(value)));
  }
  void field(StringRef name, bool value) {
    if (value) fields.push_back(builder.getNamedAttr(name, builder.getUnitAttr()));
  }

  DictionaryAttr take() { return builder.getDictionaryAttr(fields); }

 private:
  Builder builder;
  SmallVector<NamedAttribute> fields;
};

/// Takes fields from a dictionary; what is left out stays as it is.
class FieldReader {
 public:
  explicit FieldReader(DictionaryAttr dictionary) : dictionary(dictionary) {}

  void field(StringRef name, std::string& value) {
    if (auto text = dictionary.getAs<StringAttr>(name)) value = text.str();
  }
  void field(StringRef name, MovementCause& cause) {
    auto text = dictionary.getAs<StringAttr>(name);
    const auto* found = text ? llvm::find(kCauses, text.getValue()) : std::end(kCauses);
    hasCause = found != std::end(kCauses);
    if (hasCause) cause = static_cast<MovementCause>(found - std::begin(kCauses));
  }
  void field(StringRef name, int64_t& value) {
    if (auto number = dictionary.getAs<IntegerAttr>(name)) value = number.getInt();
  }
  void field(StringRef name, uint64_t& value) {
    if (auto number = dictionary.getAs<IntegerAttr>(name)) value = number.getValue().getZExtValue();
  }
  void field(StringRef name, double& value) {
    if (auto number = dictionary.getAs<FloatAttr>(name)) value = number.getValueAsDouble();
  }
  void field(StringRef name, bool& value) { value = dictionary.contains(name); }

  bool hasCause = false;

 private:
  DictionaryAttr dictionary;
};

template <typename Visitor, typename Fields>
void visitFields(Visitor& visitor, Fields& fields) {
  visitor.field("cause", fields.cause);
  visitor.field("op", fields.op);
  visitor.field("tensor", fields.tensor);
  visitor.field("source", fields.source);
  visitor.field("scope", fields.scope);
  visitor.field("from", fields.from);
  visitor.field("to", fields.to);
  visitor.field("kind", fields.kind);
  visitor.field("step", fields.step);
  visitor.field("steps", fields.steps);
  visitor.field("bytes", fields.bytes);
  visitor.field("seconds", fields.seconds);
  visitor.field("holds_whole", fields.holdsWhole);
}

}  // namespace

DictionaryAttr Explanation::toAttr(MLIRContext* context) const {
  FieldWriter writer(context);
  visitFields(writer, *this);
  return writer.take();
}

std::optional<Explanation> Explanation::fromAttr(Attribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  if (!dictionary) return std::nullopt;
  Explanation explanation;
  FieldReader reader(dictionary);
  visitFields(reader, explanation);
  return reader.hasCause ? std::optional(std::move(explanation)) : std::nullopt;
}

void mlir::sgd::setExplanation(Operation* collective, const Explanation& explanation) {
  MLIRContext* context = collective->getContext();
  collective->setAttr(kExplainAttr, ArrayAttr::get(context, {explanation.toAttr(context)}));
}

SmallVector<Explanation, 1> mlir::sgd::getExplanations(Operation* collective) {
  SmallVector<Explanation, 1> explanations;
  if (auto array = collective->getAttrOfType<ArrayAttr>(kExplainAttr))
    for (Attribute attribute : array)
      if (std::optional<Explanation> explanation = Explanation::fromAttr(attribute))
        explanations.push_back(std::move(*explanation));
  return explanations;
}
