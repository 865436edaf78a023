// Description of the machine a program is for: links between ranks, innermost first, and what one device can do.
// Built in: "host" (ranks of one host over shared memory), hosts of GPUs, and others that getBuiltInTopologies lists;
// others are JSON files such as topologies/dgx-h100.json (docs/topologies.md).
#ifndef SGD_PASSES_COST_TOPOLOGY_H
#define SGD_PASSES_COST_TOPOLOGY_H

#include <cstdint>
#include <limits>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "dialects/cost/work.h"

namespace mlir::sgd {

/// How a collective moves its data over one class of links.
enum class Algorithm {
  Ring,    // each rank talks to its neighbour; n - 1 rounds
  Tree,    // log2(n) rounds of the whole operand: few rounds, more bytes
  Direct,  // every rank reads from all others at once (shared memory, full crossbar)
  Switch,  // switches add what ranks send and send the sum to all: all-reduces alone (NVLS, SHARP)
};

/// How a receiver learns that data is there. The others than Simple send flags beside the data, which a receiver can
/// read without waiting for a fence: quick rounds, of which a part carries no data.
enum class Protocol {
  Simple,
  LL128,  // a flag of 8 bytes in each 128
  LL,     // a flag of 4 bytes beside each 4, stored together
};
inline constexpr Protocol kProtocols[] = {Protocol::Simple, Protocol::LL128, Protocol::LL};

/// The part of the bandwidth that data has.
double getPayload(Protocol protocol);

/// Links of one level. Ranks are numbered so that consecutive ones are close.
struct LinkClass {
  std::string name;
  int64_t ranks = 0;     // size of the domain that these links join; 0 on the last level: all ranks
  double latency = 0;    // seconds of one round, synchronisation included, by Protocol::Simple
  double bandwidth = 0;  // bytes per second, in one direction, of one port
  llvm::SmallVector<Algorithm, 3> algorithms;
  int64_t sharedBy = 1;         // ranks that share a port: those of a host with one adapter
  double oversubscription = 1;  // how much more ports there are than the links behind them carry at once
  bool rails = false;       // ports of equal places in their domains meet at one switch, before what is oversubscribed
  double startup = 0;       // seconds before a collective's first round: its kernel and the meeting of its ranks
  double ll128Latency = 0;  // as `latency`, by Protocol::LL128; 0: not there
  double llLatency = 0;     // and by Protocol::LL

  /// Seconds of a round by `protocol`; infinite where the links have none such.
  double getLatency(Protocol protocol) const;

  /// Bytes per second of a rank while all ranks send, to ranks of the same place in their domains or to any.
  double getShare(bool toSamePlace = false) const {
    return bandwidth / (static_cast<double>(sharedBy) * (rails && toSamePlace ? 1 : oversubscription));
  }
};

/// Performance of one rank's device, as real programs reach it rather than as data sheets state it.
struct DeviceModel {
  double flops = 0;                                                 // per second, f32 matmuls
  double halfFlops = 0;                                             // per second, f16 and bf16 matmuls
  double attentionFlops = 0;                                        // per second, fused attention of f16 and bf16
  double vectorFlops = 0;                                           // per second, elementwise ops of f32
  double divisions = 0;                                             // per second, quotients and square roots of f32
  double transcendentals = 0;                                       // per second, exponentials and the like of f32
  double packedElements = std::numeric_limits<double>::infinity();  // per second, of OperationKind::Packing
  double memoryBandwidth = 0;                                       // bytes per second, read and written
  double cacheBandwidth = 0;  // the same of ops that touch at most cacheBytes, which are still near
  int64_t cacheBytes = 0;     // of a rank; 0: all is far
  double launchLatency = 0;   // seconds before a kernel does any work
  int64_t memoryBytes = 0;
  std::string architecture;       // of a GPU, "sm_90"; empty: a CPU
  double peakFlops = 0;           // of the data sheet, for reports: as `flops`
  double peakHalfFlops = 0;       // as `halfFlops`
  double storageBandwidth = 1e9;  // bytes per second that a rank saves
  double pricePerHour = 0;        // of a device, in any currency; 0: not known
  // Bytes per second between the device and pinned memory of its host, in each direction; 0 where the host's memory is
  // the device's. By default of PCIe 4.0 x16.
  double hostBandwidth = 2.5e10;

  /// Operations per second.
  double getRate(OperationKind kind, Precision precision) const;
};

struct Topology {
  std::string name;
  DeviceModel device;
  llvm::SmallVector<LinkClass, 2> links;  // innermost first, domain sizes ascending, the last one joins all ranks

  /// Ranks of each of the domains that `link`, one of `links`, joins: a host's; 1 where they are ranks.
  int64_t getInnerRanks(const LinkClass& link) const { return &link == links.begin() ? 1 : (&link - 1)->ranks; }
};

/// Ranks that are processes of one host and meet in shared memory.
Topology getHostTopology();

/// Names that loadTopology knows without a file.
llvm::ArrayRef<llvm::StringLiteral> getBuiltInTopologies();

/// Whether loadTopology knows the name without a file.
bool isBuiltInTopology(llvm::StringRef name);

/// Reads the JSON form. Errors say which field of `name` is missing, of the wrong type or out of range.
llvm::Expected<Topology> parseTopology(llvm::StringRef json, llvm::StringRef name);

/// A built-in name, or the path of a JSON file.
llvm::Expected<Topology> loadTopology(llvm::StringRef nameOrPath);

}  // namespace mlir::sgd

#endif
