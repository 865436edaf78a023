// Tests what the emulator shows and refuses: exchanges and barriers, races, threads that a GPU would wait for forever.
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
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
!0 = !{}
)";

std::unique_ptr<KernelModule> Load(const std::string& text) {
  std::string error;
  auto module = KernelModule::Load(kDeclarations + text, &error, Judging::kAll);
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
  for (const Order order : {Order::kForward, Order::kBackward}) {
    std::vector<int32_t> out(64);
    const uint64_t parameters[] = {reinterpret_cast<uintptr_t>(out.data())};
    EXPECT_THAT(Load(Reversal(""))->Launch("reverse", {0, 1, 64}, parameters, order),
                HasSubstr("shared memory that thread"));
    EXPECT_EQ(order == Order::kForward ? out[0] : out[63], -1) << "read before it was written";
  }
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

// A kernel of 32 threads; %t is the thread, %in and %out are buffers.
std::string Body(const std::string& code) {
  return R"(
@k_array = internal addrspace(3) global [32 x i32] undef
define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %t
)" + code +
         R"(
  ret void
}
attributes #0 = { "nvvm.reqntid"="32" }
)";
}

struct Judged {
  const char* name;
  const char* code;
  const char* problem;  // empty: none
};

class Judgement : public ::testing::TestWithParam<Judged> {};

TEST_P(Judgement, OfAccesses) {
  alignas(64) int32_t in[64] = {}, out[64] = {};
  const uint64_t parameters[] = {reinterpret_cast<uintptr_t>(in), reinterpret_cast<uintptr_t>(out)};
  const Extent extents[] = {{parameters[0], 32 * sizeof(int32_t)}, {parameters[1], 32 * sizeof(int32_t)}};
  const std::string problem =
      Load(Body(GetParam().code))->Launch("k", {0, 2, 32}, parameters, Order::kForward, {extents, true});
  if (*GetParam().problem == 0)
    EXPECT_EQ(problem, "");
  else
    EXPECT_THAT(problem, HasSubstr(GetParam().problem));
}

INSTANTIATE_TEST_SUITE_P(
    KernelEmulator, Judgement,
    ::testing::Values(
        Judged{"Reads", "%v = load <4 x i32>, ptr addrspace(1) %in, align 16", ""},
        Judged{
            "Misaligned",
            "%p = getelementptr i32, ptr addrspace(1) %in, i32 2\n%v = load <4 x i32>, ptr addrspace(1) %p, align 16",
            "block 0: thread 0 reads 16 bytes of global memory that are not aligned to 16"},
        Judged{"Outside",
               "%i = add i32 %t, 1\n%p = getelementptr i32, ptr addrspace(1) %in, i32 %i\n"
               "%v = load i32, ptr addrspace(1) %p",
               "thread 31 reads 4 bytes of global memory that are not the kernel's"},
        Judged{"OutsideOfSharedMemory",
               "%p = getelementptr i32, ptr addrspace(3) @k_array, i32 40\nstore i32 1, ptr addrspace(3) %p",
               "thread 0 writes 4 bytes of shared memory that are not the kernel's"},
        Judged{"BlocksWriteTheSame", "store i32 1, ptr addrspace(1) %to",
               "block 1: thread 0 writes global memory that thread 0 of block 0 has written"},
        Judged{"ThreadsWriteTheSame", "store i32 %t, ptr addrspace(1) %out",
               "thread 1 writes global memory that thread 0 has written, with no barrier between"},
        Judged{"WritesWhatOthersHaveRead",
               "%v = load i32, ptr addrspace(1) %in\n%c = icmp eq i32 %t, 5\nbr i1 %c, label %w, label %e\n"
               "w:\nstore i32 %v, ptr addrspace(1) %in\nbr label %e\ne:",
               "thread 5 writes global memory that thread 5 has read, with no barrier between"},
        Judged{"ReadOnlyIsWritten",
               "%own = icmp eq i32 %b, 0\nbr i1 %own, label %w, label %e\nw:\n"
               "%v = load i32, ptr addrspace(1) %to, !invariant.load !0\nstore i32 %v, ptr addrspace(1) %to\n"
               "br label %e\ne:",
               "has read as what nobody writes"},
        Judged{"InPlace",
               "%own = icmp eq i32 %b, 0\nbr i1 %own, label %w, label %e\nw:\n"
               "%v = load i32, ptr addrspace(1) %to\nstore i32 %v, ptr addrspace(1) %to\nbr label %e\ne:",
               ""},
        Judged{"SomeLanes", "%x = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %t, i32 1, i32 31)",
               "exchanges with some lanes of its warp, but all are here"},
        Judged{"OtherInstructions",
               "%c = icmp ult i32 %t, 16\nbr i1 %c, label %l, label %r\n"
               "l:\n%x = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %t, i32 1, i32 31)\nbr label %e\n"
               "r:\n%y = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %t, i32 1, i32 31)\nbr label %e\ne:",
               "thread 16 is at another exchange than its warp"}),
    [](const auto& info) { return info.param.name; });

TEST(KernelEmulator, Ballots) {
  auto module = Load(R"(
define ptx_kernel void @odd(ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bit = and i32 %t, 1
  %c = icmp ne i32 %bit, 0
  %mask = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %c)
  %where = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %mask, ptr addrspace(1) %where
  ret void
}
attributes #0 = { "nvvm.reqntid"="64" }
)");
  std::vector<uint32_t> out(64);
  const uint64_t parameters[] = {reinterpret_cast<uintptr_t>(out.data())};
  ASSERT_EQ(module->Launch("odd", {0, 1, 64}, parameters), "");
  EXPECT_THAT(out, ::testing::Each(0xAAAAAAAA));
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
