// Which plans flags ask for, and that a plan of a bundle is what it is alone.
#include "compiler/driver/plans.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/artifact/bundle.h"

namespace mlir::sgd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

constexpr const char* kStep = R"(
sgd.mesh @mesh = <["data"=4]>
func.func @main(%w: tensor<16x16xf32> {sgd.alias_output = 0 : i64, sgd.name = "w", sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>},
                %x: tensor<32x16xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<16x16xf32> {sgd.name = "w", sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>}, tensor<f32> {sgd.name = "a"}, tensor<f32> {sgd.name = "b"}) {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<32x16xf32>, tensor<16x16xf32> -> tensor<32x16xf32>
  %g = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<16x16xf32>
  %n = arith.subf %w, %g : tensor<16x16xf32>
  %a = sgd.reduce add %y dimensions = [0, 1] : tensor<32x16xf32> -> tensor<f32>
  %b = sgd.reduce add %g dimensions = [0, 1] : tensor<16x16xf32> -> tensor<f32>
  return %n, %a, %b : tensor<16x16xf32>, tensor<f32>, tensor<f32>
}
)";

/// The plans as `NAME MESH RECIPE`, or the error.
Texts describePlans(Texts meshes, Texts recipes) {
  llvm::Expected<std::vector<PlanRequest>> plans = getPlans({}, meshes, recipes);
  if (!plans) return {llvm::toString(plans.takeError())};
  Texts described;
  for (const PlanRequest& plan : *plans) {
    std::string text = plan.name + " ";
    for (const MeshAxisSize& axis : plan.options.mesh) text += axis.name + std::to_string(axis.size);
    described.push_back(text + " " + plan.options.recipeFile);
  }
  return described;
}

CompileOptions getOptions() {
  CompileOptions options;
  options.cpu = "x86-64-v3";
  options.threads = 1;
  return options;
}

CompiledPlans compileOrDie(llvm::ArrayRef<PlanRequest> plans) {
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  FailureOr<CompiledPlans> compiled = compilePlans({{"main", "step.mlir", kStep}}, plans, std::nullopt, errors);
  EXPECT_TRUE(succeeded(compiled)) << messages;
  return succeeded(compiled) ? std::move(*compiled) : CompiledPlans();
}

PlanRequest getPlan(llvm::StringRef name, llvm::StringRef recipe) {
  PlanRequest plan{name.str(), getOptions()};
  plan.options.recipeFile = name.str() + ".json";
  plan.options.recipe = recipe.str();
  return plan;
}

TEST(Plans, AreNamedByWhatThereAreSeveralOf) {
  EXPECT_THAT(describePlans({}, {}), ElementsAre("  "));
  EXPECT_THAT(describePlans({"data=4,model=2"}, {}), ElementsAre("data=4,model=2 data4model2 "));
  EXPECT_THAT(describePlans({"data=4", "data=2"}, {"a/zero.json"}),
              ElementsAre("data=4 data4 a/zero.json", "data=2 data2 a/zero.json"));
  EXPECT_THAT(describePlans({"data=4"}, {"a.json", "b/b.json"}), ElementsAre("a data4 a.json", "b data4 b/b.json"));
  EXPECT_THAT(describePlans({"data=4", "data=2"}, {"a.json", "b.json"}),
              ElementsAre("a data4 a.json", "b data2 b.json"));
}

TEST(Plans, RefusesWhatDoesNotPair) {
  EXPECT_THAT(describePlans({"a=1", "a=2", "a=3"}, {"a.json", "b.json"}),
              ElementsAre("there are 3 of --mesh and 2 of --recipe; expected one of them for all plans, or one of each "
                          "for each plan"));
  EXPECT_THAT(describePlans({"a=1", "a=1"}, {}),
              ElementsAre(HasSubstr("two plans are named 'a=1'; expected different meshes")));
  EXPECT_THAT(describePlans({}, {"x/a.json", "y/a.json"}),
              ElementsAre(HasSubstr("two plans are named 'a'; expected recipes with different file names")));
}

// Two recipes that read programs in different ways: with the loss of one, and with that of the other.
TEST(Plans, AreWhatTheyAreAlone) {
  const std::vector<PlanRequest> plans = {getPlan("four", R"({"mesh": {"data": 4}, "loss": "a"})"),
                                          getPlan("two", R"({"mesh": {"data": 2}, "loss": "b"})"),
                                          getPlan("one", R"({"mesh": {"data": 1}, "loss": "a"})")};
  const CompiledPlans together = compileOrDie(plans);
  ASSERT_EQ(together.plans.size(), 3u);
  for (auto [plan, compiled] : llvm::zip(plans, together.plans)) {
    const CompiledPlans alone = compileOrDie(plan);
    EXPECT_EQ(compiled.compilation.artifact, alone.artifact) << plan.name;
    EXPECT_EQ(compiled.compilation.report.loss, alone.plans.front().compilation.report.loss);
  }
  auto bundle = ::sgd::artifact::Bundle::FromBytes(together.artifact, "bundle");
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_EQ(::sgd::artifact::PlansText(bundle->plans()), "'four' (4 ranks), 'two' (2 ranks), 'one' (1 rank)");
}

TEST(Plans, MessagesNameThePlan) {
  const std::vector<PlanRequest> plans = {getPlan("four", R"({"mesh": {"data": 4}})"),
                                          getPlan("none", R"({"mesh": {"data": 0}})")};
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  EXPECT_TRUE(failed(compilePlans({{"main", "step.mlir", kStep}}, plans, std::nullopt, errors)));
  EXPECT_THAT(messages, testing::MatchesRegex("none.json: error: [^\n]* \\(plan 'none'\\)\n"));
}

TEST(Plans, ReportsSayWhichPlan) {
  const CompiledPlans compiled =
      compileOrDie({getPlan("four", R"({"mesh": {"data": 4}})"), getPlan("two", R"({"mesh": {"data": 2}})")});
  ASSERT_EQ(compiled.plans.size(), 2u);
  const nlohmann::json report = compiled.toJson(&Compilation::report);
  EXPECT_EQ(report["plans"][1]["plan"], "two");
  EXPECT_EQ(report["plans"][1]["ranks"], 2);
  EXPECT_TRUE(compiled.toJson(&Compilation::explanation)["plans"][0]["records"].is_array());
  std::string text;
  llvm::raw_string_ostream stream(text);
  compiled.print(&Compilation::report, stream);
  EXPECT_THAT(text, testing::StartsWith("plan four\nranks          4"));
}

}  // namespace
}  // namespace mlir::sgd
