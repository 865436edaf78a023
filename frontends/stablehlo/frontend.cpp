// Text of StableHLO, as JAX prints it.
#include "frontends/stablehlo/export/export.h"
#include "frontends/stablehlo/import.h"
#include "frontends/stablehlo/input/chlo_dialect.h"
#include "frontends/stablehlo/input/stablehlo_dialect.h"
#include "frontends/text/mlir_text.h"
#include "frontends/text/named_ops.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class StablehloFrontend final : public Frontend {
 public:
  StringRef getName() const final { return "StableHLO"; }
  StringRef getInput() const final { return "StableHLO as text, as jax.jit(f).lower(...).as_text() prints it"; }

  Acceptance accepts(StringRef bytes) const final {
    static constexpr StringLiteral kDialects[] = {"stablehlo", "chlo", "sdy"};
    // JAX puts the attribute on each module, those without ops included.
    bool isStablehlo = isText(bytes) && (hasOpOf(kDialects, bytes) || hasAttribute("mhlo.num_partitions", bytes));
    return isStablehlo ? Acceptance::Yes : Acceptance::No;
  }

  OwningOpRef<ModuleOp> import(MLIRContext* context, llvm::MemoryBufferRef source,
                               const ImportOptions& options) const final {
    OwningOpRef<ModuleOp> module = parseProgram(context, source, options);
    if (!module) return nullptr;
    return succeeded(importStablehlo(*module, options)) ? std::move(module) : nullptr;
  }

  bool exports() const final { return true; }
  OwningOpRef<ModuleOp> exportProgram(ModuleOp program) const final { return exportStablehlo(program); }

  void registerDialects(DialectRegistry& registry) const final { registerStablehloDialects(registry); }
  void registerPasses() const final { registerStablehloPasses(); }

  /// Those of `sdy` annotate; the page of operations has what computes.
  InputOps getInputOps(MLIRContext& context) const final {
    InputOps ops;
    SmallVector<std::string> supported = getSupportedInputOps();
    for (RegisteredOperationName name : context.getRegisteredOperations()) {
      if (!isa_and_nonnull<stablehlo::StablehloDialect, chlo::ChloDialect>(&name.getDialect())) continue;
      if (name.stripDialect() == "return") continue;
      bool isSupported = llvm::is_contained(supported, name.getStringRef());
      (isSupported ? ops.imported : ops.refused).push_back(name.getStringRef().str());
    }
    llvm::sort(ops.imported);
    llvm::sort(ops.refused);
    return ops;
  }
};

}  // namespace

const Frontend& mlir::sgd::getStablehloFrontend() {
  static const StablehloFrontend frontend;
  return frontend;
}
