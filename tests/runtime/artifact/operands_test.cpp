// Checks the visitor of operands on every kind of operation, and what derives from it.
#include "runtime/artifact/operands.h"

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/accesses.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/comm/collectives/collective_spec.h"
#include "runtime/linear_algebra/form.h"
#include "tests/runtime/artifact/varied_artifacts.h"
#include "tests/runtime/artifact/violations.h"

namespace sgd::artifact {
namespace {

// "read a 0+16, update c 64+8": offsets and sizes, absent operands in parentheses.
std::string TextOf(const Instruction& instruction) {
  static constexpr const char* kWords[] = {"read ", "write ", "update "};
  std::string text;
  ForEachOperand(instruction, [&](const Operand& operand) {
    const Slice* slice = operand.slice;
    absl::StrAppend(&text, text.empty() ? "" : ", ", kWords[static_cast<int>(operand.access)], operand.role,
                    slice == nullptr ? " ()" : absl::StrCat(" ", slice->offset(), "+", slice->size()));
  });
  return text;
}

template <typename OperationT>
std::string TextOf(OperationT operation) {
  InstructionT instruction;
  instruction.op.Set(std::move(operation));
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Instruction::Pack(builder, &instruction));
  return TextOf(*flatbuffers::GetRoot<Instruction>(builder.GetBufferPointer()));
}

std::unique_ptr<Slice> At(uint64_t offset, uint64_t size) { return testing::SliceAt(Space::Private, offset, size); }

MatmulT Product() {
  MatmulT matmul;
  matmul.a = At(0, 4), matmul.b = At(4, 4), matmul.c = At(8, 4);
  return matmul;
}

TEST(Operands, FollowTheEpilogue) {
  EXPECT_EQ(TextOf(Product()),
            "read a 0+4, read b 4+4, write c 8+4, read bias (), read aux (), write reduction (), "
            "write workspace ()");
  MatmulT sum = Product();
  sum.epilogue = {EpilogueStep::Residual};
  EXPECT_THAT(TextOf(sum), ::testing::HasSubstr("update c 8+4"));
  MatmulT gelu = Product();
  gelu.epilogue = {EpilogueStep::Gelu}, gelu.aux = At(12, 4);
  EXPECT_THAT(TextOf(gelu), ::testing::HasSubstr("write aux 12+4"));
  gelu.epilogue = {EpilogueStep::GeluGradient};
  EXPECT_THAT(TextOf(gelu), ::testing::HasSubstr("read aux 12+4"));
}

TEST(Operands, OfALaunchAreInputsThenOutputs) {
  LaunchT launch;
  launch.buffers = {Slice(Space::Private, 0, 4), Slice(Space::Private, 4, 4), Slice(Space::Private, 8, 4)};
  launch.outputs = 2;
  EXPECT_EQ(TextOf(launch), "read buffer 0+4, write buffer 4+4, write buffer 8+4");
  LaunchGroupT group;
  for (int i = 0; i < 2; ++i) group.launches.push_back(std::make_unique<LaunchT>(launch));
  EXPECT_EQ(TextOf(group), absl::StrCat(TextOf(launch), ", ", TextOf(launch)));
}

TEST(Operands, OfACopyAreTheBytesThatItCopies) {
  CopyT copy;
  copy.source = At(0, 64), copy.target = At(128, 16);
  EXPECT_EQ(TextOf(copy), "read source 0+16, write target 128+16");
}

TEST(Operands, OfAttentionDependOnTheDirection) {
  AttentionT attention;
  const auto tensor = [](uint64_t offset) {
    return std::make_unique<AttentionTensor>(Slice(Space::Private, offset, 8), 1, 1, 1);
  };
  attention.query = tensor(0), attention.key = tensor(8), attention.value = tensor(16), attention.out = tensor(24);
  attention.log_sum = At(32, 8);
  EXPECT_EQ(TextOf(attention),
            "read query 0+8, read key 8+8, read value 16+8, write out 24+8, write log_sum 32+8, read bias (), "
            "write workspace ()");
  attention.gradients = std::make_unique<AttentionGradientsT>();
  AttentionGradientsT& gradients = *attention.gradients;
  gradients.out_gradient = tensor(40), gradients.query = tensor(48), gradients.key = tensor(56),
  gradients.value = tensor(64);
  EXPECT_EQ(TextOf(attention),
            "read query 0+8, read key 8+8, read value 16+8, read out 24+8, read log_sum 32+8, read bias (), "
            "read out_gradient 40+8, write query_gradient 48+8, write key_gradient 56+8, write value_gradient 64+8, "
            "write workspace ()");
}

// "a f32, b f8e4m3fn": of those whose elements are known.
std::string ElementsOf(InstructionT& instruction, const std::vector<std::vector<ElementType>>& kernels) {
  ArtifactT artifact;
  for (const std::vector<ElementType>& elements : kernels) {
    artifact.kernels.push_back(std::make_unique<KernelT>());
    artifact.kernels.back()->symbol = "kernel";
    artifact.kernels.back()->elements = elements;
  }
  artifact.compiler_version = "0", artifact.target = "cpu";
  flatbuffers::FlatBufferBuilder table, builder;
  table.Finish(Artifact::Pack(table, &artifact));
  builder.Finish(Instruction::Pack(builder, &instruction));
  std::string text;
  ForEachOperand(*flatbuffers::GetRoot<Instruction>(builder.GetBufferPointer()),
                 flatbuffers::GetRoot<Artifact>(table.GetBufferPointer())->kernels(), [&](const Operand& operand) {
                   if (operand.element)
                     absl::StrAppend(&text, text.empty() ? "" : ", ", operand.role, " ", ElementName(*operand.element));
                 });
  return text;
}

TEST(Operands, HaveTheElementsOfTheirOperation) {
  InstructionT instruction;
  MatmulT matmul = Product();
  matmul.element = ElementType::F8E4M3FN, matmul.b_element = ElementType::F8E5M2, matmul.c_element = ElementType::BF16;
  instruction.op.Set(std::move(matmul));
  EXPECT_EQ(ElementsOf(instruction, {}), "a f8e4m3fn, b f8e5m2, c bf16, bias bf16, aux bf16, reduction bf16");
  CopyT copy;
  copy.source = At(0, 64), copy.target = At(128, 16);
  instruction.op.Set(std::move(copy));
  EXPECT_EQ(ElementsOf(instruction, {}), "");
}

TEST(Operands, OfLaunchesHaveTheElementsOfTheirKernels) {
  LaunchT launch;
  launch.kernel = 1, launch.outputs = 1;
  launch.buffers = {Slice(Space::Private, 0, 4), Slice(Space::Private, 4, 4)};
  const std::vector<std::vector<ElementType>> kernels = {{}, {ElementType::I32, ElementType::F64}};
  InstructionT instruction;
  instruction.op.Set(LaunchT(launch));
  EXPECT_EQ(ElementsOf(instruction, kernels), "buffer i32, buffer f64");
  EXPECT_EQ(ElementsOf(instruction, {}), "");
  LaunchGroupT group;
  for (int i = 0; i < 2; ++i) group.launches.push_back(std::make_unique<LaunchT>(launch));
  group.launches[1]->kernel = 0;
  instruction.op.Set(std::move(group));
  EXPECT_EQ(ElementsOf(instruction, kernels), "buffer i32, buffer f64");
  // The steps of tiles see parts of what the tiles see.
  TiledT tiled;
  for (uint64_t offset : {8, 12}) {
    tiled.operands.push_back(std::make_unique<TileOperandT>());
    tiled.operands.back()->slice = At(offset, 4);
  }
  tiled.outputs = 1;
  tiled.steps.push_back(std::make_unique<TileStepT>());
  tiled.steps[0]->op.Set(LaunchT(launch));
  tiled.steps[0]->operands = {1, -1};
  instruction.op.Set(std::move(tiled));
  EXPECT_EQ(ElementsOf(instruction, kernels), "buffer i32");
}

// Accesses are the operands that are there.
TEST(Operands, AreTheAccessesOfVariedArtifacts) {
  std::set<Operation> seen;
  for (const testing::VariedArtifact& artifact : testing::VariedArtifacts()) {
    absl::StatusOr<std::unique_ptr<ArtifactFile>> file = ArtifactFile::FromBytes(artifact.bytes, artifact.name);
    ASSERT_TRUE(file.ok()) << file.status();
    for (const Program* program : *(*file)->root().programs()) {
      for (const Instruction* instruction : *program->instructions()) {
        seen.insert(instruction->op_type());
        size_t operands = 0, updates = 0;
        ForEachOperand(*instruction, [&](const Operand& operand) {
          EXPECT_TRUE(operand.slice != nullptr || operand.is_optional) << artifact.name << " " << operand.role;
          if (operand.slice == nullptr || operand.slice->size() == 0) return;
          ++operands;
          updates += operand.access == Access::kUpdate;
          EXPECT_FALSE(operand.is_written() && operand.slice->space() == Space::Constant) << operand.role;
        });
        const Accesses accesses = AccessesOf(*instruction);
        EXPECT_EQ(accesses.reads.size() + accesses.writes.size(), operands);
        EXPECT_EQ(accesses.updates.size(), updates);
      }
    }
  }
  EXPECT_GE(seen.size(), 8u);
}

// Checks of a kind need not know of all its operands.
TEST(Operands, AreInMemoryWhateverTheKindChecks) {
  const auto outside = [] { return testing::SliceAt(Space::Private, uint64_t{1} << 40, 64); };
  ExpectRefused({
      {"bias without its epilogue", [&](ArtifactT&, ProgramT& p) { MatmulIn(p).bias = outside(); },
       "instruction 0 (matmul): an operand bias that no epilogue step needs"},
      {"copy to constants",
       [](ArtifactT&, ProgramT& p) { CopyIn(p).target = testing::SliceAt(Space::Constant, 0, 256); },
       "instruction 2 (copy): target is in the constants, which are read-only"},
      {"fill outside", [&](ArtifactT&, ProgramT& p) { FillIn(p).target = outside(); },
       "instruction 6 (fill): target: 64 bytes at 1099511627776 are outside"},
  });
}

TEST(SchemaNames, AreLowerCase) {
  EXPECT_EQ(NameOf(EpilogueStep::LhsReduction), "lhs_reduction");
  EXPECT_EQ(NameOf(EpilogueStep::GeluGradient), "gelu_gradient");
  EXPECT_EQ(NameOf(CollectiveKind::AllToAll), "all_to_all");
  EXPECT_EQ(NameOf(Operation::LaunchGroup), "launch_group");
  EXPECT_EQ(NameOf(Operation::NONE), "unknown");
  EXPECT_EQ(NameOf(static_cast<EpilogueStep>(200)), "unknown");
}

// The two other tables of names, of parts that do not know the schema.
TEST(SchemaNames, AreThoseOfLibrariesAndCommunicators) {
  for (CollectiveKind kind : EnumValuesCollectiveKind())
    EXPECT_EQ(NameOf(kind), comm::CollectiveName(static_cast<comm::CollectiveKind>(kind)));
  for (ReduceKind kind : EnumValuesReduceKind())
    EXPECT_EQ(NameOf(kind), comm::ReduceName(static_cast<comm::ReduceKind>(kind)));
  for (LinearAlgebraKind kind : EnumValuesLinearAlgebraKind())
    EXPECT_EQ(NameOf(kind), linear_algebra::KindName(static_cast<linear_algebra::Kind>(kind)));
}

}  // namespace
}  // namespace sgd::artifact
