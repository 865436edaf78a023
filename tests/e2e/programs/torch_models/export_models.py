"""Writes the archives and oracles of this folder: modules exported by torch.export, their batches, and what steps of PyTorch's optimizers give in f64, with PyTorch's own error in f32.

    export_models.py NAME...      with PyTorch 2.15; `all` for all modules

For each module: NAME.pt2, and NAME.safetensors with batches (stepK.INPUT), losses, the last parameters and buffers (final.NAME), and limits of errors, of losses
and of each of these tensors in their order. cases.json has optimizers and recipes."""
import copy
import json
import os
import pathlib
import sys
import zlib

import numpy as np
import torch

import catalog

STEPS, BATCHES = 6, 3
LEAST_MARGIN = 3e-6
HERE = pathlib.Path(__file__).resolve().parent
OPTIMIZERS = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}


def make_optimizer(model, settings):
    fields = {"lr" if name == "learning_rate" else name: value for name, value in settings.items() if name != "kind"}
    return OPTIMIZERS[settings["kind"]]([parameter for parameter in model.parameters() if parameter.requires_grad], **fields)


def train(model, batches, settings):
    """Returns the losses and the last state, each tensor once, by its first name."""
    optimizer, losses = make_optimizer(model, settings), []
    for step in range(STEPS):
        optimizer.zero_grad()
        results = model(*batches[step % BATCHES])
        loss = results if isinstance(results, torch.Tensor) else results[0]
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    known = set()
    state = {name: value.detach().numpy() for name, value in model.state_dict().items() if value.data_ptr() not in known and not known.add(value.data_ptr())}
    return np.array(losses), state


def train_in_f64(model, batches, settings):
    torch.set_default_dtype(torch.float64)
    widened = [[value.double() if value.is_floating_point() else value for value in batch] for batch in batches]
    result = train(copy.deepcopy(model).double(), widened, settings)
    torch.set_default_dtype(torch.float32)
    return result


def get_limit(f32, f64):
    """Eight times PyTorch's error, and at least two in the last digits of f32 after some steps."""
    return max(8 * np.abs(f32 - f64).max(initial=0), 2e-5 * max(1, np.abs(f64).max(initial=0)))


def find_margin(model, batches, settings):
    """Returns how near an operand of a rectifier comes to a kink in f64, where rounding would decide the gradient."""
    nearest, model = [np.inf], copy.deepcopy(model)

    def look(module, operands):
        values = operands[0].detach()
        nearest.append(min(float((values - kink).abs().min()) for kink in ((0, 6) if isinstance(module, torch.nn.ReLU6) else (0,))))

    for module in model.modules():
        if isinstance(module, (torch.nn.ReLU, torch.nn.ReLU6)):
            module.register_forward_pre_hook(look)
    train_in_f64(model, batches, settings)
    return min(nearest)


def draw(name, case):
    """The first model and batches, by seeds that follow from the name, that have a margin."""
    for attempt in range(50):
        torch.manual_seed(zlib.crc32(name.encode()) + attempt)
        model = case.make().train()
        batches = [case.batch() for _ in range(BATCHES)]
        if find_margin(model, batches, case.optimizer) > LEAST_MARGIN:
            return model, batches
    sys.exit(f"{name}: no seed keeps its rectifiers off their kinks")


def write(name, case):
    model, batches = draw(name, case)
    program = torch.export.export(model, batches[0])
    if case.is_decomposed:
        program = program.run_decompositions()
    torch.export.save(program, HERE / f"{name}.pt2")
    strip_paths(HERE / f"{name}.pt2", HERE)
    inputs = [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    tensors = {f"step{step}.{key}": value.numpy() for step, values in enumerate(batches) for key, value in zip(inputs, values)}
    losses, state = train_in_f64(model, batches, case.optimizer)
    f32_losses, f32_state = train(model, batches, case.optimizer)
    tensors |= {f"final.{key}": value.astype(f32_state[key].dtype) for key, value in state.items()}
    limits = [get_limit(f32_losses, losses), *(get_limit(f32_state[key], value) for key, value in state.items())]
    harness.save(HERE / f"{name}.safetensors", {**tensors, "losses": losses, "limits": np.array(limits)})


def describe(case):
    train = {"optimizer": case.optimizer, **({"loss": case.loss} if case.loss else {})}
    return {"group": case.group, "recipes": case.recipes, "rules": case.rules, "train": train}


if __name__ == "__main__":
    os.environ.setdefault("SGD_BUILD_DIR", "build")  # the harness asks for it
    sys.path += [str(HERE.parent.parent), str(HERE.parent / "torch")]
    import generative, language, structured, vision  # noqa: E401, F401, they enter their modules

    import harness
    from generate import strip_paths

    names = catalog.MODULES if sys.argv[1:] == ["all"] else sys.argv[1:]
    for name in names:
        write(name, catalog.MODULES[name])
    written = {path.stem for path in HERE.glob("*.pt2")}
    cases = {name: describe(case) for name, case in catalog.MODULES.items() if name in written}
    (HERE / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")
