// Syntax of lists. Which of them there are is said in runtime/library/epilogue.h, and checked by the ops that have
// them.
#include "dialects/fusion/epilogue.h"

#include "dialects/fusion/fusion_dialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::fusion;

#define GET_ATTRDEF_CLASSES
#include "dialects/fusion/epilogue.cpp.inc"

Attribute EpilogueAttr::parse(AsmParser& parser, Type) {
  Epilogue epilogue;
  auto parseStep = [&]() -> ParseResult {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name)) return failure();
    const auto* traits =
        llvm::find_if(::sgd::library::kEpilogueSteps, [&](const auto& step) { return name == step.name; });
    if (traits == std::end(::sgd::library::kEpilogueSteps))
      return parser.emitError(loc) << "'" << name << "' is no epilogue; expected residual, bias, relu, ...";
    if (!epilogue.Append(traits->step)) return parser.emitError(loc) << "an epilogue of too many steps";
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStep)) return {};
  return get(parser.getContext(), epilogue);
}

void EpilogueAttr::print(AsmPrinter& printer) const { printer << "[" << TextOf(getValue()) << "]"; }

void FusionDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/fusion/epilogue.cpp.inc"
      >();
}
