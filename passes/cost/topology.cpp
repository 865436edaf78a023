// The built-in topologies. They decide, they do not promise.
#include "passes/cost/topology.h"

#include <limits>
#include <optional>

#include "llvm/ADT/StringExtras.h"
#include "passes/cost/extended_topology.h"
#include "runtime/text/text_file.h"

using namespace mlir::sgd;

double mlir::sgd::getPayload(Protocol protocol) {
  switch (protocol) {
    case Protocol::Simple:
      return 1;
    case Protocol::LL128:
      return 120.0 / 128;
    case Protocol::LL:
      return 0.25;
  }
  llvm_unreachable("all protocols are handled");
}

double LinkClass::getLatency(Protocol protocol) const {
  if (protocol == Protocol::Simple) return latency;
  double seconds = protocol == Protocol::LL128 ? ll128Latency : llLatency;
  return seconds > 0 ? seconds : std::numeric_limits<double>::infinity();
}

double DeviceModel::getRate(OperationKind kind, Precision precision) const {
  const double shorter = precision == Precision::Double ? 0.5 : 1;  // half as many f64 in a vector
  switch (kind) {
    case OperationKind::Matmul:
      return precision > Precision::Single ? halfFlops : shorter * flops;
    case OperationKind::Attention:
      return attentionFlops * (precision > Precision::Single ? 1 : shorter * flops / halfFlops);
    case OperationKind::Vector:
      return shorter * vectorFlops;
    case OperationKind::Division:
      return shorter * divisions;
    case OperationKind::Transcendental:
      return shorter * transcendentals;
    case OperationKind::Packing:
      return packedElements;
  }
  llvm_unreachable("all kinds are handled");
}

/// One core of a server with vectors of 256 bits, shared memory between processes.
Topology mlir::sgd::getHostTopology() {
  Topology topology;
  topology.name = "host";
  topology.device.flops = 6e10;
  topology.device.halfFlops = 3e10;
  topology.device.attentionFlops = 3e10;
  topology.device.vectorFlops = 1.5e10;
  topology.device.divisions = 4e9;
  topology.device.transcendentals = 1.2e9;
  topology.device.packedElements = 1e9;
  topology.device.memoryBandwidth = 1e10;
  topology.device.cacheBandwidth = 8e10;
  topology.device.cacheBytes = 1 << 20;
  topology.device.launchLatency = 1e-6;
  topology.device.memoryBytes = int64_t(16) << 30;
  topology.device.peakFlops = topology.device.flops;
  topology.device.peakHalfFlops = topology.device.halfFlops;
  topology.device.hostBandwidth = 0;
  topology.links.push_back({"shared memory", /*ranks=*/0, /*latency=*/5e-6, /*bandwidth=*/5e9, {Algorithm::Direct}});
  return topology;
}

namespace {
/// Rates that training steps reach, about 60 to 70 % of the data sheet's (docs/simulation.md says how they were
/// found), and the sheet's own. Links: 80 to 90 %. Of one direction of PCIe 4.0 and 5.0 x16, 31.5 and 63 GB/s
/// (PCI-SIG), packets leave 80 %; GB200 has NVLink-C2C, of 450 GB/s for two GPUs.
struct Gpu {
  double flops, halfFlops, attentionFlops, memoryBandwidth, nvlink;  // tf32 for f32 matmuls; NVLink in one direction
  double peakFlops, peakHalfFlops;
  int64_t memoryGigabytes;
  double toHost;
  const char* architecture;  // that kernels are compiled for, which newer ones run
};
}  // namespace

static constexpr Gpu kA100 = {9.5e13, 1.95e14, 7.0e13, 1.5e12, 2.4e11, 1.56e14, 3.12e14, 80, 2.5e10, "sm_80"};
static constexpr Gpu kH100 = {3.3e14, 6.6e14, 6.0e14, 2.45e12, 3.6e11, 4.94e14, 9.89e14, 80, 5.0e10, "sm_90"};
static constexpr Gpu kH200 = {3.3e14, 6.6e14, 6.0e14, 3.5e12, 3.6e11, 4.94e14, 9.89e14, 141, 5.0e10, "sm_90"};
static constexpr Gpu kB200 = {7.5e14, 1.5e15, 1.2e15, 5.8e12, 7.2e11, 1.125e15, 2.25e15, 180, 5.0e10, "sm_90"};

