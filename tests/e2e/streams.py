"""Every model's instructions leave each other's memory alone in whatever order streams and threads may run them: `sgd-inspect --check-streams`."""
import harness


def every_model(folder):
    models = sorted(harness.MODELS.rglob("*.mlir"))
    assert len(models) > 20, models
    for model in models:
        harness.tool("sgdc", model, "-o", folder / "model.sgda")
        check = harness.tool("sgd-inspect", folder / "model.sgda", "--check-streams", check=False)
        assert check.returncode == 0 and check.stdout.count("no problem") >= 2, f"{model}:\n{check.stdout}{check.stderr}"


harness.main([("every_model", every_model)])
