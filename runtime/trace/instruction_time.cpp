// Flops and bytes are the compiler's, from the artifact.
#include "runtime/trace/instruction_time.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/scalar.h"

namespace sgd::trace {
namespace {

// The kernels of a group in the order of their first launches, with how often each is launched.
std::string KernelsOf(const artifact::Artifact& root, const artifact::LaunchGroup& group) {
  std::vector<std::pair<uint32_t, uint32_t>> counts;  // kernel, launches
  for (const artifact::Launch* launch : *group.launches()) {
    auto known =
        std::find_if(counts.begin(), counts.end(), [&](const auto& count) { return count.first == launch->kernel(); });
    if (known == counts.end()) known = counts.insert(counts.end(), {launch->kernel(), 0});
    ++known->second;
  }
  return absl::StrJoin(counts, " + ", [&](std::string* text, const auto& count) {
    absl::StrAppend(text, count.second, " ", root.kernels()->Get(count.first)->symbol()->str());
  });
}

// "f32 2x16x16x64 by 3x3x64x128 x1": windows by kernel, and groups.
std::string ConvolutionText(const artifact::Convolution& convolution) {
  std::string windows, kernel;
  for (uint32_t i = 0; i < artifact::Size(convolution.spatial()); ++i) {
    absl::StrAppend(&windows, "x", convolution.spatial()->Get(i)->output());
    absl::StrAppend(&kernel, convolution.spatial()->Get(i)->kernel(), "x");
  }
  return absl::StrCat(artifact::ElementName(convolution.element()), " ", convolution.batch()->size(), windows, " by ",
                      kernel, convolution.inputs()->size(), "x", convolution.outputs()->size(), " x",
                      convolution.groups()->size());
}

std::string AttentionText(const artifact::Attention& attention) {
  return absl::StrCat(artifact::ElementName(attention.element()), " ", attention.rows(), "x", attention.columns(),
                      " of ", attention.depth(), " x", attention.batch() * attention.heads(),
                      attention.gradients() == nullptr ? "" : ", backward");
}

// "svd f32 64x32 x8".
std::string LinearAlgebraText(const artifact::LinearAlgebra& call) {
  return absl::StrCat(artifact::NameOf(call.kind()), " ", artifact::ElementName(call.element()), " ", call.m(), "x",
                      call.n(), " x", call.batch());
}

// {"matmul single": 4096, "transcendental single": 64}.
std::string OperationsJson(const artifact::Instruction& instruction) {
  std::vector<std::string> counts;
  for (uint32_t i = 0; i < artifact::Size(instruction.operations()); ++i) {
    const artifact::OperationCount& one = *instruction.operations()->Get(i);
    const std::string name = absl::StrCat(artifact::NameOf(one.kind()), " ", artifact::NameOf(one.precision()));
    counts.push_back(absl::StrCat(JsonString(name), ": ", NumberJson(one.count())));
  }
  return absl::StrCat("{", absl::StrJoin(counts, ", "), "}");
}

}  // namespace

std::string WhatOf(const artifact::Artifact& root, const artifact::Instruction& instruction) {
  if (const artifact::Launch* launch = instruction.op_as_Launch()) {
    return root.kernels()->Get(launch->kernel())->symbol()->str();
  }
  if (const artifact::LaunchGroup* group = instruction.op_as_LaunchGroup()) return KernelsOf(root, *group);
  if (const artifact::Convolution* convolution = instruction.op_as_Convolution()) return ConvolutionText(*convolution);
  if (const artifact::Attention* attention = instruction.op_as_Attention()) return AttentionText(*attention);
  if (const artifact::LinearAlgebra* call = instruction.op_as_LinearAlgebra()) return LinearAlgebraText(*call);
  const artifact::Matmul* matmul = instruction.op_as_Matmul();
  if (matmul == nullptr) return "";
  uint64_t batch = 1;
  for (uint32_t i = 0; i < artifact::Size(matmul->batch_dims()); ++i) batch *= matmul->batch_dims()->Get(i);
  const std::string widened =
      matmul->c_element() ? absl::StrCat(" to ", artifact::ElementName(artifact::ResultElementOf(*matmul))) : "";
  return absl::StrCat(artifact::ElementName(matmul->element()), widened, " ", matmul->m(), "x", matmul->n(), "x",
                      matmul->k(), " x", batch);
}

std::string LocationOf(const artifact::Program& program, const artifact::Instruction& instruction) {
  if (instruction.loc() >= artifact::Size(program.locations())) return "";
  return program.locations()->Get(instruction.loc())->str();
}

std::string ScopeOf(const artifact::Program& program, const artifact::Instruction& instruction) {
  if (instruction.scope() >= artifact::Size(program.scopes())) return "";
  return program.scopes()->Get(instruction.scope())->str();
}

std::string InstructionTimeJson(const artifact::Artifact& root, const artifact::Program& program, uint32_t index,
                                uint64_t executions, absl::Duration time) {
  const artifact::Instruction& instruction = *program.instructions()->Get(index);
  const double nanoseconds = absl::ToDoubleNanoseconds(time);
  const auto rate = [&](uint64_t amount) {
    return NumberJson(static_cast<double>(amount) * static_cast<double>(executions) / nanoseconds);
  };
  return absl::StrCat(
      "{\"instruction\": ", index, ", \"op\": ", JsonString(artifact::OperationName(instruction)),
      ", \"what\": ", JsonString(WhatOf(root, instruction)), ", \"microseconds\": ", NumberJson(nanoseconds / 1e3),
      ", \"executions\": ", executions, ", \"flops\": ", instruction.flops(), ", \"bytes\": ", instruction.bytes(),
      ", \"gflops_per_second\": ", rate(instruction.flops()), ", \"gbytes_per_second\": ", rate(instruction.bytes()),
      ", \"operations\": ", OperationsJson(instruction), ", \"loc\": ", JsonString(LocationOf(program, instruction)),
      ", \"scope\": ", JsonString(ScopeOf(program, instruction)), "}");
}

}  // namespace sgd::trace
