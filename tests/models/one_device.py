"""A model's text as it is printed for one device: without mesh, shardings and constraints."""
import re
import sys


def without_attribute(text, start):
    """`text` without the attributes that begin with `start`, which ends in an open angle bracket."""
    out, done = [], 0
    while (begin := text.find(start, done)) >= 0:
        end, depth = begin + len(start), 1
        while depth:
            depth += {"<": 1, ">": -1}.get(text[end], 0)
            end += 1
        if text[begin - 2:begin] == ", ":
            begin -= 2
        elif text[end:end + 2] == ", ":
            end += 2
        out.append(text[done:begin])
        done = end
    return "".join(out) + text[done:]


def one_device(text):
    text = re.sub(r"^\s*sdy\.mesh .*\n", "", text, flags=re.M)
    text = re.sub(r"mhlo\.num_partitions = \d+", "mhlo.num_partitions = 1", text)
    text = without_attribute(text, "sdy.sharding = #sdy.sharding<").replace(" {}", "")
    lines, scopes = [], [{}]  # names by region: another region may use them again
    for line in text.split("\n"):
        code = line.strip()
        if code.startswith("}") and len(scopes) > 1:
            scopes.pop()
        same = {name: value for scope in scopes for name, value in scope.items()}
        if same:
            line = re.sub(r"%\w+", lambda m: same.get(m[0], m[0]), line)
        if constraint := re.match(r"\s*(%\w+) = sdy\.sharding_constraint (%\w+(?:#\d+)?)", line):
            scopes[-1][constraint[1]] = constraint[2]
            continue
        if re.search(r"\{( loc\(.*\))?$", code):
            scopes.append({})
        lines.append(line)
    assert "sdy." not in "\n".join(lines), "a form of annotation that this does not know"
    return "\n".join(lines)


if __name__ == "__main__":
    print(one_device(open(sys.argv[1]).read()), end="")
