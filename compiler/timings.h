// Where the time of a compilation goes: seconds by stage, each counted once.
#ifndef SGD_COMPILER_TIMINGS_H
#define SGD_COMPILER_TIMINGS_H

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Pass/PassInstrumentation.h"

namespace mlir::sgd {

/// Stages in the order in which they first ended. Used by one thread.
class Timings {
 public:
  void add(llvm::StringRef stage, double seconds);

  double getTotal() const;

  /// One line per stage with milliseconds and share, then the total.
  void print(llvm::raw_ostream& os) const;

  /// Counts from construction to destruction; what scopes inside it count is theirs alone. Does nothing with null
  /// `timings`.
  class Scope {
   public:
    Scope(Timings* timings, llvm::StringRef stage);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Timings* timings;
    std::string stage;
    Scope* parent = nullptr;
    double inside = 0;  ///< seconds of scopes in this one
    std::chrono::steady_clock::time_point start;
  };

 private:
  std::vector<std::pair<std::string, double>> stages;
  Scope* current = nullptr;
};

/// Times each pass, its verification included, under its name on the command line.
std::unique_ptr<PassInstrumentation> createPassTimer(Timings* timings);

}  // namespace mlir::sgd

#endif
