"""001's Algorithms 1 to 5 written plainly, with dictionaries and lists: what the product's speed is compared with.

The loops are the paper's, but Algorithm 2 visits only the users that have a category: over all pairs of users for
every category, as printed, it would take n² steps for each of some ten thousand categories. Ties, quotas and the
filling up of short lists are decided as in the product, so that both find the same clusters.
"""

import random


def classification_matrices(logs, levels):
    """Algorithm 1. logs: {user: [(query, [path, ...]), ...]}; returns a {category: {user: count}} for every level."""
    matrices = []
    for level in range(1, levels + 1):
        matrix = {}
        for user, queries in logs.items():
            for _, paths in queries:
                for category in {tuple(p[:level]) for p in (path.split("/") for path in paths) if len(p) >= level}:
                    column = matrix.setdefault(category, {})
                    column[user] = column.get(user, 0) + 1
        matrices.append(matrix)
    return matrices


def incidence_matrix(matrices, users):
    """Algorithm 2 as a list of rows."""
    result = [[0] * users for _ in range(users)]
    for matrix in matrices:
        for column in matrix.values():
            for i, a in column.items():
                row = result[i]
                for j, b in column.items():
                    row[j] += min(a, b)
    return result


def cluster_of(matrix, names, k):
    """Algorithm 4 on a copy of the matrix; names: user of each row. Returns the cluster's users."""
    matrix, names = [row[:] for row in matrix], names[:]
    best, i, r = -1, 0, 0
    for a, row in enumerate(matrix):
        row[a] = -1
        top = max(row)
        if top > best:
            best, i, r = top, a, row.index(top)
    cluster = [names[i], names[r]]
    while len(cluster) < k:
        matrix[i] = [x + y for x, y in zip(matrix[i], matrix[r], strict=True)]
        for row in matrix:
            del row[r]
        del matrix[r], names[r]
        i -= r < i
        matrix[i][i] = -1
        r = matrix[i].index(max(matrix[i]))
        cluster.append(names[r])
    return cluster


def partition(matrix, k):
    """Algorithm 3; the last cluster takes the rest."""
    names, clusters = list(range(len(matrix))), []
    while len(names) >= 2 * k:
        cluster = cluster_of(matrix, names, k)
        clusters.append(cluster)
        gone = set(cluster)
        keep = [a for a, name in enumerate(names) if name not in gone]
        matrix = [[matrix[a][b] for b in keep] for a in keep]
        names = [names[a] for a in keep]
    return [*clusters, names]


def aggregate(cluster, logs, rng):
    """Algorithm 5."""
    totals = [len(logs[user]) for user in cluster]
    n = len(cluster)
    quota = [t // n for t in totals]
    missing = (2 * sum(totals) + n) // (2 * n) - sum(quota)
    for a in sorted(range(n), key=lambda a: -(totals[a] % n))[:missing]:
        quota[a] += 1
    result = []
    for a, user in enumerate(cluster):
        times = {}
        for query, _ in logs[user]:
            times[query] = times.get(query, 0) + 1
        ordered = sorted(times, key=lambda q: -times[q])
        left, spare = quota[a], []
        for query in ordered:
            expected = totals[a] / sum(totals) * times[query]
            copies = min(int(expected) + (rng.random() < expected - int(expected)), times[query], left)
            result += [query] * copies
            spare += [query] * (times[query] - copies)
            left -= copies
        result += spare[:left]
    rng.shuffle(result)
    return result


def microaggregate(logs, k, levels, seed=1):
    """The whole of it: clusters and the representative of each."""
    clusters = partition(incidence_matrix(classification_matrices(logs, levels), len(logs)), k)
    rng = random.Random(seed)
    return clusters, [aggregate(cluster, logs, rng) for cluster in clusters]
