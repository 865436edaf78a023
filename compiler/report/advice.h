// Advice about a compiled step: finds odd facts and names remedies.
#ifndef SGD_COMPILER_REPORT_ADVICE_H
#define SGD_COMPILER_REPORT_ADVICE_H

#include "compiler/report/report.h"
#include "runtime/artifact/program_generated.h"

namespace mlir::sgd {

/// ArrayAttr of StringAttr of the module of a compilation: advice of passes at earlier levels.
inline constexpr llvm::StringLiteral kAdviceAttr = "sgd.advice";
void addAdvice(ModuleOp compilation, llvm::StringRef text);

/// Sentences, the most important first: work that ranks repeat, a batch that is whole on every rank, memory near
/// `memoryLimit` (bytes of a rank; absent: the memory of the topology's device), waits for collectives or for other
/// stages. Empty where nothing is odd.
std::vector<std::string> findAdvice(ModuleOp plan, const ::sgd::artifact::ArtifactT& artifact, const Report& report,
                                    const Topology& topology, std::optional<uint64_t> memoryLimit);

}  // namespace mlir::sgd

#endif
