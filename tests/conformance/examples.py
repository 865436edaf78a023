"""The examples of flax, optax and JAX that jax_examples.py runs: where they are, and the sizes that make them short."""
import dataclasses

ONE, EIGHT, BOTH = (1,), (8,), (1, 8)


@dataclasses.dataclass
class Example:
    name: str
    path: str                     # below the checkout
    arguments: tuple = ()         # of a script; {work} is an empty folder
    modules: dict = dataclasses.field(default_factory=dict)   # stand-ins for modules of the example
    settings: dict = dataclasses.field(default_factory=dict)  # values of a notebook's form
    devices: tuple = ONE
    steps: int = 40


def configured(name, devices=ONE, modules=None, steps=40, config="configs/default.py", **sizes):
    """An example of flax whose main.py takes a configuration file."""
    arguments = ("--workdir={work}", f"--config={config}", *(f"--config.{key}={value}" for key, value in sizes.items()))
    return Example(name, f"examples/{name}/main.py", arguments, modules or {}, {}, devices, steps)


def pipeline(name):
    return {"input_pipeline": f"input_pipelines.{name}"}


TRANSFORMER = dict(vocab_size=1000, per_device_batch_size=2, eval_per_device_batch_size=2, num_layers=2, qkv_dim=64, emb_dim=64, mlp_dim=256, num_heads=8,
                   max_target_length=32, max_eval_target_length=32, max_predict_length=16, num_train_steps=20, num_eval_steps=4, eval_every_steps=10,
                   warmup_steps=10, use_bfloat16=False, save_checkpoints=False)

FLAX = [
    configured("mnist", modules={"orbax.export": "orbax_export"}, batch_size=32, num_epochs=1),
    configured("vae", steps=200, batch_size=32, num_epochs=1),
    configured("lm1b", BOTH, pipeline("lm1b"), **TRANSFORMER),
    configured("wmt", BOTH, pipeline("wmt"), num_predict_steps=2, beam_size=2, use_mixed_precision=False,
               **{key: value for key, value in TRANSFORMER.items() if key not in ("eval_per_device_batch_size", "use_bfloat16")}),
    Example("ppo", "examples/ppo/ppo_main.py", ("--workdir={work}", "--config.total_frames=256", "--config.num_agents=2", "--config.actor_steps=16",
                                                "--config.batch_size=16", "--config.num_epochs=2"),
            {"cv2": "nearest_cv2"}, steps=250),
    configured("imagenet", BOTH, pipeline("imagenet"), steps=4, batch_size=8, num_train_steps=4, steps_per_eval=1, log_every_steps=1, model="ResNet18", profile=False),
    configured("sst2", ONE, pipeline("sst2"), batch_size=16, num_epochs=1, embedding_size=64, hidden_size=64),
    configured("seq2seq", ONE, None, batch_size=16, hidden_size=64, num_train_steps=20, decode_frequency=10),
    configured("ogbg_molpcba", ONE, pipeline("ogbg_molpcba"), config="configs/test.py", batch_size=8, latent_size=64, message_passing_steps=2),
    configured("gemma", BOTH, pipeline("gemma"), steps=10, config="configs/tiny.py", per_device_batch_size=1, eval_per_device_batch_size=1, vocab_size=1000, max_target_length=32,
               max_eval_target_length=32, num_train_steps=20, num_eval_steps=2, eval_every_steps=20, save_checkpoints=False, warmup_steps=4, use_bfloat16=False),
    *(Example(f"nnx {name}", f"examples/nnx_toy_examples/{name}.py", modules={"datasets": "hugging_face"}, devices=devices) for name, devices in {
        "01_functional_api": ONE, "02_lifted_transforms": ONE, "03_train_state": ONE, "04_data_parallel_with_jit": BOTH, "05_vae": ONE, "06_scan_over_layers": ONE,
        "07_array_leaves": ONE, "08_save_load_checkpoints": ONE, "09_parameter_surgery": ONE, "10_fsdp_and_optimizer": EIGHT, "hijax_basic": ONE, "hijax_demo": EIGHT}.items()),
    *(Example(f"linen {name}", f"examples/linen_design_test/{name}.py") for name in ("attention_simple", "autoencoder", "dense", "linear_regression", "mlp_explicit", "mlp_inline", "mlp_lazy")),
]

