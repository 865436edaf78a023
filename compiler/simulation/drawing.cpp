// The timeline of a step: lanes of each stage over an axis of time, in the colours of phases.
#include "compiler/simulation/drawing.h"

#include <set>

#include "compiler/simulation/part_finder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/text/svg.h"

using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;
namespace text = ::sgd::text;
using Lane = Interval::Lane;

static constexpr double kWidth = 1200, kLeft = 160, kRight = 40, kRow = 20, kGap = 12, kTop = 66, kAxis = 34;
/// Thinner ones are not drawn by themselves.
static constexpr double kThinnest = 0.4;
/// Pixels of a digit of a number in a box.
static constexpr double kDigit = 7;
static constexpr Lane kLanes[] = {Lane::Compute, Lane::Collective, Lane::Message};

static const char* getName(Lane lane) {
  switch (lane) {
    case Lane::Compute:
      return "compute";
    case Lane::Collective:
      return "collectives";
    case Lane::Message:
      return "messages";
  }
  llvm_unreachable("all lanes are handled");
}

namespace {

/// An entry of the legend.
enum class Paint { Forward, Backward, WeightGradients, Other, Collective, Message };

struct PaintInfo {
  const char* color;
  const char* name;
};

PaintInfo getInfo(Paint paint) {
  switch (paint) {
    case Paint::Forward:
      return {"#4477aa", "forward"};
    case Paint::Backward:
      return {"#e08030", "backward"};
    case Paint::WeightGradients:
      return {"#8a5cc2", "weight gradients"};
    case Paint::Other:
      return {"#8793a5", "updates and others"};
    case Paint::Collective:
      return {"#cc6677", "collectives"};
    case Paint::Message:
      return {"#c9a227", "messages"};
  }
  llvm_unreachable("all paints are handled");
}

/// Several intervals that are drawn as one.
struct Box {
  double begin, end;
  uint32_t index;  // of the first
  Paint paint;
  int64_t part;
  uint64_t count = 1;
};

class Timeline {
 public:
  Timeline(const Machine& machine, const StepEstimate& estimate) : machine(machine), estimate(estimate) {
    scale = estimate.stepSeconds > 0 ? kWidth / estimate.stepSeconds : 0;
  }

  std::string draw();

 private:
  double drawStage(const StageTimes& stage, int64_t number, double y);
  std::vector<Box> getBoxes(const StageTimes& stage, const artifact::Program* program, Lane lane) const;
  void drawLane(llvm::ArrayRef<Box> boxes, const artifact::Program* program, double y);
  void drawParts(llvm::ArrayRef<Box> boxes, double y);
  void drawAxis(double bottom);
  void drawLegend();
  const artifact::Program* findProgram(int64_t stage) const;
  double getX(double seconds) const { return kLeft + seconds * scale; }

  const Machine& machine;
  const StepEstimate& estimate;
  double scale;
  std::string axis, body, legend;
  std::set<Paint> used;
};

}  // namespace

/// Of a loop that is drawn as one: that of all that it runs.
static artifact::Phase getPhase(const artifact::Program& program, uint32_t index) {
  artifact::Phase phase = program.instructions()->Get(index)->phase();
  for (uint64_t inner = index + 1; phase == artifact::Phase::None && inner < artifact::Next(program, index); ++inner)
    phase = artifact::InstructionAt(program, inner).phase();
  return phase;
}

static Paint getPaint(const artifact::Program* program, const Interval& interval) {
  if (interval.lane != Lane::Compute) return interval.lane == Lane::Collective ? Paint::Collective : Paint::Message;
  if (!program) return Paint::Other;
  const artifact::Instruction& instruction = *program->instructions()->Get(interval.index);
  if (instruction.op_as_Send() || instruction.op_as_Receive()) return Paint::Message;
  switch (getPhase(*program, interval.index)) {
    case artifact::Phase::Forward:
      return Paint::Forward;
    case artifact::Phase::Backward:
      return Paint::Backward;
    case artifact::Phase::WeightGradients:
      return Paint::WeightGradients;
    default:
      return Paint::Other;
  }
}

/// "matmul f32 at gpt.py:31:8".
static std::string describe(const artifact::Program* program, uint32_t index) {
  if (!program || index >= artifact::Size(program->instructions())) return "";
  const artifact::Instruction& instruction = *program->instructions()->Get(index);
  std::string name = artifact::OperationName(instruction);
  if (instruction.loc() < artifact::Size(program->locations()))
    name += " at " + program->locations()->Get(instruction.loc())->str();
  return name;
}

const artifact::Program* Timeline::findProgram(int64_t stage) const {
  for (const artifact::Program* program : *machine.getRoot().programs())
    if (std::max<int64_t>(0, program->stage()) == stage && program->name()->string_view() == estimate.program)
      return program;
  return nullptr;
}

