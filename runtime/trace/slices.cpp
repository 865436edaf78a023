// The slices of each kind of operation.
#include "runtime/trace/slices.h"

#include "runtime/artifact/reader.h"

namespace sgd::trace {
namespace {

void VisitOptional(const char* role, const artifact::Slice* slice, const VisitSlice& visit) {
  if (slice != nullptr) visit(role, *slice);
}

void VisitLaunch(const artifact::Launch& launch, const VisitSlice& visit) {
  for (uint64_t i = 0; i < artifact::Size(launch.buffers()); ++i) visit("buffer", *launch.buffers()->Get(i));
}

void VisitMatmul(const artifact::Matmul& matmul, const VisitSlice& visit) {
  visit("a", *matmul.a());
  visit("b", *matmul.b());
  visit("c", *matmul.c());
  VisitOptional("bias", matmul.bias(), visit);
  VisitOptional("aux", matmul.aux(), visit);
  VisitOptional("sums", matmul.sums(), visit);
  VisitOptional("workspace", matmul.workspace(), visit);
}

void VisitConvolution(const artifact::Convolution& convolution, const VisitSlice& visit) {
  visit("lhs", *convolution.lhs());
  visit("rhs", *convolution.rhs());
  visit("result", *convolution.result());
  VisitOptional("bias", convolution.bias(), visit);
  VisitOptional("workspace", convolution.workspace(), visit);
}

void VisitAttention(const artifact::Attention& attention, const VisitSlice& visit) {
  visit("query", attention.query()->slice());
  visit("key", attention.key()->slice());
  visit("value", attention.value()->slice());
  visit("out", attention.out()->slice());
  visit("log_sum", *attention.log_sum());
  if (attention.bias() != nullptr) visit("bias", attention.bias()->slice());
  if (const artifact::AttentionGradients* gradients = attention.gradients()) {
    visit("out_gradient", gradients->out_gradient()->slice());
    visit("query_gradient", gradients->query()->slice());
    visit("key_gradient", gradients->key()->slice());
    visit("value_gradient", gradients->value()->slice());
  }
  VisitOptional("workspace", attention.workspace(), visit);
}

void VisitLinearAlgebra(const artifact::LinearAlgebra& call, const VisitSlice& visit) {
  for (const artifact::Slice* input : *call.inputs()) visit("input", *input);
  for (const artifact::Slice* output : *call.outputs()) visit("output", *output);
  VisitOptional("workspace", call.workspace(), visit);
}

void VisitCollective(const artifact::Collective& collective, const VisitSlice& visit) {
  for (uint64_t i = 0; i < artifact::Size(collective.operands()); ++i) {
    visit("source", *collective.operands()->Get(i)->source());
    visit("target", *collective.operands()->Get(i)->target());
  }
  VisitOptional("staging", collective.staging(), visit);
}

void VisitTiled(const artifact::Tiled& tiled, const VisitSlice& visit) {
  for (uint64_t i = 0; i < artifact::Size(tiled.operands()); ++i) visit("buffer", *tiled.operands()->Get(i)->slice());
}

}  // namespace

void ForEachSlice(const artifact::Instruction& instruction, const VisitSlice& visit) {
  switch (instruction.op_type()) {
    case artifact::Operation::Launch:
      return VisitLaunch(*instruction.op_as_Launch(), visit);
    case artifact::Operation::Matmul:
      return VisitMatmul(*instruction.op_as_Matmul(), visit);
    case artifact::Operation::Convolution:
      return VisitConvolution(*instruction.op_as_Convolution(), visit);
    case artifact::Operation::Attention:
      return VisitAttention(*instruction.op_as_Attention(), visit);
    case artifact::Operation::LinearAlgebra:
      return VisitLinearAlgebra(*instruction.op_as_LinearAlgebra(), visit);
    case artifact::Operation::Collective:
      return VisitCollective(*instruction.op_as_Collective(), visit);
    case artifact::Operation::Copy:
      visit("source", *instruction.op_as_Copy()->source());
      visit("target", *instruction.op_as_Copy()->target());
      return;
    case artifact::Operation::Fill:
      visit("target", *instruction.op_as_Fill()->target());
      return;
    case artifact::Operation::LaunchGroup:
      for (const artifact::Launch* launch : *instruction.op_as_LaunchGroup()->launches()) VisitLaunch(*launch, visit);
      return;
    case artifact::Operation::Tiled:
      return VisitTiled(*instruction.op_as_Tiled(), visit);
    case artifact::Operation::Loop:
      return VisitOptional("predicate", instruction.op_as_Loop()->predicate(), visit);
    case artifact::Operation::Case:
      return visit("index", *instruction.op_as_Case()->index());
    case artifact::Operation::Done:
    case artifact::Operation::NONE:
      return;
  }
}

bool Overlaps(const artifact::Slice& a, const artifact::Slice& b) {
  return a.space() == b.space() && a.offset() < b.offset() + b.size() && b.offset() < a.offset() + a.size();
}

}  // namespace sgd::trace
