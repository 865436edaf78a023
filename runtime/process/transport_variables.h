// The environment of the library that ranks on CPUs of several hosts send by.
#pragma once

namespace sgd::process {

// Sets variables that the library reads when comm::OpenTransportPlugin loads it and that the user has not set. Call it
// while this process has one thread.
void SetTransportVariables();

}  // namespace sgd::process
