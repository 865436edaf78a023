// Compilations for GPUs: what the artifact says about kernels, and targets that are refused.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "compiler/driver/driver.h"
#include "compiler/target/target.h"
#include "runtime/artifact/kernel_modules.h"
#include "runtime/artifact/reader.h"

namespace mlir::sgd {
namespace {

using ::testing::HasSubstr;

// A softmax and a sum over ranks.
constexpr const char* kProgram = R"(
sgd.mesh @mesh = <["data"=4]>
func.func @main(%x: tensor<32x64xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<32x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>},
        tensor<64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) {
  %e = math.exp %x : tensor<32x64xf32>
  %s = sgd.reduce add %e dimensions = [1] : tensor<32x64xf32> -> tensor<32xf32>
  %b = sgd.broadcast_in_dim %s dims = [0] : tensor<32xf32> -> tensor<32x64xf32>
  %r = arith.divf %e, %b : tensor<32x64xf32>
  %c = sgd.reduce add %r dimensions = [0] : tensor<32x64xf32> -> tensor<64xf32>
  return %r, %c : tensor<32x64xf32>, tensor<64xf32>
}
)";

FailureOr<Compilation> compileFor(const std::string& target, unsigned threads = 1) {
  CompileOptions options;
  options.target = target;
  options.threads = threads;
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  FailureOr<Compilation> result = compile(ProgramSource{"main", "program.mlir", kProgram}, options, stream);
  EXPECT_TRUE(succeeded(result)) << errors;
  return result;
}

TEST(CudaTarget, OneModulePerArchitecture) {
  FailureOr<Compilation> compilation = compileFor("cuda:sm_80,sm_90,sm_100");
  ASSERT_TRUE(succeeded(compilation));
  auto file = ::sgd::artifact::ArtifactFile::FromBytes(compilation->artifact, "program.sgda");
  ASSERT_TRUE(file.ok()) << file.status();
  const ::sgd::artifact::Artifact& root = (*file)->root();
  EXPECT_EQ(root.target()->str(), "cuda");
  auto modules = ::sgd::artifact::ReadKernelModules(root, (*file)->kernels());
  ASSERT_TRUE(modules.ok()) << modules.status();
  ASSERT_EQ(modules->size(), 3u);
  for (const auto& module : *modules) {
    EXPECT_THAT(std::string(module.text), HasSubstr(".target " + std::string(module.architecture) + "\n"));
    for (const auto* kernel : *root.kernels()) {
      EXPECT_THAT(std::string(module.text), HasSubstr(".entry " + kernel->symbol()->str() + "("));
      EXPECT_NE(::sgd::artifact::Size(kernel->least_bytes()) == 0, ::sgd::artifact::Size(kernel->parts()) == 0);
      EXPECT_THAT(std::string(module.text), HasSubstr(".reqntid " + std::to_string(kernel->threads())));
    }
    // Multiplications and additions that ptxas may not contract.
    EXPECT_THAT(std::string(module.text), HasSubstr("add.rn.f32"));
    EXPECT_THAT(std::string(module.text), ::testing::Not(HasSubstr("mul.f32")));
  }
}

// More kernels than one module of LLVM takes, with tables and functions of the same names in each.
TEST(CudaTarget, ModulesOfOneTextShareNoNames) {
  std::string body;
  for (int i = 0; i < 40; ++i) {
    std::string number = std::to_string(i), shape = "tensor<" + std::to_string(i + 3) + "x8xf32>";
    body += "%s" + number + " = math.sin %x" + number + " : " + shape + "\n";
  }
  std::string arguments, returned, types;
  for (int i = 0; i < 40; ++i) {
    std::string shape = "tensor<" + std::to_string(i + 3) + "x8xf32>", comma = i == 0 ? "" : ", ";
    arguments += comma + "%x" + std::to_string(i) + ": " + shape;
    returned += comma + "%s" + std::to_string(i);
    types += comma + shape;
  }
  std::string text = "sgd.mesh @mesh = <[\"data\"=1]>\nfunc.func @main(" + arguments + ") -> (" + types + ") {\n" +
                     body + "return " + returned + " : " + types + "\n}\n";
  CompileOptions options;
  options.target = "cuda:sm_90";
  FailureOr<Compilation> compilation = compile(ProgramSource{"main", "program.mlir", text}, options, llvm::errs());
  ASSERT_TRUE(succeeded(compilation));
  std::set<std::string> names;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(compilation->artifact).split(lines, '\n');
  int functions = 0;
  for (llvm::StringRef line : lines) {
    if (!line.starts_with(".func") || line.contains(';')) continue;
    ++functions;
    EXPECT_TRUE(names.insert(line.str()).second) << line.str();
  }
  EXPECT_GE(functions, 3);
}

TEST(CudaTarget, SaysWhatKernelsAre) {
  FailureOr<Compilation> compilation = compileFor("cuda:sm_90");
  ASSERT_TRUE(succeeded(compilation));
  auto file = ::sgd::artifact::ArtifactFile::FromBytes(compilation->artifact, "program.sgda");
  ASSERT_TRUE(file.ok()) << file.status();
  const ::sgd::artifact::Kernel* rows = nullptr;
  for (const auto* kernel : *(*file)->root().kernels())
    if (kernel->schedule()->str() == "rows") rows = kernel;
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->ops()->str(), "exp, reduce add");
  EXPECT_EQ(rows->loc()->str(), "program.mlir:6:8");
  EXPECT_EQ(rows->bytes(), 8u * 64 * 4 * 2 + 8 * 4) << "x, e and s";
  EXPECT_EQ(rows->flops(), 8u * 64 * 11) << "exp counts as 10";
  EXPECT_GT(rows->seconds(), 1e-6);
  EXPECT_LT(rows->seconds(), 1e-5);
  EXPECT_EQ(rows->access_bytes(), 16u) << "rows of 64 are read by fours";
}

