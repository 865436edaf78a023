// Names of the schema's enumerators in messages and listings: their own names in lower case ("gelu_gradient" for
// GeluGradient), so that a new one has a name without being listed anywhere else.
#pragma once

#include <string>

#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// Each is "unknown" for a number that is no enumerator.
std::string NameOf(Operation operation);
std::string NameOf(Space space);
std::string NameOf(EpilogueStep step);
std::string NameOf(CarryBasis basis);
std::string NameOf(InputRole role);
std::string NameOf(OutputRole role);
std::string NameOf(CollectiveKind kind);
std::string NameOf(ReduceKind kind);
std::string NameOf(LinearAlgebraKind kind);
std::string NameOf(MovementCause cause);
std::string NameOf(OperationKind kind);
std::string NameOf(Precision precision);

// "launch", "matmul", "all_reduce", "attention_gradient", ...: a collective's is its kind's.
std::string OperationName(const Instruction& instruction);

}  // namespace sgd::artifact
