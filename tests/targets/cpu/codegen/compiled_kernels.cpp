// The CPU's kernels, loaded as the runtime does.
#include "dialects/fusion/fusion_dialect.h"
#include "tests/targets/kernels/compiled_kernels.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "targets/cpu/codegen/codegen.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

namespace {

class LoadedObject : public CompiledKernels {
 public:
  using Function = void (*)(void* const*, const int64_t*, int64_t, int64_t);

  explicit LoadedObject(ArrayRef<char> object) : file(memfd_create("kernels", MFD_CLOEXEC)) {
    // Stays open while the library is loaded: dlopen takes a file of the same name for the same library.
    EXPECT_EQ(write(file, object.data(), object.size()), static_cast<ssize_t>(object.size()));
    library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << dlerror();
  }
  ~LoadedObject() override {
    if (library) dlclose(library);
    if (file >= 0) close(file);
  }

  bool find(ArrayRef<KernelRequest> requests) {
    for (const KernelRequest& request : requests)
      functions.push_back(library ? reinterpret_cast<Function>(dlsym(library, request.symbol.c_str())) : nullptr);
    return llvm::all_of(functions, [](Function function) { return function != nullptr; });
  }

  void launch(size_t kernel, ArrayRef<void*> buffers, ArrayRef<int64_t> coordinates, int64_t begin,
              int64_t end) override {
    functions[kernel](buffers.data(), coordinates.data(), begin, end);
  }

 private:
  int file;
  void* library = nullptr;
  std::vector<Function> functions;
};

}  // namespace

std::vector<std::string> CompiledKernels::variants() { return {"native", "x86-64-v3"}; }

FailureOr<KernelInterface> CompiledKernels::describe(fusion::ClusterOp cluster) { return cpu::describeKernel(cluster); }

std::unique_ptr<CompiledKernels> CompiledKernels::create(ArrayRef<KernelRequest> requests, StringRef variant) {
  std::string error;
  FailureOr<cpu::CpuTarget> target = cpu::CpuTarget::get(variant, &error);
  if (failed(target)) {
    ADD_FAILURE() << error;
    return nullptr;
  }
  FailureOr<SmallVector<char, 0>> object = cpu::compileKernels(requests, *target, 1);
  if (failed(object)) return nullptr;
  auto loaded = std::make_unique<LoadedObject>(*object);
  if (!loaded->find(requests)) return nullptr;
  return loaded;
}
