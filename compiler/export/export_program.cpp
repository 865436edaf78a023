// Plan ops to the artifact's instructions, one to one.
#include "compiler/export/export_program.h"

#include "compiler/export/export_explanation.h"
#include "compiler/export/export_interface.h"
#include "compiler/export/export_work.h"
#include "compiler/export/tensor_parts.h"
#include "dialects/cost/cost_op.h"
#include "dialects/plan/host_copy.h"
#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/phase.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/scope.h"
#include "dialects/sgd/source_line.h"
#include "dialects/sgd/stages.h"
#include "dialects/sgd/tensor_names.h"
#include "llvm/ADT/StringSwitch.h"
#include "passes/graph/carry/carry_attrs.h"
#include "runtime/artifact/collective.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

artifact::CarryBasis getCarryBasis(StringAttr word) {
  return llvm::StringSwitch<artifact::CarryBasis>(word ? word.getValue() : StringRef())
      .Case("unchanged", artifact::CarryBasis::Unchanged)
      .Case("names", artifact::CarryBasis::Names)
      .Case("dataflow", artifact::CarryBasis::Dataflow)
      .Default(artifact::CarryBasis::None);
}

artifact::InputRole getInputRole(Role role) {
  switch (role) {
    case Role::Parameter:
      return artifact::InputRole::Parameter;
    case Role::OptimizerState:
      return artifact::InputRole::OptimizerState;
    case Role::Buffer:
      return artifact::InputRole::Buffer;
    case Role::Input:
      return artifact::InputRole::Input;
    case Role::Generator:
      return artifact::InputRole::Generator;
    case Role::CompressionError:
      return artifact::InputRole::CompressionError;
    default:
      llvm_unreachable("a role of results");
  }
}

artifact::OutputRole getOutputRole(std::optional<Role> role) {
  if (!role) return artifact::OutputRole::None;
  switch (*role) {
    case Role::Loss:
      return artifact::OutputRole::Loss;
    case Role::Metric:
      return artifact::OutputRole::Metric;
    case Role::Commit:
      return artifact::OutputRole::Commit;
    default:
      llvm_unreachable("a role of arguments");
  }
}

artifact::Phase getExportedPhase(Phase phase) {
  switch (phase) {
    case Phase::None:
      return artifact::Phase::None;
    case Phase::Forward:
      return artifact::Phase::Forward;
    case Phase::Backward:
      return artifact::Phase::Backward;
    case Phase::WeightGradients:
      return artifact::Phase::WeightGradients;
  }
  llvm_unreachable("all phases are handled");
}

class ProgramExporter {
 public:
  ProgramExporter(func::FuncOp function, ExportContext& context)
      : function(function),
        context(context),
        program(std::make_unique<artifact::ProgramT>()),
        slices(function, context.writer),
        operands{slices,
                 context.mesh,
                 context.kernels,
                 starts,
                 context.channels[getProgramName(function).str()],
                 [this](StringRef text) { return getNumber(text); }} {}

  FailureOr<std::unique_ptr<artifact::ProgramT>> run() {
    program->name = getProgramName(function).str();
    program->stage = static_cast<int32_t>(getStage(function).value_or(-1));
    getScopeNumber("");
    if (failed(addInstructions(function, 1))) return failure();
    if (failed(addInputs()) || failed(addOutputs())) return failure();
    if (failed(addHash())) return failure();
    return std::move(program);
  }

 private:
  uint32_t getLocation(Location location) {
    std::string text = getSourceLine(location);
    return getNumber(text.empty() ? "<unknown>" : text);
  }

  uint32_t getNumber(StringRef text) {
    auto [it, isNew] = locations.try_emplace(text, program->locations.size());
    if (isNew) program->locations.push_back(text.str());
    return it->second;
  }

  uint32_t getScopeNumber(StringRef path) {
    auto [it, isNew] = scopes.try_emplace(path, program->scopes.size());
    if (isNew) program->scopes.push_back(path.str());
    return it->second;
  }

  /// Appends an instruction for `op`, without its operation.
  artifact::InstructionT& append(Operation& op) {
    artifact::InstructionT& instruction =
        *program->instructions.emplace_back(std::make_unique<artifact::InstructionT>());
    if (context.ops) context.ops->back().push_back(&op);
    instruction.loc = getLocation(op.getLoc());
    instruction.scope = getScopeNumber(getScope(op.getLoc()).path);
    instruction.phase = getExportedPhase(getPhase(op.getLoc()));
    if (std::optional<PartOfBatch> part = getPart(op.getLoc()))
      instruction.part = std::make_unique<artifact::PartOfBatch>(static_cast<uint32_t>(part->first),
                                                                 static_cast<uint32_t>(part->stride));
    return instruction;
  }

