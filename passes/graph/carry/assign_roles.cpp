// The pass sgd-assign-roles: roles by what programs compute and by names, where nobody has set them.
#include "dialects/sgd/programs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/stages.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringMap.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/carry/links.h"
#include "passes/graph/carry/loss.h"
#include "passes/graph/carry/passes.h"
#include "runtime/artifact/tensor_path.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_ASSIGNROLESPASS
#include "passes/graph/carry/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// "argument 3 'params'".
static std::string describeArgument(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
  return "argument " + std::to_string(argument) + (name ? " '" + name.str() + "'" : "");
}

static InFlightDiagnostic refuse(func::FuncOp function, unsigned argument) {
  return emitError(function.getArgument(argument).getLoc()) << describeArgument(function, argument) << " has the role '"
                                                            << stringifyRole(getRole(function, argument)) << "'";
}

namespace {

/// One function, or several that are the stages of one program.
class RoleAssignment {
 public:
  explicit RoleAssignment(SmallVector<func::FuncOp> stages) : stages(std::move(stages)) {}

  LogicalResult run() {
    for (func::FuncOp stage : stages)
      if (failed(checkResults(stage)) || failed(checkArguments(stage))) return failure();
    if (failed(assignCommit())) return failure();
    assignLoss();
    for (func::FuncOp stage : stages) {
      assignMetrics(stage);
      assignState(stage);
    }
    return success();
  }

 private:
  static LogicalResult checkResults(func::FuncOp function);
  static LogicalResult checkArguments(func::FuncOp function);
  LogicalResult assignCommit();
  void assignLoss();
  static void assignMetrics(func::FuncOp function);
  static void assignState(func::FuncOp function);

  bool hasResult(Role role) {
    return llvm::any_of(stages, [&](func::FuncOp stage) { return findResult(stage, role).has_value(); });
  }

  SmallVector<func::FuncOp> stages;
};

}  // namespace

LogicalResult RoleAssignment::checkResults(func::FuncOp function) {
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    std::optional<Role> role = getResultRole(function, result);
    std::optional<unsigned> argument = getCarriedArgument(function, result);
    if (role && argument)
      return function.emitError() << "result " << result << " has the role '" << stringifyRole(*role)
                                  << "', and is carried to " << describeArgument(function, *argument)
                                  << " of the next step; expected a result that is not; return it as a result of its "
                                     "own";
  }
  return success();
}

LogicalResult RoleAssignment::checkArguments(func::FuncOp function) {
  llvm::BitVector carried = getCarriedArguments(function);
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
    if (!function.getArgAttr(argument, kRoleAttr)) continue;
    Role role = getRole(function, argument);
    if (role == Role::CompressionError)
      return refuse(function, argument) << ", which is that of the state that compressed reductions add; expected "
                                           "another role; correct it, or leave it out";
    if (role == Role::Input && carried[argument])
      return refuse(function, argument) << ", and a result is its value in the next step; expected the role of state, "
                                           "such as 'parameter'; correct it, or leave it out";
    if (role == Role::OptimizerState && !carried[argument] && carriesState(function))
      return refuse(function, argument) << ", and no result is known to be its value in the next step; expected one; "
                                           "return its next value under its name, or give it the role 'parameter', "
                                           "'buffer' or 'input'";
  }
  return success();
}

/// "result['metrics']['commit']", "commit".
static bool isCalledCommit(func::FuncOp function, unsigned result) {
  auto name = function.getResultAttrOfType<StringAttr>(result, kNameAttr);
  if (!name || !isCommitType(function.getResultTypes()[result]) || getCarriedArgument(function, result)) return false;
  ::sgd::artifact::TensorPath path = ::sgd::artifact::ResultPath(std::string_view(name.getValue()));
  return !path.empty() && !path.back().is_index && path.back().text == "commit";
}

LogicalResult RoleAssignment::assignCommit() {
  if (hasResult(Role::Commit)) return success();
  for (func::FuncOp stage : stages) {
    std::optional<unsigned> found;
    for (unsigned result : llvm::seq(stage.getNumResults())) {
      if (getResultRole(stage, result) || !isCalledCommit(stage, result)) continue;
      if (found)
        return stage.emitError() << "results " << *found << " and " << result
                                 << " are called 'commit', and either could decide whether a step is committed; "
                                    "expected one; rename the other";
      found = result;
    }
    if (found) setResultRole(stage, *found, Role::Commit);
  }
  return success();
}

/// The position of a result among those of all stages.
static int64_t getPosition(func::FuncOp function, unsigned result) {
  auto position = function.getResultAttrOfType<IntegerAttr>(result, kPositionAttr);
  return position ? position.getInt() : result;
}

/// Dataflow between stages that were written as such is not known: of those, the first floating-point scalar that is
/// not carried is the loss.
static std::optional<int64_t> inferLossPosition(ArrayRef<func::FuncOp> stages) {
  std::optional<int64_t> first;
  for (func::FuncOp stage : stages)
    for (unsigned result : llvm::seq(stage.getNumResults())) {
      bool mayBeLoss = isLossType(stage.getResultTypes()[result]) && !getCarriedArgument(stage, result) &&
                       !getResultRole(stage, result);
      if (mayBeLoss) first = std::min(first.value_or(INT64_MAX), getPosition(stage, result));
    }
  return first;
}

