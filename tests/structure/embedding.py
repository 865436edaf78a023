"""Checks that the runtime can be part of another program: outside of runtime/process/, which is for tools, nothing ends the process, changes its signals, handlers, environment
or folder, forks, prints, or keeps state that belongs to no object."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOR_TOOLS = "runtime/process/"
OF_ITS_OWN_THREADS = "runtime/thread/"  # blocks signals in the threads that it starts

FORBIDDEN = [
    ("ends the process", re.compile(r"\b(?:_exit|_Exit|exit|quick_exit|abort|terminate|raise)\s*\(\s*\w*\s*\)")),
    ("changes signals of the process", re.compile(r"\b(?:sigaction|sigprocmask|signalfd|pthread_sigmask)\s*\(|(?<![\w.>])signal\s*\(|\bstruct sigaction\b")),
    ("changes a handler of the process", re.compile(r"\b(?:set_terminate|set_new_handler|atexit|at_quick_exit)\s*\(")),
    ("changes the environment or folder of the process", re.compile(r"\b(?:setenv|unsetenv|putenv|chdir|umask|setrlimit)\s*\(")),
    ("forks", re.compile(r"\bv?fork\s*\(\s*\)")),
    ("prints", re.compile(r"\bstd::(?:cout|cerr|clog)\b|\b(?:stdout|stderr|STD(?:OUT|ERR)_FILENO)\b|(?<![\w:])printf\s*\(|\b(?:perror|puts)\s*\(|\bLOG\s*\(")),
    # A variable in the first column is a namespace's; `static` and `thread_local` ones are of functions and classes.
    ("keeps state of the process",
     re.compile(r"^(?:static |inline |thread_local |constinit )*(?:std|absl)::(?:atomic|mutex|shared_mutex|once_flag|function|string|vector|map|unordered_map|unique_ptr|shared_ptr|Mutex|flat_hash_map)\b[^()]*\w+(?:\s*=[^;]*|\{[^;]*\})?;"
                r"|^(?:static |inline |thread_local |constinit )*(?:bool|u?int\d*(?:_t)?|size_t|float|double|char|pid_t|(?:const )?\w[\w:]*\*) *\w+(?:\s*=[^;]*)?;"
                r"|\bthread_local\b|^\s*static (?:inline )?(?!const\b|constexpr\b|absl::|std::(?:string|unique_ptr|vector|optional|pair) )[\w:<>,&* ]+ \w+(?:\s*=[^;(]*|\{[^;]*\})?;")),
]


def faults(file, text):
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//")[0]
        for what, pattern in FORBIDDEN:
            if pattern.search(code) and not (file.startswith(OF_ITS_OWN_THREADS) and "pthread_sigmask" in code):
                yield f"{file}:{number}: {what}; expected that of the program alone; leave it to launch::FailurePolicy, or do it in {FOR_TOOLS} for tools"


def self_test():
    for line in ("_exit(1);", "std::abort();", "signal(SIGINT, Handle);", "struct sigaction action = {};", "  std::set_terminate(End);", 'setenv("A", "b", 1);', "pid_t child = fork();",
                 'std::fprintf(stderr, "x");', "std::cout << 1;", "std::atomic<int> count = 0;", "std::mutex mutex;", "  static std::mutex mutex;", "thread_local int depth;", "const char* name = nullptr;",
                 "int calls = 0;", "  static int calls = 0;", "std::vector<int> seen;", 'printf("a");', "  static inline std::atomic<Record*> head = nullptr;"):
        assert list(faults("runtime/comm/a.cpp", line)), line
    for line in ("constexpr int kMost = 3;", "  std::mutex mutex_;", "  static const std::vector<Family>* families = new std::vector<Family>{", "snprintf(text, size);", "virtual int stop_signal() = 0;",
                 "std::fprintf(stream_, \"x\");", "  control.Abort(cause);", "// std::abort() would end it", "static absl::Status Find(int a);", "inline constexpr int kLarge = 1;", "std::string NameOf(int rank);",
                 "  static std::string AsidePath(const std::string& path);", "int SharedMemorySegment::stop_signal() const { return 0; }"):
        assert not list(faults("runtime/comm/a.cpp", line)), line


def main():
    self_test()
    listed = subprocess.run(["git", "ls-files", "runtime"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    files = [file for file in listed if file.endswith((".h", ".cpp")) and not file.startswith(FOR_TOOLS) and (ROOT / file).exists()]
    wrong = [fault for file in files for fault in faults(file, (ROOT / file).read_text())]
    print("\n".join(wrong) or f"{len(files)} files leave the process alone")
    sys.exit(1 if wrong or not files else 0)


main()
