// The layout of --help of every tool: usage lines, groups of flags, examples. Lines have at most 100 columns, and each
// section is a line that ends in a colon with indented lines below it, as docs/command_lines.py reads them.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

namespace sgd::tools {

class HelpFormatter : public CLI::Formatter {
 public:
  // `usage`: the lines below "Usage:", each with its line end. Subcommands get a line from their arguments.
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {}

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::string text = Wrapped(app->get_description(), 0) + "\nUsage:\n";
    text += app->get_parent() == nullptr ? usage_ : SubcommandUsage(app);
    text += Section("Arguments", app->get_options([](const CLI::Option* option) { return option->get_positional(); }));
    for (const CLI::App* command : app->get_subcommands({})) {
      if (command == app->get_subcommands({}).front()) text += "\nCommands:\n";
      text += Entry(command->get_name(), command->get_description());
    }
    for (const std::string& group : Groups(app)) text += Section(group, OptionsOf(app, group));
    return text + (app->get_parent() == nullptr ? "\n" + app->get_footer() : "");
  }

 private:
  static constexpr size_t kWidth = 100, kColumn = 30;
  static constexpr char kLast[] = "Other";  // the group of --help and --version

  static std::string SubcommandUsage(const CLI::App* app) {
    std::string line = "  " + app->get_parent()->get_name() + " " + app->get_name() + " [OPTIONS]";
    for (const CLI::Option* option : app->get_options([](const CLI::Option* it) { return it->get_positional(); }))
      line += " " + option->get_option_text();
    return line + "\n";
  }

  // In order of their first flags; the last one at the end. CLI11 calls the group of flags without one "Options".
  static std::vector<std::string> Groups(const CLI::App* app) {
    std::vector<std::string> groups;
    for (const std::string& group : app->get_groups())
      if (!group.empty() && group != "Options" && group != kLast) groups.push_back(group);
    groups.emplace_back(kLast);
    return groups;
  }

  static std::vector<const CLI::Option*> OptionsOf(const CLI::App* app, const std::string& group) {
    return app->get_options([&](const CLI::Option* option) {
      const std::string own = option->get_group() == "Options" ? kLast : option->get_group();
      return option->nonpositional() && own == group;
    });
  }

  static std::string Section(const std::string& title, const std::vector<const CLI::Option*>& options) {
    std::string text = options.empty() ? "" : "\n" + title + ":\n";
    for (const CLI::Option* option : options) text += Entry(NameOf(option), option->get_description());
    return text;
  }

  // "-o,--output FILE", "--guard[=K]", "ARTIFACT".
  static std::string NameOf(const CLI::Option* option) {
    std::string value = option->get_option_text();
    if (value.empty() && option->get_type_size() != 0) value = option->get_type_name();
    if (option->get_positional()) return value;
    std::string name = option->get_name(false, true);
    name = name.substr(0, name.find('{'));  // the value that a flag alone stands for
    if (value.empty()) return name;
    if (value.front() == '[') return name + value;
    const bool is_optional = option->get_expected_min() == 0;
    return is_optional ? name + "[=" + value + "]" : name + " " + value;
  }

  static std::string Entry(const std::string& name, const std::string& description) {
    const std::string text = Wrapped(description, kColumn);
    if (name.size() + 4 > kColumn) return "  " + name + "\n" + text;
    return "  " + name + text.substr(name.size() + 2);
  }

  // Lines of words behind `indent` spaces. Line ends in the text stay.
  static std::string Wrapped(const std::string& text, size_t indent) {
    const std::string margin(indent, ' ');
    std::string lines, paragraph, word;
    for (std::istringstream paragraphs(text); std::getline(paragraphs, paragraph);) {
      std::string line = margin;
      for (std::istringstream words(paragraph); words >> word;) {
        if (line.size() > indent && line.size() + 1 + word.size() > kWidth) {
          lines += line + "\n";
          line = margin;
        }
        line += (line.size() > indent ? " " : "") + word;
      }
      lines += line + "\n";
    }
    return lines;
  }

  std::string usage_;
};

// Call it before subcommands are added: they take the layout of their parent.
inline void SetHelp(CLI::App& app, const std::string& usage, const std::string& footer) {
  app.formatter(std::make_shared<HelpFormatter>(usage));
  app.set_help_flag("-h,--help", "Print this text");
  app.footer(footer);
}

// Puts flags under a title of the help. Throws if one of them does not exist.
inline void SetGroup(CLI::App& app, const char* title, std::initializer_list<const char*> flags) {
  for (const char* flag : flags) app.get_option(flag)->group(title);
}

}  // namespace sgd::tools
