// An order in which the steps of a sequence are executed, some of them more than once, and copies between device and
// host beside them; what is alive when, and how long it takes. Plain C++, no IR.
#ifndef SGD_PASSES_PLAN_RECOMPUTE_TIMELINE_H
#define SGD_PASSES_PLAN_RECOMPUTE_TIMELINE_H

#include "llvm/ADT/ArrayRef.h"
#include <climits>

#include "llvm/ADT/STLExtras.h"
#include "passes/plan/recompute/alive_bytes.h"
#include "passes/plan/recompute/step_sequence.h"

namespace mlir::sgd::remat {

/// Steps that write one buffer between them, say a copy and the update of the copy, are a unit: they run together. A
/// unit is repeatable when all its steps are and every buffer that it touches is complete before others read it.
class Units {
 public:
  explicit Units(const StepSequence& sequence);

  unsigned getUnit(unsigned step) const { return unitOf[step]; }
  llvm::ArrayRef<unsigned> getSteps(unsigned unit) const { return steps[unit]; }
  unsigned getNumUnits() const { return steps.size(); }
  bool isRepeatable(unsigned unit) const { return repeatable[unit]; }
  double getSeconds(unsigned unit) const { return seconds[unit]; }
  /// The unit that writes the buffer, nullopt for what is kept.
  std::optional<unsigned> getWriter(unsigned buffer) const { return writers[buffer]; }
  llvm::ArrayRef<unsigned> getWritten(unsigned unit) const { return written[unit]; }

  /// A buffer that a unit reads and does not write.
  struct Operand {
    unsigned buffer;
    bool isKept;
    std::optional<unsigned> writer;  ///< as getWriter()
  };
  /// In the order of the steps' reads.
  llvm::ArrayRef<Operand> getOperands(unsigned unit) const {
    return llvm::ArrayRef(operands).slice(firstOperand[unit], firstOperand[unit + 1] - firstOperand[unit]);
  }

 private:
  void addOperands(const StepSequence& sequence);

  std::vector<unsigned> unitOf;
  std::vector<llvm::SmallVector<unsigned, 1>> steps, written;
  std::vector<bool> repeatable;
  std::vector<double> seconds;
  std::vector<std::optional<unsigned>> writers;
  std::vector<Operand> operands;       // unit by unit
  std::vector<unsigned> firstOperand;  // by unit, and the end
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

/// Positions of the executions that touch a version, ascending. Invalid after the next change of the timeline.
class Uses {
  struct GetPosition {
    const int* positions;  // by execution
    int operator()(unsigned execution) const { return positions[execution]; }
  };

 public:
  using iterator = llvm::mapped_iterator<const unsigned*, GetPosition>;

  Uses(llvm::ArrayRef<unsigned> executions, const int* positions) : executions(executions), positions(positions) {}

  iterator begin() const { return {executions.begin(), GetPosition{positions}}; }
  iterator end() const { return {executions.end(), GetPosition{positions}}; }
  size_t size() const { return executions.size(); }
  bool empty() const { return executions.empty(); }
  int operator[](size_t index) const { return positions[executions[index]]; }
  int front() const { return positions[executions.front()]; }
  int back() const { return positions[executions.back()]; }
  Uses drop_back() const { return {executions.drop_back(), positions}; }

 private:
  llvm::ArrayRef<unsigned> executions;
  const int* positions;
};

/// Keeps uses, bytes and seconds up to date: a change looks at the versions that it touches, then adds up what is alive
/// behind the first of them. rollBack() undoes changes.
class Timeline {
 public:
  /// The steps in their own order, each once. Both outlive the timeline.
  Timeline(const StepSequence& sequence, const Units& units);

  size_t size() const { return order.size(); }
  const Execution& operator[](size_t position) const { return executions[order[position]]; }
  const StepSequence& getSequence() const { return *sequence; }
  const Units& getUnits() const { return *units; }

  size_t getNumVersions() const { return versions.size(); }
  unsigned getBuffer(unsigned version) const { return versions[version].buffer; }
  /// Positions of the executions that touch the version; empty when there is none any more.
  Uses getUses(unsigned version) const { return {versions[version].uses, positions.data()}; }
  /// The version of `buffer` that an execution inserted at `position` would read.
  unsigned getVersionAt(unsigned buffer, int position) const;
  /// The first position at which something is written over the kept buffer, past the end if never.
  int getOverwritten(unsigned kept) const;

  int64_t getAlive(int position) const { return alive[position]; }
  int64_t getPeak() const { return alive.getPeak(); }
  /// Returns the time of all executions and of waits for copies.
  double getSeconds() const { return getTimes().back().start; }
  /// When what is at `position` begins; of a copy, when it is enqueued.
  double getStart(int position) const { return getTimes()[position].start; }
  /// When the copies end that are enqueued before `position`, out of the device or into it.
  double getFreeOut(int position) const { return getTimes()[position].freeOut; }
  double getFreeIn(int position) const { return getTimes()[position].freeIn; }
  /// The position of the version's last write; -1 of what is there from the start.
  int getMade(unsigned version) const { return versions[version].maker < 0 ? -1 : positions[versions[version].maker]; }
  /// Where the version is alive, the bytes that it occupies. None when it is written over a buffer that is kept, or is
  /// on the host.
  int64_t getCountedBytes(unsigned version) const { return versions[version].bytes; }

  /// Executes `units` (each after those that it needs) before what is at `position`, and lets all that follows read
  /// what they write there. Earlier executions of them that nobody reads any more go.
  void repeat(llvm::ArrayRef<unsigned> repeated, int position);

