// The bound is computed where shardings are known, and reported where bytes are: meanwhile it is an attribute.
#include "compiler/bound/lower_bound.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

static DictionaryAttr toAttr(Builder& builder, const LowerBoundTerm& term) {
  return builder.getDictionaryAttr({builder.getNamedAttr("what", builder.getStringAttr(term.what)),
                                    builder.getNamedAttr("type", builder.getStringAttr(term.type)),
                                    builder.getNamedAttr("loc", builder.getStringAttr(term.location)),
                                    builder.getNamedAttr("bytes", builder.getI64IntegerAttr(term.bytes))});
}

DictionaryAttr LowerBound::toAttr(MLIRContext* context) const {
  Builder builder(context);
  auto list =
      llvm::map_to_vector(terms, [&](const LowerBoundTerm& term) -> Attribute { return ::toAttr(builder, term); });
  return builder.getDictionaryAttr({builder.getNamedAttr("bytes", builder.getI64IntegerAttr(bytes)),
                                    builder.getNamedAttr("terms", builder.getArrayAttr(list))});
}

static uint64_t getBytes(DictionaryAttr fields) {
  auto bytes = fields.getAs<IntegerAttr>("bytes");
  return bytes ? bytes.getValue().getZExtValue() : 0;
}

LowerBound LowerBound::fromAttr(DictionaryAttr attribute) {
  LowerBound bound;
  if (!attribute) return bound;
  bound.bytes = getBytes(attribute);
  auto terms = attribute.getAs<ArrayAttr>("terms");
  for (Attribute term : terms ? terms.getValue() : ArrayRef<Attribute>()) {
    auto fields = dyn_cast<DictionaryAttr>(term);
    if (!fields) continue;
    auto getText = [&](StringRef name) {
      auto text = fields.getAs<StringAttr>(name);
      return text ? text.str() : std::string();
    };
    bound.terms.push_back({getText("what"), getText("type"), getText("loc"), getBytes(fields)});
  }
  return bound;
}
