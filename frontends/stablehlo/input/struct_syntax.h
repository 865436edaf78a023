// Reads and prints attributes of the form `<field = value, ...>`, which `stablehlo` and `chlo` use
// for dimension numbers.
#ifndef SGD_FRONTENDS_STABLEHLO_INPUT_STRUCT_SYNTAX_H
#define SGD_FRONTENDS_STABLEHLO_INPUT_STRUCT_SYNTAX_H

#include <functional>

#include "mlir/IR/OpImplementation.h"

namespace mlir::stablehlo {

/// Reads `<name = value, ...>`, fields in any order, each at most once; fields left out keep their
/// initial values.
class StructParser {
 public:
  explicit StructParser(AsmParser& parser) : parser(parser) {}

  StructParser& field(StringRef name, SmallVectorImpl<int64_t>& values) {
    return field(name, [&] {
      return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                            [&] { return parser.parseInteger(values.emplace_back()); });
    });
  }
  StructParser& field(StringRef name, int64_t& value) {
    return field(name, [&] { return parser.parseInteger(value); });
  }
  StructParser& field(StringRef name, Type& value) {
    return field(name, [&] { return parser.parseType(value); });
  }
  StructParser& field(StringRef name, std::function<ParseResult()> parse) {
    fields.push_back({name, std::move(parse), false});
    return *this;
  }

  ParseResult parse() {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
      StringRef name;
      SMLoc loc = parser.getCurrentLocation();
      if (parser.parseKeyword(&name)) return failure();
      auto* field = llvm::find_if(fields, [&](const Field& field) { return field.name == name; });
      if (field == fields.end()) return parser.emitError(loc, "unknown field '") << name << "'";
      if (field->seen) return parser.emitError(loc, "field '") << name << "' given twice";
      field->seen = true;
      return failure(parser.parseEqual() || field->parse());
    });
  }

 private:
  struct Field {
    StringRef name;
    std::function<ParseResult()> parse;
    bool seen;
  };
  AsmParser& parser;
  SmallVector<Field> fields;
};

/// Prints `<name = value, ...>`.
class StructPrinter {
 public:
  explicit StructPrinter(AsmPrinter& printer) : printer(printer) { printer << '<'; }
  ~StructPrinter() { printer << '>'; }

  /// A list; nothing where it is empty, unless `always`.
  StructPrinter& field(StringRef name, ArrayRef<int64_t> values, bool always = false) {
    if (values.empty() && !always) return *this;
    start(name) << '[';
    llvm::interleaveComma(values, printer);
    printer << ']';
    return *this;
  }
  /// Nothing where it is zero.
  StructPrinter& field(StringRef name, const APFloat& value) {
    if (!value.isZero()) start(name).printFloat(value);
    return *this;
  }
  template <typename T>
  StructPrinter& field(StringRef name, const T& value) {
    start(name) << value;
    return *this;
  }

 private:
  AsmPrinter& start(StringRef name) {
    printer << separator << name << " = ";
    separator = ", ";
    return printer;
  }
  AsmPrinter& printer;
  StringRef separator = "";
};

}  // namespace mlir::stablehlo

#endif
