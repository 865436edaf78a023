// The clocks of one rank: of its streams, and of the links that they share. No IR; in seconds from the start of a step.
#ifndef SGD_PASSES_CLOCK_RANK_CLOCK_H
#define SGD_PASSES_CLOCK_RANK_CLOCK_H

#include <algorithm>

#include "llvm/ADT/SmallVector.h"

namespace mlir::sgd {

/// A stream does one thing after another. What is in flight on a link runs beside streams, one after another.
class RankClock {
 public:
  /// A transfer in flight, from `begin` to `end`.
  struct Flight {
    double begin = 0, end = 0;
  };

  explicit RankClock(unsigned numStreams = 1, unsigned numLinks = 1) : streams(numStreams, 0), links(numLinks, 0) {}

  double getNow(unsigned stream = 0) const { return streams[stream]; }
  /// When the link is free.
  double getFree(unsigned link = 0) const { return links[link]; }

  /// The stream is busy for `seconds`.
  void run(double seconds, unsigned stream = 0) { streams[stream] += seconds; }

  /// Puts on the link, behind what is in flight there, what takes it for `seconds`; the stream goes on.
  Flight start(double seconds, unsigned link = 0, unsigned stream = 0) {
    double begin = std::max(streams[stream], links[link]);
    return {begin, links[link] = begin + seconds};
  }

  /// The stream goes on no sooner than at `time`. Returns how long it waits.
  double waitUntil(double time, unsigned stream = 0) {
    double waited = std::max(0.0, time - streams[stream]);
    if (waited > 0) streams[stream] = time;
    return waited;
  }

 private:
  llvm::SmallVector<double, 4> streams, links;
};

}  // namespace mlir::sgd

#endif
