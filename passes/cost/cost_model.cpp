// Alpha-beta times of the usual algorithms (Thakur, Rabenseifner, Gropp: Optimization of Collective Communication
// Operations in MPICH, 2005) and the roofline of Williams, Waterman and Patterson (2009).
#include "passes/cost/cost_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir::sgd;
using llvm::ArrayRef;

namespace {
constexpr double kImpossible = std::numeric_limits<double>::infinity();

double getRingRounds(CollectiveKind kind, int64_t ranks) {
  uint32_t passes = ::sgd::comm::TraitsOf(kind).ring_passes;
  return passes == 0 ? 1 : passes * (ranks - 1);
}

/// Time of ranks that are all neighbours, rounds taking `latency` at least.
double getFlatSeconds(double latency, double bandwidth, Algorithm algorithm, CollectiveKind kind, int64_t ranks,
                      uint64_t bytes) {
  double sent = static_cast<double>(::sgd::comm::SentBytes(kind, ranks, bytes));
  double depth = std::ceil(std::log2(static_cast<double>(ranks)));
  switch (algorithm) {
    case Algorithm::Ring:
      return getRingRounds(kind, ranks) * latency + sent / bandwidth;
    case Algorithm::Direct:
      return std::max<uint32_t>(1, ::sgd::comm::TraitsOf(kind).ring_passes) * latency + sent / bandwidth;
    case Algorithm::Tree:
      if (kind == CollectiveKind::kAllReduce) return 2 * (depth * latency + bytes / bandwidth);
      if (kind == CollectiveKind::kBroadcast) return depth * (latency + bytes / bandwidth);
      return kImpossible;
    case Algorithm::Switch:
      // Up to the switch and down again at the same time, but for a rank's own part. Switches add no flags.
      if (kind != CollectiveKind::kAllReduce) return kImpossible;
      return 2 * latency + bytes * (1 + 1 / static_cast<double>(ranks)) / bandwidth;
  }
  llvm_unreachable("all algorithms are handled");
}

bool hasRings(const LinkClass& link) { return llvm::is_contained(link.algorithms, Algorithm::Ring); }

/// A ring through `ranks` ranks, as many of each domain of `inner` behind one another as `ofDomain`. There are as many
/// rings as that, each through a port of its own between domains, the same in all, so that all links are busy at once:
/// rings over hosts with several adapters are built so.
double getRingsSeconds(const LinkClass& inner, const LinkClass& outer, CollectiveKind kind, int64_t ranks,
                       int64_t ofDomain, uint64_t bytes) {
  if (!hasRings(inner) || !hasRings(outer)) return kImpossible;
  auto sent = static_cast<double>(::sgd::comm::SentBytes(kind, ranks, bytes));
  auto domains = static_cast<double>(ranks / ofDomain), ports = static_cast<double>(ofDomain);
  double wire = std::max(sent / inner.getShare(), sent / (outer.getShare(/*toSamePlace=*/true) * ports));
  double best = kImpossible;
  for (Protocol protocol : kProtocols) {
    double round =
        (static_cast<double>(ranks) - domains) * inner.getLatency(protocol) + domains * outer.getLatency(protocol);
    best = std::min(best, ::sgd::comm::TraitsOf(kind).ring_passes * round + wire / getPayload(protocol));
  }
  return best + outer.startup;
}
}  // namespace

const LinkClass& CostModel::getLink(ArrayRef<AxisPart> parts) const {
  for (const LinkClass& link : topology.links) {
    // A sub-axis of stride s and size n stays within aligned blocks of s * n ranks.
    bool joinsAll = link.ranks == 0 || llvm::all_of(parts, [&](const AxisPart& part) {
                      return link.ranks % (getRankStride(mesh, part) * part.size) == 0;
                    });
    if (joinsAll) return link;
  }
  return topology.links.back();
}

/// Whether all ranks of the group have the same place in their domains, which `link` joins.
bool CostModel::joinsSamePlaces(ArrayRef<AxisPart> parts, const LinkClass& link) const {
  int64_t inner = topology.getInnerRanks(link);
  return llvm::all_of(parts, [&](const AxisPart& part) { return getRankStride(mesh, part) % inner == 0; });
}

double CostModel::getCollectiveSeconds(CollectiveKind kind, ArrayRef<AxisPart> parts, uint64_t bytes) const {
  int64_t ranks = getGroupSize(parts);
  if (ranks <= 1) return 0;
  const LinkClass& link = getLink(parts);
  double best = kImpossible, bandwidth = link.getShare(joinsSamePlaces(parts, link));
  for (Algorithm algorithm : link.algorithms)
    for (Protocol protocol : kProtocols) {
      if (algorithm == Algorithm::Switch && protocol != Protocol::Simple) continue;
      best = std::min(best, getFlatSeconds(link.getLatency(protocol), bandwidth * getPayload(protocol), algorithm, kind,
                                           ranks, bytes));
    }
  return std::min(best + link.startup, getHierarchicalSeconds(kind, parts, bytes));
}

