// One function for each kind of operation. A new kind does not compile until it is described here.
#include "runtime/artifact/operands.h"

#include <vector>

#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/reader.h"
#include "runtime/linear_algebra/form.h"

namespace sgd::artifact {
namespace {

Operand Read(const char* role, const Slice* slice) { return {role, slice, Access::kRead}; }
Operand Write(const char* role, const Slice* slice) { return {role, slice, Access::kWrite}; }
Operand Optional(Operand operand) {
  operand.is_optional = true;
  return operand;
}
Operand Of(std::optional<ElementType> element, Operand operand) {
  operand.element = element;
  return operand;
}

// Working memory of a library.
Operand Workspace(const Slice* slice) { return Optional(Write("workspace", slice)); }

// A residual is what the result holds.
Operand Result(const char* role, const Slice* slice, const library::Epilogue& epilogue) {
  return {role, slice, epilogue.Has(library::EpilogueStep::kResidual) ? Access::kUpdate : Access::kWrite};
}

Operand Tensor(const char* role, const AttentionTensor* tensor, Access access) {
  return {role, tensor == nullptr ? nullptr : &tensor->slice(), access};
}

std::optional<ElementType> ElementOf(const KernelTable* kernels, uint32_t kernel, uint32_t buffer) {
  if (kernel >= Size(kernels) || buffer >= Size(kernels->Get(kernel)->elements())) return std::nullopt;
  return static_cast<ElementType>(kernels->Get(kernel)->elements()->Get(buffer));
}

// A buffer that a launch updates in place is an output like others.
void Visit(const Launch& launch, const KernelTable* kernels, VisitOperand visit) {
  const uint64_t count = Size(launch.buffers());
  for (uint32_t i = 0; i < count; ++i) {
    const Slice* slice = launch.buffers()->Get(i);
    visit(Of(ElementOf(kernels, launch.kernel(), i),
             i + launch.outputs() < count ? Read("buffer", slice) : Write("buffer", slice)));
  }
}

void Visit(const LaunchGroup& group, const KernelTable* kernels, VisitOperand visit) {
  for (const Launch* launch : *group.launches()) Visit(*launch, kernels, visit);
}

void Visit(const Matmul& matmul, VisitOperand visit) {
  const ElementType result = ResultElementOf(matmul);
  visit(Of(matmul.element(), Read("a", matmul.a())));
  visit(Of(RhsElementOf(matmul), Read("b", matmul.b())));
  const library::Epilogue epilogue = EpilogueOf(matmul.epilogue());
  visit(Of(result, Result("c", matmul.c(), epilogue)));
  visit(Of(result, Optional(Read("bias", matmul.bias()))));
  const bool writes_aux = epilogue.Has(library::EpilogueStep::kGelu);
  visit(Of(result, Optional(writes_aux ? Write("aux", matmul.aux()) : Read("aux", matmul.aux()))));
  visit(Of(result, Optional(Write("reduction", matmul.reduction()))));
  visit(Workspace(matmul.workspace()));
}

void Visit(const Convolution& convolution, VisitOperand visit) {
  const ElementType element = convolution.element();
  const ElementType result = convolution.rounds() ? element : AccumulatorElement(element);
  visit(Of(element, Read("lhs", convolution.lhs())));
  visit(Of(element, Read("rhs", convolution.rhs())));
  visit(Of(result, Result("result", convolution.result(), EpilogueOf(convolution.epilogue()))));
  visit(Of(result, Optional(Read("bias", convolution.bias()))));
  visit(Workspace(convolution.workspace()));
}

// The backward pass reads what the forward pass has written.
void Visit(const Attention& attention, VisitOperand visit) {
  const AttentionGradients* gradients = attention.gradients();
  const Access result = gradients == nullptr ? Access::kWrite : Access::kRead;
  const ElementType element = attention.element();
  visit(Of(element, Tensor("query", attention.query(), Access::kRead)));
  visit(Of(element, Tensor("key", attention.key(), Access::kRead)));
  visit(Of(element, Tensor("value", attention.value(), Access::kRead)));
  visit(Of(element, Tensor("out", attention.out(), result)));
  visit(Of(ElementType::F32, {"log_sum", attention.log_sum(), result}));
  visit(Of(attention.bias_element(), Optional(Tensor("bias", attention.bias(), Access::kRead))));
  if (gradients != nullptr) {
    visit(Of(element, Tensor("out_gradient", gradients->out_gradient(), Access::kRead)));
    visit(Of(element, Tensor("query_gradient", gradients->query(), Access::kWrite)));
    visit(Of(element, Tensor("key_gradient", gradients->key(), Access::kWrite)));
    visit(Of(element, Tensor("value_gradient", gradients->value(), Access::kWrite)));
  }
  visit(Workspace(attention.workspace()));
}

// A call that is not verified may have other tensors than its form.
std::optional<ElementType> ElementOf(const LinearAlgebra& call, const std::vector<linear_algebra::Tensor>& tensors,
                                     uint32_t index) {
  if (index >= tensors.size()) return std::nullopt;
  return tensors[index].is_integer ? ElementType::I32 : call.element();
}

void Visit(const LinearAlgebra& call, VisitOperand visit) {
  const linear_algebra::Form form{static_cast<linear_algebra::Kind>(call.kind()), call.options(), call.m(), call.n(),
                                  call.k()};
  const bool is_form = linear_algebra::WhyNot(form).empty();
  const std::vector<linear_algebra::Tensor> inputs =
      is_form ? linear_algebra::InputsOf(form) : std::vector<linear_algebra::Tensor>{};
  const std::vector<linear_algebra::Tensor> outputs =
      is_form ? linear_algebra::OutputsOf(form) : std::vector<linear_algebra::Tensor>{};
  for (uint32_t i = 0; i < Size(call.inputs()); ++i)
    visit(Of(ElementOf(call, inputs, i), Read("input", call.inputs()->Get(i))));
  for (uint32_t i = 0; i < Size(call.outputs()); ++i)
    visit(Of(ElementOf(call, outputs, i), Write("output", call.outputs()->Get(i))));
  visit(Workspace(call.workspace()));
}

void Visit(const TileStep& step, const KernelTable* kernels, VisitOperand visit) {
  switch (step.op_type()) {
    case TileOperation::Launch:
      return Visit(*step.op_as_Launch(), kernels, visit);
    case TileOperation::Matmul:
      return Visit(*step.op_as_Matmul(), visit);
    case TileOperation::NONE:
      return;
  }
}

// As the steps see the operands that their tiles are parts of.
std::vector<std::optional<ElementType>> ElementsOf(const Tiled& tiled, const KernelTable* kernels) {
  std::vector<std::optional<ElementType>> elements(Size(tiled.operands()));
  for (uint32_t i = 0; i < Size(tiled.steps()); ++i) {
    const TileStep& step = *tiled.steps()->Get(i);
    uint32_t part = 0;
    Visit(step, kernels, [&](const Operand& operand) {
      const int32_t whole = part < Size(step.operands()) ? step.operands()->Get(part) : -1;
      if (whole >= 0 && static_cast<size_t>(whole) < elements.size()) elements[whole] = operand.element;
      ++part;
    });
  }
  return elements;
}

void Visit(const Tiled& tiled, const KernelTable* kernels, VisitOperand visit) {
  const std::vector<std::optional<ElementType>> elements = ElementsOf(tiled, kernels);
  const uint64_t count = Size(tiled.operands());
  for (uint32_t i = 0; i < count; ++i) {
    const Slice* slice = tiled.operands()->Get(i)->slice();
    visit(Of(elements[i], i + tiled.outputs() < count ? Read("buffer", slice) : Write("buffer", slice)));
  }
}

void Visit(const Collective& collective, VisitOperand visit) {
  for (uint64_t i = 0; i < Size(collective.operands()); ++i) {
    const CollectiveOperand& operand = *collective.operands()->Get(static_cast<uint32_t>(i));
    visit(Of(operand.element(), Read("source", operand.source())));
    visit(Of(operand.element(), Write("target", operand.target())));
  }
  visit(Optional(Write("staging", collective.staging())));
}

void Visit(const Copy& copy, VisitOperand visit) {
  // A source may be larger than what is copied of it.
  const Slice source(copy.source()->space(), copy.source()->offset(), copy.target()->size());
  visit(Read("source", &source));
  visit(Write("target", copy.target()));
}

void Visit(const Fill& fill, VisitOperand visit) { visit(Write("target", fill.target())); }

// The mailbox is the channel's: no other operation touches it.
void Visit(const Send& send, VisitOperand visit) { visit(Read("source", send.source())); }

void Visit(const Receive& receive, VisitOperand visit) { visit(Write("target", receive.target())); }

void Visit(const HostCall& call, VisitOperand visit) {
  visit(Of(ElementType::Bool, Optional(Read("when", call.when()))));
  for (uint32_t i = 0; i < Size(call.inputs()); ++i) {
    const HostTensor& input = *call.inputs()->Get(i);
    visit(Of(input.element(), Read("input", input.slice())));
  }
  for (uint32_t i = 0; i < Size(call.outputs()); ++i) {
    const HostTensor& output = *call.outputs()->Get(i);
    visit(Of(output.element(), Write("output", output.slice())));
  }
}

void Visit(const Loop& loop, VisitOperand visit) { visit(Optional(Read("predicate", loop.predicate()))); }

void Visit(const Case& branches, VisitOperand visit) { visit(Read("index", branches.index())); }

}  // namespace

void ForEachOperand(const Instruction& instruction, VisitOperand visit) { ForEachOperand(instruction, nullptr, visit); }

void ForEachOperand(const Instruction& instruction, const KernelTable* kernels, VisitOperand visit) {
  switch (instruction.op_type()) {
    case Operation::Launch:
      return Visit(*instruction.op_as_Launch(), kernels, visit);
    case Operation::LaunchGroup:
      return Visit(*instruction.op_as_LaunchGroup(), kernels, visit);
    case Operation::Matmul:
      return Visit(*instruction.op_as_Matmul(), visit);
    case Operation::Convolution:
      return Visit(*instruction.op_as_Convolution(), visit);
    case Operation::Attention:
      return Visit(*instruction.op_as_Attention(), visit);
    case Operation::LinearAlgebra:
      return Visit(*instruction.op_as_LinearAlgebra(), visit);
    case Operation::Tiled:
      return Visit(*instruction.op_as_Tiled(), kernels, visit);
    case Operation::Collective:
      return Visit(*instruction.op_as_Collective(), visit);
    case Operation::Copy:
      return Visit(*instruction.op_as_Copy(), visit);
    case Operation::Fill:
      return Visit(*instruction.op_as_Fill(), visit);
    case Operation::Loop:
      return Visit(*instruction.op_as_Loop(), visit);
    case Operation::Case:
      return Visit(*instruction.op_as_Case(), visit);
    case Operation::Send:
      return Visit(*instruction.op_as_Send(), visit);
    case Operation::Receive:
      return Visit(*instruction.op_as_Receive(), visit);
    case Operation::HostCall:
      return Visit(*instruction.op_as_HostCall(), visit);
    case Operation::Done:  // what it ends has touched it
    case Operation::NONE:
      return;
  }
}

void ForEachOperand(const Launch& launch, VisitOperand visit) { Visit(launch, nullptr, visit); }

void ForEachOperand(const TileStep& step, VisitOperand visit) { Visit(step, nullptr, visit); }

}  // namespace sgd::artifact