std::vector<Box> Timeline::getBoxes(const StageTimes& stage, const artifact::Program* program, Lane lane) const {
  std::optional<PartFinder> parts;
  if (program) parts.emplace(*program);
  std::vector<Box> boxes;
  for (const Interval& interval : stage.intervals) {
    if (interval.end <= interval.begin) continue;
    int64_t part = parts ? parts->next(interval.index, interval.lane) : -1;
    if (interval.lane != lane) continue;
    Box box{interval.begin, interval.end, interval.index, getPaint(program, interval), part};
    bool joins = !boxes.empty() && boxes.back().paint == box.paint && boxes.back().part == box.part &&
                 (box.end - boxes.back().begin) * scale < 2 && (box.begin - boxes.back().end) * scale < kThinnest;
    if (joins)
      boxes.back().end = box.end, ++boxes.back().count;
    else
      boxes.push_back(box);
  }
  return boxes;
}

void Timeline::drawLane(llvm::ArrayRef<Box> boxes, const artifact::Program* program, double y) {
  for (const Box& box : boxes) {
    std::string title;
    llvm::raw_string_ostream os(title);
    os << llvm::format("%.6g to %.6g ms: ", box.begin * 1e3, box.end * 1e3) << describe(program, box.index);
    if (box.part >= 0) os << ", micro-batch " << box.part;
    if (box.count > 1) os << " and " << box.count - 1 << " more";
    double width = std::max(kThinnest, (box.end - box.begin) * scale - (box.count == 1 ? 0.3 : 0));
    body += text::SvgRect(getX(box.begin), y, width, kRow - 4, getInfo(box.paint).color, title);
    used.insert(box.paint);
  }
}

/// Numbers of micro-batches, each in the middle of the boxes that one task has.
void Timeline::drawParts(llvm::ArrayRef<Box> boxes, double y) {
  for (size_t begin = 0, end = 0; begin < boxes.size(); begin = end) {
    end = begin + 1;
    auto isOfTask = [&](const Box& box) { return box.part == boxes[begin].part && box.paint == boxes[begin].paint; };
    while (end < boxes.size() && (isOfTask(boxes[end]) || boxes[end].paint == Paint::Message)) ++end;
    const Box &first = boxes[begin], &last = boxes[end - 1];
    std::string number = std::to_string(first.part);
    double width = (last.end - first.begin) * scale;
    if (first.part < 0 || first.paint == Paint::Message || width < kDigit * static_cast<double>(number.size()) + 2)
      continue;
    body += "<g fill=\"white\" font-weight=\"bold\" pointer-events=\"none\">" +
            text::SvgText(getX((first.begin + last.end) / 2), y + 12, number, "middle") + "</g>\n";
  }
}

/// Returns where the next stage begins.
double Timeline::drawStage(const StageTimes& stage, int64_t number, double y) {
  const artifact::Program* program = findProgram(number);
  bool isStage = estimate.stages.size() > 1;
  if (isStage) body += text::SvgText(8, y + 13, "stage " + std::to_string(number));
  for (Lane lane : kLanes) {
    std::vector<Box> boxes = getBoxes(stage, program, lane);
    if (boxes.empty()) continue;
    body += text::SvgText(kLeft - 8, y + 13, getName(lane), "end");
    body += text::SvgRect(kLeft, y, kWidth, kRow - 4, "#f2f4f7");
    drawLane(boxes, program, y);
    drawParts(boxes, y);
    y += kRow;
  }
  return y + kGap;
}

void Timeline::drawAxis(double bottom) {
  for (double tick : text::AxisTicks(0, estimate.stepSeconds, 10)) {
    axis += text::SvgLine(getX(tick), kTop - 6, getX(tick), bottom + 5, "#d5dae1");
    axis += text::SvgText(getX(tick), bottom + 18, text::TimeTick(tick, estimate.stepSeconds), "middle");
  }
  axis += text::SvgLine(kLeft, bottom, kLeft + kWidth, bottom, "#333333");
}

void Timeline::drawLegend() {
  double x = kLeft;
  for (Paint paint : used) {
    auto [color, name] = getInfo(paint);
    legend += text::SvgRect(x, 36, 12, 12, color) + text::SvgText(x + 17, 46, name);
    x += 40 + 6.5 * static_cast<double>(llvm::StringRef(name).size());
  }
}

std::string Timeline::draw() {
  double y = kTop;
  for (auto [number, stage] : llvm::enumerate(estimate.stages)) y = drawStage(stage, static_cast<int64_t>(number), y);
  drawAxis(y);
  drawLegend();
  std::string title;
  llvm::raw_string_ostream os(title);
  os << estimate.ranks << (estimate.ranks == 1 ? " rank" : " ranks") << ", a step of "
     << llvm::format("%.4g ms", estimate.stepSeconds * 1e3);
  if (estimate.stages.size() > 1) os << llvm::format(", bubble %.0f %%", 100 * estimate.bubble);
  if (llvm::all_of(estimate.stages, [](const StageTimes& stage) { return stage.intervals.empty(); }))
    os << ", nothing to draw or too much of it";
  return text::SvgBegin(kLeft + kWidth + kRight, y + kAxis) + text::SvgText(kLeft, 22, title) + legend + axis + body +
         "</svg>\n";
}

std::string mlir::sgd::drawTimeline(const Machine& machine, const StepEstimate& estimate) {
  return Timeline(machine, estimate).draw();
}