/// Rates that Caffe2 reached for ResNet-50 in f32: 256 GPUs took 0.256 s for 8,192 images (Goyal et al., 2017: 1 h for
/// 90 epochs). NVLink of the first generation has no switch; kernels of sm_80 stand for its own.
static constexpr Gpu kP100 = {4.9e12, 9.8e12, 9.8e12, 3.3e11, 3.4e10, 1.06e13, 2.12e13, 16, 1.2e10, "sm_80"};

/// Links of GPUs. Latencies of a round by each protocol, and what a collective takes before its first one, are those
/// by which GPUs' library chooses algorithms and protocols (docs/topologies.md).
static LinkClass getGpuLink(llvm::StringRef name, int64_t ranks, double bandwidth, double simple, double ll128,
                            double ll) {
  LinkClass link{name.str(), ranks, simple, bandwidth, {Algorithm::Ring, Algorithm::Tree}};
  link.startup = 6.6e-6;
  link.ll128Latency = ll128;
  link.llLatency = ll;
  return link;
}

static LinkClass getNvlink(int64_t ranks, double bandwidth) {
  return getGpuLink("nvlink", ranks, bandwidth, 3.4e-6, 1.9e-6, 6e-7);
}

/// GPUs of a domain on links, domains on links between hosts. A launch is one in a graph.
static Topology getGpuTopology(llvm::StringRef name, const Gpu& gpu, LinkClass inside, LinkClass between) {
  Topology topology;
  topology.name = name.str();
  topology.device.flops = gpu.flops;
  topology.device.halfFlops = gpu.halfFlops;
  topology.device.attentionFlops = gpu.attentionFlops;
  topology.device.vectorFlops = gpu.flops;
  topology.device.divisions = gpu.flops;
  topology.device.transcendentals = gpu.flops / 10;
  topology.device.memoryBandwidth = gpu.memoryBandwidth;
  topology.device.launchLatency = 1.5e-6;
  topology.device.memoryBytes = gpu.memoryGigabytes * 1000000000;
  topology.device.architecture = gpu.architecture;
  topology.device.peakFlops = gpu.peakFlops;
  topology.device.peakHalfFlops = gpu.peakHalfFlops;
  topology.device.hostBandwidth = gpu.toHost;
  topology.links.push_back(std::move(inside));
  topology.links.push_back(std::move(between));
  return topology;
}

/// Adapters between hosts, one for each GPU, in bytes per second, those of equal places on leaf switches of their own.
static LinkClass getRails(llvm::StringRef name, double bandwidth) {
  LinkClass link = getGpuLink(name, /*ranks=*/0, bandwidth, 1.4e-5, 4e-6, 2.7e-6);
  link.rails = true;
  return link;
}

/// Four cores, and a wire of 1 Gbit/s to others of its kind.
static Topology getLaptopTopology() {
  Topology topology = getHostTopology();
  topology.name = "laptop";
  topology.device.memoryBytes = int64_t(4) << 30;
  topology.links.front().ranks = 4;
  LinkClass wire{"ethernet", /*ranks=*/0, /*latency=*/5e-5, /*bandwidth=*/1.18e8, {Algorithm::Ring, Algorithm::Tree}};
  wire.sharedBy = 4;
  topology.links.push_back(std::move(wire));
  return topology;
}

/// Chips like TPU v5p on a torus of three dimensions: cubes of 64, rings of cubes behind optical switches.
static Topology getTorusTopology() {
  Topology topology;
  topology.name = "torus";
  topology.device.flops = 1.8e14;
  topology.device.halfFlops = 3.6e14;
  topology.device.attentionFlops = 2e14;
  topology.device.vectorFlops = 1.8e14;
  topology.device.divisions = 1.8e14;
  topology.device.transcendentals = 1.8e13;
  topology.device.memoryBandwidth = 2.2e12;
  topology.device.launchLatency = 1e-6;
  topology.device.memoryBytes = int64_t(95) * 1000000000;
  topology.device.peakFlops = 2.3e14;
  topology.device.peakHalfFlops = 4.59e14;
  topology.links.push_back({"cube", /*ranks=*/64, /*latency=*/1e-6, /*bandwidth=*/1.8e11, {Algorithm::Ring}});
  topology.links.push_back({"torus", /*ranks=*/0, /*latency=*/2e-6, /*bandwidth=*/9e10, {Algorithm::Ring}});
  return topology;
}

