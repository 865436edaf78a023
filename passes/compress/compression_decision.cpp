// One dictionary, written and read; and what it says in words.
#include "passes/compress/compression_decision.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

DictionaryAttr CompressionDecision::toAttr(MLIRContext* context) const {
  Builder builder(context);
  NamedAttrList fields;
  auto setText = [&](StringRef name, const std::string& text) {
    if (!text.empty()) fields.set(name, builder.getStringAttr(text));
  };
  setText("kind", kind);
  setText("state", state);
  setText("source", source);
  setText("why", why);
  fields.set("tensor", TypeAttr::get(tensor));
  fields.set("axes", builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(axes)));
  fields.set("sent_bytes", builder.getI64IntegerAttr(static_cast<int64_t>(sentBytes)));
  fields.set("whole_bytes", builder.getI64IntegerAttr(static_cast<int64_t>(wholeBytes)));
  return fields.getDictionary(context);
}

std::optional<CompressionDecision> CompressionDecision::fromAttr(Attribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  auto tensor = dictionary ? dictionary.getAs<TypeAttr>("tensor") : TypeAttr();
  if (!tensor) return std::nullopt;
  CompressionDecision decision;
  decision.tensor = tensor.getValue();
  auto readText = [&](StringRef name, std::string& value) {
    if (auto text = dictionary.getAs<StringAttr>(name)) value = text.str();
  };
  readText("kind", decision.kind);
  readText("state", decision.state);
  readText("source", decision.source);
  readText("why", decision.why);
  if (auto axes = dictionary.getAs<ArrayAttr>("axes"))
    for (auto axis : axes.getAsRange<StringAttr>()) decision.axes.push_back(axis.str());
  if (auto bytes = dictionary.getAs<IntegerAttr>("sent_bytes")) decision.sentBytes = bytes.getInt();
  if (auto bytes = dictionary.getAs<IntegerAttr>("whole_bytes")) decision.wholeBytes = bytes.getInt();
  return decision;
}

std::string CompressionDecision::getText() const {
  std::string what = state.empty() ? "a sum" : "the gradient of " + state;
  if (kind.empty()) return what + " is sent as it is: " + why;
  return what + " is sent as " + kind + ": " + std::to_string(sentBytes) + " bytes instead of " +
         std::to_string(wholeBytes);
}

SmallVector<CompressionDecision, 0> mlir::sgd::getCompressions(Operation* function) {
  SmallVector<CompressionDecision, 0> decisions;
  if (auto array = function->getAttrOfType<ArrayAttr>(kCompressionsAttr))
    for (Attribute attribute : array)
      if (auto decision = CompressionDecision::fromAttr(attribute)) decisions.push_back(*decision);
  return decisions;
}
