// The curve of a sweep, both axes logarithmic.
#include <cmath>

#include "compiler/simulation/drawing.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/text/svg.h"

using namespace mlir::sgd;
namespace text = ::sgd::text;

static constexpr double kPlotWidth = 900, kPlotHeight = 320, kPlotLeft = 90, kPlotRight = 60, kPlotTop = 60,
                        kPlotBottom = 64;

namespace {
/// The plane of the curve: by the logarithm of ranks, and of work as a multiple of that of the smallest mesh.
class ScalingPlot {
 public:
  explicit ScalingPlot(llvm::ArrayRef<StepEstimate> sweep)
      : sweep(sweep), low(getLog(sweep.front())), high(std::max(low + 1, getLog(sweep.back()))), os(body) {}

  std::string draw() {
    drawAxes();
    drawCurve();
    drawPoints();
    double x = kPlotLeft;
    std::string legend = text::SvgRect(x, 34, 18, 3, "#4477aa") + text::SvgText(x + 24, 40, "simulated") +
                         text::SvgRect(x + 110, 35, 18, 1, "#888888") +
                         text::SvgText(x + 134, 40, "as many times as ranks");
    return text::SvgBegin(kPlotLeft + kPlotWidth + kPlotRight, kPlotTop + kPlotHeight + kPlotBottom) +
           text::SvgText(kPlotLeft, 20, "work per second, as a multiple of the smallest mesh's; numbers: efficiency") +
           legend + body + "</svg>\n";
  }

 private:
  static double getLog(const StepEstimate& estimate) { return std::log2(static_cast<double>(estimate.ranks)); }
  /// Of its work per second, beside the smallest mesh's.
  double getWork(const StepEstimate& estimate) const {
    return getLog(estimate) - low + std::log2(getScaling(sweep.front(), estimate));
  }
  double getX(double ranks) const { return kPlotLeft + (ranks - low) / (high - low) * kPlotWidth; }
  double getY(double work) const { return kPlotTop + kPlotHeight - work / (high - low) * kPlotHeight; }

  /// Below the point, or above it where the axis is.
  double getLabelY(const StepEstimate& estimate) const {
    double y = getY(getWork(estimate));
    return y + 18 < kPlotTop + kPlotHeight - 4 ? y + 18 : y - 8;
  }

  void drawAxes() {
    // Multiples by powers of two, no more than labels have room for.
    double step = std::max(1.0, std::ceil((high - low) / 10));
    for (double work = 0; work <= high - low + 1e-9; work += step) {
      os << text::SvgLine(kPlotLeft, getY(work), kPlotLeft + kPlotWidth, getY(work), "#e3e7ec");
      std::string label;
      llvm::raw_string_ostream(label) << llvm::format("%.6gx", std::exp2(work));
      os << text::SvgText(kPlotLeft - 8, getY(work) + 4, label, "end");
    }
    os << text::SvgLine(kPlotLeft, kPlotTop, kPlotLeft, kPlotTop + kPlotHeight, "#333333")
       << text::SvgLine(kPlotLeft, kPlotTop + kPlotHeight, kPlotLeft + kPlotWidth, kPlotTop + kPlotHeight, "#333333")
       << text::SvgText(kPlotLeft + kPlotWidth / 2, kPlotTop + kPlotHeight + 46, "ranks", "middle");
  }

  void drawCurve() {
    os << text::SvgLine(getX(low), getY(0), getX(high), getY(high - low), "#888888");
    os << "<polyline fill=\"none\" stroke=\"#4477aa\" stroke-width=\"2\" points=\"";
    for (const StepEstimate& estimate : sweep)
      os << llvm::format("%.1f,%.1f ", getX(getLog(estimate)), getY(getWork(estimate)));
    os << "\"/>\n";
  }

  /// Labels that would cover the one before are left out.
  void drawPoints() {
    double free = -1;
    for (const StepEstimate& estimate : sweep) {
      double x = getX(getLog(estimate));
      os << text::SvgLine(x, kPlotTop + kPlotHeight, x, kPlotTop + kPlotHeight + 5, "#333333");
      std::string percent, step;
      llvm::raw_string_ostream(percent) << llvm::format("%.0f %%", 100 * getScaling(sweep.front(), estimate));
      llvm::raw_string_ostream(step) << estimate.ranks << " ranks: a step of "
                                     << llvm::format("%.4g ms", estimate.stepSeconds * 1e3);
      os << text::SvgRect(x - 3, getY(getWork(estimate)) - 3, 6, 6, "#4477aa", step);
      if (x < free) continue;
      os << text::SvgText(x, kPlotTop + kPlotHeight + 20, std::to_string(estimate.ranks), "middle")
         << text::SvgText(x + 8, getLabelY(estimate), percent);
      free = x + 44;
    }
  }

  llvm::ArrayRef<StepEstimate> sweep;
  double low, high;
  std::string body;
  llvm::raw_string_ostream os;
};
}  // namespace

std::string mlir::sgd::drawScaling(llvm::ArrayRef<StepEstimate> sweep) { return ScalingPlot(sweep).draw(); }
