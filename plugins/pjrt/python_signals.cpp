// The plugin links no Python: it finds the functions of the interpreter that has loaded it.
#include "plugins/pjrt/python_signals.h"

#include <dlfcn.h>

namespace sgd::pjrt {
namespace {

struct Interpreter {
  template <typename Function>
  static Function* Find(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  }

  int (*const is_initialized)() = Find<int()>("Py_IsInitialized");
  int (*const acquire)() = Find<int()>("PyGILState_Ensure");
  void (*const release)(int) = Find<void(int)>("PyGILState_Release");
  int (*const check_signals)() = Find<int()>("PyErr_CheckSignals");
  void (*const clear_error)() = Find<void()>("PyErr_Clear");
  void (*const raise_again)() = Find<void()>("PyErr_SetInterrupt");

  bool is_there() const {
    return is_initialized != nullptr && acquire != nullptr && release != nullptr && check_signals != nullptr &&
           clear_error != nullptr && raise_again != nullptr && is_initialized() != 0;
  }
};

}  // namespace

bool HasPythonSignal() {
  static const auto& python = *new Interpreter();
  if (!python.is_there()) return false;
  const int state = python.acquire();
  const bool is_raised = python.check_signals() != 0;
  if (is_raised) {
    python.clear_error();
    python.raise_again();
  }
  python.release(state);
  return is_raised;
}

}  // namespace sgd::pjrt
