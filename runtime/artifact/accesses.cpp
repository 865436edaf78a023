// One branch per kind of operation; verified instructions only.
#include "runtime/artifact/accesses.h"

#include "runtime/artifact/reader.h"

namespace sgd::artifact {
namespace {

void AddResult(const Slice* slice, Epilogue epilogue, Accesses& accesses) {
  epilogue == Epilogue::Accumulate ? accesses.Update(slice) : accesses.Write(slice);
}

void AddMatmul(const Matmul& matmul, Accesses& accesses) {
  for (const Slice* slice : {matmul.a(), matmul.b(), matmul.bias()}) accesses.Read(slice);
  AddResult(matmul.c(), matmul.epilogue(), accesses);
  matmul.activation() == Activation::Gelu ? accesses.Write(matmul.aux()) : accesses.Read(matmul.aux());
  accesses.Write(matmul.sums());
  accesses.Write(matmul.workspace());
}

void AddConvolution(const Convolution& convolution, Accesses& accesses) {
  for (const Slice* slice : {convolution.lhs(), convolution.rhs(), convolution.bias()}) accesses.Read(slice);
  AddResult(convolution.result(), convolution.epilogue(), accesses);
  accesses.Write(convolution.workspace());
}

void AddAttention(const Attention& attention, Accesses& accesses) {
  for (const AttentionTensor* read : {attention.query(), attention.key(), attention.value()})
    accesses.Read(&read->slice());
  if (attention.bias() != nullptr) accesses.Read(&attention.bias()->slice());
  accesses.Write(attention.workspace());
  const AttentionGradients* gradients = attention.gradients();
  if (gradients == nullptr) {
    accesses.Write(&attention.out()->slice());
    accesses.Write(attention.log_sum());
    return;
  }
  accesses.Read(&attention.out()->slice());
  accesses.Read(attention.log_sum());
  accesses.Read(&gradients->out_gradient()->slice());
  for (const AttentionTensor* written : {gradients->query(), gradients->key(), gradients->value()})
    accesses.Write(&written->slice());
}

void AddLinearAlgebra(const LinearAlgebra& call, Accesses& accesses) {
  for (const Slice* read : *call.inputs()) accesses.Read(read);
  for (const Slice* written : *call.outputs()) accesses.Write(written);
  accesses.Write(call.workspace());
}

void AddTiled(const Tiled& tiled, Accesses& accesses) {
  const uint64_t count = Size(tiled.operands());
  for (uint64_t i = 0; i < count; ++i) {
    const Slice* slice = tiled.operands()->Get(static_cast<uint32_t>(i))->slice();
    i + tiled.outputs() < count ? accesses.Read(slice) : accesses.Write(slice);
  }
}

}  // namespace

void Accesses::Read(const Slice* slice) {
  if (slice != nullptr && slice->size() != 0) reads.push_back(*slice);
}

void Accesses::Write(const Slice* slice) {
  if (slice != nullptr && slice->size() != 0) writes.push_back(*slice);
}

void Accesses::Update(const Slice* slice) {
  if (slice == nullptr || slice->size() == 0) return;
  writes.push_back(*slice);
  updates.push_back(*slice);
}

bool Overlap(const Slice& a, const Slice& b) {
  return a.space() == b.space() && a.offset() < b.offset() + b.size() && b.offset() < a.offset() + a.size();
}

void AddLaunch(const Launch& launch, Accesses& accesses) {
  const uint64_t count = Size(launch.buffers());
  for (uint64_t i = 0; i < count; ++i) {
    const Slice* slice = launch.buffers()->Get(static_cast<uint32_t>(i));
    i + launch.outputs() < count ? accesses.Read(slice) : accesses.Write(slice);
  }
}

Accesses AccessesOf(const Instruction& instruction) {
  Accesses accesses;
  if (const Launch* launch = instruction.op_as_Launch()) {
    AddLaunch(*launch, accesses);
  } else if (const LaunchGroup* group = instruction.op_as_LaunchGroup()) {
    for (const Launch* member : *group->launches()) AddLaunch(*member, accesses);
  } else if (const Matmul* matmul = instruction.op_as_Matmul()) {
    AddMatmul(*matmul, accesses);
  } else if (const Convolution* convolution = instruction.op_as_Convolution()) {
    AddConvolution(*convolution, accesses);
  } else if (const Attention* attention = instruction.op_as_Attention()) {
    AddAttention(*attention, accesses);
  } else if (const LinearAlgebra* call = instruction.op_as_LinearAlgebra()) {
    AddLinearAlgebra(*call, accesses);
  } else if (const Copy* copy = instruction.op_as_Copy()) {
    const Slice source(copy->source()->space(), copy->source()->offset(), copy->target()->size());
    accesses.Read(&source);
    accesses.Write(copy->target());
  } else if (const Fill* fill = instruction.op_as_Fill()) {
    accesses.Write(fill->target());
  } else if (const Tiled* tiled = instruction.op_as_Tiled()) {
    AddTiled(*tiled, accesses);
  } else if (const Loop* loop = instruction.op_as_Loop()) {
    accesses.Read(loop->predicate());
  } else if (const Case* branches = instruction.op_as_Case()) {
    accesses.Read(branches->index());
  } else if (const Collective* collective = instruction.op_as_Collective()) {
    for (const CollectiveOperand* operand : *collective->operands()) {
      accesses.Read(operand->source());
      accesses.Write(operand->target());
    }
    accesses.Write(collective->staging());
  }
  return accesses;
}

}  // namespace sgd::artifact