FEW = {"N_EPOCHS": 1, "EPOCHS": 1, "MAX_EPOCHS": 1, "NUM_EPOCHS": 1}
NANO = {"N_ITERATIONS": 20, "N_FREQ_EVAL": 10, "BATCH_SIZE": 8, "NUM_LAYERS": 2, "EMBED_SIZE": 64, "NUM_HEADS": 2, "BLOCK_SIZE": 32}

SIGNED = {"adversarial_training": 8}  # steps before the signs of gradients turn rounding errors into differences

OPTAX = [Example(name.replace("/", " "), f"examples/{name}.ipynb", settings=settings, steps=SIGNED.get(name, 40)) for name, settings in {
    "mlp_mnist": {"BATCH_SIZE": 32, **FEW}, "lookahead_mnist": {"BATCH_SIZE": 32, **FEW}, "adversarial_training": {"TRAIN_BATCH_SIZE": 32, "TEST_BATCH_SIZE": 32, **FEW},
    "cifar10_resnet": {"BATCH_SIZE": 16, **FEW}, "nanolm": NANO, "flax_example": {}, "freezing_parameters": {}, "gradient_accumulation": {},
    "lbfgs": {}, "linear_assignment_problem": {}, "meta_learning": {}, "ogda_example": {}, "perturbations": {},
    "contrib/differentially_private_sgd": {"BATCH_SIZE": 32, **FEW}, "contrib/muon": {}, "contrib/reduce_on_plateau": {"BATCH_SIZE": 32, **FEW},
    "contrib/rosenbrock_ademamix": {}, "contrib/sam": {}}.items()]

MNIST = {"examples.datasets": "mnist", "datasets": "mnist"}

JAX = [
    *(Example(name, f"examples/{name}.py", modules=MNIST, devices=devices) for name, devices in {
        "advi": ONE, "mnist_classifier": ONE, "mnist_classifier_fromscratch": ONE, "mnist_vae": ONE, "spmd_mnist_classifier_fromscratch": BOTH,
        "differentially_private_sgd": ONE}.items()),
    *(Example(name.split("/")[-1], f"docs/{name}.md", devices=devices) for name, devices in {
        "notebooks/Common_Gotchas_in_JAX": ONE, "notebooks/Custom_derivative_rules_for_Python_code": ONE, "notebooks/Neural_Network_and_Data_Loading": ONE,
        "notebooks/Writing_custom_interpreters_in_Jax": ONE, "notebooks/autodiff_cookbook": ONE, "notebooks/autodiff_remat": ONE, "notebooks/convolutions": ONE,
        "notebooks/layout": ONE, "notebooks/neural_network_with_tfds_data": ONE, "notebooks/shard_map": EIGHT, "notebooks/thinking_in_jax": ONE,
        "notebooks/vmapped_log_probs": ONE, "array_refs": ONE, "automatic-differentiation": ONE, "automatic-vectorization": ONE,
        "autodidax": ONE, "autodidax2_part1": ONE, "control-flow": ONE, "custom_pytrees": ONE, "gradient-checkpointing": ONE,
        "higher-order": ONE, "jacobian-vector-products": ONE, "jax-primitives": ONE, "jit-compilation": ONE, "key-concepts": ONE, "parallel": EIGHT,
        "pytrees": ONE, "random-numbers": ONE, "stateful-computations": ONE, "tracing": ONE}.items()),
    *(Example(name, f"cloud_tpu_colabs/{name}.ipynb", devices=devices) for name, devices in {
        "JAX_NeurIPS_2020_demo": ONE, "JAX_demo": ONE, "Lorentz_ODE_Solver": ONE, "Pmap_Cookbook": EIGHT, "Wave_Equation": EIGHT}.items()),
]

CHECKOUTS = {"flax": FLAX, "optax": OPTAX, "jax": JAX}
