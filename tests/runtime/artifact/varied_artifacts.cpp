// Each begins with the sample and goes on in memory behind the sample's.
#include "tests/runtime/artifact/varied_artifacts.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "tests/runtime/artifact/pipeline_artifact.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::testing {
namespace {

using artifact::ArtifactT;
using artifact::CollectiveKind;
using artifact::ElementType;
using artifact::EpilogueStep;
using artifact::ProgramT;
using artifact::Slice;
using artifact::Space;

// Gives out private memory, aligned as kernels want it.
class Allocator {
 public:
  explicit Allocator(ArtifactT& root) : root_(root) {}
  Slice Private(uint64_t bytes) { return Take(root_.private_bytes, Space::Private, bytes); }
  Slice Window(uint64_t bytes) { return Take(root_.window_bytes, Space::Window, bytes); }

 private:
  static Slice Take(uint64_t& end, Space space, uint64_t bytes) {
    const uint64_t offset = (end + 63) / 64 * 64;
    end = offset + bytes;
    return Slice(space, offset, bytes);
  }
  ArtifactT& root_;
};

std::unique_ptr<Slice> Boxed(const Slice& slice) { return std::make_unique<Slice>(slice); }

void AddMatmuls(ArtifactT& root, ProgramT& program) {
  Allocator memory(root);
  for (const ElementType element : {ElementType::F32, ElementType::F64, ElementType::BF16, ElementType::I8}) {
    artifact::MatmulT matmul;
    const uint64_t size = element == ElementType::F64    ? 8
                          : element == ElementType::F32  ? 4
                          : element == ElementType::BF16 ? 2
                                                         : 1;
    matmul.element = element;
    matmul.batch_dims = {3, 2};
    matmul.m = 17, matmul.n = 33, matmul.k = 40;
    matmul.a_batch = {17 * 40, 0}, matmul.a_m = 40, matmul.a_k = 1;
    matmul.b_batch = {0, 33 * 40}, matmul.b_k = 1, matmul.b_n = 40;
    matmul.c_batch = {2 * 17 * 33, 17 * 33}, matmul.c_m = 33, matmul.c_n = 1;
    matmul.a = Boxed(memory.Private(3 * 17 * 40 * size));
    matmul.b = Boxed(memory.Private(2 * 33 * 40 * size));
    matmul.c = Boxed(memory.Private(6 * 17 * 33 * size));
    if (element == ElementType::F32) {
      matmul.epilogue = {EpilogueStep::Bias, EpilogueStep::Relu};
      matmul.bias = Boxed(memory.Private(33 * size));
    } else if (element == ElementType::F64) {
      matmul.epilogue = {EpilogueStep::Residual};
    }
    Append(program, std::move(matmul));
  }
  artifact::MatmulT large;  // packed by all threads together
  large.element = ElementType::F32;
  large.m = 220, large.n = 210, large.k = 200;
  large.a_m = 1, large.a_k = 220, large.b_k = 210, large.b_n = 1, large.c_m = 210, large.c_n = 1;
  large.a = Boxed(memory.Private(220 * 200 * 4));
  large.b = Boxed(memory.Private(200 * 210 * 4));
  large.c = Boxed(memory.Private(220 * 210 * 4));
  Append(program, std::move(large));
}

// Lines of 9 elements by 3 elements, with padding; groups as given.
void AddConvolution(ArtifactT& root, ProgramT& program, ElementType element, uint64_t groups, uint64_t inputs,
                    uint64_t outputs, int64_t dilation) {
  Allocator memory(root);
  using Dim = artifact::ConvolutionDim;
  const uint64_t size = element == ElementType::F32 ? 4 : 1, in = groups * inputs, out = groups * outputs;
  const auto stride = [](uint64_t value) { return static_cast<int64_t>(value); };
  artifact::ConvolutionT c;
  c.element = element;
  c.batch = std::make_unique<Dim>(2, stride(63 * in), 0, stride(63 * out));
  c.groups = std::make_unique<Dim>(groups, stride(inputs), stride(9 * inputs * outputs), stride(outputs));
  c.inputs = std::make_unique<Dim>(inputs, 1, stride(outputs), 0);
  c.outputs = std::make_unique<Dim>(outputs, 0, 1, 1);
  c.spatial.emplace_back(7, 7, 3, 1, dilation, dilation, stride(9 * in), stride(3 * inputs * outputs), stride(9 * out));
  c.spatial.emplace_back(9, 9, 3, 1, dilation, dilation, stride(in), stride(inputs * outputs), stride(out));
  c.lhs = Boxed(memory.Private(2 * 63 * in * size));
  c.rhs = Boxed(memory.Private(9 * in * outputs * size));
  c.result = Boxed(memory.Private(2 * 63 * out * 4));
  if (groups > 1) c.epilogue = {EpilogueStep::Bias};
  if (groups > 1) c.bias = Boxed(memory.Private(out * 4));
  Append(program, std::move(c));
}

void AddConvolutions(ArtifactT& root, ProgramT& program) {
  AddConvolution(root, program, ElementType::F32, 1, 5, 12, 1);
  AddConvolution(root, program, ElementType::F32, 1, 5, 12, -1);
  AddConvolution(root, program, ElementType::F32, 24, 1, 1, 1);
  AddConvolution(root, program, ElementType::F32, 6, 2, 4, 2);
  AddConvolution(root, program, ElementType::I8, 1, 3, 4, 1);
}

// Tiles of two products with scratch memory in between, then of a kernel.
void AddTiled(ArtifactT& root, ProgramT& program) {
  Allocator memory(root);
  artifact::TiledT tiled;
  tiled.loops = {2, 4};
  tiled.outputs = 1;
  tiled.scratch_bytes = 64;
  const Slice a = memory.Private(512), b = memory.Private(1024), c = memory.Private(512);
  for (const auto& [slice, strides] :
       {std::pair(a, std::vector<uint64_t>{256, 64}), std::pair(b, std::vector<uint64_t>{0, 0}),
        std::pair(c, std::vector<uint64_t>{256, 64})}) {
    tiled.operands.push_back(std::make_unique<artifact::TileOperandT>());
    tiled.operands.back()->slice = Boxed(slice);
    tiled.operands.back()->strides = strides;
  }
  const auto add_step = [&](auto operation, std::vector<int32_t> operands) {
    tiled.steps.push_back(std::make_unique<artifact::TileStepT>());
    tiled.steps.back()->op.Set(std::move(operation));
    tiled.steps.back()->operands = std::move(operands);
  };
  const auto product = [&](Slice from, Slice to) {
    artifact::MatmulT matmul;
    matmul.element = ElementType::F32;
    matmul.m = 1, matmul.n = matmul.k = 16;
    matmul.a_m = matmul.b_k = matmul.c_m = 16;
    matmul.a_k = matmul.b_n = matmul.c_n = 1;
    matmul.a = Boxed(from), matmul.b = Boxed(b), matmul.c = Boxed(to);
    return matmul;
  };
  const Slice first_a(Space::Private, a.offset(), 64), first_c(Space::Private, c.offset(), 64);
  add_step(product(first_a, Slice(Space::Scratch, 0, 64)), {0, 1, -1});
  add_step(product(Slice(Space::Scratch, 0, 64), first_c), {-1, 1, 2});
  artifact::LaunchT launch;
  launch.kernel = 1;
  launch.buffers = {first_c};
  launch.range = launch.grain = 8;
  add_step(std::move(launch), {2});
  root.kernels[1]->least_bytes = {64}, root.kernels[1]->range = 8;
  Append(program, std::move(tiled));
}

// A loop around a case around a loop, with launches in groups, copies and fills inside.
void AddControlFlow(ArtifactT& root, ProgramT& program) {
  Allocator memory(root);
  const Slice index = memory.Private(4), source = memory.Private(256), target = memory.Private(256);
  const auto fill = [&](const Slice& slice) {
    artifact::FillT operation;
    operation.target = Boxed(slice);
    operation.pattern = {1, 0, 0, 0};
    Append(program, std::move(operation));
  };
  const auto copy = [&] {
    artifact::CopyT operation;
    operation.source = Boxed(source), operation.target = Boxed(target);
    Append(program, std::move(operation));
  };
  const auto group = [&] {
    artifact::LaunchGroupT operation;
    for (int i = 0; i < 3; ++i) {
      operation.launches.push_back(std::make_unique<artifact::LaunchT>());
      artifact::LaunchT& launch = *operation.launches.back();
      launch.kernel = 0;
      launch.buffers = {source, memory.Private(256)};
      launch.coordinates.push_back(std::make_unique<artifact::CoordinateT>());
      launch.range = 64, launch.grain = 8;
    }
    Append(program, std::move(operation));
  };
  fill(index);
  artifact::LoopT outer;
  outer.body = 8, outer.trips = 3;
  Append(program, outer);
  artifact::CaseT branches;
  branches.index = Boxed(index);
  branches.branches = {2, 4};
  Append(program, std::move(branches));
  copy(), fill(target);
  artifact::LoopT inner;
  inner.body = 2, inner.trips = 2;
  Append(program, inner);
  copy(), group();
  fill(source);
  fill(target);
}

artifact::CollectiveT CollectiveOf(CollectiveKind kind, uint32_t ranks) {
  artifact::CollectiveT collective;
  collective.kind = kind;
  collective.axes = {artifact::AxisRef(0, 1, ranks)};
  return collective;
}

artifact::CollectiveOperandT OperandOf(Allocator& memory, uint64_t from, uint64_t to) {
  artifact::CollectiveOperandT operand;
  operand.element = ElementType::F32;
  operand.source = Boxed(memory.Window(from * 4)), operand.target = Boxed(memory.Window(to * 4));
  operand.count = from;
  return operand;
}

void AddCollectives(ArtifactT& root, ProgramT& program, uint32_t ranks) {
  Allocator memory(root);
  const auto add = [&](artifact::CollectiveT collective, artifact::CollectiveOperandT operand) {
    collective.operands.push_back(std::make_unique<artifact::CollectiveOperandT>(std::move(operand)));
    Append(program, std::move(collective));
  };
  for (const uint64_t count : {24u, 6000u}) {
    artifact::CollectiveOperandT gather = OperandOf(memory, count, count * ranks);
    gather.outer = 3, gather.inner = count / 3;
    add(CollectiveOf(CollectiveKind::AllGather, ranks), std::move(gather));
    artifact::CollectiveOperandT scatter = OperandOf(memory, count * ranks, count);
    scatter.outer = 3, scatter.inner = count / 3;
    add(CollectiveOf(CollectiveKind::ReduceScatter, ranks), std::move(scatter));
    artifact::CollectiveOperandT all_to_all = OperandOf(memory, count, count);
    all_to_all.dims = {2, 2, count / 4}, all_to_all.split = 0, all_to_all.concat = 1;
    add(CollectiveOf(CollectiveKind::AllToAll, ranks), std::move(all_to_all));
    artifact::CollectiveT permute = CollectiveOf(CollectiveKind::Permute, ranks);
    permute.from_axes = permute.axes;
    add(std::move(permute), OperandOf(memory, count, count));
    add(CollectiveOf(CollectiveKind::Broadcast, ranks), OperandOf(memory, count, count));
    artifact::CollectiveT range = CollectiveOf(CollectiveKind::GatherRange, ranks);
    range.to_axes = range.axes;
    artifact::CollectiveOperandT rows = OperandOf(memory, count, count + 4);
    rows.outer = 2, rows.inner = 2;
    rows.range = std::make_unique<artifact::TileRangeT>();
    rows.range->size = count / 4 * ranks, rows.range->tile = count / 4, rows.range->length = count / 4 + 1;
    rows.range->scale = static_cast<int64_t>(count / 4), rows.range->offset = -1;
    add(std::move(range), std::move(rows));
  }
  artifact::CollectiveT reduce = CollectiveOf(CollectiveKind::AllReduce, ranks);
  reduce.starts = true;
  const uint32_t start = static_cast<uint32_t>(program.instructions.size());
  add(std::move(reduce), OperandOf(memory, 5000, 5000));
  artifact::DoneT done;
  done.start = start;
  Append(program, done);
}

VariedArtifact Varied(const char* name, uint32_t ranks, const std::function<void(ArtifactT&, ProgramT&)>& add) {
  artifact::ArtifactWriter writer;
  FillSample(writer, ranks);
  add(writer.artifact(), *writer.artifact().programs[0]);
  absl::StatusOr<std::string> bytes = writer.Serialize();
  EXPECT_TRUE(bytes.ok()) << name << ": " << bytes.status();
  return {name, bytes.ok() ? *std::move(bytes) : SampleBytes(1)};
}

VariedArtifact Pipeline() {
  artifact::ArtifactWriter writer;
  FillPipeline(writer);
  absl::StatusOr<std::string> bytes = writer.Serialize();
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return {"pipeline", bytes.ok() ? *std::move(bytes) : SampleBytes(1)};
}

}  // namespace

std::vector<VariedArtifact> VariedArtifacts() {
  std::vector<VariedArtifact> all;
  all.push_back(Varied("sample", 1, [](ArtifactT&, ProgramT&) {}));
  all.push_back(Varied("matmuls", 1, AddMatmuls));
  all.push_back(Varied("convolutions", 1, AddConvolutions));
  all.push_back(Varied("tiled", 1, AddTiled));
  all.push_back(Varied("control flow", 1, AddControlFlow));
  for (const uint32_t ranks : {1u, 2u}) {
    all.push_back(Varied("collectives", ranks,
                         [ranks](ArtifactT& root, ProgramT& program) { AddCollectives(root, program, ranks); }));
  }
  all.push_back(Pipeline());
  return all;
}

}  // namespace sgd::testing
