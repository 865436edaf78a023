// Shapes of pipelines and their names.
#include "llvm/ADT/StringSwitch.h"
#include "passes/time/stages/pipeline_schedule.h"

using namespace mlir::sgd;

static constexpr unsigned kMaxChunks = 1024, kMaxAhead = 4096;

unsigned PipelineForm::getStage(unsigned index) const {
  if (kind == ScheduleKind::ZeroBubbleV && index >= numStages) return 2 * numStages - 1 - index;
  return index % numStages;
}

bool PipelineForm::splitsWeights() const {
  return kind == ScheduleKind::ZeroBubbleH1 || kind == ScheduleKind::ZeroBubbleH2 || kind == ScheduleKind::ZeroBubbleV;
}

llvm::Expected<PipelineForm> mlir::sgd::parseSchedule(llvm::StringRef text, unsigned numStages) {
  auto [name, number] = text.split(':');
  auto kind = llvm::StringSwitch<std::optional<ScheduleKind>>(name)
                  .Case("gpipe", ScheduleKind::GPipe)
                  .Case("1f1b", ScheduleKind::OneForwardOneBackward)
                  .Case("interleaved", ScheduleKind::Interleaved)
                  .Case("zb_h1", ScheduleKind::ZeroBubbleH1)
                  .Case("zb_h2", ScheduleKind::ZeroBubbleH2)
                  .Case("zb_v", ScheduleKind::ZeroBubbleV)
                  .Default(std::nullopt);
  unsigned numChunks = kind == ScheduleKind::ZeroBubbleV ? 2 : 1;
  std::optional<unsigned> numAhead;
  bool isValid = kind.has_value();
  if (kind == ScheduleKind::Interleaved)
    isValid = !number.getAsInteger(10, numChunks) && numChunks >= 2 && numChunks <= kMaxChunks;
  else if (kind == ScheduleKind::OneForwardOneBackward && text != name)
    isValid = !number.getAsInteger(10, numAhead.emplace()) && *numAhead <= kMaxAhead;
  else
    isValid &= text == name;
  if (!isValid)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "'" + text +
                                       "' is no schedule; expected gpipe, 1f1b, 1f1b:N with N more micro-batches in "
                                       "flight, interleaved:V with V >= 2 chunks of a stage, zero_bubble, zb_h1, zb_h2 "
                                       "or zb_v");
  return PipelineForm{*kind, numStages, numChunks, numAhead};
}

std::vector<llvm::StringRef> mlir::sgd::getScheduleChoices(llvm::StringRef text) {
  if (text.empty()) return {"1f1b", "zb_h1", "gpipe"};
  if (text == "zero_bubble") return {"zb_h1", "zb_h2", "zb_v"};
  return {text};
}

std::string mlir::sgd::getScheduleName(const PipelineForm& form) {
  switch (form.kind) {
    case ScheduleKind::GPipe:
      return "gpipe";
    case ScheduleKind::OneForwardOneBackward:
      return form.numAhead ? "1f1b:" + std::to_string(*form.numAhead) : "1f1b";
    case ScheduleKind::Interleaved:
      return "interleaved:" + std::to_string(form.numChunks);
    case ScheduleKind::ZeroBubbleH1:
      return "zb_h1";
    case ScheduleKind::ZeroBubbleH2:
      return "zb_h2";
    case ScheduleKind::ZeroBubbleV:
      return "zb_v";
  }
  llvm_unreachable("all kinds are above");
}
