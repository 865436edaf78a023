"""What a rendezvous costs: N hosts of one rank each, as network namespaces, run one step; least of three runs: time, and bytes on the cable of rank 0's host.
usage: rendezvous.py HOSTS..."""
import os
import pathlib
import resource
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import harness  # noqa: E402
import host_network  # noqa: E402

host_network.enter_own_namespace()
os.environ["SGD_SECRET"] = "the secret of the test"
os.environ["UCX_TLS"] = "^sm"
SGDRUN = pathlib.Path(os.environ.get("SGDRUN", harness.BUILD / "bin" / "sgdrun"))
MODEL = """
sdy.mesh @mesh = <["data"={0}]>
func.func public @main(%x: tensor<{0}x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}, {{}}]>}}) -> tensor<4xf32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<{0}x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %sum : tensor<4xf32>
}}
"""


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


hosts = [int(arg) for arg in sys.argv[1:]]
network = host_network.Network(max(hosts))
port = iter(range(30000, 32000))
try:
    with harness.temporary_folder() as folder:
        for n in hosts:
            text, artifact = pathlib.Path(folder) / "model.mlir", pathlib.Path(folder) / f"{n}.sgda"
            text.write_text(MODEL.format(n))
            harness.tool("sgdc", text, "-o", artifact)
            best = None
            for _ in range(3):
                sent, begin, computed = network.traffic(0), time.monotonic(), processor_time()
                ended = harness.finish(network.start_ranks(list(range(n)), [SGDRUN, artifact, "--bench", 1, "--deadline", 60], next(port)))
                assert all(code == 0 for code, _ in ended), ended
                found = (time.monotonic() - begin, processor_time() - computed, network.traffic(0) - sent)
                best = found if best is None else tuple(map(min, best, found))
            print(f"{n} hosts: {best[0]:.2f} s, {best[1] / n * 1e3:.1f} ms of processor time per rank, {best[2] / 1e3:.1f} KB through host 0, "
                  f"{best[2] / 1e3 / n:.1f} KB per rank", flush=True)
finally:
    network.close()
