#include "tests/fuzz/op_families.h"

#include "compiler/driver/programs.h"
#include "compiler/driver/registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::fuzz;

std::map<std::string, std::set<size_t>> mlir::sgd::fuzz::findOpFamilies(size_t programs) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // A part of the programs are refused on purpose.
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic&) { return success(); });
  std::map<std::string, std::set<size_t>> families;
  auto addOps = [&](Operation* module, size_t family) {
    if (module) module->walk([&](Operation* op) { families[op->getName().getStringRef().str()].insert(family); });
  };
  for (auto [index, family] : llvm::enumerate(getFamilies())) {
    if (family.kind == Family::Kind::Mix || family.kind == Family::Kind::Damaged) continue;
    for (size_t seed = 0; seed < programs; ++seed) {
      Choices choices(seed);
      std::string text = generate(index, choices).text;
      addOps(loadProgram(&context, {"main", "program.mlir", text}, ImportOptions(), nullptr).get(), index);
      if (family.language == Language::Stablehlo) addOps(parseSourceString<ModuleOp>(text, &context).get(), index);
    }
  }
  return families;
}

void mlir::sgd::fuzz::printOpFamilies(std::ostream& stream, size_t programs) {
  for (const auto& [op, families] : findOpFamilies(programs)) {
    stream << op << "\t";
    // Regions hold everything: they are named for what no other family has.
    std::vector<size_t> named;
    for (size_t family : families)
      if (getFamilies()[family].kind == Family::Kind::Ops) named.push_back(family);
    if (named.empty()) named.assign(families.begin(), families.end());
    for (size_t family : named) stream << (family == named.front() ? "" : ", ") << getFamilies()[family].name;
    stream << "\n";
  }
}
