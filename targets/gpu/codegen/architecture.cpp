// Names of architectures, and the LLVM target machine of each.
#include "targets/gpu/codegen/architecture.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir::sgd::gpu;

static constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";
static constexpr llvm::StringLiteral kNames[] = {"sm_80", "sm_90", "sm_100", "emulated"};

llvm::Expected<llvm::SmallVector<Architecture>> mlir::sgd::gpu::parseArchitectures(llvm::StringRef text) {
  llvm::SmallVector<Architecture> architectures;
  for (llvm::StringRef name : llvm::split(text, ',')) {
    name = name.trim();
    if (!llvm::is_contained(kNames, name))
      return llvm::createStringError("GPU architecture '" + name +
                                     "' is unknown; expected sm_80, sm_90 or sm_100, as in --target=cuda:sm_90");
    if (llvm::any_of(architectures, [&](const Architecture& other) { return other.name == name; }))
      return llvm::createStringError("GPU architecture " + name + " occurs twice; expected each once; drop one");
    architectures.push_back({name.str()});
  }
  return architectures;
}

int Architecture::getCapability() const {
  int capability = 90;
  if (!isEmulated()) llvm::StringRef(name).substr(strlen("sm_")).getAsInteger(10, capability);
  return capability;
}

std::unique_ptr<llvm::TargetMachine> mlir::sgd::gpu::createTargetMachine(const Architecture& architecture) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple(kTriple);
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found) return nullptr;
  llvm::TargetOptions options;
  // Multiplications and additions round one by one, as on the CPU: .rn keeps ptxas from contracting them too.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // The least version of PTX that knows the architecture, so that older drivers take it.
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(triple, architecture.isEmulated() ? "sm_80" : architecture.name, "", options,
                                 std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
}
