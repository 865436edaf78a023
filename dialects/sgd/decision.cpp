// One table of fields, read and written alike. What is empty is left out.
#include "dialects/sgd/decision.h"

#include "dialects/sgd/scope.h"
#include "dialects/sgd/source_line.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr llvm::StringLiteral kCauses[] = {"producer", "user", "constant", "moves"};

template <typename Visitor, typename Fields>
static void visitMovement(Visitor& visit, Fields& movement) {
  visit("cause", movement.cause);
  visit("op", movement.op);
  visit("from", movement.from);
  visit("to", movement.to);
  visit("step", movement.step);
  visit("steps", movement.steps);
  visit("holds_whole", movement.holdsWhole);
}

template <typename Visitor, typename Fields>
static void visitFields(Visitor& visit, Fields& decision) {
  visit("subject", decision.subject);
  visit("scope", decision.scope);
  visit("source", decision.source);
  visit("chosen", decision.chosen);
  visit("why", decision.why);
  visit("axes", decision.axes);
  visit("bytes", decision.bytes);
  visit("seconds", decision.seconds);
  visit("hidden_seconds", decision.hiddenSeconds);
  visit("freed_bytes", decision.freedBytes);
  visit("flops", decision.flops);
  visit("alternatives", decision.alternatives);
}

template <typename Visitor, typename Fields>
static void visitAlternative(Visitor& visit, Fields& alternative) {
  visit("name", alternative.name);
  visit("bytes", alternative.bytes);
  visit("seconds", alternative.seconds);
  visit("why", alternative.why);
}

namespace {

class FieldWriter {
 public:
  explicit FieldWriter(MLIRContext* context) : builder(context) {}

  void operator()(StringRef name, const std::string& value) {
    if (!value.empty()) fields.set(name, builder.getStringAttr(value));
  }
  void operator()(StringRef name, MovementCause cause) {
    fields.set(name, builder.getStringAttr(kCauses[static_cast<size_t>(cause)]));
  }
  void operator()(StringRef name, int64_t value) {
    if (value != 0) fields.set(name, builder.getI64IntegerAttr(value));
  }
  void operator()(StringRef name, uint64_t value) { (*this)(name, static_cast<int64_t>(value)); }
  void operator()(StringRef name, double value) {
    if (value != 0) fields.set(name, builder.getF64FloatAttr(value));
  }
  void operator()(StringRef name, bool value) {
    if (value) fields.set(name, builder.getUnitAttr());
  }
  void operator()(StringRef name, const std::vector<std::string>& values) {
    if (!values.empty()) fields.set(name, builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(values)));
  }
  void operator()(StringRef name, const std::vector<Alternative>& alternatives) {
    SmallVector<Attribute> list;
    for (const Alternative& alternative : alternatives) {
      FieldWriter writer(builder.getContext());
      visitAlternative(writer, alternative);
      list.push_back(writer.take());
    }
    if (!list.empty()) fields.set(name, builder.getArrayAttr(list));
  }

  DictionaryAttr take() { return fields.getDictionary(builder.getContext()); }

 private:
  Builder builder;
  NamedAttrList fields;
};

/// Leaves a value as it is where its field is missing or of another type.
class FieldReader {
 public:
  explicit FieldReader(DictionaryAttr fields) : fields(fields) {}

  void operator()(StringRef name, std::string& value) {
    if (auto text = fields.getAs<StringAttr>(name)) value = text.str();
  }
  void operator()(StringRef name, MovementCause& cause) {
    auto text = fields.getAs<StringAttr>(name);
    const auto* found = text ? llvm::find(kCauses, text.getValue()) : std::end(kCauses);
    if (found != std::end(kCauses)) cause = static_cast<MovementCause>(found - std::begin(kCauses));
  }
  void operator()(StringRef name, int64_t& value) {
    if (auto number = fields.getAs<IntegerAttr>(name)) value = number.getInt();
  }
  void operator()(StringRef name, uint64_t& value) {
    if (auto number = fields.getAs<IntegerAttr>(name)) value = number.getValue().getZExtValue();
  }
  void operator()(StringRef name, double& value) {
    if (auto number = fields.getAs<FloatAttr>(name)) value = number.getValueAsDouble();
  }
  void operator()(StringRef name, bool& value) { value = fields.contains(name); }
  void operator()(StringRef name, std::vector<std::string>& values) {
    auto list = fields.getAs<ArrayAttr>(name);
    for (Attribute one : list ? list.getValue() : ArrayRef<Attribute>())
      if (auto text = dyn_cast<StringAttr>(one)) values.push_back(text.str());
  }
  void operator()(StringRef name, std::vector<Alternative>& alternatives) {
    auto list = fields.getAs<ArrayAttr>(name);
    for (Attribute one : list ? list.getValue() : ArrayRef<Attribute>())
      if (auto dictionary = dyn_cast<DictionaryAttr>(one)) {
        FieldReader reader(dictionary);
        visitAlternative(reader, alternatives.emplace_back());
      }
  }

