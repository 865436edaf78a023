// Compares what a GPU's memory moves for kernels of each schedule with the least that could be moved: accesses of a
// warp lie side by side, and shared memory's banks take one turn each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "mlir/Parser/Parser.h"
#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/codegen.h"
#include "tests/targets/gpu/emulator/kernel_emulator.h"
#include "tests/targets/kernels/kernel_check.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;
namespace emulator = ::sgd::emulator;

namespace {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

/// The traffic of one launch of the cluster of `text`, whose inputs are zero.
emulator::WarpAccesses::Sites launch(const std::string& text) {
  auto context = makeContext();
  auto module = parseSourceString<ModuleOp>(text, context.get());
  EXPECT_TRUE(static_cast<bool>(module));
  if (!module) return {};
  KernelRequest request{nullptr, "kernel", {}};
  module->walk([&](fusion::ClusterOp op) { request.body = op; });
  FailureOr<KernelInterface> interface = gpu::describeKernel(request.body);
  auto compiled = gpu::compileKernels(request, *gpu::parseArchitectures("emulated"), 1);
  EXPECT_TRUE(succeeded(interface) && succeeded(compiled));
  if (failed(interface) || failed(compiled)) return {};
  std::string error;
  auto loaded = emulator::KernelModule::Load(compiled->modules.front(), &error, emulator::Judging::kAll);
  EXPECT_NE(loaded, nullptr) << error;
  if (!loaded) return {};
  std::vector<std::unique_ptr<void, FreeMemory>> buffers;
  std::vector<uint64_t> parameters;
  std::vector<emulator::Extent> extents;
  auto add = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    uint64_t bytes = type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    uint64_t allocated = llvm::alignTo(std::max<uint64_t>(bytes, 1), 256);
    buffers.emplace_back(std::aligned_alloc(256, allocated));
    memset(buffers.back().get(), 0, allocated);
    parameters.push_back(reinterpret_cast<uintptr_t>(buffers.back().get()));
    extents.push_back({parameters.back(), bytes});
  };
  llvm::for_each(request.body->getOperands(), add);
  llvm::for_each(request.body->getResults(), add);
  emulator::WarpAccesses counts;
  emulator::Grid grid{0, static_cast<uint32_t>(interface->range), compiled->metrics.front().threads};
  EXPECT_EQ(loaded->Launch("kernel", grid, parameters, emulator::Order::kForward, {extents, false, &counts}), "");
  return counts.kernels().at("kernel");
}

/// Of global memory at most `most` times the least, and no turn of shared memory's banks that need not be.
void expectTraffic(const std::string& text, double most = 1.0) {
  emulator::WarpAccesses::Sites sites = launch(text);
  for (const auto& [site, traffic] : sites)
    EXPECT_LE(traffic.transactions, (traffic.is_shared ? 1.0 : most) * traffic.least)
        << "access " << site << (traffic.is_shared ? " of shared memory, " : ", ")
        << (traffic.is_write ? "a store of " : "a load of ") << traffic.bytes << " bytes, " << traffic.requests
        << " times by a warp";
}

std::string rowOp(int rows, int columns, const std::string& type, const std::string& body) {
  std::string matrix = shape({rows, columns}, type);
  return cluster(matrix, matrix, "%x: " + matrix, body + "\nfusion.yield %y : " + matrix);
}

std::string softmax(int rows, int columns, const std::string& type) {
  std::string matrix = shape({rows, columns}, type), row = shape({rows}, type);
  return rowOp(rows, columns, type,
               "%m = sgd.reduce max %x dimensions = [1] : " + matrix + " -> " + row +
                   "\n%mb = sgd.broadcast_in_dim %m dims = [0] : " + row + " -> " + matrix + "\n%d = arith.subf %x, " +
                   "%mb : " + matrix + "\n%e = math.exp %d : " + matrix + "\n%s = sgd.reduce add %e dimensions = [1]" +
                   " : " + matrix + " -> " + row + "\n%sb = sgd.broadcast_in_dim %s dims = [0] : " + row + " -> " +
                   matrix + "\n%y = arith.divf %e, %sb : " + matrix);
}

std::string sum(std::initializer_list<int> shapeOf, const std::string& result, int dimension, const std::string& type) {
  std::string matrix = shape(shapeOf, type);
  return cluster(matrix, result, "%x: " + matrix,
                 "%0 = sgd.reduce add %x dimensions = [" + std::to_string(dimension) + "] : " + matrix + " -> " +
                     result + "\nfusion.yield %0 : " + result);
}

TEST(Coalescing, Points) {
  for (const char* type : {"f32", "bf16", "f64"}) {
    std::string matrix = shape({300, 256}, type);
    expectTraffic(cluster(matrix + "; " + matrix, matrix, "%x: " + matrix + ", %z: " + matrix,
                          "%y = arith.mulf %x, %z : " + matrix + "\nfusion.yield %y : " + matrix));
  }
  // Rows that fill no warp still lie behind each other.
  std::string narrow = shape({3000, 10}, "f32");
  expectTraffic(
      cluster(narrow, narrow, "%x: " + narrow, "%y = arith.mulf %x, %x : " + narrow + "\nfusion.yield %y : " + narrow));
}

TEST(Coalescing, Rows) {
  for (int columns : {4, 32, 64, 100, 1024, 4096, 20000}) {
    SCOPED_TRACE(columns);
    expectTraffic(sum({37, columns}, shape({37}, "f32"), 1, "f32"), 1.5);
    expectTraffic(softmax(37, columns, "f32"), 1.5);
  }
  expectTraffic(softmax(37, 1024, "bf16"), 1.5);
}

TEST(Coalescing, Columns) {
  for (const char* type : {"f32", "bf16", "f64"})
    for (auto [rows, columns] : {std::pair{1000, 256}, {64, 1024}, {4096, 64}}) {
      SCOPED_TRACE(std::string(type) + " " + std::to_string(rows) + "x" + std::to_string(columns));
      expectTraffic(sum({rows, columns}, shape({columns}, type), 0, type));
    }
}

TEST(Coalescing, Transposes) {
  for (const char* type : {"f32", "bf16", "f64"})
    for (auto [rows, columns] : {std::pair{128, 128}, {96, 160}, {64, 256}}) {
      SCOPED_TRACE(std::string(type) + " " + std::to_string(rows) + "x" + std::to_string(columns));
      std::string from = shape({rows, columns}, type), to = shape({columns, rows}, type);
      expectTraffic(
          cluster(from, to, "%x: " + from,
                  "%y = sgd.transpose %x permutation = [1, 0] : " + from + " -> " + to + "\nfusion.yield %y : " + to));
    }
}

TEST(Coalescing, RowsOfATable) {
  // Whole rows are gathered, and updates of rows scattered: neighbouring threads have neighbouring columns.
  expectTraffic(cluster(
      "tensor<500x128xf32>; tensor<300x1xi32>", "tensor<300x128xf32>", "%x: tensor<500x128xf32>, %i: tensor<300x1xi32>",
      "%0 = sgd.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, "
      "operand_batching_dims = array<i64>, indices_batching_dims = array<i64>, start_index_map = "
      "array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 128>} : (tensor<500x128xf32>, "
      "tensor<300x1xi32>) -> tensor<300x128xf32>\nfusion.yield %0 : tensor<300x128xf32>"));
}

}  // namespace
