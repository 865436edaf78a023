// Flags and their texts.
#include "tools/sgd-ckpt/options.h"

#include "runtime/checkpoint/manifest.h"
#include "tools/command_line/help.h"
#include "tools/command_line/parse.h"

namespace sgd::ckpt {
namespace {

constexpr char kAbout[] = "Lists, verifies, merges, converts and compares checkpoints that sgdrun has saved.";
constexpr char kUsage[] =
    "  sgd-ckpt list|verify DIR [--json]\n"
    "  sgd-ckpt merge DIR -o FILE\n"
    "  sgd-ckpt convert DIR -o DIR\n"
    "  sgd-ckpt diff DIR OTHER [--json]\n";
constexpr char kFooter[] =
    "DIR is a checkpoint (step-0000000100) or a folder of them, of which merge, convert and diff read the newest\n"
    "complete one.\n\n"
    "Examples:\n"
    "  sgd-ckpt list checkpoints                              steps, sizes and meshes\n"
    "  sgd-ckpt merge checkpoints -o state.safetensors        the newest state as one file, for sgdrun --init\n"
    "  sgd-ckpt diff checkpoints/step-0000000100 other        tensors that differ\n\n"
    "Exit codes: 0 done; 1 an input cannot be read, or verify finds damage; 2 wrong usage; 3 diff finds differences.\n";

}  // namespace

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app{kAbout, "sgd-ckpt"};
  app.require_subcommand(1);
  tools::SetHelp(app, kUsage, kFooter);
  const auto add = [&](const char* name, Command command, const char* help) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->add_option("dir", options.path, "A checkpoint or a folder of checkpoints")->required()->option_text("DIR");
    sub->callback([&options, command] { options.command = command; });
    return sub;
  };
  CLI::App* list = add("list", Command::kList, "Steps, sizes, meshes and state of all checkpoints, the newest first");
  CLI::App* verify = add("verify", Command::kVerify, "Read every byte of all checkpoints");
  CLI::App* merge = add("merge", Command::kMerge, "Write the state as one safetensors file");
  CLI::App* convert = add("convert", Command::kConvert, "Write a checkpoint of one file into another folder");
  CLI::App* diff = add("diff", Command::kDiff, "Tensors that differ between two checkpoints or files of tensors");
  for (CLI::App* sub : {list, verify, diff}) sub->add_flag("--json", options.as_json, "Print JSON instead of text");
  merge->add_option("-o,--output", options.output, "The file to write")->required()->option_text("FILE");
  convert->add_option("-o,--output", options.output, "The folder that gets the checkpoint")
      ->required()
      ->option_text("DIR");
  convert
      ->add_flag("--zstd", options.zstd,
                 "Compress it by zstd, at a level from 1 (default) to 19; without this flag it is not compressed")
      ->option_text("[=LEVEL]")
      ->check(CLI::Range(checkpoint::kLeastZstdLevel, checkpoint::kMostZstdLevel));
  diff->add_option("other", options.other, "The checkpoint or file of tensors to compare with")
      ->required()
      ->option_text("OTHER");
  if (std::optional<Leave> leave = tools::Parse(app, SGD_VERSION, argc, argv)) return *leave;
  return options;
}

}  // namespace sgd::ckpt
