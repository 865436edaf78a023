#include "compiler/simulation/drawing.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/text/svg.h"

using namespace mlir::sgd;
using Lane = Interval::Lane;

static constexpr double kWidth = 1200, kLeft = 90, kRow = 18, kGap = 8, kTop = 34;
/// Thinner ones are not drawn by themselves.
static constexpr double kThinnest = 0.4;
static constexpr Lane kLanes[] = {Lane::Compute, Lane::Collective, Lane::Message};

static const char* getName(Lane lane) {
  switch (lane) {
    case Lane::Compute:
      return "computing";
    case Lane::Collective:
      return "collectives";
    case Lane::Message:
      return "messages";
  }
  llvm_unreachable("all lanes are handled");
}

static const char* getColor(Lane lane) {
  switch (lane) {
    case Lane::Compute:
      return "#4477aa";
    case Lane::Collective:
      return "#cc6677";
    case Lane::Message:
      return "#ddaa33";
  }
  llvm_unreachable("all lanes are handled");
}

static void begin(llvm::raw_ostream& os, double height) { os << ::sgd::text::SvgBegin(kLeft + kWidth + 20, height); }

static void writeText(llvm::raw_ostream& os, double x, double y, const std::string& text) {
  os << ::sgd::text::SvgText(x, y, text);
}

namespace {
class Timeline {
 public:
  Timeline(const Machine& machine, const StepEstimate& estimate)
      : machine(machine), scale(kWidth / estimate.stepSeconds), os(text) {}

  void drawLane(const StageTimes& stage, int64_t number, Lane lane, double y);
  std::string text;

 private:
  void drawBox(Interval interval, uint64_t count, int64_t stage, double y);
  std::string describe(uint32_t index, int64_t stage) const;

  const Machine& machine;
  double scale;

 public:
  llvm::raw_string_ostream os;
};
}  // namespace

std::string Timeline::describe(uint32_t index, int64_t stage) const {
  for (const ::sgd::artifact::Program* program : *machine.getRoot().programs()) {
    if (std::max<int64_t>(0, program->stage()) != stage || index >= ::sgd::artifact::Size(program->instructions()))
      continue;
    const ::sgd::artifact::Instruction& instruction = *program->instructions()->Get(index);
    std::string name = ::sgd::artifact::OperationName(instruction);
    if (instruction.loc() < ::sgd::artifact::Size(program->locations()))
      name += " at " + program->locations()->Get(instruction.loc())->str();
    return name;
  }
  return "";
}

void Timeline::drawBox(Interval interval, uint64_t count, int64_t stage, double y) {
  os << llvm::format("<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\" fill=\"%s\"><title>",
                     kLeft + interval.begin * scale, y, std::max(kThinnest, (interval.end - interval.begin) * scale),
                     kRow - 2, getColor(interval.lane))
     << llvm::format("%.6g to %.6g ms: ", interval.begin * 1e3, interval.end * 1e3)
     << ::sgd::text::SvgEscape(describe(interval.index, stage));
  if (count > 1) os << " and " << count - 1 << " more";
  os << "</title></rect>\n";
}

void Timeline::drawLane(const StageTimes& stage, int64_t number, Lane lane, double y) {
  std::optional<Interval> last;
  uint64_t count = 0;
  for (const Interval& interval : stage.intervals) {
    if (interval.lane != lane || interval.end <= interval.begin) continue;
    bool joins = last && (interval.end - last->begin) * scale < 2 && (interval.begin - last->end) * scale < kThinnest;
    if (last && !joins) drawBox(*last, count, number, y);
    if (!joins) last = interval, count = 0;
    last->end = interval.end;
    ++count;
  }
  if (last) drawBox(*last, count, number, y);
}

std::string mlir::sgd::drawTimeline(const Machine& machine, const StepEstimate& estimate) {
  Timeline timeline(machine, estimate);
  double height = kTop + estimate.stages.size() * (std::size(kLanes) * kRow + kGap) + 10;
  begin(timeline.os, height);
  std::string title;
  llvm::raw_string_ostream(title) << estimate.ranks << " ranks, a step of "
                                  << llvm::format("%.4g ms", estimate.stepSeconds * 1e3);
  writeText(timeline.os, kLeft, 20, title);
  double y = kTop;
  for (auto [number, stage] : llvm::enumerate(estimate.stages)) {
    for (Lane lane : kLanes) {
      writeText(timeline.os, 6, y + kRow - 6, getName(lane));
      timeline.drawLane(stage, number, lane, y);
      y += kRow;
    }
    y += kGap;
  }
  timeline.os << "</svg>\n";
  return std::move(timeline.text);
}

std::string mlir::sgd::drawScaling(llvm::ArrayRef<StepEstimate> sweep) {
  constexpr double kHeight = 360, kPlot = 280;
  std::string text;
  llvm::raw_string_ostream os(text);
  begin(os, kHeight);
  auto logRanks = [](const StepEstimate& estimate) { return std::log2(static_cast<double>(estimate.ranks)); };
  double low = logRanks(sweep.front()), high = std::max(low + 1, logRanks(sweep.back()));
  auto getX = [&](double ranks) { return kLeft + (ranks - low) / (high - low) * kWidth; };
  auto getY = [&](double log) { return kTop + kPlot - (log - low) / (high - low) * kPlot; };
  writeText(os, kLeft, 20, "work per second beside that of the smallest mesh; thin: as many times as ranks");
  os << llvm::format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#bbbbbb\"/>\n", getX(low),
                     getY(low), getX(high), getY(high));
  os << "<polyline fill=\"none\" stroke=\"#4477aa\" stroke-width=\"2\" points=\"";
  for (const StepEstimate& estimate : sweep)
    os << llvm::format("%.1f,%.1f ", getX(logRanks(estimate)),
                       getY(logRanks(estimate) + std::log2(getScaling(sweep.front(), estimate))));
  os << "\"/>\n";
  for (const StepEstimate& estimate : sweep) {
    writeText(os, getX(logRanks(estimate)), kTop + kPlot + 18, std::to_string(estimate.ranks));
    std::string percent;
    llvm::raw_string_ostream(percent) << llvm::format("%.0f %%", 100 * getScaling(sweep.front(), estimate));
    writeText(os, getX(logRanks(estimate)), kTop + kPlot + 34, percent);
  }
  os << "</svg>\n";
  return text;
}
