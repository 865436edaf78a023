// Edges from an op's form, and the forms of the ops that have some.
#include "dialects/sgd/sgd_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

#include "dialects/sgd/data_flow.cpp.inc"

OpResult DataFlowEdge::getResult() const {
  for (Value target : targets)
    if (auto result = dyn_cast<OpResult>(target)) return result;
  return {};
}

bool DataFlowEdge::isChosen() const {
  return llvm::count_if(sources, [&](OpOperand* source) { return !llvm::is_contained(targets, source->get()); }) > 1;
}

static unsigned getNumInputs(Operation* op, const DataFlowForm& form) { return op->getNumOperands() - form.firstInput; }

unsigned DataFlowOpInterface::getNumDataFlowEdges() {
  DataFlowForm form = getDataFlowForm();
  return getNumInputs(*this, form) + (form.carries ? 0 : (*this)->getNumResults());
}

DataFlowEdge DataFlowOpInterface::getDataFlowEdge(unsigned index) {
  Operation* op = *this;
  DataFlowForm form = getDataFlowForm();
  unsigned inputs = getNumInputs(op, form);
  bool isInput = index < inputs, isResult = form.carries || !isInput;
  unsigned result = form.carries ? index : index - inputs;
  auto yielding = op->getRegions().drop_front(std::min(form.firstYielding, op->getNumRegions()));
  DataFlowEdge edge;
  if (isInput) {
    edge.sources.push_back(&op->getOpOperand(form.firstInput + index));
    for (Region& region : yielding) edge.targets.push_back(region.getArgument(index));
  }
  if (isResult) {
    for (Region& region : yielding) edge.sources.push_back(&region.front().getTerminator()->getOpOperand(result));
    edge.targets.push_back(op->getResult(result));
  }
  if (isInput)
    for (Region& region : op->getRegions().take_front(form.firstYielding))
      if (!region.empty()) edge.targets.push_back(region.getArgument(index));
  return edge;
}

SmallVector<DataFlowEdge> DataFlowOpInterface::getDataFlowEdges() {
  return llvm::map_to_vector(llvm::seq<unsigned>(0, getNumDataFlowEdges()),
                             [&](unsigned index) { return getDataFlowEdge(index); });
}

unsigned DataFlowOpInterface::getDataFlowEdgeInto(Value target) {
  if (auto argument = dyn_cast<BlockArgument>(target)) return argument.getArgNumber();
  DataFlowForm form = getDataFlowForm();
  return cast<OpResult>(target).getResultNumber() + (form.carries ? 0 : getNumInputs(*this, form));
}

std::optional<unsigned> DataFlowOpInterface::getDataFlowEdgeFrom(OpOperand& source) {
  Operation* op = *this;
  DataFlowForm form = getDataFlowForm();
  unsigned number = source.getOperandNumber();
  if (source.getOwner() == op) return number < form.firstInput ? std::nullopt : std::optional(number - form.firstInput);
  if (source.getOwner()->getParentRegion()->getRegionNumber() < form.firstYielding) return std::nullopt;
  return number + (form.carries ? 0 : getNumInputs(op, form));
}

Value DataFlowOpInterface::getDecider() {
  OpOperand* decider = getDataFlowForm().decider;
  return decider ? decider->get() : Value();
}

SmallVector<DataFlowEdge> mlir::sgd::getDataFlowEdges(Operation* op) {
  auto flow = dyn_cast<DataFlowOpInterface>(op);
  return flow ? flow.getDataFlowEdges() : SmallVector<DataFlowEdge>();
}

DataFlowForm WhileOp::getDataFlowForm() {
  Region& condition = getCondition();
  OpOperand* decider = condition.empty() ? nullptr : &condition.front().getTerminator()->getOpOperand(0);
  return {0, 1, true, decider};
}

DataFlowForm CaseOp::getDataFlowForm() { return {1, 0, false, &getIndexMutable()}; }

DataFlowForm ManualComputationOp::getDataFlowForm() { return {}; }

DataFlowForm OptimizationBarrierOp::getDataFlowForm() { return {0, 0, true}; }
