"""A stand-in for orbax.export: models are not exported to TensorFlow."""


class JaxModule:
    def __init__(self, model, function):
        self.model, self.function = model, function


class ServingConfig:
    def __init__(self, name, input_signature=None):
        self.name, self.input_signature = name, input_signature


class ExportManager:
    def __init__(self, module, configs):
        self.module, self.configs = module, configs

    def save(self, folder):
        pass
