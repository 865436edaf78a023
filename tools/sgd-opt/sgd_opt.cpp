// sgd-opt: mlir-opt with all dialects and passes of this project, for tests and for looking at one pass at a time; with
// --evaluate the reference evaluator; with --replay the rest of a compilation. --target=cuda:sm_90 names the target
// whose libraries passes ask; cpu without it.
#include "compiler/driver/registration.h"
#include "compiler/target/target.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "tools/sgd-opt/coverage_command.h"
#include "tools/sgd-opt/evaluate_command.h"
#include "tools/sgd-opt/replay_command.h"

/// The target that `--target` names, which is removed from the arguments; null, with an error printed, for an unknown
/// name.
static std::unique_ptr<mlir::sgd::Target> takeTarget(int& argc, char** argv) {
  mlir::sgd::CompileOptions options;
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (i > 0 && argument.consume_front("--target="))
      options.target = argument.str();
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  llvm::Expected<std::unique_ptr<mlir::sgd::Target>> target = mlir::sgd::Target::create(options);
  if (target) return std::move(*target);
  llvm::errs() << "sgd-opt: error: " << llvm::toString(target.takeError()) << "\n";
  return nullptr;
}

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  mlir::sgd::registerDialects(registry);
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]) == "--evaluate") return mlir::sgd::evaluateCommand(argc, argv, registry);
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]) == "--replay") return mlir::sgd::replayCommand(argc, argv);
  if (argc > 1 && llvm::StringRef(argv[1]) == "--op-coverage") return mlir::sgd::coverageCommand(argc, argv, registry);
  for (int i = 1; i < argc; ++i)
    if (argv[i][0] != '-' && !mlir::sgd::isSafeToParse(argv[i])) return 1;
  std::unique_ptr<mlir::sgd::Target> target = takeTarget(argc, argv);
  if (!target) return 1;
  mlir::sgd::registerPasses(target->getLibraries());
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerSymbolDCEPass();
  mlir::registerInlinerPass();
  mlir::registerStripDebugInfoPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "sgd modular optimizer driver\n", registry));
}
