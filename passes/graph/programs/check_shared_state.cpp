// The pass sgd-check-shared-state.
#include <set>

#include "dialects/sgd/programs.h"
#include "dialects/sgd/stages.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/programs/passes.h"
#include "runtime/artifact/tensor_path.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_CHECKSHAREDSTATEPASS
#include "passes/graph/programs/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// The program that makes the state of the others from a key.
static constexpr llvm::StringLiteral kInit = "init";

namespace {

/// A program's tensors by name, and one function of it for messages.
struct ProgramState {
  std::string name;
  func::FuncOp function;
  std::set<std::string> arguments, carried;
};

struct CheckSharedStatePass : mlir::sgd::impl::CheckSharedStatePassBase<CheckSharedStatePass> {
  using CheckSharedStatePassBase::CheckSharedStatePassBase;

  void runOnOperation() override;
};

}  // namespace

/// Without the user's own argument, where something follows it: programs may call the same tree otherwise.
static std::string getKey(llvm::StringRef name) {
  ::sgd::artifact::TensorPath path = ::sgd::artifact::ArgumentPath(std::string_view(name));
  if (path.size() > 1) path.erase(path.begin());
  return ::sgd::artifact::DottedText(path);
}

static void addFunction(func::FuncOp function, ProgramState& program) {
  llvm::BitVector carried = getCarriedArguments(function);
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
    auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
    if (!name) continue;
    program.arguments.insert(getKey(name.getValue()));
    if (carried[argument] && carriesState(function)) program.carried.insert(getKey(name.getValue()));
  }
}

/// In the order of the module; stages of one program are one.
static std::vector<ProgramState> getStates(ModuleOp compilation) {
  std::vector<ProgramState> states;
  for (ModuleOp program : getPrograms(compilation))
    for (auto function : program.getOps<func::FuncOp>()) {
      if (function.isPrivate()) continue;
      std::string name = getProgramName(function).str();
      auto known = llvm::find_if(states, [&](const ProgramState& one) { return one.name == name; });
      if (known == states.end()) known = states.insert(states.end(), {name, function, {}, {}});
      addFunction(function, *known);
    }
  return states;
}

static std::vector<std::string> getDifference(const std::set<std::string>& from, const std::set<std::string>& other) {
  std::vector<std::string> rest;
  std::set_difference(from.begin(), from.end(), other.begin(), other.end(), std::back_inserter(rest));
  return rest;
}

/// Of a program that reads what another one trains, by other names.
static void warnOfStranger(ProgramState& trained, ProgramState& reader) {
  auto isShared = [&](const std::string& name) { return trained.carried.count(name) > 0; };
  if (reader.arguments.empty() || llvm::any_of(reader.arguments, isShared)) return;
  mlir::emitWarning(reader.function.getLoc())
      << "program '" << reader.name << "' shares no state with program '" << trained.name << "': none of its "
      << reader.arguments.size() << " arguments has the name of a tensor that '" << trained.name
      << "' carries from step to step, such as '" << *trained.carried.begin()
      << "'; name state alike in both programs, or put them into two artifacts";
}

/// Of two programs that both carry state.
static void warnOfDifference(ProgramState& one, ProgramState& other) {
  for (auto [with, without] : {std::pair(&one, &other), std::pair(&other, &one)}) {
    std::vector<std::string> rest = getDifference(with->carried, without->carried);
    if (rest.empty()) continue;
    mlir::emitWarning(with->function.getLoc())
        << "program '" << with->name << "' carries state that program '" << without->name << "' does not: '"
        << rest.front() << "'" << (rest.size() > 1 ? " and " + std::to_string(rest.size() - 1) + " more" : "")
        << "; name state alike in both programs, or put them into two artifacts";
    return;
  }
}

void CheckSharedStatePass::runOnOperation() {
  std::vector<ProgramState> states = getStates(getOperation());
  for (auto [position, one] : llvm::enumerate(states))
    for (ProgramState& other : llvm::drop_begin(states, position + 1)) {
      if (one.name == kInit || other.name == kInit) continue;
      if (!one.carried.empty() && !other.carried.empty())
        warnOfDifference(one, other);
      else if (!one.carried.empty())
        warnOfStranger(one, other);
      else if (!other.carried.empty())
        warnOfStranger(other, one);
    }
}
