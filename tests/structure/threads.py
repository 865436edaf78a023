"""Checks that threads are started by runtime/thread/spawn_thread.h alone: std::thread and std::async throw where a limit is reached, and their threads take signals."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Declarations of members and vectors without a function are no starts.
START = re.compile(r"std::j?thread\s*[({]|std::j?thread\s+\w+\s*[({]|std::async\b|\bpthread_create\b|std::vector<std::j?thread>\s+\w+\s*[({]")


def faults(file, text):
    for number, line in enumerate(text.splitlines(), 1):
        if START.search(line.split("//")[0]):
            yield f"{file}:{number}: starts a thread; expected SpawnThread of runtime/thread/spawn_thread.h"


def self_test():
    for line in ("thread_ = std::thread([] {});", "std::thread helper(work);", "std::jthread a{f};", "x = std::async(f);", "pthread_create(&t, 0, f, 0);"):
        assert list(faults("a.cpp", line)), line
    for line in ("std::thread thread_;", "std::vector<std::thread> threads;", "absl::StatusOr<std::thread> t = SpawnThread(a, b);", "// std::thread(f) throws"):
        assert not list(faults("a.cpp", line)), line


def main():
    self_test()
    folders = ["runtime", "targets", "compiler", "passes", "dialects", "frontends", "reference", "tools"]
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    files = [file for file in listed if file.endswith((".h", ".cpp")) and not file.startswith("runtime/thread/") and (ROOT / file).exists()]
    wrong = [fault for file in files for fault in faults(file, (ROOT / file).read_text())]
    print("\n".join(wrong) or f"{len(files)} files start no thread by themselves")
    sys.exit(1 if wrong or not files else 0)


main()
