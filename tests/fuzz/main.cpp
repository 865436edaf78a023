// sgd-fuzz: programs at random against the reference evaluator.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <thread>

#include "tests/fuzz/op_families.h"
#include "tests/fuzz/session.h"

using namespace mlir::sgd::fuzz;

namespace {

std::vector<size_t> findFamilies(const std::vector<std::string>& names) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < getFamilies().size(); ++i)
    if (names.empty() || std::find(names.begin(), names.end(), getFamilies()[i].name) != names.end())
      indices.push_back(i);
  return indices;
}

std::string listFamilies() {
  std::string list;
  for (const Family& family : getFamilies()) list += (list.empty() ? "" : ", ") + std::string(family.name);
  return list;
}

/// Each file in a process of its own; 1 when one fails, or is refused and must not be.
int checkFiles(const std::vector<std::string>& paths, bool mustAgree) {
  int code = 0;
  for (const std::string& path : paths) {
    std::ifstream stream(path);
    if (!stream) {
      std::cerr << "sgd-fuzz: cannot read " << path << "\n";
      return 2;
    }
    Outcome outcome = checkIsolated({std::istreambuf_iterator<char>(stream), {}});
    static constexpr const char* names[] = {"agrees", "refused", "DIFFERS", "CRASHED"};
    std::cout << path << ": " << names[static_cast<int>(outcome.kind)] << " " << outcome.message << "\n";
    if (outcome.isFailure() || (mustAgree && outcome.kind != Outcome::Kind::Agrees)) code = 1;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Generates programs at random and compares what all ranks compute with one rank and with the reference "
      "evaluator.",
      "sgd-fuzz");
  SessionOptions options;
  std::vector<std::string> families, files;
  bool mustAgree = false;
  size_t opPrograms = 0;
  double minutes = 0, mostRefused = 100;
  size_t numRefusals = 3;
  options.folder = "fuzz-failures";
  options.jobs = std::max(1u, std::thread::hardware_concurrency());
  app.add_option("--check", files, "Check these programs instead")->type_name("FILE");
  app.add_flag("--must-agree", mustAgree, "With --check: a refusal is a failure");
  app.add_option("--ops", opPrograms, "Print instead which families' first N programs hold each op")->type_name("N");
  app.add_option("--family", families, "Only these families: " + listFamilies())->type_name("NAME");
  app.add_option("--seed", options.seed, "Equal seeds give equal programs (default 1)");
  app.add_option("--first", options.first, "The number of the first program (default 0)")->type_name("N");
  app.add_option("--cases", options.cases, "How many programs")->type_name("N");
  app.add_option("--minutes", minutes, "How long")->type_name("N");
  app.add_option("--jobs", options.jobs, "Processes at a time (default: one per core)")->check(CLI::PositiveNumber);
  app.add_option("--save", options.folder, "Where failures go (default fuzz-failures)")->type_name("FOLDER");
  app.add_option("--refusals", numRefusals, "How many kinds of refusals to list for each family (default 3)");
  app.add_option("--most-refused", mostRefused, "Percentage of a family's programs that may be refused (default 100)");
  app.add_option("--save-refused", options.saveRefused, "Also save programs that are refused with this text")
      ->type_name("TEXT");
  app.add_option("--max-failures", options.maxFailures, "Failures after which to end (default 20)");
  app.add_option("--shrink-seconds", options.shrinkSeconds, "Time for making a failure simpler (default 60)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (opPrograms > 0) {
    printOpFamilies(std::cout, opPrograms);
    return 0;
  }
  if (!files.empty()) return checkFiles(files, mustAgree);
  options.families = findFamilies(families);
  if (options.families.empty() || (!families.empty() && options.families.size() != families.size())) {
    std::cerr << "sgd-fuzz: --family: the families are " << listFamilies() << "\n";
    return 2;
  }
  if (minutes > 0) options.seconds = minutes * 60;
  if (minutes == 0 && options.cases == SIZE_MAX) options.cases = 1000;
  Session session(options);
  session.run();
  session.getStatistics().print(std::cout, numRefusals);
  std::cout << session.getStatistics().getNumCases() << " programs, seed " << options.seed << ", "
            << session.getStatistics().getNumFailures() << " failures\n";
  if (session.getStatistics().getMostRefused() > mostRefused) {
    std::cerr << "sgd-fuzz: a family has more than " << mostRefused << " % refused programs\n";
    return 1;
  }
  return session.getStatistics().getNumFailures() == 0 ? 0 : 1;
}
