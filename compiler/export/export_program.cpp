// Plan ops to the artifact's instructions, one to one.
#include "compiler/export/export_program.h"

#include "compiler/export/export_attention.h"
#include "compiler/export/export_collective.h"
#include "compiler/export/export_compute.h"
#include "compiler/export/export_linear_algebra.h"
#include "compiler/export/export_slices.h"
#include "compiler/locations.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "passes/carry/carry_attrs.h"
#include "passes/memory/passes.h"
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

class ProgramExporter {
 public:
  ProgramExporter(func::FuncOp function, ExportContext& context)
      : function(function),
        context(context),
        program(std::make_unique<artifact::ProgramT>()),
        slices(function, context.writer) {}

  FailureOr<std::unique_ptr<artifact::ProgramT>> run() {
    program->name = function.getName().str();
    if (failed(addInstructions(function, 1))) return failure();
    if (failed(addInputs()) || failed(addOutputs())) return failure();
    if (failed(addHash())) return failure();
    return std::move(program);
  }

 private:
  uint32_t getLocation(Location location) {
    std::string text = getUserLocation(location);
    if (text.empty()) text = "<unknown>";
    auto [it, isNew] = locations.try_emplace(text, program->locations.size());
    if (isNew) program->locations.push_back(text);
    return it->second;
  }

  /// `executions`: of each instruction in a step.
  LogicalResult addInstructions(func::FuncOp from, uint64_t executions) {
    uint64_t outer = std::exchange(multiplicity, executions);
    openGroup.reset();
    for (Operation& op : from.front().without_terminator())
      if (failed(isa<plan::LoopOp, plan::CaseOp>(op) ? addControlFlow(op) : addInstruction(op))) return failure();
    openGroup.reset();
    multiplicity = outer;
    return success();
  }

