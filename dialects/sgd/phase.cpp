// Marks are dictionaries on fused locations.
#include "dialects/sgd/phase.h"

#include "dialects/sgd/scope.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr llvm::StringLiteral kPhase = "sgd.phase", kPart = "sgd.part";

static Location mark(Location location, StringRef name, Attribute value) {
  Builder builder(location.getContext());
  DictionaryAttr metadata = builder.getDictionaryAttr(builder.getNamedAttr(name, value));
  return FusedLoc::get(builder.getContext(), {location}, metadata);
}

/// The outermost mark of that name.
template <typename Attr>
static Attr findMark(Location location, StringRef name) {
  Attr found;
  location->walk([&](Location part) {
    auto fused = dyn_cast<FusedLocWith<DictionaryAttr>>(part);
    found = fused ? fused.getMetadata().template getAs<Attr>(name) : Attr();
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

Location mlir::sgd::markPhase(Location location, Phase phase) {
  return mark(location, kPhase, Builder(location.getContext()).getI64IntegerAttr(static_cast<int64_t>(phase)));
}

Location mlir::sgd::markPart(Location location, PartOfBatch part) {
  return mark(location, kPart, DenseI64ArrayAttr::get(location.getContext(), {part.first, part.stride}));
}

Phase mlir::sgd::getPhase(Location location) {
  if (auto marked = findMark<IntegerAttr>(location, kPhase)) return static_cast<Phase>(marked.getInt());
  Scope scope = getScope(location);
  if (scope.isBackward) return Phase::Backward;
  return scope.isForward ? Phase::Forward : Phase::None;
}

std::optional<PartOfBatch> mlir::sgd::getPart(Location location) {
  auto marked = findMark<DenseI64ArrayAttr>(location, kPart);
  if (!marked || marked.size() != 2) return std::nullopt;
  return PartOfBatch{marked[0], marked[1]};
}
