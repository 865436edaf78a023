// One dictionary, written and read; and what it says in words.
#include "passes/context/context_decision.h"

#include "llvm/Support/Format.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

DictionaryAttr ContextDecision::toAttr(MLIRContext* context) const {
  Builder builder(context);
  NamedAttrList fields, seconds, reasons;
  for (const FormEstimate& estimate : estimates) {
    if (estimate.why.empty())
      seconds.set(getName(estimate.form), builder.getF64FloatAttr(estimate.seconds));
    else
      reasons.set(getName(estimate.form), builder.getStringAttr(estimate.why));
  }
  fields.set("form", builder.getStringAttr(getName(form)));
  fields.set("ranks", builder.getI64IntegerAttr(ranks));
  fields.set("seconds", seconds.getDictionary(context));
  fields.set("why_not", reasons.getDictionary(context));
  if (!source.empty()) fields.set("source", builder.getStringAttr(source));
  if (!why.empty()) fields.set("why", builder.getStringAttr(why));
  if (isAskedFor) fields.set("asked_for", builder.getUnitAttr());
  return fields.getDictionary(context);
}

std::optional<ContextDecision> ContextDecision::fromAttr(Attribute attribute) {
  auto fields = dyn_cast<DictionaryAttr>(attribute);
  auto name = fields ? fields.getAs<StringAttr>("form") : StringAttr();
  std::optional<ContextForm> form = name ? parseContextForm(name) : std::nullopt;
  auto ranks = fields ? fields.getAs<IntegerAttr>("ranks") : IntegerAttr();
  auto seconds = fields ? fields.getAs<DictionaryAttr>("seconds") : DictionaryAttr();
  auto reasons = fields ? fields.getAs<DictionaryAttr>("why_not") : DictionaryAttr();
  if (!form || !ranks || !seconds || !reasons) return std::nullopt;
  ContextDecision decision;
  decision.form = *form;
  decision.ranks = ranks.getInt();
  decision.isAskedFor = fields.contains("asked_for");
  if (auto source = fields.getAs<StringAttr>("source")) decision.source = source.str();
  if (auto why = fields.getAs<StringAttr>("why")) decision.why = why.str();
  for (ContextForm candidate : kContextForms) {
    if (auto time = seconds.getAs<FloatAttr>(getName(candidate)))
      decision.estimates.push_back({candidate, time.getValueAsDouble(), ""});
    if (auto why = reasons.getAs<StringAttr>(getName(candidate)))
      decision.estimates.push_back({candidate, 0, why.str()});
  }
  return decision;
}

static StringRef describe(ContextForm form) {
  switch (form) {
    case ContextForm::Gathered:
      return "keys and values, or queries, are gathered";
    case ContextForm::Ring:
      return "blocks of keys and values go from rank to rank";
    case ContextForm::Striped:
      return "each rank gets every nth position, and these blocks of keys and values go from rank to rank";
    case ContextForm::AllToAll:
      return "heads or batch entries are exchanged for positions";
  }
  llvm_unreachable("all forms are described");
}

std::string ContextDecision::getText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "positions of this attention are over " << ranks << " ranks; " << describe(form) << " (" << getName(form)
     << (isAskedFor ? ", as the recipe asks)" : ")");
  if (!why.empty()) os << ": " << why;
  for (const FormEstimate& estimate : estimates) {
    os << "; " << getName(estimate.form);
    if (estimate.why.empty())
      os << " takes " << llvm::format("%.3g", estimate.seconds * 1e3) << " ms by estimate";
    else
      os << " is out: " << estimate.why;
  }
  return text;
}
