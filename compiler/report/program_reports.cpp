#include "compiler/report/program_reports.h"

#include <numeric>

#include "compiler/report/amounts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "runtime/artifact/element_type.h"

using namespace mlir;
using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

/// Parameters that are printed; JSON has all.
static constexpr size_t kMaxParameters = 5;

static uint64_t multiply(const std::vector<uint64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), uint64_t{1}, std::multiplies<>());
}

/// "[data, -]": the axes of each dimension.
static std::string describeSharding(const artifact::ArtifactT& root, const artifact::TensorInfoT& type) {
  std::string text;
  bool isSharded = false;
  for (const auto& dim : type.sharding) {
    std::string axes;
    for (const artifact::AxisRef& ref : dim->axes) axes += (axes.empty() ? "" : "+") + root.mesh[ref.axis()]->name;
    isSharded |= !axes.empty();
    text += (text.empty() ? "" : ", ") + (axes.empty() ? "-" : axes);
  }
  return isSharded ? "[" + text + "]" : "replicated";
}

static ParameterReport describeParameter(const artifact::ArtifactT& root, const artifact::InputT& input) {
  const artifact::TensorInfoT& type = *input.type;
  auto dims = llvm::map_range(type.global_dims, [](uint64_t size) { return std::to_string(size); });
  ParameterReport parameter;
  parameter.name = input.name;
  parameter.type = std::string(artifact::ElementName(type.element)) + "[" + llvm::join(dims, ",") + "]";
  parameter.sharding = describeSharding(root, type);
  parameter.bytes = multiply(type.global_dims) * artifact::ElementSize(type.element);
  parameter.rankBytes = multiply(type.local_dims) * artifact::ElementSize(type.element);
  return parameter;
}

void mlir::sgd::describePrograms(ModuleOp plan, const artifact::ArtifactT& root, Report& report) {
  report.programs = countPrograms(plan);
  for (const auto& program : root.programs) {
    if (program->name != report.program) continue;
    // Stages may share one.
    for (const auto& input : program->inputs) {
      auto isKnown = [&](const ParameterReport& one) { return one.name == input->name; };
      if (input->role == artifact::InputRole::Parameter && llvm::none_of(report.parameters, isKnown))
        report.parameters.push_back(describeParameter(root, *input));
    }
  }
  llvm::sort(report.parameters, [](const ParameterReport& a, const ParameterReport& b) {
    return std::tie(b.bytes, a.name) < std::tie(a.bytes, b.name);
  });
}

void mlir::sgd::printPrograms(const Report& report, llvm::raw_ostream& os) {
  if (report.programs.size() < 2) return;
  os << "\nprograms";
  for (const ProgramReport& one : report.programs)
    os << "\n  " << one.name << ": " << llvm::format("%.3g", static_cast<double>(one.flops)) << " flops in "
       << one.kernels << " kernels and " << one.libraryCalls << " library calls, " << formatBytes(one.sentBytes)
       << " sent in " << one.collectives << (one.collectives == 1 ? " collective" : " collectives");
}

void mlir::sgd::printParameters(const Report& report, llvm::raw_ostream& os) {
  if (report.parameters.empty()) return;
  uint64_t bytes = 0, rankBytes = 0;
  for (const ParameterReport& one : report.parameters) bytes += one.bytes, rankBytes += one.rankBytes;
  os << "  parameters   " << formatBytes(bytes) << " in " << report.parameters.size()
     << (report.parameters.size() == 1 ? " tensor, " : " tensors, ") << formatBytes(rankBytes) << " of a rank\n";
  for (const ParameterReport& one : llvm::ArrayRef(report.parameters).take_front(kMaxParameters))
    os << "    " << formatBytes(one.bytes) << " of " << one.name << ", " << one.type << " " << one.sharding << "\n";
  if (report.parameters.size() > kMaxParameters)
    os << "    and " << report.parameters.size() - kMaxParameters << " smaller ones\n";
}
