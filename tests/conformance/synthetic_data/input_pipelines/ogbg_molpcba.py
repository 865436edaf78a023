"""The data of flax's graph network, as its `input_pipeline` gives it: small random molecules in batches padded to one size."""
import jraph
import numpy as np
from tensorflow.dataset import Dataset

TASKS = 128


def _graph(draw):
    nodes, edges = draw.randint(8, 30), draw.randint(20, 60)
    labels = (draw.rand(TASKS) < 0.3).astype(np.float32)
    labels[draw.rand(TASKS) < 0.2] = np.nan
    return jraph.GraphsTuple(n_node=np.array([nodes], np.int32), n_edge=np.array([edges], np.int32), nodes=draw.randint(0, 5, (nodes, 9)).astype(np.float32),
                             edges=draw.randint(0, 4, (edges, 3)).astype(np.float32), senders=draw.randint(0, nodes, edges).astype(np.int32),
                             receivers=draw.randint(0, nodes, edges).astype(np.int32), globals=labels[None])


def get_datasets(batch_size, **_):
    def split(seed, batches):
        def start():
            draw = np.random.RandomState(seed)
            for _ in range(batches):
                graphs = jraph.batch_np([_graph(draw) for _ in range(batch_size - 1)])
                yield jraph.pad_with_graphs(graphs, batch_size * 32, batch_size * 64, batch_size)
        return Dataset(start)
    return {"train": split(1, 64).repeat(), "validation": split(2, 2), "test": split(3, 2)}
