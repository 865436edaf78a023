// The object and the choice of a CPU.
#include "dialects/fusion/fusion_dialect.h"
#include "targets/cpu/codegen/codegen.h"

#include <gtest/gtest.h>

#include "mlir/Parser/Parser.h"
#include "tests/targets/kernels/kernel_check.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;

namespace {

TEST(Object, IsDeterministicWhateverTheThreads) {
  auto context = makeContext();
  context->enableMultithreading(false);
  std::string text = cluster("tensor<37x50xf32>", "tensor<37x50xf32>", "%x: tensor<37x50xf32>",
                             "%0 = math.exp %x : tensor<37x50xf32>\nfusion.yield %0 : tensor<37x50xf32>");
  auto module = parseSourceString<ModuleOp>(text, context.get());
  fusion::ClusterOp op;
  module->walk([&](fusion::ClusterOp found) { op = found; });
  std::vector<KernelRequest> requests;
  for (int i = 0; i < 20; ++i) requests.push_back({op, "kernel" + std::to_string(i), {}});
  CpuTarget target = *CpuTarget::get("x86-64-v3");
  auto one = compileKernels(requests, target, 1), three = compileKernels(requests, target, 3);
  ASSERT_TRUE(succeeded(one) && succeeded(three));
  EXPECT_TRUE(*one == *three);
  EXPECT_NE(structuralKey(op, {}), structuralKey(op, {{0, 0}}));
}

TEST(Target, UnknownCpuIsRefused) {
  std::string error;
  EXPECT_TRUE(failed(CpuTarget::get("pentium", &error)));
  EXPECT_EQ(error, "unknown CPU 'pentium'; known are native, x86-64-v3 and x86-64-v4");
}

}  // namespace
