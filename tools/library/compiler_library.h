// The compiler as one shared library, for programs that have no LLVM or another one: texts and flags in, bytes and JSON
// out. Only types of the standard library cross this border, and libsgd_compiler.so exports nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#define SGD_COMPILER_EXPORT __attribute__((visibility("default")))

namespace sgd::compiler {

// A program's bytes: StableHLO text, a PyTorch archive, or graph-level text. Messages call it `file_name`.
struct Program {
  std::string name;  // "main" of a single one
  std::string file_name;
  std::string text;
};

// A recipe that flags may name, `--recipe=NAME`, without a file.
struct RecipeText {
  std::string name;  // ends in ".json"
  std::string text;
};

struct CompileRequest {
  std::vector<Program> programs;   // as of sgdc's MODEL ...
  std::vector<std::string> flags;  // of sgdc, such as "--mesh=data=4"; none that names a file to write
  std::vector<RecipeText> recipes;
  // False for a program that only runs: no report and no explanation, and the artifact has no records for pages.
  bool is_described = true;
};

// Of a rank and a step of the first plan.
struct Metrics {
  double flops = 0;
  // Bytes.
  uint64_t arguments = 0, outputs = 0, aliased = 0, temporaries = 0, peak = 0;
};

struct CompileResult {
  int code = 0;          // as sgdc ends: 0 done, 1 the input is at fault, 2 wrong flags
  std::string messages;  // warnings and errors, a line each, as sgdc prints them
  // Empty unless `code` is 0.
  std::string artifact;  // the bytes of the .sgda; empty with the flag --emit
  std::string emitted;   // the text of --emit
  std::string report;    // the JSON of --report=FILE and --explain=FILE
  std::string explanation;
  std::string report_text;  // what --report and --explain print
  std::string explanation_text;
  std::string recipe;  // JSON; the one that the flag --auto found
  Metrics metrics;
};

// Compiles in this process, on the calling thread and on threads of its own; any number of threads may call it. Prints
// nothing.
SGD_COMPILER_EXPORT CompileResult Compile(const CompileRequest& request);

// The names of the ops that a frontend imports, as sgdc --list-ops prints them; `code` and `messages` as above.
struct ListedOps {
  int code = 0;
  std::string messages;
  std::vector<std::string> ops;
};
SGD_COMPILER_EXPORT ListedOps ListOps(const std::string& frontend);

// "0.1.0".
SGD_COMPILER_EXPORT std::string Version();

// The main functions of sgdc and sgd-sim: they print, and end the process.
SGD_COMPILER_EXPORT int RunCompilerCommand(int argc, char** argv);
SGD_COMPILER_EXPORT int RunSimulatorCommand(int argc, char** argv);

}  // namespace sgd::compiler
