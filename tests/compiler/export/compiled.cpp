// Compiles with the driver, for an instruction set that hosts of the last ten years have.
#include "tests/compiler/export/compiled.h"

#include <gtest/gtest.h>

#include "compiler/driver/driver.h"

namespace mlir::sgd {

std::unique_ptr<artifact::ArtifactFile> compileToFile(const std::string& text) {
  CompileOptions options;
  options.cpu = "x86-64-v3";
  options.threads = 1;
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  FailureOr<Compilation> compilation = compile({{"main", "step.mlir", text}}, options, stream);
  EXPECT_TRUE(succeeded(compilation)) << errors;
  if (failed(compilation)) return nullptr;
  auto file = artifact::ArtifactFile::FromBytes(
      std::string_view(compilation->artifact.data(), compilation->artifact.size()), "step.sgda");
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *std::move(file) : nullptr;
}

std::vector<const artifact::Instruction*> findInstructions(const artifact::Program& program, artifact::Operation kind) {
  std::vector<const artifact::Instruction*> found;
  for (const artifact::Instruction* instruction : *program.instructions())
    if (instruction->op_type() == kind) found.push_back(instruction);
  return found;
}

std::string getPlace(const artifact::Program& program, const artifact::Instruction& instruction) {
  return program.locations()->Get(instruction.loc())->str();
}

}  // namespace mlir::sgd
