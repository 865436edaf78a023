// Parts of the batch follow from how often an instruction has run.
#include "compiler/report/timeline_rows.h"

#include <cmath>
#include <map>

#include "compiler/simulation/part_finder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

int64_t mlir::sgd::toTicks(double seconds) { return std::llround(seconds / kTick); }

static const char* getName(Interval::Lane lane) {
  switch (lane) {
    case Interval::Lane::Compute:
      return "compute";
    case Interval::Lane::Collective:
      return "collective";
    case Interval::Lane::Message:
      return "message";
  }
  llvm_unreachable("all lanes are handled");
}

namespace {

struct Bar {
  double begin, end;
  uint32_t index;
  int64_t part;
  uint64_t count = 1;
};

class Row {
 public:
  explicit Row(double resolution) : resolution(resolution) {}

  void add(const Bar& bar) {
    if (bars.empty() || bar.end - bars.back().begin > resolution) {
      bars.push_back(bar);
      return;
    }
    bars.back().end = std::max(bars.back().end, bar.end);
    ++bars.back().count;
  }

  nlohmann::json toJson() const {
    nlohmann::json gaps = nlohmann::json::array(), lengths = gaps, indices = gaps, parts = gaps, counts = gaps;
    int64_t before = 0;
    bool hasParts = false, hasCounts = false;
    for (const Bar& bar : bars) {
      int64_t begin = toTicks(bar.begin), end = toTicks(bar.end);
      gaps.push_back(begin - before), lengths.push_back(end - begin), indices.push_back(bar.index);
      parts.push_back(bar.part), counts.push_back(bar.count);
      hasParts |= bar.part >= 0, hasCounts |= bar.count > 1;
      before = end;
    }
    nlohmann::json json = {{"gap", gaps}, {"length", lengths}, {"instruction", indices}};
    if (hasParts) json["part"] = std::move(parts);
    if (hasCounts) json["count"] = std::move(counts);
    return json;
  }

 private:
  double resolution;
  std::vector<Bar> bars;
};

}  // namespace

nlohmann::json mlir::sgd::getTimelineRows(const StageTimes& times, const artifact::Program& program,
                                          double resolution) {
  std::vector<const Interval*> order;
  for (const Interval& interval : times.intervals)
    if (interval.end > interval.begin) order.push_back(&interval);
  llvm::sort(order,
             [](const Interval* a, const Interval* b) { return std::pair(a->begin, a) < std::pair(b->begin, b); });
  PartFinder parts(program);
  std::map<std::pair<uint32_t, Interval::Lane>, Row> rows;
  for (const Interval* interval : order) {
    auto row = rows.try_emplace({interval->stream, interval->lane}, resolution).first;
    row->second.add({interval->begin, interval->end, interval->index, parts.next(interval->index, interval->lane)});
  }
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [key, row] : rows) {
    all.push_back(row.toJson());
    all.back()["stream"] = key.first;
    all.back()["lane"] = getName(key.second);
  }
  return all;
}
