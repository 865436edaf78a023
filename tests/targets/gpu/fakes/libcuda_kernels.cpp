// Modules and kernels of the fake of libcuda.so.1: what text they are, and their launches. Kernels are run by the
// function `sgd_emulate_kernel` of the library that SGD_EMULATED_KERNELS names. Of all that run, counted from 1 on,
// number SGD_EMULATED_FAULT fails with CUDA_ERROR_ILLEGAL_ADDRESS and number SGD_EMULATED_HANG never ends.
#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/targets/gpu/fakes/contract.h"
#include "tests/targets/gpu/fakes/emulate_kernel.h"
#include "tests/targets/gpu/fakes/machine.h"
#include "tests/targets/gpu/fakes/memory.h"
#include "tests/targets/gpu/fakes/setting.h"

using sgd::emulated::CheckContext;
using sgd::emulated::CheckNotCapturing;
using sgd::emulated::EmulatedStream;
using sgd::emulated::Machine;
using sgd::emulated::Memory;
using sgd::emulated::Setting;

namespace {

struct EmulatedFunction {
  struct EmulatedModule* module;
  std::string symbol;
  size_t parameters;  // of 64 bits each
  uint64_t dynamic_limit = sgd::emulated::kSharedBytes;
};

struct EmulatedModule {
  std::string text;
  std::vector<std::unique_ptr<EmulatedFunction>> functions;
};

EmulatedStream* Of(CUstream stream) { return reinterpret_cast<EmulatedStream*>(stream); }
EmulatedModule* Of(CUmodule module) { return reinterpret_cast<EmulatedModule*>(module); }
EmulatedFunction* Of(CUfunction function) { return reinterpret_cast<EmulatedFunction*>(function); }

// Parameters of the list that begins behind the parenthesis at `open`: one more than its own commas.
size_t CountParameters(std::string_view text, size_t open) {
  size_t depth = 0, commas = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ',' && depth == 1) ++commas;
    if (text[at] == ')' && --depth == 0) {
      const bool is_empty = text.substr(open + 1, at - open - 1).find_first_not_of(" \t\n") == std::string_view::npos;
      return is_empty ? 0 : commas + 1;
    }
  }
  return 0;
}

// The kernels of a module, of PTX (`.entry symbol(`) or of the compiler's LLVM IR for an emulated GPU (`define
// ptx_kernel void @symbol(`).
std::vector<std::unique_ptr<EmulatedFunction>> FunctionsOf(EmulatedModule* module) {
  std::vector<std::unique_ptr<EmulatedFunction>> functions;
  const std::string_view text = module->text;
  for (const std::string_view keyword : {".entry", "define ptx_kernel void @"}) {
    for (size_t at = text.find(keyword); at != std::string_view::npos; at = text.find(keyword, at + 1)) {
      const size_t begin = text.find_first_not_of(" \t\n", at + keyword.size());
      const size_t open = text.find('(', begin);
      const size_t end = text.find_first_of("( \t\n", begin);
      functions.push_back(std::make_unique<EmulatedFunction>(module, std::string(text.substr(begin, end - begin)),
                                                             CountParameters(text, open)));
    }
  }
  return functions;
}

sgd::emulated::EmulateKernel KernelRunner() {
  static const auto runner = [] {
    const char* path = getenv("SGD_EMULATED_KERNELS");
    void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library == nullptr
               ? nullptr
               : reinterpret_cast<sgd::emulated::EmulateKernel>(dlsym(library, sgd::emulated::kEmulateKernel));
  }();
  return runner;
}

CUresult RunKernel(const EmulatedFunction& function, const sgd::emulated::KernelLaunch& launch,
                   std::vector<uint64_t> arguments) {
  static const int fault = Setting("SGD_EMULATED_FAULT", 0);
  static const int hang = Setting("SGD_EMULATED_HANG", 0);
  static std::atomic<int> run = 0;
  if (run + 1 == hang) return CUDA_ERROR_NOT_READY;
  if (++run == fault) return CUDA_ERROR_ILLEGAL_ADDRESS;
  // A value that lies in device memory is an address; the others are numbers.
  for (uint64_t& argument : arguments) {
    if ((argument & sgd::emulated::kDeviceBit) == 0 || static_cast<int64_t>(argument) < 0) continue;
    std::byte* memory = Memory::Get().Resolve(argument, 0);
    if (memory == nullptr) return CUDA_ERROR_ILLEGAL_ADDRESS;
    argument = reinterpret_cast<uint64_t>(memory);
  }
  if (KernelRunner() == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const bool is_ok = KernelRunner()(function.module->text.c_str(), function.symbol.c_str(), launch, arguments.data(),
                                    arguments.size());
  return is_ok ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

}  // namespace

extern "C" {

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
  if (const CUresult result = CheckNotCapturing(); result != CUDA_SUCCESS) return result;
  // A log is written up to its size, which stands among the options.
  for (unsigned i = 0; i < count; ++i) {
    const bool is_log = options[i] == CU_JIT_ERROR_LOG_BUFFER || options[i] == CU_JIT_INFO_LOG_BUFFER;
    const bool has_size = i + 1 < count && options[i + 1] == options[i] + 1 && values[i + 1] != nullptr;
    if (is_log && !has_size) return CUDA_ERROR_INVALID_VALUE;
  }
  const std::string_view text = static_cast<const char*>(image);
  if (text.find("PTX_TOO_NEW") != std::string_view::npos) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  auto loaded = std::make_unique<EmulatedModule>();
  loaded->text = text;
  loaded->functions = FunctionsOf(loaded.get());
  *module = reinterpret_cast<CUmodule>(loaded.release());
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  delete Of(module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  for (const auto& candidate : Of(module)->functions) {
    if (candidate->symbol == name) return *function = reinterpret_cast<CUfunction>(candidate.get()), CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
  if (value < 0 || static_cast<uint64_t>(value) > sgd::emulated::kMostSharedBytes) return CUDA_ERROR_INVALID_VALUE;
  Of(function)->dynamic_limit = static_cast<uint64_t>(value);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
                        void**) {
  if (const CUresult result = CheckContext(); result != CUDA_SUCCESS) return result;
  if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1) return CUDA_ERROR_INVALID_VALUE;
  const CUresult fits = sgd::emulated::CheckLaunch(
      {grid_x, block_x, shared_bytes, Of(function)->dynamic_limit, Of(function)->parameters * sizeof(uint64_t)});
  if (fits != CUDA_SUCCESS) return fits;
  std::vector<uint64_t> arguments(Of(function)->parameters);
  for (size_t i = 0; i < arguments.size(); ++i) std::memcpy(&arguments[i], parameters[i], sizeof(uint64_t));
  const sgd::emulated::KernelLaunch launch{grid_x, block_x, shared_bytes};
  return Machine::OfThisThread().Enqueue(Of(stream), [=] { return RunKernel(*Of(function), launch, arguments); });
}

}  // extern "C"
