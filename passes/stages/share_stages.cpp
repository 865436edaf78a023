// State of several programs, paired by paths as the runtime pairs it.
#include "dialects/sgd/stages.h"
#include "passes/carry/carry_attrs.h"
#include "passes/partition/passes.h"
#include "passes/partition/sharding_state.h"
#include "passes/stages/plan_program.h"
#include "runtime/artifact/path_match.h"

using namespace mlir;
using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

namespace {
using TypeNumbers = DenseMap<Type, uint32_t>;

/// What the runtime sees of arguments or results.
std::vector<artifact::NamedTensor> getTensors(ArrayRef<DictionaryAttr> attrs, TypeRange local, TypeNumbers& numbers,
                                              artifact::TensorPath (*getPath)(std::string_view)) {
  std::vector<artifact::NamedTensor> tensors;
  for (auto [index, own] : llvm::enumerate(local)) {
    DictionaryAttr attr = attrs.empty() ? DictionaryAttr() : attrs[index];
    auto name = attr ? attr.getAs<StringAttr>(kNameAttr) : StringAttr();
    auto type = attr ? attr.getAs<TypeAttr>(kGlobalTypeAttr) : TypeAttr();
    uint32_t number = numbers.try_emplace(type ? type.getValue() : own, numbers.size()).first->second;
    StringRef text = name ? name.getValue() : StringRef();
    tensors.push_back({getPath({text.data(), text.size()}), number});
  }
  return tensors;
}

SmallVector<DictionaryAttr> getAttrs(ArrayAttr attrs) {
  SmallVector<DictionaryAttr> dictionaries;
  if (attrs)
    for (Attribute attr : attrs) dictionaries.push_back(cast<DictionaryAttr>(attr));
  return dictionaries;
}

void forPairs(const artifact::PathMatch& match, llvm::function_ref<void(size_t, size_t)> visit) {
  for (const artifact::PathGroup& group : match.unique)
    for (auto [from, to] : group.pairs) visit(from, to);
}

func::FuncOp getFunction(ModuleOp program) { return *program.getOps<func::FuncOp>().begin(); }

/// Marks what `step` has, on its arguments.
void mark(func::FuncOp step, const ProgramPlan& plan) {
  Builder builder(step.getContext());
  const ProgramFlow& flow = plan.get().getFlow();
  for (BlockArgument argument : step.getArguments())
    if (!flow.isShared(argument))
      step.setArgAttr(argument.getArgNumber(), kStageAttr,
                      builder.getI64IntegerAttr(plan.get().getPlacement().get(argument).find_first()));
}

/// Marks what `other` shares with `step`: what it starts from, and what it makes for it.
void markLike(func::FuncOp step, func::FuncOp other) {
  TypeNumbers numbers;
  auto state = getTensors(getAttrs(step.getArgAttrsAttr()), step.getArgumentTypes(), numbers, artifact::ArgumentPath);
  auto inputs =
      getTensors(getAttrs(other.getArgAttrsAttr()), other.getArgumentTypes(), numbers, artifact::ArgumentPath);
  auto outputs = getTensors(getAttrs(other.getResAttrsAttr()), other.getResultTypes(), numbers, artifact::ResultPath);
  forPairs(artifact::MatchPaths(state, inputs), [&](size_t from, size_t to) {
    if (Attribute stage = step.getArgAttr(from, kStageAttr)) other.setArgAttr(to, kStageAttr, stage);
  });
  forPairs(artifact::MatchPaths(outputs, state), [&](size_t from, size_t to) {
    if (Attribute stage = step.getArgAttr(to, kStageAttr)) other.setResultAttr(from, kStageAttr, stage);
  });
}
}  // namespace

LogicalResult mlir::sgd::shareStages(ArrayRef<ModuleOp> programs, StringRef topology) {
  const auto* found = llvm::find_if(programs, [](ModuleOp program) { return carriesState(getFunction(program)); });
  if (programs.size() < 2 || found == programs.end() || !getStageAxis(getMesh(programs.front()))) return success();
  func::FuncOp step = getFunction(*found);
  MeshOp mesh = getMesh(*found);
  FailureOr<CostModel> cost = loadCostModel(mesh, topology);
  if (failed(cost)) return failure();
  ProgramPlan plan(step, mesh);
  if (failed(plan.choose(mesh, *cost))) return failure();
  mark(step, plan);
  auto schedule = StringAttr::get(step.getContext(), getScheduleName(plan.get().getForm()));
  for (ModuleOp program : programs) {
    getMesh(program)->setAttr(kScheduleAttr, schedule);
    if (program != *found) markLike(step, getFunction(program));
  }
  return success();
}