  /// Removes one execution of a unit; its readers read the version before. False if there is none.
  bool drop(unsigned instance);

  /// Whether the version is in the host's memory.
  bool isOnHost(unsigned version) const { return versions[version].isOnHost; }
  /// The host's version that a fetched version was copied from.
  std::optional<unsigned> getHostSource(unsigned version) const;

  /// Copies a version to the host, and back for what is behind if the offload says so; what is behind reads that. Else
  /// the end of the program reads what is on the host.
  void offload(const Offload& offload);
  /// The buffer, a kept one with stateBytes, is on the host between steps: it is brought in before `position`, for all
  /// that reads it. Its next value is still to be offloaded.
  void bringIn(unsigned state, int position);
  /// Brings a version in that is on the host already, before `position`, for what is behind.
  void bringAgain(unsigned version, int position);
  /// The state that is on the host, ascending.
  llvm::ArrayRef<unsigned> getStateOnHost() const { return stateOnHost; }
  /// Undoes bringIn() and what came of it. False when it cannot be.
  bool keepOnDevice(unsigned state);
  /// Moves what is at `from` before what is at `to`, a smaller position. The caller knows that it may.
  void moveUp(int from, int to) { move(from, to); }
  /// Moves what is at `from` behind what is at `to`, a larger position. The caller knows that it may.
  void moveDown(int from, int to) { move(from, to); }

  /// Instances that repeat() and copies have added and that are still there, in order.
  std::vector<unsigned> getAddedInstances() const;

  /// A state of the timeline that rollBack() can return to.
  struct Mark {
    size_t edits = 0, versions = 0, executions = 0;
    unsigned nextInstance = 0;
  };
  Mark getMark() const { return {edits.size(), versions.size(), executions.size(), nextInstance}; }
  /// Undoes all changes since `mark`; marks of the states in between become invalid.
  void rollBack(const Mark& mark);

 private:
  struct Version {
    unsigned buffer = 0;
    bool isOnHost = false;  // of state too
    bool isTouched = false;
    int maker = -1;                       // the execution that writes it last; -1: none
    unsigned first = 0, last = 0;         // executions between which `bytes` are counted
    int64_t bytes = 0;                    // counted in `alive`
    llvm::SmallVector<unsigned, 4> uses;  // executions, by position
  };
  /// A change of the order, of an operand, or of where state is.
  struct Edit {
    enum class Kind { Insert, Erase, Read, Host } kind;
    unsigned execution = 0;  // Insert: the first of `count`
    int position = 0;        // of Insert and Erase
    unsigned count = 1;
    unsigned operand = 0, version = 0;  // of Read: which one it was; of Host: the state
  };
  struct Times {
    double start = 0, freeOut = 0, freeIn = 0;
  };

  // Edits, which rollBack() can undo. settle() ends each public change.
  unsigned addVersion(unsigned buffer, bool isOnHost);
  unsigned addExecution(Execution execution);
  void insert(int position, unsigned first, unsigned count = 1);
  void erase(unsigned execution);
  void eraseInstance(unsigned instance);
  void setRead(unsigned execution, unsigned operand, unsigned version);
  void setOnHost(unsigned state, bool isOnHost);
  void undo(const Edit& edit);
  void settle();

  // Analyses behind edits.
  void place(int position, unsigned first, unsigned count);
  void remove(unsigned execution);
  void replaceRead(unsigned execution, unsigned operand, unsigned version);
  void moveState(unsigned state, bool isOnHost);
  void renumber(int first);
  void addUse(unsigned version, unsigned execution);
  void removeUse(unsigned version, unsigned execution);
  void touch(unsigned version);
  void touchOwn(unsigned execution);
  int64_t countBytes(unsigned version) const;
  int64_t getReusedBytes(unsigned execution) const;
  llvm::ArrayRef<Times> getTimes() const;

  const Step& getStep(const Execution& execution) const;
  bool isSequenced(unsigned version) const { return version < sequence->buffers.size(); }
  /// Whether versionsOf has the version even if nothing touches it.
  bool isAlwaysListed(unsigned version) const {
    return isSequenced(version) || sequence->buffers[versions[version].buffer].isKept;
  }
  void rename(unsigned from, unsigned to, int first);
  void move(int from, int to);
  bool isCopiedOut(unsigned instance) const;
  bool dropCopyOut(unsigned instance);
  bool isNeeded(unsigned instance) const;
  void dropUnread(llvm::ArrayRef<unsigned> candidates);

  const StepSequence* sequence;
  const Units* units;
  std::vector<llvm::SmallVector<unsigned, 1>> resultsOf;  // by kept buffer: operands of the end that are written to it
  std::vector<Execution> executions;                      // erased ones too
  std::vector<unsigned> order;                            // by position: the execution
  std::vector<int> positions;                             // by execution; -1 of an erased one
  std::vector<llvm::SmallVector<unsigned, 1>> executionsOf;  // by instance, by position
  std::vector<Version> versions;
  std::vector<llvm::SmallVector<unsigned, 1>> versionsOf;  // by buffer, ascending
  llvm::SmallVector<unsigned, 4> stateOnHost;
  unsigned nextInstance = 0;
  std::vector<Edit> edits;

  AliveBytes alive;
  llvm::SmallVector<unsigned> touchedVersions, touchedExecutions;  // settle() counts their bytes
  int firstChange = INT_MAX;                                       // position

  // Computed when they are asked for: without copies the search needs no times.
  mutable std::vector<Times> times;      // by position, and at the end
  mutable std::vector<double> copyEnds;  // by version
  mutable int firstUntimed = 0;          // position
};

}  // namespace mlir::sgd::remat

#endif
