// Values of the command line: what is accepted, and the message for what is not.
#include "compiler/options.h"

#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

template <typename T>
std::string messageOf(llvm::Expected<T> value) {
  return value ? "accepted" : llvm::toString(value.takeError());
}

TEST(ParseMesh, ReadsAxesInOrder) {
  auto mesh = parseMesh("data=4, model=2");
  ASSERT_TRUE(static_cast<bool>(mesh));
  ASSERT_EQ(mesh->size(), 2u);
  EXPECT_EQ((*mesh)[0].name, "data");
  EXPECT_EQ((*mesh)[0].size, 4);
  EXPECT_EQ((*mesh)[1].name, "model");
  EXPECT_EQ((*mesh)[1].size, 2);
}

TEST(ParseMesh, SaysWhatIsWrong) {
  EXPECT_EQ(messageOf(parseMesh("data")), "--mesh: 'data' is not AXIS=SIZE");
  EXPECT_EQ(messageOf(parseMesh("=4")), "--mesh: '=4' is not AXIS=SIZE");
  EXPECT_EQ(messageOf(parseMesh("")), "--mesh: '' is not AXIS=SIZE");
  EXPECT_EQ(messageOf(parseMesh("data=0")), "--mesh: the size of axis 'data' must be a positive integer, not '0'");
  EXPECT_EQ(messageOf(parseMesh("data=-2")), "--mesh: the size of axis 'data' must be a positive integer, not '-2'");
  EXPECT_EQ(messageOf(parseMesh("data=two")), "--mesh: the size of axis 'data' must be a positive integer, not 'two'");
  EXPECT_EQ(messageOf(parseMesh("data=99999999999999999999")),
            "--mesh: the size of axis 'data' must be a positive integer, not '99999999999999999999'");
  EXPECT_EQ(messageOf(parseMesh("x=2,x=4")), "--mesh: axis 'x' occurs twice");
}

TEST(ParseEmitLevel, KnowsTheFiveLevels) {
  for (const char* level : {"graph", "sharded", "spmd", "kernels", "plan"})
    EXPECT_EQ(messageOf(parseEmitLevel(level)), "accepted");
  EXPECT_EQ(messageOf(parseEmitLevel("llvm")),
            "--emit: 'llvm' is not graph, sharded, spmd, stablehlo, kernels or plan");
}

TEST(ParseEmit, StablehloIsTheSpmdLevel) {
  CompileOptions options;
  ASSERT_FALSE(parseEmit("stablehlo", options));
  EXPECT_EQ(options.emit, EmitLevel::Spmd);
  EXPECT_TRUE(options.emitsStablehlo);
  ASSERT_FALSE(parseEmit("spmd", options));
  EXPECT_EQ(options.emit, EmitLevel::Spmd);
  EXPECT_FALSE(options.emitsStablehlo);
  EXPECT_EQ(llvm::toString(parseEmit("llvm", options)),
            "--emit: 'llvm' is not graph, sharded, spmd, stablehlo, kernels or plan");
}

TEST(ParseByteSize, UnderstandsUnits) {
  EXPECT_EQ(*parseByteSize("1048576"), 1048576u);
  EXPECT_EQ(*parseByteSize("512MiB"), 512u << 20);
  EXPECT_EQ(*parseByteSize("80 GiB"), uint64_t{80} << 30);
  EXPECT_EQ(*parseByteSize("1.5GB"), 1500000000u);
  for (const char* wrong : {"", "GiB", "-1", "1XB", "1e30TiB", "nan"})
    EXPECT_EQ(messageOf(parseByteSize(wrong)),
              std::string("'") + wrong + "' is not a number of bytes such as 1048576, 512MiB or 80GiB");
}

TEST(CheckCpu, RefusesWhatIsNotThere) {
  EXPECT_FALSE(static_cast<bool>(checkCpu("x86-64-v3")));
  EXPECT_EQ(llvm::toString(checkCpu("i386")), "--cpu: 'i386' is not native, x86-64-v3 or x86-64-v4");
}

}  // namespace
}  // namespace mlir::sgd
