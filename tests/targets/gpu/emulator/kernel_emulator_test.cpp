// What the emulator shows and refuses: exchanges and barriers, races, threads that a GPU would wait for forever.
#include "tests/targets/gpu/emulator/kernel_emulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sgd::emulator {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDeclarations = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
)";

std::unique_ptr<KernelModule> Load(const std::string& text) {
  std::string error;
  auto module = KernelModule::Load(kDeclarations + text, &error);
  EXPECT_NE(module, nullptr) << error;
  return module;
}

// out[block * 64 + thread] = what thread 63 - thread has put into shared memory; `wait` between the two.
std::string Reversal(const std::string& wait) {
  return R"(
@reverse_array = internal addrspace(3) global [64 x i32] undef
define ptx_kernel void @reverse(ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %mine = getelementptr [64 x i32], ptr addrspace(3) @reverse_array, i32 0, i32 %t
  store i32 %t, ptr addrspace(3) %mine
  )" + wait +
         R"(
  %r = sub i32 63, %t
  %other = getelementptr [64 x i32], ptr addrspace(3) @reverse_array, i32 0, i32 %r
  %v = load i32, ptr addrspace(3) %other
  %row = mul i32 %b, 64
  %i = add i32 %row, %t
  %where = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %v, ptr addrspace(1) %where
  ret void
}
attributes #0 = { "nvvm.reqntid"="64" }
)";
}

std::vector<int32_t> RunReversal(const std::string& wait, Order order) {
  std::vector<int32_t> out(3 * 64, -5);
  const uint64_t parameters[] = {reinterpret_cast<uintptr_t>(out.data())};
  EXPECT_EQ(Load(Reversal(wait))->Launch("reverse", {0, 3, 64}, parameters, order), "");
  return out;
}

TEST(KernelEmulator, SharedMemoryWithABarrier) {
  for (const Order order : {Order::kForward, Order::kBackward}) {
    const std::vector<int32_t> out = RunReversal("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", order);
    for (int i = 0; i < 3 * 64; ++i) ASSERT_EQ(out[i], 63 - i % 64);
  }
}

TEST(KernelEmulator, AMissingBarrierShows) {
  const std::vector<int32_t> forward = RunReversal("", Order::kForward), backward = RunReversal("", Order::kBackward);
  EXPECT_NE(forward, backward);
  EXPECT_EQ(forward[0], -1) << "read before it was written";
}

TEST(KernelEmulator, ExchangesInAWarp) {
  auto module = Load(R"(
define ptx_kernel void @sum(ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a1 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %t, i32 1, i32 31)
  %s1 = add i32 %t, %a1
  %a2 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %s1, i32 2, i32 31)
  %s2 = add i32 %s1, %a2
  %where = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %s2, ptr addrspace(1) %where
  ret void
}
attributes #0 = { "nvvm.reqntid"="64" }
)");
  std::vector<int32_t> out(64);
  const uint64_t parameters[] = {reinterpret_cast<uintptr_t>(out.data())};
  ASSERT_EQ(module->Launch("sum", {0, 1, 64}, parameters), "");
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], 4 * (i / 4 * 4) + 6);
}

TEST(KernelEmulator, ThreadsThatDoNotComeToABarrier) {
  auto module = Load(R"(
define ptx_kernel void @leaves() #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp ult i32 %t, 40
  br i1 %c, label %in, label %out
in:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %out
out:
  ret void
}
attributes #0 = { "nvvm.reqntid"="64" }
)");
  EXPECT_EQ(module->Launch("leaves", {0, 1, 64}, {}),
            "leaves, block 0: thread 0 is at a barrier and thread 40 is done");
}

TEST(KernelEmulator, RefusesWrongLaunchesAndTexts) {
  auto module = Load(Reversal(""));
  EXPECT_EQ(module->Launch("reverse", {0, 1, 32}, std::vector<uint64_t>{0}),
            "reverse needs blocks of 64 threads, not 32");
  EXPECT_EQ(module->Launch("reverse", {0, 1, 64}, {}), "reverse has 1 parameters, not 0");
  EXPECT_EQ(module->Launch("revert", {0, 1, 64}, {}), "no kernel is named revert");
  EXPECT_FALSE(module->Has("revert"));
  std::string error;
  EXPECT_EQ(KernelModule::Load(".version 8.0\n", &error), nullptr);
  EXPECT_THAT(error, HasSubstr("line 1"));
  EXPECT_EQ(KernelModule::Load(R"(
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
define ptx_kernel void @lane() {
  %l = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  ret void
}
)",
                               &error),
            nullptr);
  EXPECT_THAT(error, HasSubstr("laneid is not emulated"));
}

}  // namespace
}  // namespace sgd::emulator
