// An order in which the steps of a sequence are executed, some of them more than once, and copies between device and
// host beside them; what is alive when, and how long it takes. Plain C++, no IR.
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

/// One execution of a step, or a part of a copy. A buffer has a version for each execution of its unit, each copy of it
/// in the host's memory, and each that is brought back; they are numbered, those of the sequence like its buffers.
struct Execution {
  enum class Kind {
    Step,
    CopyOut,    ///< begins to copy what it reads to the host
    CopiedOut,  ///< ends that: what it reads is needed no longer
    CopyIn,     ///< begins to copy what it reads to the device; whoever reads that first waits for it
  };
  Kind kind = Kind::Step;
  unsigned step = 0;                             ///< of Kind::Step
  unsigned instance = 0;                         ///< of the execution of its unit; those of the sequence like the units
  llvm::SmallVector<unsigned, 4> reads, writes;  ///< versions, in the order of the step's buffers

  bool isCopy() const { return kind != Kind::Step; }
};

/// A version that is on the host from one use to the next, or, of state and results, behind the last one.
struct Offload {
  unsigned version = 0;
  int begin = 0;                  ///< the copy out is enqueued before what is at this position
  int copied = 0;                 ///< the version's memory is free from this position on
  std::optional<int> back;        ///< the copy back is enqueued before what is at this position
  std::optional<unsigned> state;  ///< the kept buffer whose memory on the host it is written to
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
  /// Of all executions, and of waiting for copies.
  double getSeconds() const { return starts.back(); }
  /// When what is at `position` begins; of a copy, when it is enqueued.
  double getStart(int position) const { return starts[position]; }
  /// When the copies end that are enqueued before `position`, out of the device or into it.
  double getFreeOut(int position) const { return freeOut[position]; }
  double getFreeIn(int position) const { return freeIn[position]; }
  /// The position of the version's last write; -1 of what is there from the start.
  int getMade(unsigned version) const { return made[version]; }
  /// Where the version is alive, the bytes that it occupies.
  int64_t getCountedBytes(unsigned version) const;

  /// Executes `units` (each after those that it needs) before what is at `position`, and lets all that follows read
  /// what they write there. Earlier executions of them that nobody reads any more go.
  void repeat(llvm::ArrayRef<unsigned> repeated, int position);

  /// Takes one execution of a unit away; who reads it reads the version before. False when there is none.
  bool drop(unsigned instance);

  /// Whether the version is in the host's memory.
  bool isOnHost(unsigned version) const { return onHost[version]; }
  /// What a version that was brought in was copied from.
  std::optional<unsigned> getHostSource(unsigned version) const;

  /// Copies a version to the host, and back for what is behind if the offload says so; what is behind reads that. Else
  /// the end of the program reads what is on the host.
  void offload(const Offload& offload);
  /// The buffer, a kept one with stateBytes, is on the host between steps: it is brought in before `position`, for all
  /// that reads it. Its next value is still to be offloaded.
  void bringIn(unsigned state, int position);
  /// Brings a version in that is on the host already, before `position`, for what is behind.
  void bringAgain(unsigned version, int position);
  /// The state that is on the host.
  llvm::ArrayRef<unsigned> getStateOnHost() const { return stateOnHost; }
  /// Undoes bringIn() and what came of it. False when it cannot be.
  bool keepOnDevice(unsigned state);
  /// Moves what is at `from` before what is at `to`, a smaller position. The caller knows that it may.
  void moveUp(int from, int to);
  /// Moves what is at `from` behind what is at `to`, a larger position. The caller knows that it may.
  void moveDown(int from, int to);

  /// Instances that repeat() and copies have added and that are still there, in order.
  std::vector<unsigned> getAddedInstances() const;

 private:
  void analyse();
  void countAlive();
  void countSeconds();
  const Step& getStep(const Execution& execution) const;
  unsigned addVersion(unsigned buffer, bool isHost);
  void rename(unsigned from, unsigned to, int first);
  bool isCopiedOut(unsigned instance) const;
  bool dropCopyOut(unsigned instance);
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
  std::vector<bool> onHost;                                // by version; state too
  llvm::SmallVector<unsigned, 4> stateOnHost;              // kept buffers, ascending
  std::vector<int64_t> alive;                              // by position
  std::vector<double> starts, freeOut, freeIn;             // by position, and at the end
  unsigned nextInstance = 0;
};

}  // namespace mlir::sgd::remat

#endif
