// The GPU's kernels on the emulator.
#include "dialects/fusion/fusion_dialect.h"
#include "tests/targets/kernels/compiled_kernels.h"

#include <gtest/gtest.h>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "targets/gpu/codegen/codegen.h"
#include "tests/targets/gpu/emulator/kernel_emulator.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

namespace {

/// Sizes of a kernel's buffers, in their order.
SmallVector<uint64_t> bufferBytes(const KernelRequest& request) {
  fusion::ClusterOp cluster = request.body;
  SmallVector<uint64_t> bytes;
  auto add = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    bytes.push_back(type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  };
  for (OpOperand& operand : cluster->getOpOperands())
    if (llvm::none_of(request.inPlace, [&](InPlacePair pair) { return pair.second == operand.getOperandNumber(); }))
      add(operand.get());
  for (Value result : cluster->getResults()) add(result);
  return bytes;
}

class EmulatedKernels : public CompiledKernels {
 public:
  EmulatedKernels(std::unique_ptr<::sgd::emulator::KernelModule> module, ::sgd::emulator::Order order,
                  SmallVector<unsigned> threads, ArrayRef<KernelRequest> requests)
      : module(std::move(module)), order(order), threads(std::move(threads)) {
    for (const KernelRequest& request : requests) {
      symbols.push_back(request.symbol);
      bytes.push_back(bufferBytes(request));
    }
  }

  void launch(size_t kernel, ArrayRef<void*> buffers, ArrayRef<int64_t> coordinates, int64_t begin,
              int64_t end) override {
    std::vector<uint64_t> parameters;
    std::vector<::sgd::emulator::Extent> extents;
    for (auto [buffer, size] : llvm::zip_equal(buffers, bytes[kernel])) {
      parameters.push_back(reinterpret_cast<uintptr_t>(buffer));
      extents.push_back({parameters.back(), size});
    }
    for (int64_t coordinate : coordinates) parameters.push_back(static_cast<uint64_t>(coordinate));
    ::sgd::emulator::Grid grid{static_cast<uint32_t>(begin), static_cast<uint32_t>(end - begin), threads[kernel]};
    EXPECT_EQ(module->Launch(symbols[kernel], grid, parameters, order, {extents, /*tracks_order=*/true}), "");
  }

 private:
  std::unique_ptr<::sgd::emulator::KernelModule> module;
  ::sgd::emulator::Order order;
  SmallVector<unsigned> threads;
  std::vector<std::string> symbols;
  std::vector<SmallVector<uint64_t>> bytes;  // of the buffers, by kernel
};

/// ptxas, where CMake has found it, takes the module and spills no registers.
void assemble(const std::string& module) {
  const std::string tool = SGD_PTXAS;
  if (tool.empty()) return;
  SmallString<64> input, output;
  int file = -1;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("kernels", "ptx", file, input));
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("kernels", "txt", output));
  llvm::FileRemover removesInput(input), removesOutput(output);
  llvm::raw_fd_ostream(file, /*shouldClose=*/true) << module;
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(output), StringRef(output)};
  int code =
      llvm::sys::ExecuteAndWait(tool, {tool, "-v", "-arch=sm_90", "-o", "/dev/null", input}, std::nullopt, redirects);
  auto messages = llvm::MemoryBuffer::getFile(output);
  ASSERT_TRUE(static_cast<bool>(messages));
  std::string text = (*messages)->getBuffer().str();
  EXPECT_EQ(code, 0) << text;
  EXPECT_EQ(llvm::StringRef(text).count("bytes spill stores"), llvm::StringRef(text).count(" 0 bytes spill stores"))
      << text;
}

}  // namespace

std::vector<std::string> CompiledKernels::variants() { return {"forward", "backward"}; }

FailureOr<KernelInterface> CompiledKernels::describe(fusion::ClusterOp cluster) { return gpu::describeKernel(cluster); }

std::unique_ptr<CompiledKernels> CompiledKernels::create(ArrayRef<KernelRequest> requests, StringRef variant) {
  // A kernel that the emulator runs must pass through the back end too: once.
  bool isFirst = variant == variants().front();
  FailureOr<gpu::GpuKernels> compiled =
      gpu::compileKernels(requests, *gpu::parseArchitectures(isFirst ? "emulated,sm_80,sm_90,sm_100" : "emulated"), 1);
  if (failed(compiled)) return nullptr;
  for (const std::string& module : ArrayRef(compiled->modules).drop_front())
    EXPECT_NE(module.find(".entry " + requests.front().symbol), std::string::npos);
  if (isFirst) assemble(compiled->modules[2]);
  std::string error;
  auto module = ::sgd::emulator::KernelModule::Load(compiled->modules.front(), &error, ::sgd::emulator::Judging::kAll);
  EXPECT_NE(module, nullptr) << error;
  if (!module) return nullptr;
  SmallVector<unsigned> threads;
  for (const gpu::KernelMetrics& metrics : compiled->metrics) threads.push_back(metrics.threads);
  auto order = variant == "forward" ? ::sgd::emulator::Order::kForward : ::sgd::emulator::Order::kBackward;
  return std::make_unique<EmulatedKernels>(std::move(module), order, std::move(threads), requests);
}
