// Curves have at most as many points as they have pixels: neighbouring steps are averaged.
#include "runtime/watch/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/text/svg.h"

namespace sgd::watch {
namespace {

constexpr double kWidth = 900, kLeft = 80, kRight = 20, kTop = 30, kPanel = 220, kGap = 60, kBottom = 50;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kHighShare = 0.99;  // of times below the end of their axis: single slow steps would flatten the others
constexpr const char* kColors[] = {"#4477aa", "#cc6677", "#117733", "#ddaa33", "#aa3377", "#66ccee", "#bbbbbb"};

using Points = std::vector<std::pair<double, double>>;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void Add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_empty() const { return low > high; }
  // Never of no length, so that a constant is in its middle.
  void Widen() {
    if (high > low) return;
    const double margin = std::max(std::abs(low) * 0.1, 1e-9);
    low -= margin;
    high += margin;
  }
};

Points LossesOf(const LogContent& log) {
  Points points;
  for (const LoggedStep& step : log.steps) {
    if (step.loss && std::isfinite(*step.loss)) points.emplace_back(static_cast<double>(step.step), *step.loss);
  }
  return points;
}

Points MillisecondsOf(const LogContent& log) {
  Points points;
  for (const LoggedStep& step : log.steps) points.emplace_back(static_cast<double>(step.step), step.seconds * 1e3);
  return points;
}

Points RatesOf(const LogContent& log) {
  Points points;
  for (const LoggedStep& step : log.steps) {
    if (step.seconds > 0) points.emplace_back(static_cast<double>(step.step), 1 / step.seconds);
  }
  return points;
}

// Means of runs of neighbours, a pixel's worth of steps each. A step back begins a new one.
Points Thin(const Points& points, const Range& steps) {
  const double width = (steps.high - steps.low) / kPlotWidth;
  Points thin;
  size_t count = 0;
  double begin = 0, last = 0;
  for (const auto& [x, y] : points) {
    if (count == 0 || x - begin >= width || x < last) {
      thin.emplace_back(0, 0);
      count = 0;
      begin = x;
    }
    ++count;
    auto& [mean_x, mean_y] = thin.back();
    mean_x += (x - mean_x) / static_cast<double>(count);
    mean_y += (y - mean_y) / static_cast<double>(count);
    last = x;
  }
  return thin;
}

// A panel: where its values are.
class Panel {
 public:
  Panel(double top, Range steps, Range values) : top_(top), steps_(steps), values_(values) {}

  double X(double step) const { return kLeft + (step - steps_.low) / (steps_.high - steps_.low) * kPlotWidth; }
  // Values beyond the end of the axis are drawn there.
  double Y(double value) const {
    const double share = (value - values_.low) / (values_.high - values_.low);
    return top_ + kPanel * (1 - std::clamp(share, 0.0, 1.0));
  }

  std::string Axes(const std::string& title) const {
    std::string text = text::SvgText(kLeft, top_ - 8, title);
    for (double tick : text::AxisTicks(values_.low, values_.high)) {
      absl::StrAppend(&text, text::SvgLine(kLeft, Y(tick), kLeft + kPlotWidth, Y(tick), "#dddddd"),
                      text::SvgText(kLeft - 6, Y(tick) + 4, absl::StrFormat("%.6g", tick), "end"));
    }
    for (double tick : text::AxisTicks(steps_.low, steps_.high, 8)) {
      absl::StrAppend(&text, text::SvgLine(X(tick), top_ + kPanel, X(tick), top_ + kPanel + 4, "#333333"),
                      text::SvgText(X(tick), top_ + kPanel + 16, absl::StrFormat("%.15g", tick), "middle"));
    }
    absl::StrAppend(&text, text::SvgText(kLeft + kPlotWidth, top_ + kPanel + 30, "step", "end"));
    return absl::StrCat(text, text::SvgLine(kLeft, top_, kLeft, top_ + kPanel, "#333333"),
                        text::SvgLine(kLeft, top_ + kPanel, kLeft + kPlotWidth, top_ + kPanel, "#333333"));
  }