TEST(CudaTarget, BytesDoNotDependOnThreads) {
  FailureOr<Compilation> one = compileFor("cuda:sm_90", 1), three = compileFor("cuda:sm_90", 3);
  ASSERT_TRUE(succeeded(one) && succeeded(three));
  EXPECT_TRUE(one->artifact == three->artifact);
}

// A strided convolution's gradient by its data is the library's as one call, in bf16 rounded once; one of integers is a
// kernel.
TEST(CudaTarget, ConvolutionsAreTheLibrarysOrKernels) {
  constexpr const char* kConvolutions = R"(
sgd.mesh @mesh = <["data"=1]>
func.func @main(%dy: tensor<2x8x1x16xbf16>, %w: tensor<3x1x16x4xbf16>, %i: tensor<2x8x1x16xi8>, %k: tensor<3x1x16x4xi8>)
    -> (tensor<2x16x1x4xbf16>, tensor<2x8x1x4xi8>) {
  %r = sgd.reverse %w dimensions = [0] : tensor<3x1x16x4xbf16>
  %dx = sgd.convolution %dy, %r strides = [1] low = [1] high = [2] lhs_dilations = [2] rhs_dilations = [1]
    : tensor<2x8x1x16xbf16>, tensor<3x1x16x4xbf16> -> tensor<2x16x1x4xbf16>
  %y = sgd.convolution %i, %k strides = [1] low = [1] high = [1] lhs_dilations = [1] rhs_dilations = [1]
    : tensor<2x8x1x16xi8>, tensor<3x1x16x4xi8> -> tensor<2x8x1x4xi8>
  return %dx, %y : tensor<2x16x1x4xbf16>, tensor<2x8x1x4xi8>
}
)";
  CompileOptions options;
  options.target = "cuda:sm_90";
  FailureOr<Compilation> compilation =
      compile(ProgramSource{"main", "program.mlir", kConvolutions}, options, llvm::errs());
  ASSERT_TRUE(succeeded(compilation));
  auto file = ::sgd::artifact::ArtifactFile::FromBytes(compilation->artifact, "program.sgda");
  ASSERT_TRUE(file.ok()) << file.status();
  int convolutions = 0, launches = 0;
  for (const auto* instruction : *(*file)->root().programs()->Get(0)->instructions()) {
    launches += instruction->op_as_Launch() != nullptr;
    const auto* convolution = instruction->op_as_Convolution();
    if (convolution == nullptr) continue;
    ++convolutions;
    EXPECT_EQ(convolution->element(), ::sgd::artifact::ElementType::BF16);
    EXPECT_TRUE(convolution->rounds());
    ASSERT_EQ(::sgd::artifact::Size(convolution->lhs_dilations()), 1u);
    EXPECT_EQ(convolution->lhs_dilations()->Get(0), 2);
    ASSERT_NE(convolution->workspace(), nullptr);
    EXPECT_GE(convolution->workspace()->size(), 2 * (2 * 8 * 16 + 3 * 16 * 4 + 2 * 16 * 4));
  }
  EXPECT_EQ(convolutions, 1);
  EXPECT_GE(launches, 1);
}

TEST(CudaTarget, CommunicatesAsTheCpu) {
  FailureOr<Compilation> cuda = compileFor("cuda:sm_90"), cpu = compileFor("cpu");
  ASSERT_TRUE(succeeded(cuda) && succeeded(cpu));
  EXPECT_EQ(cuda->report.sentBytes, cpu->report.sentBytes);
  EXPECT_EQ(cuda->report.collectives.size(), cpu->report.collectives.size());
  EXPECT_GT(cpu->report.sentBytes, 0u);
}

std::string refusal(const std::string& target, const std::string& cpu = "native") {
  CompileOptions options;
  options.target = target;
  options.cpu = cpu;
  llvm::Expected<std::unique_ptr<Target>> created = Target::create(options);
  return created ? std::string() : llvm::toString(created.takeError());
}

TEST(Target, RefusesWhatIsNotThere) {
  EXPECT_EQ(refusal("cpu"), "");
  EXPECT_EQ(refusal("cuda:sm_90"), "");
  EXPECT_EQ(refusal("cuda:sm_80, sm_90"), "");
  EXPECT_EQ(refusal("tpu"), "--target: 'tpu' is not supported; use cpu or cuda:sm_90");
  EXPECT_EQ(refusal("cpu:sm_90"), "--target: 'cpu:sm_90' is not supported; use cpu or cuda:sm_90");
  EXPECT_EQ(refusal("cuda"), "--target: cuda needs the GPU's architecture, such as cuda:sm_90");
  EXPECT_EQ(refusal("cuda:"),
            "--target: GPU architecture '' is unknown; expected sm_80, sm_90 or sm_100, as in --target=cuda:sm_90");
  EXPECT_EQ(
      refusal("cuda:sm_75"),
      "--target: GPU architecture 'sm_75' is unknown; expected sm_80, sm_90 or sm_100, as in --target=cuda:sm_90");
  EXPECT_EQ(refusal("cuda:sm_90,cpu"),
            "--target: GPU architecture 'cpu' is unknown; expected sm_80, sm_90 or sm_100, as in --target=cuda:sm_90");
  EXPECT_EQ(refusal("cuda:sm_90,sm_90"), "--target: GPU architecture sm_90 occurs twice; expected each once; drop one");
  EXPECT_EQ(refusal("cuda:sm_90", "x86-64-v3"), "--cpu: is for the target cpu alone");
}

}  // namespace
}  // namespace mlir::sgd
