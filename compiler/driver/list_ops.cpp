#include "compiler/driver/list_ops.h"

#include "compiler/driver/registration.h"
#include "frontends/frontends.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace mlir::sgd;

llvm::Expected<std::vector<std::string>> mlir::sgd::listInputOps(StringRef name) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::string names;
  for (const Frontend* frontend : getFrontends()) {
    InputOps ops = frontend->getInputOps(context);
    if (ops.imported.empty()) continue;
    if (!name.empty() && frontend->getName().contains_insensitive(name))
      return std::vector<std::string>(ops.imported.begin(), ops.imported.end());
    names += (names.empty() ? "" : ", ") + frontend->getName().str();
  }
  return llvm::createStringError("--list-ops is '" + name + "'; expected one of " + names);
}
