// Tables from the JSON description.
#include "tools/sgd-inspect/text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/data/safetensors.h"
#include "runtime/page/describe_types.h"

namespace sgd::inspect {
namespace {

using Json = nlohmann::ordered_json;

// Rows of cells, padded so that columns line up; numbers (as JSON) to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { Add(std::move(head)); }

  void Add(std::vector<std::string> cells) {
    widths_.resize(std::max(widths_.size(), cells.size()), 0);
    for (size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], cells[i].size());
    rows_.push_back(std::move(cells));
  }

  // `right` lists columns whose cells are numbers.
  std::string Text(const std::vector<size_t>& right = {}) const {
    std::string text;
    for (const std::vector<std::string>& row : rows_) {
      std::string line = "   ";
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string space(widths_[i] - row[i].size(), ' ');
        const bool is_right = std::ranges::find(right, i) != right.end();
        absl::StrAppend(&line, " ", is_right ? space + row[i] : row[i] + space, " ");
      }
      line.erase(line.find_last_not_of(' ') + 1);
      absl::StrAppend(&text, line, "\n");
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> widths_;
};

// "1,234,567"
std::string Grouped(const Json& number) {
  std::string digits = number.dump();
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string Plain(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// A name from the model on one line, without quotes.
std::string Name(const Json& value) {
  const std::string quoted = data::QuotedName(value.get<std::string>());
  return quoted.substr(1, quoted.size() - 2);
}

std::string Join(const Json& list, const char* separator) {
  std::vector<std::string> parts;
  for (const Json& part : list) parts.push_back(Plain(part));
  return absl::StrJoin(parts, separator);
}

// "[data, -]": axes per dimension, "-" for none; "replicated" when nothing is sharded.
std::string ShardingText(const Json& sharding) {
  std::vector<std::string> dims;
  bool is_replicated = true;
  for (const Json& axes : sharding) {
    is_replicated = is_replicated && axes.empty();
    dims.push_back(axes.empty() ? "-" : Join(axes, "+"));
  }
  return is_replicated ? "replicated" : absl::StrCat("[", absl::StrJoin(dims, ", "), "]");
}

std::string SliceWords(const Json& slice) {
  return absl::StrCat(Plain(slice["space"]), "[", Plain(slice["offset"]), "+", Plain(slice["size"]), "]");
}

std::string HeadText(const Json& json) {
  std::vector<std::string> mesh;
  for (const Json& axis : json["mesh"]) mesh.push_back(absl::StrCat(Name(axis[0]), "=", Plain(axis[1])));
  std::vector<std::string> programs;
  for (const Json& program : json["programs"]) {
    // Stages of one program stand together.
    const std::string name = Name(program["name"]);
    if (programs.empty() || programs.back() != name) programs.push_back(name);
  }
  const Json& memory = json["memory"];
  const std::string features =
      json["cpu_features"].empty() ? "" : absl::StrCat(" (", Join(json["cpu_features"], " "), ")");
  return absl::StrCat(
      "artifact  ", Plain(json["path"]), "\nsha256    ", Plain(json["hash"]), "\nplan      ", Name(json["plan"]),
      "\ncompiler  ", Plain(json["compiler_version"]), "\ntarget    ", Plain(json["target"]), " ", Plain(json["cpu"]),
      features, Join(json["architectures"], " "), "\nmesh      ", absl::StrJoin(mesh, ", "), mesh.empty() ? "" : ": ",
      Plain(json["ranks"]), json["ranks"] == 1 ? " rank" : " ranks", "\nmemory    ", Grouped(memory["total"]),
      " bytes a rank: private ", Grouped(memory["private"]), ", window ", Grouped(memory["window"]), ", constants ",
      Grouped(memory["constants"]), "\nkernels   ", Plain(json["kernels"]["count"]), " in ",
      Grouped(json["kernels"]["bytes"]), " bytes of code\nprograms  ", absl::StrJoin(programs, ", "), "\n");
}

std::string ValuesText(const Json& values, const char* title, const char* last, auto last_cell) {
  if (values.empty()) return "";
  Table table({"", "name", "type", "sharding", "on a rank", last});
  for (const Json& value : values) {
    table.Add({Plain(value["position"]), Name(value["name"]), Plain(value["type"]), ShardingText(value["sharding"]),
               Plain(value["local"]), last_cell(value)});
  }
  return absl::StrCat("  ", title, "\n", table.Text());
}

std::string CollectivesText(const Json& collectives, bool with_operands) {
  if (collectives.empty()) return "  collectives: none\n";
  Table table({"at", "done at", "kind", "over", "ranks", "tensors", "operand bytes", "sent bytes", "runs", "source"});
  for (const Json& collective : collectives) {
    const std::string reduce = collective["reduce"].is_null() ? "" : absl::StrCat(" ", Plain(collective["reduce"]));
    table.Add({Plain(collective["instruction"]), collective["done"].is_null() ? "" : Plain(collective["done"]),
               Plain(collective["kind"]) + reduce, Join(collective["axes"], "+"), Plain(collective["group_size"]),
               Plain(collective["tensors"]), Grouped(collective["operand_bytes"]), Grouped(collective["sent_bytes"]),
               Plain(collective["executions"]), Name(collective["loc"])});
    if (!with_operands) continue;
    for (const Json& operand : collective["operands"]) {
      const std::string elements = absl::StrCat(Plain(operand["element"]), " x ", Plain(operand["count"]));
      const Json& tensor = operand["tensor"];
      table.Add({"", "", absl::StrCat("  ", tensor.is_null() ? elements : absl::StrCat(Name(tensor), ", ", elements)),
                 "", "", "", "", "", "",
                 absl::StrCat(SliceWords(operand["source"]), " -> ", SliceWords(operand["target"]))});
    }
  }
  return absl::StrCat("  collectives\n", table.Text({0, 1, 4, 5, 6, 7, 8}));
}

// The kernels of a group in the order of their first launches, with how often each is launched.
std::string GroupText(const Json& launches) {
  std::vector<std::pair<std::string, uint64_t>> counts;
  for (const Json& launch : launches) {
    const std::string kernel = Name(launch["kernel"]);
    auto known = std::find_if(counts.begin(), counts.end(), [&](const auto& count) { return count.first == kernel; });
    if (known == counts.end()) known = counts.insert(counts.end(), {kernel, 0});
    ++known->second;
  }
  return absl::StrJoin(counts, " + ", [](std::string* text, const auto& count) {
    absl::StrAppend(text, count.second, " ", count.first);
  });
}

// " bias, relu"
std::string EpilogueText(const Json& epilogue) {
  return epilogue.empty() ? "" : absl::StrCat(" ", Join(epilogue, ", "));
}

// "f32 2x16x16 of 3x3, 64 to 128": batch and windows, kernel, features.
std::string ConvolutionText(const Json& convolution) {
  std::string windows, kernel;
  for (const Json& dim : convolution["windows"]) {
    absl::StrAppend(&windows, "x", Plain(dim["output"]));
    absl::StrAppend(&kernel, kernel.empty() ? "" : "x", Plain(dim["kernel"]));
  }
  const std::string groups = Plain(convolution["groups"]);
  return absl::StrCat(Plain(convolution["element"]), " ", Plain(convolution["batch"]), windows, " of ", kernel, ", ",
                      Plain(convolution["inputs"]), " to ", Plain(convolution["outputs"]),
                      groups == "1" ? "" : absl::StrCat(" in each of ", groups, " groups"),
                      EpilogueText(convolution["epilogue"]));
}

// "bf16 64x64 of 8, 2x2 heads, diagonal 0": rows, columns, depth.
std::string AttentionText(const Json& attention) {
  const std::string depth = Plain(attention["depth"]), value_depth = Plain(attention["value_depth"]);
  return absl::StrCat(
      attention["is_gradient"] ? "backward, " : "", Plain(attention["element"]), " ", Plain(attention["rows"]), "x",
      Plain(attention["columns"]), " of ", depth, value_depth == depth ? "" : absl::StrCat(" and ", value_depth), ", ",
      Plain(attention["batch"]), "x", Plain(attention["heads"]), " heads",
      attention["key_heads"] == attention["heads"] ? "" : absl::StrCat(" of ", Plain(attention["key_heads"]), " keys"),
      attention["diagonal"].is_null() ? "" : absl::StrCat(", diagonal ", Plain(attention["diagonal"])),
      attention["bias"].is_null() ? "" : ", biased");
}

std::string MatmulText(const Json& instruction) {
  const bool widens = instruction["result"] != instruction["element"];
  return absl::StrCat(Plain(instruction["element"]), widens ? absl::StrCat(" to ", Plain(instruction["result"])) : "",
                      instruction["tf32"] ? " as tf32" : "", " ", Join(instruction["batch"], "x"),
                      instruction["batch"].empty() ? "" : "x", Plain(instruction["m"]), "x", Plain(instruction["n"]),
                      "x", Plain(instruction["k"]), EpilogueText(instruction["epilogue"]));
}

// The fields that this kind of instruction alone has: "kind svd, batch 8, m 4".
std::string FieldsText(const Json& instruction) {
  static constexpr const char* kCommon[] = {"index", "op",         "slices", "flops", "bytes",
                                            "bound", "executions", "loc",    "scope"};
  std::vector<std::string> fields;
  for (const auto& [name, value] : instruction.items()) {
    if (value.is_structured() || std::ranges::find(kCommon, name) != std::end(kCommon)) continue;
    fields.push_back(absl::StrCat(name, " ", value.is_string() ? Name(value) : value.dump()));
  }
  return absl::StrJoin(fields, ", ");
}

// The fields that only some instructions have, in one cell.
std::string DetailText(const Json& instruction) {
  const std::string op = Plain(instruction["op"]);
  if (op == "launch") {
    return absl::StrCat(Name(instruction["kernel"]), " over ", Plain(instruction["range"]), " by ",
                        Plain(instruction["grain"]));
  }
  if (op == "launch_group") return GroupText(instruction["launches"]);
  if (op == "matmul") return MatmulText(instruction);
  if (op == "convolution") return ConvolutionText(instruction);
  if (op == "attention") return AttentionText(instruction);
  if (op == "collective") return absl::StrCat(Plain(instruction["kind"]), " over ", Join(instruction["axes"], "+"));
  if (op == "loop") {
    const std::string trips = instruction["trips"].is_null()
                                  ? absl::StrCat("while ", Plain(instruction["condition"]), " instructions say so")
                                  : absl::StrCat(Plain(instruction["trips"]), " times");
    return absl::StrCat(Plain(instruction["body"]), " instructions ", trips);
  }
  if (op == "case") return absl::StrCat("branches of ", Join(instruction["branches"], ", "), " instructions");
  if (op == "done") return absl::StrCat("of ", Plain(instruction["start"]));
  if (op == "fill") return absl::StrCat("0x", Plain(instruction["pattern"]));
  return FieldsText(instruction);
}

std::string CodeText(const Json& code) {
  Table table({"at", "op", "what", "flops", "bytes", "bound", "memory", "source"});
  for (const Json& instruction : code) {
    std::vector<std::string> slices;
    for (const Json& slice : instruction["slices"])
      slices.push_back(absl::StrCat(Plain(slice["role"]), " ", SliceWords(slice)));
    table.Add(
        {Plain(instruction["index"]), Plain(instruction["op"]), DetailText(instruction), Grouped(instruction["flops"]),
         Grouped(instruction["bytes"]), instruction["bound"].is_null() ? "" : Plain(instruction["bound"]),
         absl::StrJoin(slices, ", "),
         absl::StrCat(Name(instruction["loc"]), instruction["scope"] == "" ? "" : ", ", Name(instruction["scope"]))});
  }
  return absl::StrCat("  instructions\n", table.Text({0, 3, 4}));
}

std::string MemoryText(const Json& slices) {
  Table table({"space", "offset", "size", "values", "used"});
  for (const Json& slice : slices) {
    const std::string used =
        slice["first"].is_null() ? "never" : absl::StrCat(Plain(slice["first"]), " to ", Plain(slice["last"]));
    table.Add(
        {Plain(slice["space"]), Grouped(slice["offset"]), Grouped(slice["size"]), Join(slice["values"], " "), used});
  }
  return absl::StrCat("  memory (used: first to last instruction)\n", table.Text({1, 2}));
}

std::string ExplainText(const Json& records) {
  if (records.empty()) return "  explanations: none\n";
  std::string text = "  explanations\n";
  for (const Json& record : records) {
    const std::string source = Name(record["loc"]);
    absl::StrAppend(&text, "    ", source, source.empty() ? "" : ": ", Plain(record["text"]), "\n");
  }
  return text;
}

std::string Microseconds(const Json& seconds) {
  return seconds.is_number() ? absl::StrFormat("%.1f", seconds.get<double>() * 1e6) : "";
}

// Those of a GPU say how they are dealt out to threads.
std::string KernelsText(const Json& kernels, bool is_gpu) {
  if (kernels.empty()) return "\nkernels: none\n";
  std::vector<std::string> head = {"name", "launches", "combined", is_gpu ? "blocks" : "range"};
  if (is_gpu) head.insert(head.end(), {"threads", "shared", "access", "schedule"});
  head.insert(head.end(), {"flops", "bytes", "us", "ops", "source"});
  Table table(head);
  for (const Json& kernel : kernels) {
    std::vector<std::string> row = {Name(kernel["name"]), Grouped(kernel["launches"]), Grouped(kernel["combined"]),
                                    Grouped(kernel["blocks"])};
    if (is_gpu)
      row.insert(row.end(), {Plain(kernel["threads"]), Grouped(kernel["shared_bytes"]), Plain(kernel["access_bytes"]),
                             Name(kernel["schedule"])});
    row.insert(row.end(), {Grouped(kernel["flops"]), Grouped(kernel["bytes"]), Microseconds(kernel["seconds"]),
                           Name(kernel["ops"]), Name(kernel["loc"])});
    table.Add(std::move(row));
  }
  return absl::StrCat("\nkernels (flops, bytes and estimated time of one launch)\n",
                      is_gpu ? table.Text({1, 2, 3, 4, 5, 6, 8, 9, 10}) : table.Text({1, 2, 3, 4, 5, 6}));
}

std::string InputNote(const Json& input) {
  const Json& doubt = input["carry_doubt"];
  if (doubt.is_null()) return Plain(input["role"]);
  const std::string candidate = doubt["candidate"].is_null() ? "" : absl::StrCat(" (", Plain(doubt["candidate"]), "?)");
  return absl::StrCat("undecided", candidate, ": ", Plain(doubt["why"]));
}

std::string RoleNote(const Json& role) {
  if (role == "commit") return "decides about the commit";
  if (role == "loss") return "is the loss";
  return role == "metric" ? "is a metric" : "";
}

std::string OutputNote(const Json& output) {
  if (output["carry"].is_null()) return RoleNote(output["role"]);
  const std::string basis = output["carry_basis"].is_null() ? "" : absl::StrCat(", by ", Plain(output["carry_basis"]));
  return absl::StrCat("is ", Plain(output["carry"]), output["carry_basis"] == "unchanged" ? ", unchanged" : basis);
}

std::string ProgramText(const Json& program, const Parts& parts) {
  std::vector<std::string> counts;
  for (const auto& [kind, count] : program["instructions"].items())
    counts.push_back(absl::StrCat(Plain(count), " ", kind));
  std::string text =
      absl::StrCat("\nprogram ", Name(program["name"]),
                   program.contains("stage") ? absl::StrCat(" of stage ", program["stage"].dump()) : "", ": ",
                   counts.empty() ? "empty" : absl::StrJoin(counts, ", "), "; ", Grouped(program["flops"]),
                   " flops and ", Grouped(program["sent_bytes"]), " bytes sent a step\n");
  const bool is_summary = !parts.program && !parts.memory && !parts.collectives && !parts.explain && !parts.kernels;
  if (is_summary || parts.program) {
    absl::StrAppend(&text, ValuesText(program["inputs"], "inputs", "role", InputNote),
                    ValuesText(program["outputs"], "outputs", "next step", OutputNote));
  }
  if (is_summary || parts.collectives)
    absl::StrAppend(&text, CollectivesText(program["collectives"], parts.collectives));
  if (parts.program) absl::StrAppend(&text, CodeText(program["code"]));
  if (parts.memory) absl::StrAppend(&text, MemoryText(program["slices"]));
  if (parts.explain) absl::StrAppend(&text, ExplainText(program["explain"]));
  return text;
}

// Of a pipeline: what the ranks of each stage need, and the channels between them.
std::string StagesText(const Json& json) {
  Table stages({"stage", "bytes a rank", "private", "window"});
  for (size_t i = 0; i < json["stages"].size(); ++i) {
    const Json& stage = json["stages"][i];
    stages.Add({absl::StrCat(i), Grouped(stage["total"]), Grouped(stage["private"]), Grouped(stage["window"])});
  }
  std::string text = stages.Text({1, 2, 3});
  if (json["channels"].empty()) return text;
  Table channels({"channel", "from", "to", "places", "bytes of a message"});
  for (const Json& channel : json["channels"])
    channels.Add({Plain(channel["channel"]), Plain(channel["from_stage"]), Plain(channel["to_stage"]),
                  Plain(channel["depth"]), Grouped(channel["message_bytes"])});
  return text + channels.Text({3, 4});
}

// The meaning of columns, of those tables that are shown.
std::string LegendText(const Parts& parts) {
  const bool is_summary = !parts.program && !parts.memory && !parts.collectives && !parts.explain && !parts.kernels;
  struct Term {
    const char* name;
    const char* meaning;
    bool is_shown;
  };
  const bool has_values = is_summary || parts.program, has_collectives = is_summary || parts.collectives;
  const bool has_slices = parts.program || parts.collectives;
  const Term terms[] = {
      {"sharding", "mesh axes that each dimension is cut over, - for none", has_values},
      {"on a rank", "shape of a rank's part", has_values},
      {"at", "number of the instruction in its program", has_collectives || parts.program},
      {"done at", "instruction that waits for it; those between run beside it", has_collectives},
      {"over, ranks", "mesh axes of a group, and its number of ranks", has_collectives},
      {"operand bytes", "of a rank in one run; what is reduced, gathered or exchanged", has_collectives},
      {"sent bytes", "that a rank sends in one run, by the ring rule", has_collectives},
      {"runs", "how often it runs in a step, iterations of loops included", has_collectives},
      {"window[0+64]", "64 bytes from byte 0 of a memory: window (peers read or write it), private, constant, host",
       has_slices},
      {"flops, bytes", "of one run: operations, and memory traffic", parts.program},
      {"bound", "what limits it on the device of the artifact: compute, memory, peers (a collective), host (a copy)",
       parts.program},
      {"source", "line of the user's program, and its scope", parts.program},
      {"space", "window: peers read or write it; private: this rank alone", parts.memory},
      {"used", "first to last instruction that touches it", parts.memory},
      {"launches", "in a step of all programs; combined: those that run inside of another launch", parts.kernels},
      {"range, blocks", "iterations that threads share, or blocks of a GPU, of the first launch", parts.kernels}};
  std::string text;
  for (const Term& term : terms) {
    if (term.is_shown) absl::StrAppend(&text, "  ", absl::StrFormat("%-13s", term.name), "  ", term.meaning, "\n");
  }
  return text.empty() ? "" : absl::StrCat("\nlegend\n", text);
}

}  // namespace

std::string DescriptionText(const Json& description, const Parts& parts) {
  std::string text = HeadText(description);
  if (parts.kernels)
    absl::StrAppend(&text, KernelsText(description["kernels"]["table"], description["target"] != "cpu"));
  if (description.contains("stages")) absl::StrAppend(&text, StagesText(description));
  for (const Json& program : description["programs"]) absl::StrAppend(&text, ProgramText(program, parts));
  return text + LegendText(parts);
}

}  // namespace sgd::inspect
