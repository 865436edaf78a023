// Offsets are laid out by hand; SampleLayout says where everything is.
#include "tests/runtime/artifact/sample_artifact.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace sgd::testing {
namespace {

using artifact::ElementType;
using artifact::Slice;
using artifact::Space;

// Private space. Bytes of x: 4*8*4 = 128, w and new_w: 8*16*4 = 512, y, z and t: 4*16*4 = 256.
struct SampleLayout {
  static constexpr uint64_t x = 0, w = 128, y = 640, z = 896, t = 1152, new_w = 1408, flag = 1920, size = 1984;
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::unique_ptr<artifact::InputT> InputOf(const std::string& name, std::unique_ptr<artifact::TensorInfoT> type,
                                          std::unique_ptr<Slice> slice, bool state) {
  auto input = std::make_unique<artifact::InputT>();
  input->name = name;
  input->type = std::move(type);
  input->slice = std::move(slice);
  input->state = state;
  return input;
}

std::unique_ptr<artifact::OutputT> OutputOf(const std::string& name, std::unique_ptr<artifact::TensorInfoT> type,
                                            std::unique_ptr<Slice> slice, int carry) {
  auto output = std::make_unique<artifact::OutputT>();
  output->name = name;
  output->type = std::move(type);
  output->slice = std::move(slice);
  output->carry_input = carry;
  return output;
}

artifact::MatmulT SampleMatmul() {
  artifact::MatmulT matmul;
  matmul.element = ElementType::F32;
  matmul.m = 4, matmul.n = 16, matmul.k = 8;
  matmul.a = SliceAt(Space::Private, SampleLayout::x, 128);
  matmul.a_m = 8, matmul.a_k = 1;
  matmul.b = SliceAt(Space::Private, SampleLayout::w, 512);
  matmul.b_k = 16, matmul.b_n = 1;
  matmul.c = SliceAt(Space::Private, SampleLayout::y, 256);
  matmul.c_m = 16, matmul.c_n = 1;
  return matmul;
}

artifact::LaunchT SampleLaunch(uint32_t ranks) {
  artifact::LaunchT launch;
  launch.kernel = 0;
  launch.buffers = {Slice(Space::Private, SampleLayout::y, 256), Slice(Space::Private, SampleLayout::z, 256)};
  launch.coordinates.push_back(std::make_unique<artifact::CoordinateT>());
  launch.coordinates[0]->axes = {artifact::AxisRef(0, 1, ranks)};
  launch.range = 64;
  launch.grain = 16;
  return launch;
}

artifact::CollectiveT SampleAllReduce(uint32_t ranks) {
  artifact::CollectiveT collective;
  collective.kind = artifact::CollectiveKind::AllReduce;
  collective.reduce = artifact::ReduceKind::Add;
  collective.axes = {artifact::AxisRef(0, 1, ranks)};
  auto operand = std::make_unique<artifact::CollectiveOperandT>();
  operand->element = ElementType::F32;
  operand->source = SliceAt(Space::Window, 0, 256);
  operand->target = SliceAt(Space::Window, 0, 256);
  operand->count = 64;
  collective.operands.push_back(std::move(operand));
  return collective;
}

artifact::CopyT CopyOf(Slice source, Slice target) {
  artifact::CopyT copy;
  copy.source = std::make_unique<Slice>(source);
  copy.target = std::make_unique<Slice>(target);
  return copy;
}

artifact::FillT FillOf(Slice target, std::vector<uint8_t> pattern) {
  artifact::FillT fill;
  fill.target = std::make_unique<Slice>(target);
  fill.pattern = std::move(pattern);
  return fill;
}

}  // namespace

std::string TestKernels() { return ReadAll(std::string(SGD_TEST_KERNELS_DIR) + "/test_kernels.so"); }

std::string BadKernels(const std::string& name) {
  return ReadAll(std::string(SGD_TEST_KERNELS_DIR) + "/bad_" + name + ".so");
}

std::unique_ptr<Slice> SliceAt(Space space, uint64_t offset, uint64_t size) {
  return std::make_unique<Slice>(space, offset, size);
}

std::unique_ptr<artifact::TensorInfoT> TensorOf(ElementType element, const std::vector<uint64_t>& global_dims,
                                                uint32_t axis) {
  auto type = std::make_unique<artifact::TensorInfoT>();
  type->element = element;
  type->global_dims = global_dims;
  type->local_dims = global_dims;
  for (size_t i = 0; i < global_dims.size(); ++i) type->sharding.push_back(std::make_unique<artifact::DimShardingT>());
  if (axis > 1) {
    type->local_dims[0] = (global_dims[0] + axis - 1) / axis;
    type->sharding[0]->axes = {artifact::AxisRef(0, 1, axis)};
  }
  return type;
}

void FillSample(artifact::ArtifactWriter& writer, uint32_t ranks) {
  artifact::ArtifactT& root = writer.artifact();
  root.compiler_version = "test";
  root.target = "cpu";
  root.cpu = "x86-64";
  root.private_bytes = SampleLayout::size;
  root.window_bytes = 256;
  root.mesh.push_back(std::make_unique<artifact::MeshAxisT>());
  root.mesh[0]->name = "data";
  root.mesh[0]->size = ranks;
  for (const char* symbol : {"scale", "parts"}) {
    root.kernels.push_back(std::make_unique<artifact::KernelT>());
    root.kernels.back()->symbol = symbol;
    root.kernels.back()->outputs = 1;
  }
  root.kernels[0]->least_bytes = {256, 256}, root.kernels[0]->coordinates = 1, root.kernels[0]->range = 64;
  root.kernels[1]->least_bytes = {512}, root.kernels[1]->range = 64;
  writer.SetKernels(TestKernels());
  float ramp[128];
  for (int i = 0; i < 128; ++i) ramp[i] = static_cast<float>(i);
  const Slice constant = writer.AddConstant({reinterpret_cast<const char*>(ramp), sizeof(ramp)});

  auto program = std::make_unique<artifact::ProgramT>();
  program->name = "main";
  program->locations = {"model.py:1:1", "model.py:2:5"};
  program->inputs.push_back(InputOf("x", TensorOf(ElementType::F32, {4ull * ranks, 8}, ranks),
                                    SliceAt(Space::Private, SampleLayout::x, 128), false));
  program->inputs.push_back(
      InputOf("w", TensorOf(ElementType::F32, {8, 16}, 1), SliceAt(Space::Private, SampleLayout::w, 512), true));
  Append(*program, SampleMatmul());
  Append(*program, SampleLaunch(ranks)).loc = 1;
  const Slice z(Space::Private, SampleLayout::z, 256), t(Space::Private, SampleLayout::t, 256);
  const Slice window(Space::Window, 0, 256), new_w(Space::Private, SampleLayout::new_w, 512);
  const Slice flag(Space::Private, SampleLayout::flag, 4);
  Append(*program, CopyOf(z, window));
  Append(*program, SampleAllReduce(ranks));
  Append(*program, CopyOf(window, t));
  Append(*program, CopyOf(constant, new_w));
  Append(*program, FillOf(flag, {7, 0, 0, 0}));
  program->outputs.push_back(OutputOf("t", TensorOf(ElementType::F32, {4, 16}, 1), std::make_unique<Slice>(t), -1));
  program->outputs.push_back(
      OutputOf("new_w", TensorOf(ElementType::F32, {8, 16}, 1), std::make_unique<Slice>(new_w), 1));
  program->outputs.push_back(OutputOf("flag", TensorOf(ElementType::I32, {}, 1), std::make_unique<Slice>(flag), -1));
  root.programs.push_back(std::move(program));
}

std::string SampleBytes(uint32_t ranks) {
  artifact::ArtifactWriter writer;
  FillSample(writer, ranks);
  absl::StatusOr<std::string> bytes = writer.Serialize();
  return bytes.ok() ? *bytes : bytes.status().ToString();
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "sgd-test-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sgd::testing
