// One function for each kind of operation. A new kind does not compile until it is described here.
#include "runtime/artifact/operands.h"

#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/reader.h"

namespace sgd::artifact {
namespace {

Operand Read(const char* role, const Slice* slice) { return {role, slice, Access::kRead}; }
Operand Write(const char* role, const Slice* slice) { return {role, slice, Access::kWrite}; }
Operand Optional(Operand operand) {
  operand.is_optional = true;
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

// A buffer that a launch updates in place is an output like others.
void Visit(const Launch& launch, VisitOperand visit) {
  const uint64_t count = Size(launch.buffers());
  for (uint64_t i = 0; i < count; ++i) {
    const Slice* slice = launch.buffers()->Get(static_cast<uint32_t>(i));
    visit(i + launch.outputs() < count ? Read("buffer", slice) : Write("buffer", slice));
  }
}

void Visit(const LaunchGroup& group, VisitOperand visit) {
  for (const Launch* launch : *group.launches()) Visit(*launch, visit);
}

void Visit(const Matmul& matmul, VisitOperand visit) {
  visit(Read("a", matmul.a()));
  visit(Read("b", matmul.b()));
  const library::Epilogue epilogue = EpilogueOf(matmul.epilogue());
  visit(Result("c", matmul.c(), epilogue));
  visit(Optional(Read("bias", matmul.bias())));
  const bool writes_aux = epilogue.Has(library::EpilogueStep::kGelu);
  visit(Optional(writes_aux ? Write("aux", matmul.aux()) : Read("aux", matmul.aux())));
  visit(Optional(Write("reduction", matmul.reduction())));
  visit(Workspace(matmul.workspace()));
}

void Visit(const Convolution& convolution, VisitOperand visit) {
  visit(Read("lhs", convolution.lhs()));
  visit(Read("rhs", convolution.rhs()));
  visit(Result("result", convolution.result(), EpilogueOf(convolution.epilogue())));
  visit(Optional(Read("bias", convolution.bias())));
  visit(Workspace(convolution.workspace()));
}

// The backward pass reads what the forward pass has written.
void Visit(const Attention& attention, VisitOperand visit) {
  const AttentionGradients* gradients = attention.gradients();
  const Access result = gradients == nullptr ? Access::kWrite : Access::kRead;
  visit(Tensor("query", attention.query(), Access::kRead));
  visit(Tensor("key", attention.key(), Access::kRead));
  visit(Tensor("value", attention.value(), Access::kRead));
  visit(Tensor("out", attention.out(), result));
  visit({"log_sum", attention.log_sum(), result});
  visit(Optional(Tensor("bias", attention.bias(), Access::kRead)));
  if (gradients != nullptr) {
    visit(Tensor("out_gradient", gradients->out_gradient(), Access::kRead));
    visit(Tensor("query_gradient", gradients->query(), Access::kWrite));
    visit(Tensor("key_gradient", gradients->key(), Access::kWrite));
    visit(Tensor("value_gradient", gradients->value(), Access::kWrite));
  }
  visit(Workspace(attention.workspace()));
}

void Visit(const LinearAlgebra& call, VisitOperand visit) {
  for (const Slice* input : *call.inputs()) visit(Read("input", input));
  for (const Slice* output : *call.outputs()) visit(Write("output", output));
  visit(Workspace(call.workspace()));
}

void Visit(const Tiled& tiled, VisitOperand visit) {
  const uint64_t count = Size(tiled.operands());
  for (uint64_t i = 0; i < count; ++i) {
    const Slice* slice = tiled.operands()->Get(static_cast<uint32_t>(i))->slice();
    visit(i + tiled.outputs() < count ? Read("buffer", slice) : Write("buffer", slice));
  }
}

void Visit(const Collective& collective, VisitOperand visit) {
  for (uint64_t i = 0; i < Size(collective.operands()); ++i) {
    const CollectiveOperand& operand = *collective.operands()->Get(static_cast<uint32_t>(i));
    visit(Read("source", operand.source()));
    visit(Write("target", operand.target()));
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

void Visit(const Loop& loop, VisitOperand visit) { visit(Optional(Read("predicate", loop.predicate()))); }

void Visit(const Case& branches, VisitOperand visit) { visit(Read("index", branches.index())); }

}  // namespace

void ForEachOperand(const Instruction& instruction, VisitOperand visit) {
  switch (instruction.op_type()) {
    case Operation::Launch:
      return Visit(*instruction.op_as_Launch(), visit);
    case Operation::LaunchGroup:
      return Visit(*instruction.op_as_LaunchGroup(), visit);
    case Operation::Matmul:
      return Visit(*instruction.op_as_Matmul(), visit);
    case Operation::Convolution:
      return Visit(*instruction.op_as_Convolution(), visit);
    case Operation::Attention:
      return Visit(*instruction.op_as_Attention(), visit);
    case Operation::LinearAlgebra:
      return Visit(*instruction.op_as_LinearAlgebra(), visit);
    case Operation::Tiled:
      return Visit(*instruction.op_as_Tiled(), visit);
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
    case Operation::Done:  // what it ends has touched it
    case Operation::NONE:
      return;
  }
}

void ForEachOperand(const Launch& launch, VisitOperand visit) { Visit(launch, visit); }

void ForEachOperand(const TileStep& step, VisitOperand visit) {
  switch (step.op_type()) {
    case TileOperation::Launch:
      return Visit(*step.op_as_Launch(), visit);
    case TileOperation::Matmul:
      return Visit(*step.op_as_Matmul(), visit);
    case TileOperation::NONE:
      return;
  }
}

}  // namespace sgd::artifact
