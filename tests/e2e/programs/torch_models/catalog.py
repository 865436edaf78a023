"""The modules that export_models.py exports: each with the batch that it trains on, its optimizer, and the recipes of the test beside that for one rank."""
import dataclasses

import torch

MODULES = {}


@dataclasses.dataclass
class Case:
    make: type
    batch: object  # a function without arguments that returns the inputs of a step
    recipes: tuple  # names of recipes in torch_models.py
    optimizer: dict
    rules: tuple  # for recipes: layers over the axis `model`, rows of inputs
    loss: str | None  # the result that is the loss; by default the only scalar
    is_decomposed: bool  # by run_decompositions()
    group: str  # the file that has it


def case(batch, *recipes, optimizer=None, rules=(), loss=None, decomposed=False):
    def enter(make):
        rates = optimizer or {"kind": "adamw", "learning_rate": 0.01, "weight_decay": 0.1}
        MODULES[make.__name__.lower()] = Case(make, batch, recipes or ("zero 3", "micro"), rates, rules, loss, decomposed, make.__module__)
        return make

    return enter


def labels(most, *shape):
    return torch.randint(0, most, shape)