void RoleAssignment::assignLoss() {
  if (hasResult(Role::Loss)) return;
  if (!getStage(stages.front())) {
    if (std::optional<unsigned> loss = inferLoss(stages.front())) setResultRole(stages.front(), *loss, Role::Loss);
    return;
  }
  std::optional<int64_t> position = inferLossPosition(stages);
  for (func::FuncOp stage : stages)
    for (unsigned result : llvm::seq(stage.getNumResults()))
      if (position && getPosition(stage, result) == *position) setResultRole(stage, result, Role::Loss);
}

void RoleAssignment::assignMetrics(func::FuncOp function) {
  for (unsigned result : llvm::seq(function.getNumResults())) {
    auto type = dyn_cast<ShapedType>(function.getResultTypes()[result]);
    bool isScalar = type && type.hasRank() && type.getRank() == 0;
    if (isScalar && !getCarriedArgument(function, result) && !getResultRole(function, result))
      setResultRole(function, result, Role::Metric);
  }
}

/// The role of a carried argument. Without a loss nothing tells parameters from optimizer state.
static Role inferState(func::FuncOp function, unsigned argument, std::optional<unsigned> loss, Links& links) {
  if (loss && !links.depends(*loss, argument)) return Role::OptimizerState;
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(function.getArgumentTypes()[argument]));
  return isFloat ? Role::Parameter : Role::Buffer;
}

/// All attributes at once: to set one makes a new list of those of all arguments, which the context keeps.
static void setMissingRoles(func::FuncOp function, llvm::function_ref<std::optional<Role>(unsigned)> infer) {
  MLIRContext* context = function.getContext();
  SmallVector<DictionaryAttr> attributes;
  for (unsigned argument : llvm::seq(function.getNumArguments())) {
    NamedAttrList list(function.getArgAttrDict(argument));
    std::optional<Role> role = list.get(kRoleAttr) ? std::nullopt : infer(argument);
    if (role) list.set(kRoleAttr, RoleAttr::get(context, *role));
    attributes.push_back(list.getDictionary(context));
  }
  function.setAllArgAttrs(attributes);
}

void RoleAssignment::assignState(func::FuncOp function) {
  llvm::BitVector carried = getCarriedArguments(function);
  if (carried.none()) return;
  // Of a stage, what the loss depends on is not known.
  std::optional<unsigned> loss = getStage(function) ? std::nullopt : findResult(function, Role::Loss);
  Links links(function);
  setMissingRoles(function, [&](unsigned argument) {
    return carried[argument] ? std::optional(inferState(function, argument, loss, links)) : std::nullopt;
  });
}

namespace {
struct NamedState {
  Role role;
  func::FuncOp function;
};
}  // namespace

/// State by name, as the first program that has it says.
static llvm::StringMap<NamedState> findState(ArrayRef<func::FuncOp> functions) {
  llvm::StringMap<NamedState> state;
  for (func::FuncOp function : functions)
    for (unsigned argument : llvm::seq(function.getNumArguments()))
      if (auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
          name && isState(getRole(function, argument)))
        state.try_emplace(name.getValue(), NamedState{getRole(function, argument), function});
  return state;
}

/// Gives the remaining arguments a role: that of another program's state of their name, else `input`.
static LogicalResult assignOthers(func::FuncOp function, const llvm::StringMap<NamedState>& state) {
  auto find = [&](unsigned argument) {
    auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
    return name ? state.find(name.getValue()) : state.end();
  };
  for (unsigned argument : llvm::seq(function.getNumArguments()))
    if (auto found = find(argument);
        found != state.end() && function.getArgAttr(argument, kRoleAttr) && !isState(getRole(function, argument)))
      return refuse(function, argument) << ", and program '" << getProgramName(found->second.function)
                                        << "' has it as state ('" << stringifyRole(found->second.role)
                                        << "'); expected one of both; rename the argument, or correct the role";
  setMissingRoles(function, [&](unsigned argument) {
    auto found = find(argument);
    return std::optional(found == state.end() ? Role::Input : found->second.role);
  });
  return success();
}

/// The functions of each program: one, or its stages.
static SmallVector<SmallVector<func::FuncOp>> getFunctions(ModuleOp compilation) {
  SmallVector<SmallVector<func::FuncOp>> programs;
  for (ModuleOp module : getPrograms(compilation)) {
    SmallVector<func::FuncOp> stages;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal() || function.isPrivate()) continue;
      if (getStage(function))
        stages.push_back(function);
      else
        programs.push_back({function});
    }
    if (!stages.empty()) programs.push_back(std::move(stages));
  }
  return programs;
}

namespace {
struct AssignRolesPass : mlir::sgd::impl::AssignRolesPassBase<AssignRolesPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (const SmallVector<func::FuncOp>& program : getFunctions(getOperation())) {
      if (failed(RoleAssignment(program).run())) return signalPassFailure();
      llvm::append_range(functions, program);
    }
    llvm::StringMap<NamedState> state = findState(functions);
    for (func::FuncOp function : functions)
      if (failed(assignOthers(function, state))) return signalPassFailure();
  }
};
}  // namespace
