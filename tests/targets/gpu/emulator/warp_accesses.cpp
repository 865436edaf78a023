// Collects the requests of a block, then counts sectors and turns of banks.
#include "tests/targets/gpu/emulator/warp_accesses.h"

#include <algorithm>
#include <set>

namespace sgd::emulator {

namespace {

constexpr uint64_t kSector = 32, kWord = 4, kBanks = 32;

// The units of `size` bytes that [begin, begin + bytes) lies in.
void AddUnits(uint64_t begin, uint64_t bytes, uint64_t size, std::set<uint64_t>& units) {
  for (uint64_t unit = begin / size; unit <= (begin + bytes - 1) / size; ++unit) units.insert(unit);
}

// Different words of a bank come one after another.
uint64_t TurnsOf(const std::set<uint64_t>& words) {
  std::array<uint64_t, kBanks> turns{};
  for (const uint64_t word : words) ++turns[word % kBanks];
  return *std::max_element(turns.begin(), turns.end());
}

}  // namespace

void WarpAccesses::Add(uint32_t thread, uint32_t site, const Access& access, bool is_shared) {
  WarpTraffic& traffic = (*sites_)[site];
  traffic.is_shared = is_shared;
  traffic.is_write = access.is_write;
  traffic.bytes = access.bytes;
  Pending& pending = pending_[site];
  const uint32_t execution = pending.executions[thread]++, warp = thread / kWarp, lane = thread % kWarp;
  if (pending.warps.size() <= warp) pending.warps.resize(warp + 1);
  std::vector<Request>& requests = pending.warps[warp];
  if (requests.size() <= execution) requests.resize(execution + 1);
  requests[execution].lanes |= uint32_t{1} << lane;
  requests[execution].addresses[lane] = access.address;
}

void WarpAccesses::EndBlock() {
  for (auto& [site, pending] : pending_) {
    WarpTraffic& traffic = (*sites_)[site];
    // 8 and 16 bytes of shared memory are moved for half and a quarter of a warp at a time.
    const uint32_t together = traffic.is_shared ? kWarp / std::max<uint32_t>(1, traffic.bytes / kWord) : kWarp;
    for (const std::vector<Request>& requests : pending.warps) {
      for (const Request& request : requests) {
        ++traffic.requests;
        for (uint32_t first = 0; first < kWarp; first += together) {
          std::set<uint64_t> units, bytes;
          for (uint32_t lane = first; lane < first + together; ++lane) {
            if ((request.lanes >> lane & 1) == 0) continue;
            AddUnits(request.addresses[lane], traffic.bytes, traffic.is_shared ? kWord : kSector, units);
            AddUnits(request.addresses[lane], traffic.bytes, 1, bytes);
          }
          if (units.empty()) continue;
          traffic.transactions += traffic.is_shared ? TurnsOf(units) : units.size();
          traffic.least += traffic.is_shared ? 1 : (bytes.size() + kSector - 1) / kSector;
        }
      }
    }
  }
  pending_.clear();
}

WarpTraffic Total(const WarpAccesses::Sites& sites, bool is_shared) {
  WarpTraffic total{.is_shared = is_shared};
  for (const auto& [site, traffic] : sites) {
    if (traffic.is_shared != is_shared) continue;
    total.requests += traffic.requests;
    total.transactions += traffic.transactions;
    total.least += traffic.least;
  }
  return total;
}

}  // namespace sgd::emulator
