// The built-in topologies. They decide, they do not promise.
#include "passes/cost/topology.h"

#include <optional>

#include "llvm/Support/MemoryBuffer.h"

using namespace mlir::sgd;

/// One core of a server with vectors of 256 bits, shared memory between processes.
Topology mlir::sgd::getHostTopology() {
  Topology topology;
  topology.name = "host";
  topology.device = {/*flops=*/6e10, /*halfFlops=*/3e10, /*memoryBandwidth=*/1e10, /*launchLatency=*/1e-6,
                     /*memoryBytes=*/int64_t(16) << 30};
  topology.links.push_back({"shared memory", /*ranks=*/0, /*latency=*/5e-6, /*bandwidth=*/5e9, {Algorithm::Direct}});
  return topology;
}

/// Eight GPUs of a host on NVLink, hosts on InfiniBand, an adapter per GPU. About 80 % of the data sheets' numbers:
/// tf32 for f32 matmuls, memory, and one direction of the links. A launch is one in a graph.
static Topology getGpuTopology(llvm::StringRef name, double flops, double halfFlops, double memoryBandwidth,
                               int64_t memoryGigabytes, double nvlink, double infiniband) {
  Topology topology;
  topology.name = name.str();
  topology.device = {flops, halfFlops, memoryBandwidth, /*launchLatency=*/1.5e-6, memoryGigabytes * 1000000000};
  topology.links.push_back({"nvlink", /*ranks=*/8, /*latency=*/2e-6, nvlink, {Algorithm::Ring, Algorithm::Tree}});
  topology.links.push_back(
      {"infiniband", /*ranks=*/0, /*latency=*/5e-6, infiniband, {Algorithm::Ring, Algorithm::Tree}});
  return topology;
}

static std::optional<Topology> getBuiltIn(llvm::StringRef name) {
  if (name == "host") return getHostTopology();
  if (name == "a100") return getGpuTopology(name, 1.2e14, 2.5e14, 1.6e12, 80, 2.4e11, 2.2e10);
  if (name == "h100") return getGpuTopology(name, 4.0e14, 7.0e14, 2.8e12, 80, 3.6e11, 4.5e10);
  if (name == "b200") return getGpuTopology(name, 9.0e14, 1.8e15, 6.4e12, 180, 7.2e11, 4.5e10);
  return std::nullopt;
}

bool mlir::sgd::isBuiltInTopology(llvm::StringRef name) { return getBuiltIn(name).has_value(); }

llvm::Expected<Topology> mlir::sgd::loadTopology(llvm::StringRef nameOrPath) {
  if (std::optional<Topology> builtIn = getBuiltIn(nameOrPath)) return *std::move(builtIn);
  auto file = llvm::MemoryBuffer::getFile(nameOrPath, /*IsText=*/true, /*RequiresNullTerminator=*/true,
                                          /*IsVolatile=*/true);
  if (!file)
    return llvm::createStringError(file.getError(),
                                   "cannot read topology '%s': %s; built in are 'host', 'a100', 'h100' and 'b200'",
                                   nameOrPath.str().c_str(), file.getError().message().c_str());
  return parseTopology((*file)->getBuffer(), nameOrPath);
}
