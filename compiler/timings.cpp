// Scopes form a stack, so that a stage's seconds are its own.
#include "compiler/timings.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::sgd;

void Timings::add(llvm::StringRef stage, double seconds) {
  auto it = llvm::find_if(stages, [&](const auto& known) { return known.first == stage; });
  if (it == stages.end()) it = stages.insert(it, {stage.str(), 0});
  it->second += seconds;
}

double Timings::getTotal() const {
  double total = 0;
  for (const auto& [stage, seconds] : stages) total += seconds;
  return total;
}

void Timings::print(llvm::raw_ostream& os) const {
  double total = getTotal();
  size_t width = 5;
  for (const auto& [stage, seconds] : stages) width = std::max(width, stage.size());
  auto line = [&](const std::string& stage, double seconds) {
    os << llvm::left_justify(stage, width)
       << llvm::format("  %9.2f ms  %5.1f %%\n", seconds * 1e3, total > 0 ? 100 * seconds / total : 0.0);
  };
  for (const auto& [stage, seconds] : stages) line(stage, seconds);
  line("total", total);
}

Timings::Scope::Scope(Timings* timings, llvm::StringRef stage)
    : timings(timings), stage(stage), start(std::chrono::steady_clock::now()) {
  if (timings) parent = std::exchange(timings->current, this);
}

Timings::Scope::~Scope() {
  if (!timings) return;
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  timings->add(stage, seconds - inside);
  timings->current = parent;
  if (parent) parent->inside += seconds;
}

namespace {

class PassTimer : public PassInstrumentation {
 public:
  explicit PassTimer(Timings* timings) : timings(timings) {}

  void runBeforePass(Pass* pass, Operation*) final {
    // Adaptors that only run other passes have no name.
    if (isTimed(pass)) scopes.push_back(std::make_unique<Timings::Scope>(timings, pass->getArgument()));
  }
  void runAfterPass(Pass* pass, Operation*) final {
    if (isTimed(pass)) scopes.pop_back();
  }
  void runAfterPassFailed(Pass* pass, Operation* op) final { runAfterPass(pass, op); }

 private:
  static bool isTimed(Pass* pass) { return !pass->getArgument().empty(); }

  Timings* timings;
  std::vector<std::unique_ptr<Timings::Scope>> scopes;
};

}  // namespace

std::unique_ptr<PassInstrumentation> mlir::sgd::createPassTimer(Timings* timings) {
  return std::make_unique<PassTimer>(timings);
}
