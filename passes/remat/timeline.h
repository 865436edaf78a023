// An order in which the steps of a sequence are executed, some of them more than once, and what is alive when. Plain
// C++, no IR.
#ifndef SGD_PASSES_REMAT_TIMELINE_H
#define SGD_PASSES_REMAT_TIMELINE_H

#include "llvm/ADT/ArrayRef.h"
#include "passes/remat/step_sequence.h"

namespace mlir::sgd::remat {

/// Steps that write one buffer between them, say a copy and the update of the copy, are a unit: they run together. A
/// unit is repeatable when all its steps are and every buffer that it touches is complete before others read it.
class Units {
 public:
  explicit Units(const StepSequence& sequence);

  unsigned getUnit(unsigned step) const { return unitOf[step]; }
  llvm::ArrayRef<unsigned> getSteps(unsigned unit) const { return steps[unit]; }
  bool isRepeatable(unsigned unit) const { return repeatable[unit]; }
  double getSeconds(unsigned unit) const { return seconds[unit]; }
  /// The unit that writes the buffer, nullopt for what is kept.
  std::optional<unsigned> getWriter(unsigned buffer) const { return writers[buffer]; }
  llvm::ArrayRef<unsigned> getWritten(unsigned unit) const { return written[unit]; }

 private:
  std::vector<unsigned> unitOf;
  std::vector<llvm::SmallVector<unsigned, 1>> steps, written;
  std::vector<bool> repeatable;
  std::vector<double> seconds;
  std::vector<std::optional<unsigned>> writers;
};

/// One execution of a step. A buffer has a version for each execution of its unit; they are numbered, those of the
/// sequence like its buffers.
struct Execution {
  unsigned step = 0;
  unsigned instance = 0;                         ///< of the execution of its unit; those of the sequence like the units
  llvm::SmallVector<unsigned, 4> reads, writes;  ///< versions, in the order of the step's buffers
};

class Timeline {
 public:
  /// The steps in their own order, each once. Both outlive the timeline.
  Timeline(const StepSequence& sequence, const Units& units);

  size_t size() const { return executions.size(); }
  const Execution& operator[](size_t position) const { return executions[position]; }
  const StepSequence& getSequence() const { return *sequence; }
  const Units& getUnits() const { return *units; }

  size_t getNumVersions() const { return bufferOf.size(); }
  unsigned getBuffer(unsigned version) const { return bufferOf[version]; }
  /// Positions of the executions that touch the version, ascending; empty when there is none any more.
  llvm::ArrayRef<int> getUses(unsigned version) const { return uses[version]; }
  /// The version of `buffer` that an execution inserted at `position` would read.
  unsigned getVersionAt(unsigned buffer, int position) const;
  /// The first position at which something is written over the kept buffer, past the end if never.
  int getOverwritten(unsigned kept) const { return overwritten[kept]; }

  int64_t getAlive(int position) const { return alive[position]; }
  int64_t getPeak() const;
  /// Of all executions.
  double getSeconds() const;

  /// Executes `units` (each after those that it needs) before what is at `position`, and lets all that follows read
  /// what they write there. Earlier executions of them that nobody reads any more go.
  void repeat(llvm::ArrayRef<unsigned> repeated, int position);

  /// Takes one execution of a unit away; who reads it reads the version before. False when there is none.
  bool drop(unsigned instance);

  /// Instances that repeat() has added and that are still there, in order.
  std::vector<unsigned> getAddedInstances() const;

 private:
  void analyse();
  void countAlive();
  int64_t getCountedBytes(unsigned version) const;
  int64_t getReusedBytes(int position) const;
  void dropUnread(llvm::ArrayRef<unsigned> candidates);

  const StepSequence* sequence;
  const Units* units;
  std::vector<Execution> executions;
  std::vector<unsigned> bufferOf;                          // by version
  std::vector<llvm::SmallVector<unsigned, 1>> versionsOf;  // by buffer
  std::vector<llvm::SmallVector<int, 4>> uses;             // by version
  std::vector<int> made;                                   // by version: position of its last write, -1 if kept
  std::vector<int> overwritten;                            // by buffer
  std::vector<int64_t> alive;                              // by position
  unsigned nextInstance = 0;
};

}  // namespace mlir::sgd::remat

#endif