/// The parts of `part` that stay within inner links, and those that need `outer`: an axis whose ranks fill a domain
/// several times is both.
void CostModel::splitPart(const AxisPart& part, const LinkClass& outer, AxisParts& inside, AxisParts& across) const {
  if (&getLink(part) != &outer) return inside.push_back(part);
  int64_t stride = getRankStride(mesh, part), within = 1;
  for (const LinkClass& link : topology.links) {
    if (&link == &outer) break;
    // Consecutive coordinates of the part are `stride` ranks apart.
    if (link.ranks % stride == 0) within = std::gcd(part.size, link.ranks / stride);
  }
  if (within > 1) inside.push_back({part.axis, part.begin * (part.size / within), within});
  if (within < part.size) across.push_back({part.axis, part.begin, part.size / within});
}

double CostModel::getHierarchicalSeconds(CollectiveKind kind, ArrayRef<AxisPart> parts, uint64_t bytes) const {
  const LinkClass& outerLink = getLink(parts);
  AxisParts inner, outer;
  for (const AxisPart& part : parts) splitPart(part, outerLink, inner, outer);
  if (inner.empty() || outer.empty()) return kImpossible;
  uint64_t part = bytes / getGroupSize(inner);
  auto getRings = [&] {
    return getRingsSeconds(getLink(inner), outerLink, kind, getGroupSize(parts), getGroupSize(inner), bytes);
  };
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return std::min(getRings(), getCollectiveSeconds(CollectiveKind::kReduceScatter, inner, bytes) +
                                      getCollectiveSeconds(kind, outer, part) +
                                      getCollectiveSeconds(CollectiveKind::kAllGather, inner, bytes));
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return std::min(getRings(), getCollectiveSeconds(kind, inner, bytes) + getCollectiveSeconds(kind, outer, part));
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kBroadcast:
      // Data for a domain goes to one of its ranks, or through the rank at the same position there.
      return getCollectiveSeconds(kind, outer, bytes) + getCollectiveSeconds(kind, inner, bytes);
    case CollectiveKind::kPermute:
    case CollectiveKind::kGatherRange:
      return kImpossible;  // each rank sends to those that need it, once
  }
  llvm_unreachable("all kinds are handled");
}

std::vector<::sgd::comm::SubAxis> CostModel::getSubAxes(ArrayRef<int64_t> mesh, ArrayRef<AxisPart> parts) {
  std::vector<::sgd::comm::SubAxis> subAxes;
  for (const AxisPart& part : parts)
    subAxes.push_back({static_cast<uint64_t>(getRankStride(mesh, part)), static_cast<uint64_t>(part.size)});
  return subAxes;
}

uint64_t CostModel::getMostSentBytes(ArrayRef<int64_t> mesh, ArrayRef<AxisPart> tiles, ArrayRef<AxisPart> results,
                                     ArrayRef<RangeLoad> ranges) {
  return ::sgd::comm::MostSentBytes(getSubAxes(mesh, tiles), getSubAxes(mesh, results), ranges);
}

/// Seconds of memory accesses. Assumes that small operands were touched shortly before and are in caches.
static double getMemorySeconds(const DeviceModel& device, const Work& work) {
  double bytes = work.getBytes();
  return bytes / (bytes <= static_cast<double>(device.cacheBytes) ? device.cacheBandwidth : device.memoryBandwidth);
}

double CostModel::getMoveSeconds(double bytes) const {
  return topology.device.launchLatency + bytes / topology.device.memoryBandwidth;
}

double CostModel::getSeconds(const Work& work) const {
  const DeviceModel& device = topology.device;
  double arithmetic = 0;
  for (size_t kind = 0; kind < kNumOperationKinds; ++kind)
    for (size_t precision = 0; precision < kNumPrecisions; ++precision)
      if (double count = work.get(OperationKind(kind), Precision(precision)); count > 0)
        arithmetic += count / device.getRate(OperationKind(kind), Precision(precision));
  return device.launchLatency + std::max(arithmetic, getMemorySeconds(device, work));
}

double CostModel::getHostCopySeconds(double bytes) const {
  const DeviceModel& device = topology.device;
  return device.hostBandwidth == 0 ? std::numeric_limits<double>::infinity()
                                   : device.launchLatency + bytes / device.hostBandwidth;
}

static constexpr uint64_t kLeastBucket = uint64_t(4) << 20;

uint64_t CostModel::getBucketBytes(ArrayRef<AxisPart> parts) const {
  const LinkClass& link = getLink(parts);
  double rounds = llvm::is_contained(link.algorithms, Algorithm::Direct) ? 2 : 2 * (getGroupSize(parts) - 1);
  // Of many bytes: LL would send twice as many.
  double latency = std::min(link.latency, link.getLatency(Protocol::LL128));
  double startup = rounds * latency + link.startup;
  return std::max(kLeastBucket, static_cast<uint64_t>(startup * link.getShare(joinsSamePlaces(parts, link)) / 0.02));
}

uint64_t CostModel::getBucketBytes(CollectiveKind kind, ArrayRef<AxisPart> parts, uint64_t total) const {
  double start = getCollectiveSeconds(kind, parts, 0), all = getCollectiveSeconds(kind, parts, total) - start;
  if (start <= 0 || all <= 0) return kLeastBucket;
  auto bytes = static_cast<double>(total);
  auto best = static_cast<uint64_t>(bytes * std::sqrt(start / all));
  return std::max(kLeastBucket, std::min(getBucketBytes(parts), best));
}
