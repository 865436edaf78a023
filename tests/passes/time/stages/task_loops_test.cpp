// Loops over tasks run the tasks they were made of, and as few bodies as the order allows.
#include <random>

#include "gtest/gtest.h"
#include "passes/time/stages/pipeline_schedule.h"

namespace mlir::sgd {
namespace {

std::vector<Task> unroll(const std::vector<TaskLoop>& loops) {
  std::vector<Task> tasks;
  for (const TaskLoop& loop : loops)
    for (unsigned trip = 0; trip < loop.trips; ++trip)
      for (const LoopTask& task : loop.body) tasks.push_back({task.slot, task.first + trip * loop.stride});
  return tasks;
}

size_t countBodyTasks(const std::vector<TaskLoop>& loops) {
  size_t count = 0;
  for (const TaskLoop& loop : loops) count += loop.body.size();
  return count;
}

TEST(TaskLoopsTest, OneForwardOneBackwardIsThreeLoops) {
  std::vector<Task> tasks = {{0, 0}, {0, 1}, {0, 2}};
  for (unsigned part = 0; part < 5; ++part) {
    tasks.push_back({0, part + 3});
    tasks.push_back({1, part});
  }
  for (unsigned part = 5; part < 8; ++part) tasks.push_back({1, part});
  std::vector<TaskLoop> loops = formTaskLoops(tasks);
  EXPECT_EQ(unroll(loops), tasks);
  ASSERT_EQ(loops.size(), 3u);
  EXPECT_EQ(countBodyTasks(loops), 4u);
}

TEST(TaskLoopsTest, GroupsOfPartsAreIterationsOfTheirStride) {
  std::vector<Task> tasks;
  for (unsigned group = 0; group < 8; ++group)
    for (unsigned slot = 0; slot < 2; ++slot)
      for (unsigned part = 0; part < 3; ++part) tasks.push_back({slot, group * 3 + part});
  std::vector<TaskLoop> loops = formTaskLoops(tasks);
  EXPECT_EQ(unroll(loops), tasks);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops.front().stride, 3u);
  EXPECT_EQ(loops.front().trips, 8u);
}

TEST(TaskLoopsTest, AnyOrderComesBack) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 200; ++round) {
    std::vector<unsigned> next(1 + random() % 4);
    std::vector<Task> tasks;
    for (unsigned count = random() % 60; count > 0; --count) {
      unsigned slot = random() % next.size();
      tasks.push_back({slot, next[slot]++});
    }
    EXPECT_EQ(unroll(formTaskLoops(tasks)), tasks);
  }
}

// Were each repetition counted from each task on, this would take hours.
TEST(TaskLoopsTest, ManyPartsTakeTimeInProportion) {
  constexpr unsigned kParts = 1 << 18;
  std::vector<Task> tasks = {{0, 0}};
  for (unsigned part = 0; part + 1 < kParts; ++part) {
    tasks.push_back({0, part + 1});
    tasks.push_back({1, part});
  }
  tasks.push_back({1, kParts - 1});
  std::vector<TaskLoop> loops = formTaskLoops(tasks);
  EXPECT_EQ(unroll(loops), tasks);
  EXPECT_EQ(countBodyTasks(loops), 4u);
}

}  // namespace
}  // namespace mlir::sgd
