// Every schedule runs every task once, in an order that ends; its bubble and its memory are those of the papers.
#include "passes/time/stages/pipeline_schedule.h"

#include <map>

#include "gtest/gtest.h"
#include "llvm/Support/Error.h"

namespace mlir::sgd {
namespace {

/// A pass forward and back over the virtual stages of `form`. A stage's chunks together take `forward`, `backward` and
/// `weights` seconds per part.
std::vector<Slot> createSlots(const PipelineForm& form, double forward, double backward, double weights) {
  unsigned last = form.getNumVirtualStages() - 1;
  double share = 1.0 / form.numChunks;
  double back = form.splitsWeights() ? backward : backward + weights;
  std::vector<Slot> slots;
  auto add = [&](unsigned index, SlotKind kind, double seconds, std::vector<unsigned> needs) {
    slots.push_back({form.getStage(index), kind, seconds * share, std::move(needs)});
    return static_cast<unsigned>(slots.size() - 1);
  };
  unsigned before = 0;
  for (unsigned index = 0; index < last; ++index)
    before = add(index, SlotKind::Forward, forward, index ? std::vector<unsigned>{before} : std::vector<unsigned>{});
  before = add(last, SlotKind::Turn, forward + back, last ? std::vector<unsigned>{before} : std::vector<unsigned>{});
  if (form.splitsWeights()) add(last, SlotKind::Weights, weights, {before});
  for (unsigned index = last; index-- > 0;) {
    before = add(index, SlotKind::Backward, back, {before});
    if (form.splitsWeights()) add(index, SlotKind::Weights, weights, {before});
  }
  return slots;
}

PipelineForm parse(llvm::StringRef text, unsigned numStages) {
  llvm::Expected<PipelineForm> form = parseSchedule(text, numStages);
  EXPECT_TRUE(static_cast<bool>(form));
  return form ? *form : PipelineForm();
}

PipelineSchedule create(const PipelineForm& form, llvm::ArrayRef<Slot> slots, unsigned numParts) {
  llvm::Expected<PipelineSchedule> schedule = createSchedule(form, slots, numParts);
  EXPECT_TRUE(static_cast<bool>(schedule)) << llvm::toString(schedule.takeError());
  return schedule ? *schedule : PipelineSchedule();
}

struct Pipeline {
  Pipeline(llvm::StringRef name, unsigned numStages, unsigned numParts)
      : form(parse(name, numStages)), slots(createSlots(form, 1, 1, 1)), schedule(create(form, slots, numParts)) {}
  double getBubble() const { return simulate(slots, schedule)->getBubble(); }
  /// The most forward tasks of a stage whose last slot has not run, in parts of whole stages.
  double getOpenParts(unsigned stage) const {
    double open = 0, most = 0;
    for (Task task : schedule[stage]) {
      SlotKind kind = slots[task.slot].kind;
      if (kind == SlotKind::Forward || kind == SlotKind::Turn) most = std::max(most, ++open);
      SlotKind closing = form.splitsWeights() ? SlotKind::Weights : SlotKind::Backward;
      if (kind == closing || (kind == SlotKind::Turn && !form.splitsWeights())) --open;
    }
    return most / form.numChunks;
  }

