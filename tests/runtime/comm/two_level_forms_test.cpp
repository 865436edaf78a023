// The forms that collectives between hosts take: which one, by sizes and hosts; the same values in each; how many bytes
// each sends.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host_threads.h"
#include "reference_collective.h"
#include "runtime/comm/hosts/host_forms.h"

namespace sgd::comm {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(60);

constexpr uint64_t operator""_KiB(unsigned long long value) { return value << 10; }

// f32 of `bytes`, a rank per host.
AllReduceForm FormOf(uint64_t bytes, uint32_t hosts, bool can_double = true) {
  return ChooseAllReduce({.values = bytes, .accumulators = bytes, .parts = 2 * bytes * (hosts - 1) / hosts}, hosts,
                         can_double);
}

TEST(HostForms, AllReduceTakesFewStepsForLittleAndFewBytesForMuch) {
  for (const uint64_t bytes : {0_KiB, 4_KiB, 1024_KiB, 65536_KiB}) EXPECT_EQ(FormOf(bytes, 2), AllReduceForm::kSwap);
  for (const uint32_t hosts : {3u, 4u, 8u}) EXPECT_EQ(FormOf(4_KiB, hosts), AllReduceForm::kSwap) << hosts;
  EXPECT_EQ(FormOf(4_KiB, 16), AllReduceForm::kDoubling);
  for (const uint32_t hosts : {4u, 8u, 16u}) EXPECT_EQ(FormOf(40_KiB, hosts), AllReduceForm::kDoubling) << hosts;
  EXPECT_EQ(FormOf(40_KiB, 8, /*can_double=*/false), AllReduceForm::kParts);
  for (const uint32_t hosts : {3u, 4u, 8u, 16u}) EXPECT_EQ(FormOf(96_KiB, hosts), AllReduceForm::kParts) << hosts;
  // However many hosts: what is kept in one piece is bounded.
  EXPECT_EQ(FormOf(1024_KiB, 4096), AllReduceForm::kDoubling);
  EXPECT_EQ(FormOf(1024_KiB + 1, 4096), AllReduceForm::kParts);
  // Values of twice the operand's size: bf16 of two ranks per host.
  const auto wide = [](uint64_t bytes) {
    return ChooseAllReduce({.values = 2 * bytes, .accumulators = 2 * bytes, .parts = 3 * bytes / 2}, 2, true);
  };
  EXPECT_EQ(wide(16_KiB), AllReduceForm::kSwap);
  EXPECT_EQ(wide(128_KiB), AllReduceForm::kParts);
}

TEST(HostForms, BroadcastSendsMuchOnce) {
  for (const uint64_t bytes : {0_KiB, 4_KiB, 65536_KiB}) EXPECT_EQ(ChooseBroadcast(bytes, 2), BroadcastForm::kDirect);
  for (const uint32_t hosts : {3u, 4u, 8u}) EXPECT_EQ(ChooseBroadcast(4_KiB, hosts), BroadcastForm::kDirect) << hosts;
  for (const uint32_t hosts : {4u, 8u}) EXPECT_EQ(ChooseBroadcast(26_KiB, hosts), BroadcastForm::kTree) << hosts;
  for (const uint32_t hosts : {3u, 4u, 8u}) EXPECT_EQ(ChooseBroadcast(64_KiB, hosts), BroadcastForm::kSpread) << hosts;
}

TEST(HostForms, DoublingNeedsOneNodeOfOneSizePerHost) {
  const auto can_double = [](std::vector<uint32_t> host_of) { return CanDouble(FindGroupNodes(host_of)); };
  EXPECT_TRUE(can_double({0, 1, 2, 3}));
  EXPECT_TRUE(can_double({0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_TRUE(can_double({2, 2, 0, 0, 3, 3, 1, 1}));
  EXPECT_FALSE(can_double({0, 1, 2}));
  EXPECT_FALSE(can_double({0, 0, 1, 2}));
  EXPECT_FALSE(can_double({0, 1, 0, 1}));
  EXPECT_FALSE(can_double({0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
}

constexpr auto kAllReduce = CollectiveKind::kAllReduce, kBroadcast = CollectiveKind::kBroadcast;

struct FormCase {
  std::string name;
  CollectiveKind kind;
  ElementType element;
  Layout layout;
  uint64_t bytes;        // of an operand, about
  double sent_per_byte;  // by all hosts together, per byte of the operand
  bool over_ucx = false;
};

class HostFormValues : public testing::TestWithParam<FormCase> {};

CollectiveSpec SpecOf(const FormCase& run, bool in_place) {
  const uint64_t size = ElementSize(run.element);
  CollectiveSpec spec;
  spec.kind = run.kind;
  spec.axes = {{0, 1, static_cast<uint32_t>(run.layout.size())}};
  spec.location = "forms";
  // A large operand and a small one, neither of a round number of elements.
  uint64_t end = 0;
  for (const uint64_t count : {run.bytes / size - 3, uint64_t{3}}) {
    CollectiveOperand operand;
    operand.element = run.element;
    operand.count = operand.inner = count;
    operand.source_offset = end;
    end += (count * size + 63) / 64 * 64;
    operand.target_offset = in_place ? operand.source_offset : end;
    if (!in_place) end += (count * size + 63) / 64 * 64;
    spec.operands.push_back(operand);
  }
  return spec;
}

std::vector<std::vector<std::byte>> FilledWindows(const CollectiveSpec& spec, size_t ranks) {
  uint64_t bytes = 0;
  for (const CollectiveOperand& operand : spec.operands)
    bytes =
        std::max({bytes, operand.source_offset, operand.target_offset}) + operand.count * ElementSize(operand.element);
  std::vector<std::vector<std::byte>> windows(ranks, std::vector<std::byte>(bytes, std::byte{0xa5}));
  for (const CollectiveOperand& operand : spec.operands) {
    const uint64_t size = ElementSize(operand.element);
    for (uint64_t rank = 0; rank < ranks; ++rank) {
      // Of very different magnitudes: every other order of additions gives other bits.
      for (uint64_t i = 0; i < operand.count; ++i) {
        const double value = static_cast<double>(static_cast<int>((rank * 131 + i * 71) % 257) - 128) /
                             static_cast<double>(1 << ((rank * 5 + i * 3) % 13));
        StoreElement(operand.element, value, windows[rank].data() + operand.source_offset + i * size);
      }
    }
  }
  return windows;
}

TEST_P(HostFormValues, AreTheReferencesAndSendNoMore) {
  const FormCase& run = GetParam();
  const uint32_t ranks = static_cast<uint32_t>(run.layout.size());
  if (run.over_ucx && OverUcx() == nullptr) GTEST_SKIP() << "no UCX here";
  for (const bool in_place : {false, true}) {
    if (in_place && run.kind == kBroadcast) continue;
    if (!in_place && run.kind == kAllReduce && run.over_ucx) continue;
    const CollectiveSpec spec = SpecOf(run, in_place);
    const Mesh mesh{{ranks}};
    const std::vector<std::vector<std::byte>> before = FilledWindows(spec, ranks);
    const uint64_t window_bytes = before[0].size();
    std::vector<std::vector<std::byte>> after = before;
    RunReference(mesh, spec, after);
    std::atomic<uint64_t> sent = 0;
    constexpr int kRuns = 3;
    RunOnHosts(
        run.layout, window_bytes, run.over_ucx ? OverUcx() : OverMemory(), [&](TwoLevelCommunicator& communicator) {
          const uint32_t rank = communicator.control().rank();
          auto handle = communicator.Prepare(mesh, spec);
          ASSERT_TRUE(handle.ok()) << handle.status();
          for (int i = 0; i < kRuns; ++i) {
            std::memcpy(communicator.window(), before[rank].data(), window_bytes);
            ASSERT_TRUE(communicator.control().Barrier(kTimeout).ok());
            absl::Status status = communicator.Execute(*handle, kTimeout);
            ASSERT_TRUE(status.ok()) << status;
            EXPECT_EQ(std::memcmp(communicator.window(), after[rank].data(), window_bytes), 0) << "rank " << rank;
          }
          sent += communicator.host_bytes();
        });
    const double per_byte = static_cast<double>(sent) / kRuns / static_cast<double>(run.bytes);
    // Parts begin on cache lines, pieces of messages on multiples of 8 bytes.
    EXPECT_NEAR(per_byte, run.sent_per_byte, run.sent_per_byte * 512.0 / static_cast<double>(run.bytes));
  }
}

constexpr auto kF32 = ElementType::kF32, kBf16 = ElementType::kBF16, kF16 = ElementType::kF16;

// G hosts: a swap sends G (G - 1) S, doubling G log2(G) S, parts 2 (G - 1) S; a broadcast (G - 1) S in each form. What
// two and more ranks of 16-bit floats give is summed in f32 and takes twice their bytes on its first way.
INSTANTIATE_TEST_SUITE_P(
    Forms, HostFormValues,
    testing::Values(FormCase{"swap_of_4", kAllReduce, kF32, InBlocks(4, 4), 8_KiB, 12},
                    FormCase{"swap_of_3_uneven", kAllReduce, kF32, {0, 0, 0, 1, 2, 2}, 8_KiB, 8},
                    FormCase{"swap_of_2", kAllReduce, kF32, InBlocks(4, 2), 160_KiB, 2},
                    FormCase{"swap_of_2_bf16", kAllReduce, kBf16, InBlocks(2, 2), 160_KiB, 2},
                    FormCase{"parts_of_2_uneven", kAllReduce, kF32, {0, 1, 1, 1}, 160_KiB, 2.25},
                    FormCase{"doubling_of_4", kAllReduce, kF32, InBlocks(4, 4), 48_KiB, 8},
                    FormCase{"doubling_of_4_pairs", kAllReduce, kF32, InBlocks(8, 4), 48_KiB, 8},
                    FormCase{"doubling_of_8", kAllReduce, kF32, {5, 4, 3, 2, 1, 0, 6, 7}, 32_KiB, 24},
                    FormCase{"doubling_of_16_bf16", kAllReduce, kBf16, InBlocks(16, 16), 16_KiB, 16 * (1 + 2 + 2 + 2)},
                    FormCase{"doubling_of_4_f16_pairs", kAllReduce, kF16, InBlocks(8, 4), 16_KiB, 4 * (2 + 2)},
                    FormCase{"parts_of_4", kAllReduce, kF32, InBlocks(8, 4), 160_KiB, 6},
                    FormCase{"parts_of_3", kAllReduce, kF32, InBlocks(3, 3), 160_KiB, 4},
                    FormCase{"parts_of_4_bf16", kAllReduce, kBf16, InBlocks(4, 4), 160_KiB, 6},
                    FormCase{"parts_of_2_bf16_pairs", kAllReduce, kBf16, InBlocks(4, 2), 160_KiB, 3},
                    FormCase{"parts_of_2_f16_fours", kAllReduce, kF16, InBlocks(8, 2), 160_KiB, 3},
                    FormCase{"parts_of_4_bf16_pairs", kAllReduce, kBf16, InBlocks(8, 4), 160_KiB, 9},
                    FormCase{"broadcast_directly", kBroadcast, kF32, InBlocks(4, 4), 8_KiB, 3},
                    FormCase{"broadcast_in_a_tree", kBroadcast, kF32, InBlocks(8, 8), 24_KiB, 7},
                    FormCase{"broadcast_in_a_tree_of_7", kBroadcast, kF32, InBlocks(8, 7), 16_KiB, 6},
                    FormCase{"broadcast_spread", kBroadcast, kF32, InBlocks(8, 4), 160_KiB, 3},
                    FormCase{"broadcast_spread_uneven", kBroadcast, kF32, {1, 0, 2, 2, 2, 3, 1, 0}, 160_KiB, 3},
                    // More chunks than may be sent ahead.
                    FormCase{"swap_of_many_chunks", kAllReduce, kF32, InBlocks(2, 2), 10240_KiB, 2, true},
                    FormCase{"broadcast_of_many_chunks", kBroadcast, kF32, InBlocks(3, 3), 20480_KiB, 2, true}),
    [](const auto& info) { return info.param.name; });

// Five ranks on up to three hosts in every way, and eight of which one is alone.
std::vector<Layout> Placements() {
  std::vector<Layout> layouts = {{0, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 1}, {0, 0, 0, 1, 0, 0, 0, 0}};
  for (uint32_t code = 0; code < 81; ++code) {
    const Layout layout = {0, code % 3, code / 3 % 3, code / 9 % 3, code / 27};
    // Names of hosts do not matter: the second one comes before the third.
    if (std::ranges::find(layout, 1u) <= std::ranges::find(layout, 2u)) layouts.push_back(layout);
  }
  return layouts;
}

TEST(HostFormPlacements, GiveTheReferencesValuesForLittleAndMuch) {
  for (const Layout& layout : Placements()) {
    SCOPED_TRACE(testing::PrintToString(layout));
    const uint32_t ranks = static_cast<uint32_t>(layout.size());
    const Mesh mesh{{ranks}};
    std::vector<CollectiveSpec> specs;
    std::vector<std::vector<std::vector<std::byte>>> before, after;
    uint64_t window_bytes = 0;
    for (const CollectiveKind kind : {kAllReduce, kBroadcast}) {
      for (const ElementType element : {kF32, kBf16}) {
        // Of none, one and prime numbers of elements.
        for (const uint64_t count : {0, 1, 61, 8191, 40961}) {
          const FormCase run{"", kind, element, layout, (count + 3) * ElementSize(element), 0};
          specs.push_back(SpecOf(run, /*in_place=*/false));
          before.push_back(FilledWindows(specs.back(), ranks));
          after.push_back(before.back());
          RunReference(mesh, specs.back(), after.back());
          window_bytes = std::max<uint64_t>(window_bytes, before.back()[0].size());
        }
      }
    }
    RunOnHosts(layout, window_bytes, OverMemory(), [&](TwoLevelCommunicator& communicator) {
      const uint32_t rank = communicator.control().rank();
      for (size_t i = 0; i < specs.size(); ++i) {
        auto handle = communicator.Prepare(mesh, specs[i]);
        ASSERT_TRUE(handle.ok()) << handle.status();
        std::memcpy(communicator.window(), before[i][rank].data(), before[i][rank].size());
        absl::Status status = communicator.Execute(*handle, kTimeout);
        ASSERT_TRUE(status.ok()) << status;
        EXPECT_EQ(std::memcmp(communicator.window(), after[i][rank].data(), after[i][rank].size()), 0)
            << "rank " << rank << ", case " << i;
      }
    });
  }
}

}  // namespace
}  // namespace sgd::comm
