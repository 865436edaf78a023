// Names of forms.
#include "passes/sharding/context/context_form.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir::sgd;

llvm::StringRef mlir::sgd::getName(ContextForm form) {
  switch (form) {
    case ContextForm::Gathered:
      return "gathered";
    case ContextForm::Ring:
      return "ring";
    case ContextForm::Striped:
      return "striped_ring";
    case ContextForm::AllToAll:
      return "all_to_all";
  }
  llvm_unreachable("all forms have names");
}

std::optional<ContextForm> mlir::sgd::parseContextForm(llvm::StringRef name) {
  for (ContextForm form : kContextForms)
    if (getName(form) == name) return form;
  return std::nullopt;
}
