#include "compiler/driver/create_request.h"

using namespace mlir::sgd;

Request mlir::sgd::createRequest(llvm::ArrayRef<ProgramSource> sources, const CompileOptions& options,
                                 const Target& target) {
  Request request{options, {}, std::nullopt};
  if (request.options.topology.empty()) request.options.topology = target.getDescription().topology;
  for (const ProgramSource& source : sources) request.programs.push_back({source.name, source.fileName});
  return request;
}
