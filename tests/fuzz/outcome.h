// The outcome of one generated program.
#ifndef SGD_TESTS_FUZZ_OUTCOME_H
#define SGD_TESTS_FUZZ_OUTCOME_H

#include <string>

namespace mlir::sgd::fuzz {

struct Outcome {
  enum class Kind { Agrees, Refused, Differs, Crashed } kind = Kind::Agrees;
  std::string message;

  bool isFailure() const { return kind == Kind::Differs || kind == Kind::Crashed; }

  /// One line, and back.
  std::string pack() const { return std::to_string(static_cast<int>(kind)) + message; }
  static Outcome unpack(const std::string& line) { return {static_cast<Kind>(line.at(0) - '0'), line.substr(1)}; }
};

/// A check that takes longer than this hangs.
inline constexpr double kHangSeconds = 180;

/// Checks `text` in this process: as a program, or the gradients of one that asks for them.
Outcome checkHere(const std::string& text);

/// Checks `text`, a program, in this process.
Outcome checkProgram(const std::string& text);

/// Checks `text` in a process of its own; a crash and a hang are outcomes.
Outcome checkIsolated(const std::string& text);

}  // namespace mlir::sgd::fuzz

#endif
