"""Nothing grows with the number of ranks: a program for 16,384 of them is compiled, checked and described like one for a thousand."""
import json
import resource
import subprocess

import harness

# Of few ranks and of many, both of which outgrow most dimensions and divide none: other ops are needed where they do.
MODELS = {name: (axis + "=1021", [axis + "=16384", axis + "=16381"]) for name, axis in {
    "mlp_digits": "data", "gpt_zero1": "data", "gpt_zero3": "data", "resnet_spatial": "x", "moe_einsum": "expert"}.items()}
# The same on meshes of several axes.
MESHES = {"gpt_tp": [("data=61,model=17", ["data=509,model=32", "data=127,model=129"]), ("data=1,model=1021", ["data=1,model=16384"])],
          "gpt_scan": [("data=251,model=32", ["data=509,model=32"]), ("data=1,model=1021", ["data=1,model=16384"])]}
# A compilation that looks at every pair of ranks takes minutes; this one takes a second.
SECONDS = 120
# Numbers are longer, and some buckets and merged ranges are cut elsewhere.
GROWTH = 1.1


def compiled(folder, name, mesh, *extra):
    artifact = folder / "model.sgda"
    subprocess.run([harness.BUILD / "bin" / "sgdc", harness.MODELS / name / "model.mlir", "--mesh", mesh, "-o", artifact, *extra],
                   check=True, timeout=SECONDS)
    described = subprocess.run([harness.BUILD / "bin" / "sgd-inspect", artifact, "--json", "--program"],
                               check=True, timeout=SECONDS, capture_output=True, text=True)
    return artifact.stat().st_size, len(json.loads(described.stdout)["programs"][0]["code"])


def compare(folder, name, few, many, *extra):
    size, instructions = compiled(folder, name, few, *extra)
    for mesh in many:
        larger, more = compiled(folder, name, mesh, *extra)
        print(f"        {name} {' '.join(extra)}: {few}: {size} bytes, {instructions} instructions; {mesh}: {larger}, {more}")
        assert larger <= GROWTH * size, f"{name}: the artifact grows with the ranks"
        assert more <= GROWTH * instructions, f"{name}: the program grows with the ranks"


def artifacts_do_not_grow(folder):
    for name, (few, many) in MODELS.items():
        compare(folder, name, few, many)


def artifacts_do_not_grow_with_axes(folder):
    for name, cases in MESHES.items():
        for few, many in cases:
            compare(folder, name, few, many)


def staging_does_not_grow(folder):
    compare(folder, "resnet_spatial", "x=1021", ["x=16384"], "--target", "cuda:sm_90")
    compare(folder, "gpt_zero3", "data=1021", ["data=16384"], "--target", "cuda:sm_90")


def memory_does_not_grow(folder):
    compiled(folder, "gpt_zero3", "data=1021")
    few = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    compiled(folder, "gpt_zero3", "data=16384")
    many = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert many <= 1.2 * few, f"{few} kB for 1,021 ranks, {many} kB for 16,384"


harness.main([("memory does not grow", memory_does_not_grow), ("artifacts do not grow", artifacts_do_not_grow),
              ("artifacts do not grow with axes", artifacts_do_not_grow_with_axes), ("staging does not grow", staging_does_not_grow)])
