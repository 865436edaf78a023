// The built-in topology. Figures: one core of an AVX2 server, shared memory between processes; they decide, they do not
// promise.
#include "passes/cost/topology.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace mlir::sgd;

Topology mlir::sgd::getHostTopology() {
  Topology topology;
  topology.name = "host";
  topology.device = {/*flops=*/6e10, /*halfFlops=*/3e10, /*memoryBandwidth=*/1e10, /*launchLatency=*/1e-6,
                     /*memoryBytes=*/int64_t(16) << 30};
  topology.links.push_back({"shared memory", /*ranks=*/0, /*latency=*/5e-6, /*bandwidth=*/5e9, {Algorithm::Direct}});
  return topology;
}

llvm::Expected<Topology> mlir::sgd::loadTopology(llvm::StringRef nameOrPath) {
  if (nameOrPath == "host") return getHostTopology();
  auto file = llvm::MemoryBuffer::getFile(nameOrPath, /*IsText=*/true);
  if (!file)
    return llvm::createStringError(file.getError(), "cannot read topology '%s': %s; built in is 'host'",
                                   nameOrPath.str().c_str(), file.getError().message().c_str());
  return parseTopology((*file)->getBuffer(), nameOrPath);
}
