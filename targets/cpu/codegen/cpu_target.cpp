// The CPUs that code can be made for, and the LLVM target machine of each.
#include "targets/cpu/codegen/cpu_target.h"

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir::sgd::cpu;

static constexpr llvm::StringLiteral kTriple = "x86_64-unknown-linux-gnu";

/// The features that a level of the x86-64 psABI adds to its baseline, as in /proc/cpuinfo.
static constexpr llvm::StringLiteral kLevel3[] = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"};
static constexpr llvm::StringLiteral kLevel4[] = {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"};

static CpuTarget level(llvm::StringRef name, bool isLevel4) {
  CpuTarget target;
  target.cpu = name.str();
  for (llvm::StringRef feature : kLevel3) target.features.push_back(feature.str());
  if (isLevel4)
    for (llvm::StringRef feature : kLevel4) target.features.push_back(feature.str());
  llvm::sort(target.features);
  target.vectorBits = isLevel4 ? 512 : 256;
  return target;
}

/// LLVM's names of features and /proc/cpuinfo's differ in a few.
static llvm::StringRef kernelName(llvm::StringRef feature) {
  return feature == "bmi" ? "bmi1" : feature == "lzcnt" ? "abm" : feature;
}

/// Nothing for a CPU below x86-64-v3.
static std::optional<CpuTarget> findNative() {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  auto has = [&](llvm::StringRef feature) {
    return llvm::any_of(host, [&](const auto& entry) { return entry.second && kernelName(entry.first()) == feature; });
  };
  if (!llvm::all_of(kLevel3, has)) return std::nullopt;
  CpuTarget target = level("x86-64-v3", llvm::all_of(kLevel4, has));
  target.cpu = llvm::sys::getHostCPUName().str();
  // Features of the host beyond its level that code generation may use.
  for (llvm::StringRef feature :
       {"avx512vbmi", "avx512_vbmi2", "avx512_bitalg", "avx512_vpopcntdq", "gfni", "vaes", "vpclmulqdq"})
    if (has(feature)) target.features.push_back(feature.str());
  llvm::sort(target.features);
  return target;
}

mlir::FailureOr<CpuTarget> CpuTarget::get(StringRef name, std::string* error) {
  auto fail = [&](const llvm::Twine& message) {
    if (error) *error = message.str();
    return failure();
  };
  if (name == "x86-64-v3") return level(name, false);
  if (name == "x86-64-v4") return level(name, true);
  if (name != "native") return fail("unknown CPU '" + name + "'; known are native, x86-64-v3 and x86-64-v4");
  // Each question to the CPU takes a hypervisor microseconds.
  static const std::optional<CpuTarget> native = findNative();
  if (native) return *native;
  return fail("this host's CPU is below x86-64-v3 (AVX2 and FMA); compile with --cpu=x86-64-v3 for another");
}

std::unique_ptr<llvm::TargetMachine> mlir::sgd::cpu::createTargetMachine(const CpuTarget& target) {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple(kTriple);
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found) return nullptr;
  bool isLevel4 = target.vectorBits == 512;
  llvm::StringRef tuning = target.cpu == "x86-64-v3" || target.cpu == "x86-64-v4" ? llvm::StringRef(target.cpu)
                           : isLevel4                                             ? "x86-64-v4"
                                                                                  : "x86-64-v3";
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(triple, tuning, isLevel4 ? "-prefer-256-bit" : "", options, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}