  /// `executions`: of each instruction in a step.
  LogicalResult addInstructions(func::FuncOp from, uint64_t executions) {
    uint64_t outer = std::exchange(multiplicity, executions);
    openGroup.reset();
    for (Operation& op : from.front().without_terminator())
      if (failed(addOp(op))) return failure();
    openGroup.reset();
    multiplicity = outer;
    return success();
  }

  LogicalResult addOp(Operation& op) {
    auto instruction = dyn_cast<plan::InstructionOpInterface>(op);
    if (!instruction)  // a buffer
      return isa_and_nonnull<plan::PlanDialect>(op.getDialect()) ? success() : op.emitOpError("is not an instruction");
    // Whoever touches the bytes waits for the copy.
    if (isa<plan::HostCopiedOp>(op)) return success();
    return instruction.getCostClass() == plan::CostClass::Control ? addControlFlow(op) : addInstruction(instruction);
  }

  /// The instruction, then those of each function that it runs.
  LogicalResult addControlFlow(Operation& op) {
    openGroup.reset();
    size_t index = program->instructions.size();
    append(op);
    auto loop = dyn_cast<plan::LoopOp>(op);
    SmallVector<uint32_t> sizes;
    for (func::FuncOp callee : plan::getCallees(&op)) {
      size_t begin = program->instructions.size();
      slices.enter(callee, &op);
      if (failed(addInstructions(callee, multiplicity * plan::getTrips(&op)))) return failure();
      sizes.push_back(program->instructions.size() - begin);
    }
    if (loop) {
      artifact::LoopT target;
      target.body = sizes.back();
      target.trips = loop.getTrips().value_or(0);
      if (loop.getConditionAttr()) {
        target.condition = sizes.front();
        target.predicate = slices.getOwned(plan::getCallees(&op).front().front().getTerminator()->getOperand(0));
      }
      program->instructions[index]->op.Set(std::move(target));
    } else {
      artifact::CaseT target;
      target.index = slices.getOwned(cast<plan::CaseOp>(op).getIndex());
      target.branches.assign(sizes.begin(), sizes.end());
      program->instructions[index]->op.Set(std::move(target));
    }
    return success();
  }

  LogicalResult addInstruction(plan::InstructionOpInterface op) {
    auto launch = dyn_cast<plan::LaunchOp>(op.getOperation());
    std::optional<int64_t> group = launch ? launch.getGroup() : std::nullopt;
    bool isInGroup = group && group == openGroup;
    openGroup = group;
    if (!isInGroup) append(*op);
    artifact::InstructionT& instruction = *program->instructions.back();
    Work work = getWork(op);
    addWork(work, instruction);
    program->flops += static_cast<uint64_t>(work.getFlops()) * multiplicity;
    if (group) return addToGroup(launch, instruction), success();
    auto model = dyn_cast<ExportOpInterface>(op.getOperation());
    if (!model) return op->emitOpError("is no instruction of an artifact");
    if (failed(model.exportTo(operands, instruction))) return failure();
    program->sent_bytes += getSentBytes(op) * multiplicity;
    if (auto collective = dyn_cast<plan::CollectiveOp>(op.getOperation())) noteCollective(collective, instruction.loc);
    return success();
  }

  void addToGroup(plan::LaunchOp launch, artifact::InstructionT& instruction) {
    if (instruction.op.type == artifact::Operation::NONE) instruction.op.Set(artifact::LaunchGroupT());
    instruction.op.AsLaunchGroup()->launches.push_back(
        std::make_unique<artifact::LaunchT>(exportLaunch(launch, operands)));
  }

  /// Notes the facts about the collective, the last instruction, that are kept per program.
  void noteCollective(plan::CollectiveOp collective, uint32_t location) {
    starts[collective] = program->instructions.size() - 1;
    for (artifact::ExplainT& explain : exportExplanations(collective)) {
      explain.loc = location;
      program->explain.push_back(std::make_unique<artifact::ExplainT>(std::move(explain)));
    }
  }

