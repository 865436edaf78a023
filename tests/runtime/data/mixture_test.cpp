// Mixtures keep to their weights, and each source to its epochs.
#include "runtime/data/mixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "runtime/data/row_order.h"

namespace sgd::data {
namespace {

TEST(WeightAt, IsLinearBetweenPoints) {
  const WeightSchedule schedule = {{10, 1}, {20, 3}};
  EXPECT_EQ(WeightAt(schedule, 0), 1);
  EXPECT_EQ(WeightAt(schedule, 10), 1);
  EXPECT_EQ(WeightAt(schedule, 15), 2);
  EXPECT_EQ(WeightAt(schedule, 20), 3);
  EXPECT_EQ(WeightAt(schedule, 1000), 3);
}

TEST(Mixture, OwesEachSourceFewerRowsThanThereAreSources) {
  std::mt19937 random(7);
  for (int run = 0; run < 50; ++run) {
    const size_t sources = 1 + random() % 8;
    const uint64_t batch = 1 + random() % 9, steps = 600;
    std::vector<WeightSchedule> weights;
    for (size_t i = 0; i < sources; ++i) {
      WeightSchedule& schedule = weights.emplace_back();
      for (uint64_t step = random() % 50; schedule.size() < 3; step += 1 + random() % 200)
        schedule.push_back({step, i == 0 ? 0.5 : static_cast<double>(random() % 4)});
    }
    const Mixture mixture(weights, batch);
    std::vector<double> share(sources);
    std::vector<uint64_t> taken(sources);
    for (uint64_t step = 0; step < steps; ++step) {
      const Mixture::Step one = mixture.At(step);
      EXPECT_EQ(one.before, taken) << "steps follow one another";
      EXPECT_EQ(std::accumulate(one.rows.begin(), one.rows.end(), uint64_t{0}), batch);
      double sum = 0;
      for (const WeightSchedule& schedule : weights) sum += WeightAt(schedule, step);
      for (size_t i = 0; i < sources; ++i) {
        share[i] += static_cast<double>(batch) * WeightAt(weights[i], step) / sum;
        taken[i] += one.rows[i];
        ASSERT_LT(std::abs(share[i] - static_cast<double>(taken[i])),
                  std::max<double>(1, static_cast<double>(sources)));
      }
    }
  }
}

TEST(Mixture, StepsDoNotDependOnThoseThatWereAskedForBefore) {
  const std::vector<WeightSchedule> weights = {{{0, 0.3}}, {{0, 0.7}, {1000, 0}}, {{2000, 0}, {2'000'000, 5}}};
  const Mixture asked(weights, 5);
  asked.At(1'100'000);  // more than it keeps the state of every 64th step of
  for (uint64_t step : {0, 64, 5, 1000, 999, 127, 128, 129, 700'001, 64, 1'100'001}) {
    const Mixture fresh(weights, 5);
    EXPECT_EQ(asked.At(step).rows, fresh.At(step).rows) << step;
    EXPECT_EQ(asked.At(step).before, fresh.At(step).before) << step;
  }
}

TEST(RowOrder, OfSeveralSourcesVisitsEachRowOnceInAnEpochOfIts) {
  const std::vector<uint64_t> rows = {7, 30, 1};
  const std::vector<WeightSchedule> weights = {{{0, 1}}, {{0, 2}, {50, 4}}, {{0, 0.5}}};
  const RowOrder order(rows, 6, 3, std::make_unique<const Mixture>(weights, 6));
  std::vector<std::vector<uint64_t>> given(3);
  for (uint64_t step = 0; step < 100; ++step) {
    const RowOrder::Batch batch = order.At(step);
    std::map<size_t, std::vector<uint64_t>> by_source;
    for (uint64_t position = 0; position < 6; ++position) {
      const PickedRow row = batch(position);
      by_source[row.source].push_back(row.row);
    }
    for (const auto& [source, picked] : by_source) {
      // Within a batch rows come in any order, but an epoch may end in it.
      given[source].insert(given[source].end(), picked.begin(), picked.end());
    }
  }
  for (size_t source = 0; source < 3; ++source) {
    EXPECT_GT(given[source].size(), rows[source]);
    std::vector<uint64_t> count(rows[source]);
    for (uint64_t row : given[source]) ++count[row];
    const auto [least, most] = std::ranges::minmax(count);
    EXPECT_LE(most - least, 1u) << "no row comes again before all others have come";
  }
  // Sources are spread over the batch: no position has always the same one.
  for (uint64_t position = 0; position < 6; ++position) {
    std::map<size_t, int> sources;
    for (uint64_t step = 0; step < 100; ++step) ++sources[order.At(step)(position).source];
    EXPECT_EQ(sources.size(), 3u);
  }
}

}  // namespace
}  // namespace sgd::data
