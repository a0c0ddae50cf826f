"""An engine in memory over `fastlsh.stages` that cuts, shuffles and divides at random."""

import numpy as np

from fastlsh import stages


def cut(rng, n, pieces=4):
    """Cut n rows at random borders, some of them in the same place."""
    borders = np.sort(rng.integers(0, n + 1, pieces - 1))
    return zip([0, *borders], [*borders, n], strict=True)


def signed(rng, texts, params, signatures=False):
    """Sign in batches, and join them."""
    batches = [
        stages.sign_batch(texts[start:stop], params, signatures=signatures, threads=1)
        for start, stop in cut(rng, len(texts))
    ]
    keys, lengths, hashes, rows, _ = zip(*batches, strict=True)
    return stages.SignedBatch(
        np.concatenate(keys, axis=1),
        np.concatenate(lengths),
        np.concatenate(hashes),
        np.concatenate(rows) if signatures else None,
    )


def links_of(rng, keys, numbers):
    """Link one band from sorted batches; as int64 half of the time, as Spark would."""
    keys = keys if rng.integers(2) else keys.view(np.int64)
    order = np.lexsort((numbers, keys))
    keys, numbers, state, found = keys[order], numbers[order], None, []
    for start, stop in cut(rng, len(keys)):
        links, state = stages.link_sorted(keys[start:stop], numbers[start:stop], state)
        found.append(np.stack(links))
    return np.concatenate(found, axis=1)


def families_of(rng, links, documents=None):
    """Unite shuffled links on three workers and merge them in any order."""
    links = links[:, rng.permutation(links.shape[1])]
    workers = [stages.UnionFind(documents if rng.integers(2) else None) for _ in range(3)]
    for i, (start, stop) in enumerate(cut(rng, links.shape[1], 7)):
        later, earlier = links[:, start:stop]
        if rng.integers(2):
            later, earlier = earlier, later
        workers[i % 3].unite(later, earlier)
    first, *others = (workers[i] for i in rng.permutation(3))
    for other in others:
        first.merge(other)
    return first.families()


def parts_of(seed, texts, numbers, params, parts, known=False):
    """Yield (places in `texts`, what is known of them) of each part; those alone are in none."""
    rng = np.random.default_rng(seed)
    batch = signed(rng, texts, params, known)
    links = [links_of(rng, keys, numbers) for keys in batch.keys]
    dense = int(numbers[-1]) + 1 if len(numbers) and numbers[-1] < 2**20 else None
    number, family = families_of(rng, np.concatenate(links, axis=1), dense)
    place = np.searchsorted(numbers, number)
    part = rng.integers(0, parts, len(texts))[np.searchsorted(numbers, family)]
    for which in range(parts):
        chosen = place[part == which]
        if known:
            keys, lengths, hashes, rows, _ = batch
            yield (
                chosen,
                stages.SignedBatch(keys[:, chosen], lengths[chosen], hashes[chosen], rows[chosen]),
            )
        else:
            yield chosen, None