  /// The instruction, then those of each function that it runs.
  LogicalResult addControlFlow(Operation& op) {
    openGroup.reset();
    size_t index = program->instructions.size();
    program->instructions.push_back(std::make_unique<artifact::InstructionT>());
    program->instructions[index]->loc = getLocation(op.getLoc());
    auto loop = dyn_cast<plan::LoopOp>(op);
    uint64_t trips = loop ? loop.getTrips().value_or(1) : 1;
    SmallVector<uint32_t> sizes;
    for (func::FuncOp callee : plan::getCallees(&op)) {
      size_t begin = program->instructions.size();
      slices.enter(callee, &op);
      if (failed(addInstructions(callee, multiplicity * trips))) return failure();
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

  LogicalResult addInstruction(Operation& op) {
    if (isa<plan::AllocOp, plan::ConstantOp, plan::ViewOp>(op)) return success();
    auto launch = dyn_cast<plan::LaunchOp>(op);
    std::optional<int64_t> group = launch ? launch.getGroup() : std::nullopt;
    if (group && group == openGroup) return addToGroup(launch);
    openGroup = group;
    auto instruction = std::make_unique<artifact::InstructionT>();
    instruction->loc = getLocation(op.getLoc());
    if (launch)
      instruction->bytes = launch.getTouchedBytes();
    else if (auto matmul = dyn_cast<plan::MatmulOp>(op))
      instruction->bytes = matmul.getTouchedBytes();
    else if (!isa<plan::DoneOp>(op))
      for (Value operand : op.getOperands()) instruction->bytes += getBufferBytes(operand);
    LogicalResult result = llvm::TypeSwitch<Operation*, LogicalResult>(&op)
                               .Case([&](plan::LaunchOp launch) { return fill(launch, *instruction); })
                               .Case([&](plan::MatmulOp matmul) { return fill(matmul, *instruction); })
                               .Case([&](plan::ConvolutionOp convolution) { return fill(convolution, *instruction); })
                               .Case<plan::AttentionOp, plan::AttentionGradientOp>([&](auto attention) {
                                 instruction->flops = attention.getFlops();
                                 return set(exportAttention(attention, slices), *instruction);
                               })
                               .Case([&](plan::LinearAlgebraOp call) {
                                 instruction->flops = call.getFlops();
                                 return instruction->op.Set(exportLinearAlgebra(call, slices)), success();
                               })
                               .Case([&](plan::TiledOp tiled) { return fill(tiled, *instruction); })
                               .Case([&](plan::CollectiveOp collective) { return fill(collective, *instruction); })
                               .Case([&](plan::DoneOp done) {
                                 artifact::DoneT target;
                                 target.start = starts.lookup(done.getCollective());
                                 return instruction->op.Set(std::move(target)), success();
                               })
                               .Case([&](plan::CopyOp copy) {
                                 artifact::CopyT target;
                                 target.source = slices.getOwned(copy.getSource());
                                 target.target = slices.getOwned(copy.getTarget());
                                 return instruction->op.Set(std::move(target)), success();
                               })
                               .Case([&](plan::FillOp fill) {
                                 artifact::FillT target;
                                 target.target = slices.getOwned(fill.getTarget());
                                 target.pattern = getPattern(fill.getValue());
                                 return instruction->op.Set(std::move(target)), success();
                               })
                               .Default([](Operation* op) { return op->emitOpError("is not an instruction"); });
    if (auto collective = dyn_cast<plan::CollectiveOp>(op)) starts[collective] = program->instructions.size();
    program->flops += instruction->flops * multiplicity;
    program->instructions.push_back(std::move(instruction));
    return result;
  }

  LogicalResult fill(plan::LaunchOp launch, artifact::InstructionT& instruction) {
    instruction.flops = launch.getFlops();
    if (!launch.getGroup()) return instruction.op.Set(exportLaunch(launch, slices, context)), success();
    artifact::LaunchGroupT target;
    target.launches.push_back(std::make_unique<artifact::LaunchT>(exportLaunch(launch, slices, context)));
    return instruction.op.Set(std::move(target)), success();
  }

  /// Adds `launch` to the instruction before, which is its group.
  LogicalResult addToGroup(plan::LaunchOp launch) {
    artifact::InstructionT& instruction = *program->instructions.back();
    instruction.bytes += launch.getTouchedBytes();
    instruction.flops += launch.getFlops();
    program->flops += launch.getFlops() * multiplicity;
    instruction.op.AsLaunchGroup()->launches.push_back(
        std::make_unique<artifact::LaunchT>(exportLaunch(launch, slices, context)));
    return success();
  }

  LogicalResult fill(plan::MatmulOp matmul, artifact::InstructionT& instruction) {
    instruction.flops = matmul.getFlops();
    return set(exportMatmul(matmul, slices), instruction);
  }

  LogicalResult fill(plan::ConvolutionOp convolution, artifact::InstructionT& instruction) {
    instruction.flops = convolution.getFlops();
    return set(exportConvolution(convolution, slices), instruction);
  }

  LogicalResult fill(plan::TiledOp tiled, artifact::InstructionT& instruction) {
    instruction.flops = tiled.getFlops();
    return set(exportTiled(tiled, slices, context), instruction);
  }

  LogicalResult fill(plan::CollectiveOp collective, artifact::InstructionT& instruction) {
    if (failed(set(exportCollective(collective, slices, context.mesh), instruction))) return failure();
    program->sent_bytes += getSentBytes(collective) * multiplicity;
    SmallVector<StringRef> texts = getExplanations(collective);
    if (auto overlap = collective->getAttrOfType<StringAttr>(kOverlapAttr)) texts.push_back(overlap.getValue());
    for (StringRef text : texts) {
      program->explain.push_back(std::make_unique<artifact::ExplainT>());
      program->explain.back()->text = text.str();
      program->explain.back()->loc = instruction.loc;
    }
    return success();
  }

  template <typename Target>
  static LogicalResult set(FailureOr<Target> target, artifact::InstructionT& instruction) {
    if (failed(target)) return failure();
    instruction.op.Set(std::move(*target));
    return success();
  }

  LogicalResult addInputs() {
    for (BlockArgument argument : function.getArguments()) {
      auto input = std::make_unique<artifact::InputT>();
      input->name = getInputName(function, argument.getArgNumber());
      auto tensor = function.getArgAttrOfType<plan::TensorAttr>(argument.getArgNumber(), plan::kTensorAttr);
      auto type = getTensorInfo(cast<MemRefType>(argument.getType()), tensor, context.mesh);
      if (failed(type))
        return emitError(argument.getLoc())
               << "argument '" << input->name << "' has the element type "
               << cast<MemRefType>(argument.getType()).getElementType() << ", which artifacts do not have";
      input->type = std::move(*type);
      input->slice = slices.getOwned(argument);
      input->state = context.stateNames.contains(input->name);
      addDoubt(argument.getArgNumber(), *input);
      program->inputs.push_back(std::move(input));
    }
    return success();
  }

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
      auto output = std::make_unique<artifact::OutputT>();
      auto name = function.getResultAttrOfType<StringAttr>(index, kNameAttr);
      output->name = name ? name.str() : "result" + std::to_string(index);
      auto tensor = function.getResultAttrOfType<plan::TensorAttr>(index, plan::kTensorAttr);
      auto type = getTensorInfo(cast<MemRefType>(operand.get().getType()), tensor, context.mesh);
      if (failed(type))
        return emitError(operand.getOwner()->getLoc())
               << "result " << index << " has the element type "
               << cast<MemRefType>(operand.get().getType()).getElementType() << ", which artifacts do not have";
      output->type = std::move(*type);
      output->slice = slices.getOwned(operand.get());
      if (std::optional<unsigned> argument = getCarriedArgument(function, index)) {
        output->carry_input = *argument;
        output->carry_basis = getCarryBasis(function.getResultAttrOfType<StringAttr>(index, kCarryBasisAttr));
      }
      program->outputs.push_back(std::move(output));
    }
    return success();
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
  llvm::StringMap<uint32_t> locations;
  llvm::DenseMap<Operation*, uint32_t> starts;  // collectives to their instructions
  uint64_t multiplicity = 1;                    // executions of an instruction in a step
  std::optional<int64_t> openGroup;             // of the last instruction
};

}  // namespace

FailureOr<std::unique_ptr<artifact::ProgramT>> mlir::sgd::exportProgram(func::FuncOp function, ExportContext& context) {
  return ProgramExporter(function, context).run();
}

std::string mlir::sgd::getInputName(func::FuncOp function, unsigned index) {
  auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr);
  return name ? name.str() : "arg" + std::to_string(index);
}
