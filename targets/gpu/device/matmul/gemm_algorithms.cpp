// Heuristics with limits, and the check of what they gave.
#include "targets/gpu/device/matmul/gemm_algorithms.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "targets/gpu/device/matmul/cublas_handles.h"

namespace sgd::cuda {
namespace {

// Of split-K algorithms, only those that add the parts in the accumulator type and in a step of their own: in place
// the parts would be rounded to the result's type.
constexpr uint32_t kReductionSchemes = CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;

absl::Status Limit(const CublasLt& library, const GemmRequest& request, LtPreference& preference) {
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    return library.Check(
        library.cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof(value)), "cuBLASLt");
  };
  absl::Status status = library.Check(library.cublasLtMatmulPreferenceCreate(preference.address()), "cuBLASLt");
  if (!status.ok()) return status;
  status.Update(set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, request.workspace_bytes));
  status.Update(set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, kReductionSchemes));
  constexpr cublasLtMatmulPreferenceAttributes_t kAlignments[] = {
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  for (size_t i = 0; i < request.alignments.size(); ++i) status.Update(set(kAlignments[i], request.alignments[i]));
  return status;
}

// Whether the algorithm's parts are added in one of our schemes.
absl::Status CheckScheme(const CublasLt& library, const cublasLtMatmulAlgo_t& algorithm) {
  uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_NONE;
  size_t written = 0;
  const cublasStatus_t result = library.cublasLtMatmulAlgoConfigGetAttribute(
      &algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme, sizeof(scheme), &written);
  if (absl::Status status = library.Check(result, "cuBLASLt refuses an algorithm"); !status.ok()) return status;
  if (scheme == CUBLASLT_REDUCTION_SCHEME_NONE || scheme == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)
    return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("an algorithm of cuBLASLt adds partial sums by scheme ", scheme, ", which rounds them"));
}

}  // namespace

absl::StatusOr<std::vector<cublasLtMatmulAlgo_t>> ProposeAlgorithms(const CublasLt& library, const GemmRequest& request,
                                                                    int count) {
  LtPreference preference(library);
  if (absl::Status status = Limit(library, request, preference); !status.ok()) return status;
  std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<size_t>(count));
  int written = 0;
  const cublasStatus_t result =
      library.cublasLtMatmulAlgoGetHeuristic(library.handle(), request.description, request.a, request.b, request.c,
                                             request.c, preference.get(), count, found.data(), &written);
  if (absl::Status status = library.Check(result, "cuBLASLt has no algorithm"); !status.ok())
    return absl::UnimplementedError(status.message());
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (int i = 0; i < written; ++i) {
    const cublasLtMatmulHeuristicResult_t& candidate = found[static_cast<size_t>(i)];
    if (candidate.state == CUBLAS_STATUS_SUCCESS && candidate.workspaceSize <= request.workspace_bytes &&
        CheckScheme(library, candidate.algo).ok())
      algorithms.push_back(candidate.algo);
  }
  if (algorithms.empty()) {
    return absl::UnimplementedError(absl::StrCat("cuBLASLt has no algorithm that gives the same bits every time in ",
                                                 request.workspace_bytes, " bytes of workspace"));
  }
  return algorithms;
}

absl::StatusOr<cublasLtMatmulAlgo_t> CheckAlgorithm(const CublasLt& library, const GemmRequest& request,
                                                    std::string_view bytes) {
  cublasLtMatmulAlgo_t algorithm;
  if (bytes.size() != sizeof(algorithm)) return absl::InvalidArgumentError("no algorithm of cuBLASLt");
  std::memcpy(&algorithm, bytes.data(), sizeof(algorithm));
  cublasLtMatmulHeuristicResult_t checked{};
  const cublasStatus_t result = library.cublasLtMatmulAlgoCheck(library.handle(), request.description, request.a,
                                                                request.b, request.c, request.c, &algorithm, &checked);
  if (absl::Status status = library.Check(result, "cuBLASLt refuses an algorithm"); !status.ok()) return status;
  if (absl::Status status = CheckScheme(library, algorithm); !status.ok()) return status;
  if (checked.workspaceSize <= request.workspace_bytes) return algorithm;
  return absl::FailedPreconditionError("an algorithm of cuBLASLt needs more than the plan's workspace");
}

std::string BytesOf(const cublasLtMatmulAlgo_t& algorithm) {
  return std::string(reinterpret_cast<const char*>(&algorithm), sizeof(algorithm));
}

}  // namespace sgd::cuda
