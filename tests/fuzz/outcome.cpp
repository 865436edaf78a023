#include "tests/fuzz/outcome.h"

#include "tests/differential/check.h"
#include "tests/fuzz/derivative_check.h"
#include "tests/fuzz/isolation.h"

using namespace mlir::sgd;
using namespace mlir::sgd::fuzz;

Outcome mlir::sgd::fuzz::checkHere(const std::string& text) {
  return asksForDerivatives(text) ? checkDerivatives(text) : checkProgram(text);
}

Outcome mlir::sgd::fuzz::checkProgram(const std::string& text) {
  differential::CheckResult result = differential::check(text);
  switch (result.verdict) {
    case differential::Verdict::Agrees:
      return {Outcome::Kind::Agrees, ""};
    case differential::Verdict::Refused:
      return {Outcome::Kind::Refused, result.message};
    case differential::Verdict::Differs:
      break;
  }
  return {Outcome::Kind::Differs, result.message};
}

Outcome mlir::sgd::fuzz::checkIsolated(const std::string& text) {
  std::string error;
  auto line = runIsolated([&] { return checkHere(text).pack(); }, kHangSeconds, error);
  return line ? Outcome::unpack(*line) : Outcome{Outcome::Kind::Crashed, error};
}
