// Forges fields of compiled artifacts and makes the hashes right again: the reader must refuse each lie for its own
// cause. Compiles at test time, so that no format version ends the check early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "compiler/driver/driver.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/reader.h"
#include "tests/differential/ranks.h"

namespace mlir::sgd::fuzz {
namespace {

namespace artifact = ::sgd::artifact;
using testing::HasSubstr;

constexpr char kConvolution[] = R"(
func.func public @main(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x16xf32>) -> tensor<2x8x8x16xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<2x8x8x16xf32>
  return %0 : tensor<2x8x8x16xf32>
})";

// A loop over a matmul and a kernel.
constexpr char kLoop[] = R"(
func.func public @main(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<1000> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c0, %a = %x) : tensor<i32>, tensor<32x32xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %n = stablehlo.add %i, %c1 : tensor<i32>
      %d = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      %t = stablehlo.tanh %d : tensor<32x32xf32>
      stablehlo.return %n, %t : tensor<i32>, tensor<32x32xf32>
    }
  return %r#1 : tensor<32x32xf32>
})";

// A range of rows that begins in the middle of a shard.
constexpr char kGather[] = R"(
sdy.mesh @mesh = <["data"=2]>
func.func public @main(%x: tensor<64x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<62x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.slice %x [1:63, 0:4] : (tensor<64x4xf32>) -> tensor<62x4xf32>
  return %0 : tensor<62x4xf32>
})";

std::string compileText(const char* text) {
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  CompileOptions options;
  options.threads = 1;
  FailureOr<Compilation> compilation = compile({{"main", "program.mlir", text}}, options, stream);
  EXPECT_TRUE(succeeded(compilation)) << messages;
  return succeeded(compilation) ? compilation->artifact : "";
}

using Change = std::function<void(artifact::ArtifactT&, artifact::ProgramT&)>;

std::string forge(const std::string& bytes, const Change& change) {
  artifact::Sections sections =
      artifact::OpenContainer({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()})->front();
  artifact::ArtifactT root;
  artifact::GetArtifact(sections.program.data())->UnPackTo(&root);
  change(root, *root.programs.front());
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Artifact::Pack(builder, &root), artifact::ArtifactIdentifier());
  sections.program = {builder.GetBufferPointer(), builder.GetSize()};
  return *artifact::BuildContainer({sections});
}

std::string refusalOf(const std::string& bytes) {
  return std::string(artifact::ArtifactFile::FromBytes(bytes, "forged.sgda").status().message());
}

template <typename Table>
Table& first(artifact::ProgramT& program) {
  for (auto& instruction : program.instructions)
    if (instruction->op.type == artifact::OperationUnionTraits<Table>::enum_value)
      return *static_cast<Table*>(instruction->op.value);
  llvm::report_fatal_error("the program has no such instruction");
}

using artifact::CollectiveT;
using artifact::ConvolutionT;
using artifact::LaunchT;
using artifact::LoopT;
using artifact::MatmulT;

struct Lie {
  const char* name;
  const char* text;
  Change change;
  const char* cause;  // in the reader's message
};

const Lie kLies[] = {
    {"windows reach far", kConvolution,
     [](auto&, auto& program) {
       ConvolutionT& op = first<ConvolutionT>(program);
       const artifact::WindowDim old = op.spatial.front();
       op.spatial.front() = artifact::WindowDim(old.input(), old.output(), old.kernel(), int64_t{1} << 61,
                                                old.dilation(), old.low(), old.lhs(), old.rhs(), old.result());
     },
     "instruction 0 (convolution): a stride, a dilation or a padding is larger than 2^31"},
    {"a window that does not move", kConvolution,
     [](auto&, auto& program) {
       ConvolutionT& op = first<ConvolutionT>(program);
       const artifact::WindowDim old = op.spatial.front();
       op.spatial.front() = artifact::WindowDim(old.input(), old.output(), old.kernel(), 0, old.dilation(), old.low(),
                                                old.lhs(), old.rhs(), old.result());
     },
     "instruction 0 (convolution): a stride below 1"},
    {"a launch without buffers", kLoop, [](auto&, auto& program) { first<LaunchT>(program).buffers.clear(); },
     "(launch): 0 buffers with 1 outputs where kernel 'kernel_0' takes 2 with 1"},
    {"a kernel's range", kLoop, [](auto&, auto& program) { first<LaunchT>(program).range = uint64_t{1} << 40; },
     "the range 1099511627776 is larger than the "},
    {"trips", kLoop, [](auto&, auto& program) { first<LoopT>(program).trips = UINT64_MAX; },
     "a step has more than 1099511627776 trips of a loop"},
    {"multiplications", kLoop,
     [](auto&, auto& program) {
       MatmulT& op = first<MatmulT>(program);
       op.k = uint64_t{1} << 47, op.a_k = op.b_k = 0;
     },
     "a step has more than 9223372036854775808 multiplications"},
    {"rows without elements", kGather,
     [](auto&, auto& program) {
       artifact::CollectiveOperandT& operand = *first<CollectiveT>(program).operands.front();
       operand.outer = uint64_t{1} << 60, operand.inner = 0;
     },
     "an operand has more than 2^62 bytes"},
    {"elements of a range", kGather,
     [](auto&, auto& program) { first<CollectiveT>(program).operands.front()->range->length = uint64_t{1} << 40; },
     "the target of operand 0"},
};

TEST(ForgedArtifacts, AreRefusedForTheirCause) {
  for (const Lie& lie : kLies) {
    const std::string honest = compileText(lie.text);
    ASSERT_EQ(refusalOf(forge(honest, [](auto&, auto&) {})), "") << lie.name;
    EXPECT_THAT(refusalOf(forge(honest, lie.change)), HasSubstr(lie.cause)) << lie.name;
  }
}

// Legal, if odd: a filter of one element for all positions.
TEST(ForgedArtifacts, AConvolutionMayReadOneElementAgain) {
  const std::string forged = forge(compileText(kConvolution), [](auto&, auto& program) {
    ConvolutionT& op = first<ConvolutionT>(program);
    for (artifact::WindowDim& dim : op.spatial)
      dim = artifact::WindowDim(dim.input(), dim.output(), dim.kernel(), dim.stride(), dim.dilation(), dim.low(),
                                dim.lhs(), /*rhs=*/0, dim.result());
    for (auto* dim : {op.batch.get(), op.groups.get(), op.inputs.get(), op.outputs.get()})
      *dim = artifact::ConvolutionDim(dim->size(), dim->lhs(), /*rhs=*/0, dim->result());
    *op.rhs = artifact::Slice(op.rhs->space(), op.rhs->offset(), sizeof(float));
  });
  ASSERT_EQ(refusalOf(forged), "");
  EXPECT_TRUE(differential::runOnRanks(forged, /*inputs=*/{}).ok());
}

}  // namespace
}  // namespace mlir::sgd::fuzz