static constexpr llvm::StringLiteral kNames[] = {"host", "laptop",      "p100",        "a100",           "h100", "h200",
                                                 "b200", "gb200-nvl72", "roce-8x400g", "mrc-multiplane", "torus"};

llvm::ArrayRef<llvm::StringLiteral> mlir::sgd::getBuiltInTopologies() { return kNames; }

static std::optional<Topology> getBuiltIn(llvm::StringRef name) {
  if (name == "host") return getHostTopology();
  if (name == "laptop") return getLaptopTopology();
  if (name == "p100") {
    // Big Basin: eight GPUs, and one adapter of 50 Gbit/s.
    LinkClass ethernet{
        "ethernet", /*ranks=*/0, /*latency=*/2e-5, /*bandwidth=*/5e9, {Algorithm::Ring, Algorithm::Tree}};
    ethernet.sharedBy = 8;
    LinkClass nvlink{"nvlink", /*ranks=*/8, /*latency=*/2e-6, kP100.nvlink, {Algorithm::Ring, Algorithm::Tree}};
    return getGpuTopology(name, kP100, std::move(nvlink), std::move(ethernet));
  }
  if (name == "a100") return getGpuTopology(name, kA100, getNvlink(8, kA100.nvlink), getRails("infiniband", 2.2e10));
  if (name == "h100") return getGpuTopology(name, kH100, getNvlink(8, kH100.nvlink), getRails("infiniband", 4.5e10));
  if (name == "h200") return getGpuTopology(name, kH200, getNvlink(8, kH200.nvlink), getRails("infiniband", 4.5e10));
  if (name == "b200") return getGpuTopology(name, kB200, getNvlink(8, kB200.nvlink), getRails("infiniband", 4.5e10));
  if (name == "gb200-nvl72") {
    Topology topology = getGpuTopology(name, kB200, getNvlink(72, kB200.nvlink), getRails("infiniband", 4.5e10));
    topology.device.hostBandwidth = 1.8e11;
    return topology;
  }
  if (name == "roce-8x400g") {
    // Leaves have half as many ways up as down.
    LinkClass roce = getRails("roce", 4.5e10);
    roce.oversubscription = 2;
    return getGpuTopology(name, kH100, getNvlink(8, kH100.nvlink), std::move(roce));
  }
  // The lanes of an adapter are in planes of their own, over which packets are spread: fewer switches on the way.
  if (name == "mrc-multiplane") {
    LinkClass planes = getRails("planes", 9e10);
    planes.latency = 1.3e-5;
    planes.ll128Latency = 3e-6;
    planes.llLatency = 1.7e-6;
    return getGpuTopology(name, kB200, getNvlink(8, kB200.nvlink), std::move(planes));
  }
  if (name == "torus") return getTorusTopology();
  return std::nullopt;
}

bool mlir::sgd::isBuiltInTopology(llvm::StringRef name) { return getBuiltIn(name).has_value(); }

llvm::Expected<Topology> mlir::sgd::loadTopology(llvm::StringRef nameOrPath) { return loadTopology(nameOrPath, {}); }

llvm::Expected<Topology> mlir::sgd::loadTopology(llvm::StringRef nameOrPath, llvm::ArrayRef<std::string> chain) {
  if (std::optional<Topology> builtIn = getBuiltIn(nameOrPath)) return *std::move(builtIn);
  std::string text;
  if (auto fault = ::sgd::text::ReadTextFile(nameOrPath.str(), text))
    return llvm::createStringError("cannot read topology '" + nameOrPath + "': " + *fault + "; built in are " +
                                   llvm::join(getBuiltInTopologies(), ", "));
  return parseTopology(text, nameOrPath, chain);
}
