// Which results of a step are arguments of the next one: by their paths, else by position where dataflow says the same.
#ifndef SGD_PASSES_GRAPH_CARRY_DECIDE_H
#define SGD_PASSES_GRAPH_CARRY_DECIDE_H

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "passes/graph/carry/links.h"
#include "runtime/artifact/path_match.h"

namespace mlir::sgd {

struct CarryValue {
  ::sgd::artifact::TensorPath path;  // empty where the text has no name
  uint32_t type = 0;                 // equal numbers stand for equal types
  bool isScalar = false;
  bool isInteger = false;
  bool isKey = false;                  // unsigned integers that are no scalar, as random keys are
  bool isDonated = false;              // of arguments: the program may write over it
  std::optional<unsigned> alias = {};  // of arguments: the result that memory reuse pairs with it
};

struct CarryProblem {
  std::vector<CarryValue> arguments, results;
};

/// Evidence from the computation of the program; see Links.
class CarryEvidence {
 public:
  virtual ~CarryEvidence() = default;
  virtual Link get(unsigned result, unsigned argument) = 0;
  virtual bool depends(unsigned result, unsigned argument) = 0;
  virtual bool isUpdate(unsigned result, unsigned argument) = 0;
  virtual bool isRoundedUpdate(unsigned result) = 0;
};

/// How a pair was decided; the words are those of the artifact.
enum class CarryBasis { Unchanged, Names, Dataflow };

struct CarryPair {
  unsigned argument;
  CarryBasis basis;
};

/// An argument whose next value is not known.
struct CarryDoubt {
  std::string why;                    // "position and dataflow pair it differently"
  std::optional<unsigned> candidate;  // the likeliest result
};

struct CarryDecision {
  std::vector<std::optional<CarryPair>> results;  // by result
  std::map<unsigned, CarryDoubt> doubts;          // by argument
};

/// An alias is never a reason for a pair; one that contradicts what position and dataflow say leaves it undecided, and
/// so does everything else that would be a guess. Arguments in neither table keep their values.
CarryDecision decideCarry(const CarryProblem& problem, CarryEvidence& evidence);

}  // namespace mlir::sgd

#endif