  // A step back, after a restart, begins a new line.
  std::string Curve(const Points& points, const char* color) const {
    std::string text;
    for (size_t i = 0; i < points.size();) {
      absl::StrAppend(&text, "<polyline fill=\"none\" stroke=\"", color, "\" stroke-width=\"1.5\" points=\"");
      do {
        absl::StrAppend(&text, absl::StrFormat("%.1f,%.1f ", X(points[i].first), Y(points[i].second)));
      } while (++i < points.size() && points[i].first > points[i - 1].first);
      absl::StrAppend(&text, "\"/>\n");
    }
    return text;
  }

  std::string Mark(double step, const std::string& title, const char* color) const {
    return absl::StrFormat(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-dasharray=\"4 3\"><title>%s</title>"
        "</line>\n",
        X(step), top_, X(step), top_ + kPanel, color, text::SvgEscape(title));
  }

 private:
  double top_;
  Range steps_, values_;
};

// Times and rates begin at zero.
Range ValuesOf(const std::vector<Points>& curves, bool are_times) {
  std::vector<double> values;
  for (const Points& points : curves) {
    for (const auto& [x, y] : points) values.push_back(y);
  }
  Range range;
  if (values.empty()) return range;
  range.Add(are_times ? 0 : Quantile(values, 0));
  range.Add(Quantile(std::move(values), are_times ? kHighShare : 1));
  range.Widen();
  return range;
}

bool IsRestart(const LoggedEvent& event) { return event.kind == "resumed" || event.kind == "rank_lost"; }

// The contents of a panel.
struct Curves {
  const char* title;
  Points (*values)(const LogContent& log);
  bool are_times;
};

std::string DrawPanel(const std::vector<PlottedRun>& runs, const Range& steps, const Curves& shown, double top) {
  std::vector<Points> curves;
  for (const PlottedRun& run : runs) curves.push_back(Thin(shown.values(run.log), steps));
  const Range range = ValuesOf(curves, shown.are_times);
  if (range.is_empty()) return text::SvgText(kLeft, top - 8, absl::StrCat(shown.title, ": none in these logs"));
  const Panel panel(top, steps, range);
  std::string text = panel.Axes(shown.title);
  for (size_t i = 0; i < runs.size(); ++i) {
    const char* color = kColors[i % std::size(kColors)];
    for (const LoggedEvent& event : runs[i].log.events) {
      const double step = static_cast<double>(event.step.value_or(0));
      if (!IsRestart(event) || step < steps.low || step > steps.high) continue;
      absl::StrAppend(&text, panel.Mark(step, absl::StrCat(runs[i].name, ": ", event.kind), color));
    }
    absl::StrAppend(&text, panel.Curve(curves[i], color));
  }
  return text;
}

std::string Legend(const std::vector<PlottedRun>& runs, double top) {
  std::string text;
  for (size_t i = 0; i < runs.size(); ++i) {
    const double y = top + 16 * static_cast<double>(i);
    absl::StrAppend(&text,
                    absl::StrFormat("<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"4\" fill=\"%s\"/>\n", kLeft,
                                    y - 6, kColors[i % std::size(kColors)]),
                    text::SvgText(kLeft + 20, y, runs[i].name));
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> DrawRuns(const std::vector<PlottedRun>& runs) {
  Range steps;
  for (const PlottedRun& run : runs) {
    for (const LoggedStep& step : run.log.steps) steps.Add(static_cast<double>(step.step));
  }
  if (steps.is_empty())
    return absl::InvalidArgumentError("no step in these logs; expected logs of --log-json with at least one");
  steps.Widen();
  const double second = kTop + kPanel + kGap, third = second + kPanel + kGap, legend = third + kPanel + kBottom;
  return absl::StrCat(text::SvgBegin(kWidth, legend + 16 * static_cast<double>(runs.size())),
                      DrawPanel(runs, steps, {"loss", LossesOf, false}, kTop),
                      DrawPanel(runs, steps, {"step time in ms", MillisecondsOf, true}, second),
                      DrawPanel(runs, steps, {"throughput in steps per second", RatesOf, true}, third),
                      Legend(runs, legend), "</svg>\n");
}

}  // namespace sgd::watch
