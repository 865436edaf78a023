"""Film reviews from a small grammar: each clause praises or blames something, "not" turns it round, and the label says whether most clauses praise."""
import random

import torch

PRAISE = "good great brilliant moving funny fresh clever lovely superb charming".split()
BLAME = "bad dull awful boring flat stale clumsy ugly weak tedious".split()
TOPICS = "plot cast music ending script camera dialogue pace hero villain humour setting".split()
FILLERS, NEGATIONS, LINKS = "very really quite rather so truly".split(), ["not", "never"], "and but while also".split()
WORDS = {word: row for row, word in enumerate(["[PAD]", "[CLS]", "[SEP]", "the", "was", "is", *PRAISE, *BLAME, *TOPICS, *FILLERS, *NEGATIONS, *LINKS])}
CLAUSE = 7  # words of the longest clause, and what links it to the next


def clause(draw, is_praise):
    is_negated = draw.random() < 0.1
    return ["the", draw.choice(TOPICS), draw.choice(["was", "is"]), *([draw.choice(NEGATIONS)] if is_negated else []),
            *([draw.choice(FILLERS)] if draw.random() < 0.5 else []), draw.choice(PRAISE if is_praise != is_negated else BLAME)]


def review(draw, length):
    """Words of a review with an odd number of clauses, and its label: 1 for praise."""
    verdicts = [draw.random() < 0.5 for _ in range(draw.choice([n for n in (1, 3) if n * CLAUSE + 1 <= length]))]
    words = ["[CLS]"]
    for i, verdict in enumerate(verdicts):
        words += ([draw.choice(LINKS)] if i else []) + clause(draw, verdict)
    return [*words, "[SEP]"], int(sum(verdicts) > len(verdicts) / 2)


def rows(count, length, seed):
    """input_ids and attention_mask int64[count, length], labels int64[count]."""
    draw = random.Random(seed)
    ids, mask, labels = torch.zeros(count, length, dtype=torch.int64), torch.zeros(count, length, dtype=torch.int64), torch.zeros(count, dtype=torch.int64)
    for row in range(count):
        words, labels[row] = review(draw, length)
        ids[row, :len(words)] = torch.tensor([WORDS[word] for word in words])
        mask[row, :len(words)] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}