  PipelineForm form;
  std::vector<Slot> slots;
  PipelineSchedule schedule;
};

const char* const kNames[] = {"gpipe", "1f1b", "1f1b:2", "interleaved:2", "interleaved:4", "zb_h1", "zb_h2", "zb_v"};

TEST(PipelineScheduleTest, EveryTaskRunsOnceInTheOrderOfParts) {
  for (const char* name : kNames)
    for (unsigned stages : {1, 2, 3, 4, 8})
      for (unsigned parts : {stages, 2 * stages, 5 * stages}) {
        SCOPED_TRACE(std::string(name) + " of " + std::to_string(stages) + " stages, parts " + std::to_string(parts));
        Pipeline pipeline(name, stages, parts);
        std::map<unsigned, unsigned> next;
        for (unsigned stage = 0; stage < stages; ++stage)
          for (Task task : pipeline.schedule[stage]) {
            EXPECT_EQ(pipeline.slots[task.slot].stage, stage);
            EXPECT_EQ(task.part, next[task.slot]++);
          }
        EXPECT_EQ(next.size(), pipeline.slots.size());
        for (auto [slot, count] : next) EXPECT_EQ(count, parts);
        EXPECT_TRUE(simulate(pipeline.slots, pipeline.schedule).has_value());
      }
}

TEST(PipelineScheduleTest, BubbleOfOneForwardOneBackward) {
  for (unsigned stages : {2, 3, 4, 8})
    for (unsigned parts : {stages, 4 * stages, 5 * stages}) {
      double expected = (stages - 1.0) / (parts + stages - 1.0);
      EXPECT_NEAR(Pipeline("1f1b", stages, parts).getBubble(), expected, 1e-9);
      for (unsigned chunks : {2, 4}) {
        double bubble = Pipeline("interleaved:" + std::to_string(chunks), stages, parts).getBubble();
        EXPECT_NEAR(bubble / (1 - bubble), (stages - 1.0) / parts / chunks, 1e-9) << stages << " " << parts;
      }
    }
}

/// Forward and backward tasks of 1 and 2 seconds, and messages of `transfer` seconds.
std::vector<Slot> createSendingSlots(const PipelineForm& form, double transfer) {
  std::vector<Slot> slots = createSlots(form, 1, 1, 1);
  for (Slot& slot : slots) slot.transferSeconds = transfer;
  return slots;
}

double getSecondsOf(const PipelineForm& form, llvm::ArrayRef<Slot> slots, unsigned parts) {
  return simulate(slots, create(form, slots, parts))->seconds;
}

TEST(PipelineScheduleTest, MessagesAreHiddenByMorePartsUnderWay) {
  const unsigned parts = 32;
  for (unsigned stages : {2, 4, 8})
    for (double transfer : {0.1, 0.5, 1.0, 3.0, 6.0}) {
      SCOPED_TRACE(std::to_string(stages) + " stages, messages of " + std::to_string(transfer));
      PipelineForm form = parse("1f1b", stages), fewest = parse("1f1b:0", stages);
      std::vector<Slot> slots = createSendingSlots(form, transfer);
      double busy = std::max(3.0, transfer) * parts, fill = (stages - 1) * (3 + 2 * transfer);
      EXPECT_LE(getSecondsOf(form, slots, parts), 1.11 * (busy + fill));
      EXPECT_LE(getSecondsOf(form, slots, parts), 1.0001 * getSecondsOf(fewest, slots, parts));
      if (transfer >= 1) EXPECT_GT(getSecondsOf(fewest, slots, parts), 1.1 * getSecondsOf(form, slots, parts));
    }
}

TEST(PipelineScheduleTest, NoMorePartsAreUnderWayThanHideMessages) {
  auto getOpen = [](llvm::StringRef name, unsigned stages, double transfer) {
    PipelineForm form = parse(name, stages);
    std::vector<Slot> slots = createSendingSlots(form, transfer);
    PipelineSchedule schedule = create(form, slots, 64);
    return getMostStashed(schedule, 0, 0, static_cast<unsigned>(slots.size()) - 1);
  };
  EXPECT_EQ(getOpen("1f1b", 2, 0), 2u);
  EXPECT_EQ(getOpen("1f1b", 2, 0.01), 2u);  // not worth a part
  EXPECT_EQ(getOpen("1f1b", 2, 1), 3u);
  EXPECT_EQ(getOpen("1f1b", 2, 3), 4u);
  EXPECT_EQ(getOpen("1f1b", 2, 30), 3u);  // the link decides
  EXPECT_EQ(getOpen("1f1b", 8, 0.05), 8u);
  EXPECT_LE(getOpen("1f1b", 8, 3), 8u + 14u);
  EXPECT_EQ(getOpen("1f1b:0", 2, 3), 2u);
  EXPECT_EQ(getOpen("1f1b:3", 4, 0), 7u);
}

TEST(PipelineScheduleTest, MessagesOfALinkComeOneAfterTheOther) {
  PipelineForm form = parse("gpipe", 2);
  std::vector<Slot> slots = {{0, SlotKind::Forward, 1, {}, 5}, {1, SlotKind::Turn, 1, {0}}};
  PipelineSchedule schedule = create(form, slots, 4);
  // Each step sends 20 seconds' worth.
  EXPECT_NEAR(simulate(slots, schedule)->seconds, 20, 1e-9);
}

TEST(PipelineScheduleTest, GradientsOfWeightsFillTheWaits) {
  for (unsigned stages : {2, 3, 4, 8})
    for (unsigned parts : {4 * stages, 6 * stages}) {
      SCOPED_TRACE(std::to_string(stages) + " stages, parts " + std::to_string(parts));
      double plain = Pipeline("1f1b", stages, parts).getBubble();
      EXPECT_LE(Pipeline("zb_h1", stages, parts).getBubble(), 0.4 * plain);
      EXPECT_LE(Pipeline("zb_h2", stages, parts).getBubble(), 0.02);
      EXPECT_LE(Pipeline("zb_v", stages, parts).getBubble(), 0.02);
    }
}

TEST(PipelineScheduleTest, PartsUnderWayAreThoseOfTheScheme) {
  for (unsigned stages : {2, 4, 8})
    for (unsigned stage = 0; stage < stages; ++stage) {
      SCOPED_TRACE(std::to_string(stage) + " of " + std::to_string(stages));
      EXPECT_EQ(Pipeline("1f1b", stages, 4 * stages).getOpenParts(stage), stages - stage);
      EXPECT_LE(Pipeline("zb_h1", stages, 4 * stages).getOpenParts(stage), stages);
      EXPECT_LE(Pipeline("zb_h2", stages, 4 * stages).getOpenParts(stage), 2 * stages - 1);
      EXPECT_LE(Pipeline("zb_v", stages, 4 * stages).getOpenParts(stage), stages + 1);
    }
}

TEST(PipelineScheduleTest, StashesAndChannelsHoldWhatIsUnderWay) {
  Pipeline pipeline("1f1b", 4, 16);
  unsigned last = static_cast<unsigned>(pipeline.slots.size()) - 1;
  for (unsigned stage = 0; stage < 3; ++stage)
    EXPECT_EQ(getMostStashed(pipeline.schedule, stage, stage, last - stage), 4 - stage);
  EXPECT_EQ(getMostStashed(Pipeline("gpipe", 2, 8).schedule, 0, 0, 2), 8u);
  EXPECT_EQ(getMostInFlight(pipeline.slots, pipeline.schedule, 0, 1), 1u);
  Pipeline uneven("gpipe", 2, 8);
  uneven.slots[1].seconds = 4;
  EXPECT_EQ(getMostInFlight(uneven.slots, uneven.schedule, 0, 1), 6u);
}

TEST(PipelineScheduleTest, ForwardAlone) {
  for (const char* name : kNames) {
    PipelineForm form = parse(name, 2);
    std::vector<Slot> slots;
    unsigned numVirtual = form.getNumVirtualStages();
    for (unsigned index = 0; index < numVirtual; ++index)
      slots.push_back({form.getStage(index), index + 1 == numVirtual ? SlotKind::Turn : SlotKind::Forward, 1.0,
                       index ? std::vector<unsigned>{index - 1} : std::vector<unsigned>{}});
    EXPECT_TRUE(simulate(slots, create(form, slots, 4)).has_value()) << name;
  }
}

TEST(PipelineScheduleTest, SlotsThatGoThroughTheStagesAgain) {
  // Three sweeps, as of a loop in which backward values go forward again.
  std::vector<Slot> slots;
  unsigned stages[] = {0, 1, 2, 1, 0, 1, 2};
  for (unsigned index = 0; index < 7; ++index)
    slots.push_back(
        {stages[index], SlotKind::Forward, 1.0, index ? std::vector<unsigned>{index - 1} : std::vector<unsigned>{}});
  for (const char* name : kNames) {
    if (llvm::StringRef(name) == "zb_v") continue;
    PipelineSchedule schedule = create(parse(name, 3), slots, 7);
    EXPECT_TRUE(simulate(slots, schedule).has_value()) << name;
  }
}

TEST(PipelineScheduleTest, RefusesWhatItCannotDo) {
  PipelineForm form = parse("interleaved:2", 4);
  llvm::Expected<PipelineSchedule> schedule = createSchedule(form, createSlots(form, 1, 1, 1), 6);
  ASSERT_FALSE(static_cast<bool>(schedule));
  EXPECT_NE(llvm::toString(schedule.takeError()).find("expected a multiple of the stages"), std::string::npos);
  for (const char* name : {"", "1F1B", "1f1b:", "1f1b:-1", "1f1b:x", "1f1b:9999", "zb_h1:1", "interleaved",
                           "interleaved:1", "interleaved:x", "gpipe:2", "zero"}) {
    llvm::Expected<PipelineForm> parsed = parseSchedule(name, 2);
    EXPECT_FALSE(static_cast<bool>(parsed)) << name;
    llvm::consumeError(parsed.takeError());
  }
}

TEST(PipelineScheduleTest, NamesComeBack) {
  for (const char* name : kNames) EXPECT_EQ(getScheduleName(parse(name, 2)), name);
  EXPECT_EQ(getScheduleName(parse("1f1b:3", 2)), "1f1b:3");
}

}  // namespace
}  // namespace mlir::sgd
