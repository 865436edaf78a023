// sgd-opt: mlir-opt with all dialects and passes of this project, for tests and for looking at one pass at a time; with
// --evaluate the reference evaluator.
#include "compiler/driver/registration.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "tools/sgd-opt/coverage_command.h"
#include "tools/sgd-opt/evaluate_command.h"

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  mlir::sgd::registerDialects(registry);
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]) == "--evaluate") return mlir::sgd::evaluateCommand(argc, argv, registry);
  if (argc > 1 && llvm::StringRef(argv[1]) == "--op-coverage") return mlir::sgd::coverageCommand(argc, argv, registry);
  for (int i = 1; i < argc; ++i)
    if (argv[i][0] != '-' && !mlir::sgd::isSafeToParse(argv[i])) return 1;
  mlir::sgd::registerPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerSymbolDCEPass();
  mlir::registerInlinerPass();
  mlir::registerStripDebugInfoPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "sgd modular optimizer driver\n", registry));
}
