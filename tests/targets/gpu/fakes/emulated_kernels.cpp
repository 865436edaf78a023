// Runs kernels of artifacts for the emulated GPU: the library that SGD_EMULATED_KERNELS names.
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "tests/targets/gpu/fakes/emulate_kernel.h"
#include "tests/targets/gpu/emulator/kernel_emulator.h"

namespace {

using sgd::emulator::KernelModule;

// Modules are compiled for this host when their first kernel runs.
KernelModule* ModuleOf(const char* text) {
  static std::map<std::string, std::unique_ptr<KernelModule>> modules;
  std::unique_ptr<KernelModule>& module = modules[text];
  std::string error;
  if (module == nullptr) module = KernelModule::Load(text, &error);
  if (module == nullptr) std::fprintf(stderr, "emulated GPU: %s\n", error.c_str());
  return module.get();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) bool sgd_emulate_kernel(const char* text, const char* symbol,
                                                                          const sgd::emulated::KernelLaunch& launch,
                                                                          const uint64_t* arguments, size_t count) {
  static std::mutex mutex;  // ranks may be threads
  std::lock_guard lock(mutex);
  KernelModule* module = ModuleOf(text);
  if (module == nullptr) return false;
  const sgd::emulator::Grid grid{0, launch.blocks, launch.threads};
  const std::string problem = module->Launch(symbol, grid, std::span(arguments, count));
  if (!problem.empty()) std::fprintf(stderr, "emulated GPU: %s: %s\n", symbol, problem.c_str());
  return problem.empty();
}