  LogicalResult addInputs() {
    for (BlockArgument argument : function.getArguments()) {
      unsigned index = argument.getArgNumber();
      std::string name = getInputName(function, index);
      auto parts = getTensorParts(name, cast<MemRefType>(argument.getType()), function.getArgAttrDict(index),
                                  slices.get(argument), context.mesh);
      if (failed(parts))
        return emitError(argument.getLoc())
               << "argument '" << name << "' has the element type "
               << cast<MemRefType>(argument.getType()).getElementType() << ", which artifacts do not have";
      firstInputs.push_back(program->inputs.size());
      for (TensorPart& part : *parts) addInput(index, std::move(part), context.stateNames.contains(name));
    }
    return success();
  }

  void addInput(unsigned argument, TensorPart part, bool isState) {
    auto input = std::make_unique<artifact::InputT>();
    input->name = std::move(part.name);
    input->type = std::move(part.type);
    input->slice = std::move(part.slice);
    input->position = getPosition(function.getArgAttrOfType<IntegerAttr>(argument, kPositionAttr));
    input->state = isState;
    addDoubt(argument, *input);
    if (auto bits = function.getArgAttrOfType<IntegerAttr>(argument, kNarrowBitsAttr))
      input->narrow_bits = static_cast<uint8_t>(bits.getInt());
    if (auto aliases = function.getArgAttrOfType<ArrayAttr>(argument, kAliasesAttr))
      for (auto alias : aliases.getAsRange<StringAttr>()) input->aliases.push_back(alias.str());
    input->role = getInputRole(getRole(function, argument));
    program->inputs.push_back(std::move(input));
  }

  static int32_t getPosition(IntegerAttr position) { return position ? static_cast<int32_t>(position.getInt()) : -1; }

  void addDoubt(unsigned argument, artifact::InputT& input) {
    auto doubt = function.getArgAttrOfType<StringAttr>(argument, kCarryDoubtAttr);
    if (!doubt) return;
    input.carry_doubt = doubt.str();
    if (auto candidate = function.getArgAttrOfType<IntegerAttr>(argument, kCarryCandidateAttr))
      input.carry_candidate = candidate.getInt();
  }

  LogicalResult addOutputs() {
    for (OpOperand& operand : function.front().getTerminator()->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      auto parts = getTensorParts(getOutputName(function, index), cast<MemRefType>(operand.get().getType()),
                                  function.getResultAttrDict(index), slices.get(operand.get()), context.mesh);
      if (failed(parts))
        return emitError(operand.getOwner()->getLoc())
               << "result " << index << " has the element type "
               << cast<MemRefType>(operand.get().getType()).getElementType() << ", which artifacts do not have";
      for (auto [number, part] : llvm::enumerate(*parts)) addOutput(index, number, std::move(part));
    }
    return success();
  }

  /// `number`: of the part among those of the result.
  void addOutput(unsigned result, size_t number, TensorPart part) {
    auto output = std::make_unique<artifact::OutputT>();
    output->name = std::move(part.name);
    output->type = std::move(part.type);
    output->slice = std::move(part.slice);
    output->position = getPosition(function.getResultAttrOfType<IntegerAttr>(result, kPositionAttr));
    if (std::optional<unsigned> argument = getCarriedArgument(function, result)) {
      output->carry_input = static_cast<int32_t>(firstInputs[*argument] + number);
      output->carry_basis = getCarryBasis(function.getResultAttrOfType<StringAttr>(result, kCarryBasisAttr));
    }
    output->role = getOutputRole(getResultRole(function, result));
    program->outputs.push_back(std::move(output));
  }

  /// The reader computes the same hash from the packed program.
  LogicalResult addHash() {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(artifact::Program::Pack(builder, program.get()));
    auto hash = artifact::HashCollectives(*flatbuffers::GetRoot<artifact::Program>(builder.GetBufferPointer()));
    if (!hash.ok())
      return function.emitError() << "cannot hash the collectives: " << std::string(hash.status().message());
    program->collective_hash.assign(hash->begin(), hash->end());
    return success();
  }

  func::FuncOp function;
  ExportContext& context;
  std::unique_ptr<artifact::ProgramT> program;
  SliceExporter slices;
  SmallVector<size_t> firstInputs;              // by argument: the first of its inputs
  llvm::DenseMap<Operation*, uint32_t> starts;  // collectives to their instructions
  OperandExporter operands;
  llvm::StringMap<uint32_t> locations, scopes;
  uint64_t multiplicity = 1;         // executions of an instruction in a step
  std::optional<int64_t> openGroup;  // of the last instruction
};

}  // namespace

FailureOr<std::unique_ptr<artifact::ProgramT>> mlir::sgd::exportProgram(func::FuncOp function, ExportContext& context) {
  return ProgramExporter(function, context).run();
}