 private:
  DictionaryAttr fields;
};

}  // namespace

Decision Decision::at(DecisionKind kind, Location location) {
  return Decision{.kind = kind, .scope = getScope(location).path, .source = getSourceLine(location)};
}

DecisionAttr Decision::toAttr(MLIRContext* context) const {
  FieldWriter writer(context);
  visitFields(writer, *this);
  if (movement) visitMovement(writer, *movement);
  return DecisionAttr::get(context, kind, writer.take());
}

Decision Decision::fromAttr(DecisionAttr attribute) {
  Decision decision{.kind = attribute.getKind()};
  FieldReader reader(attribute.getFields());
  visitFields(reader, decision);
  if (decision.kind == DecisionKind::Movement) visitMovement(reader, decision.movement.emplace());
  return decision;
}

static ArrayRef<Attribute> getAttrs(Operation* op) {
  auto list = op->getAttrOfType<ArrayAttr>(kDecisionsAttr);
  return list ? list.getValue() : ArrayRef<Attribute>();
}

void mlir::sgd::addDecision(Operation* op, const Decision& decision) {
  SmallVector<Attribute> list(getAttrs(op));
  list.push_back(decision.toAttr(op->getContext()));
  op->setAttr(kDecisionsAttr, ArrayAttr::get(op->getContext(), list));
}

void mlir::sgd::setDecisions(Operation* op, ArrayRef<Decision> decisions) {
  auto list = llvm::map_to_vector(
      decisions, [&](const Decision& decision) -> Attribute { return decision.toAttr(op->getContext()); });
  op->setAttr(kDecisionsAttr, ArrayAttr::get(op->getContext(), list));
}

SmallVector<Decision, 1> mlir::sgd::getDecisions(Operation* op) {
  SmallVector<Decision, 1> decisions;
  for (Attribute one : getAttrs(op))
    if (auto decision = dyn_cast<DecisionAttr>(one)) decisions.push_back(Decision::fromAttr(decision));
  return decisions;
}

SmallVector<Decision, 1> mlir::sgd::getDecisions(Operation* op, DecisionKind kind) {
  SmallVector<Decision, 1> decisions;
  for (Attribute one : getAttrs(op))
    if (auto decision = dyn_cast<DecisionAttr>(one); decision && decision.getKind() == kind)
      decisions.push_back(Decision::fromAttr(decision));
  return decisions;
}

std::optional<Decision> mlir::sgd::findDecision(Operation* op, DecisionKind kind) {
  SmallVector<Decision, 1> decisions = getDecisions(op, kind);
  return decisions.empty() ? std::nullopt : std::optional(std::move(decisions.front()));
}

bool mlir::sgd::hasDecision(Operation* op, DecisionKind kind) {
  return llvm::any_of(getAttrs(op), [&](Attribute one) {
    auto decision = dyn_cast<DecisionAttr>(one);
    return decision && decision.getKind() == kind;
  });
}

void mlir::sgd::mergeDecisions(Operation* op, ArrayRef<Operation*> from) {
  SmallVector<Attribute> list;
  SmallVector<Location> locations;
  for (Operation* one : from) {
    llvm::append_range(list, getAttrs(one));
    locations.push_back(one->getLoc());
  }
  if (!list.empty()) op->setAttr(kDecisionsAttr, ArrayAttr::get(op->getContext(), list));
  op->setLoc(FusedLoc::get(op->getContext(), locations));
}
