"""Where the time of a network's step goes, by kernel: of Leat's trace, of the steps behind the first ones."""
import collections
import json

STEPS = 7
SHOWN = 8  # kernels, by name


def kernels(trace, steps):
    """By kernel's name: how often a step launches it, and its milliseconds in one. A launch is as long as it was at least in
    one of the last `steps` steps, all of which launch the same."""
    by_step = collections.defaultdict(list)
    for event in json.loads(trace)['traceEvents']:
        if event.get('cat') == 'kernel':
            by_step[event['args']['step']].append((event['ts'], event['name'], event['dur'] / 1e3))
    last = [sorted(by_step[step]) for step in sorted(by_step)[-steps:]]
    launches = [[name for _, name, _ in step] for step in last]
    assert all(names == launches[-1] for names in launches), 'steps differ'
    sums = collections.defaultdict(lambda: [0, 0])
    for alike in zip(*last):
        its = sums[alike[0][1]]
        its[0] += 1
        its[1] += min(ms for *_, ms in alike)
    return dict(sums)


def report(session, run):
    """Prints what `shares` reads, of a session that traces."""
    for _ in range(STEPS + 2):
        run()
    print(json.dumps(kernels(session.trace(), STEPS)))


def shares(said):
    """The kernels that take longest, and what all others do: (name, launches, milliseconds, share of all)."""
    found = sorted(((name, count, ms) for name, (count, ms) in json.loads(said).items()), key=lambda kernel: -kernel[2])
    whole, rest = sum(ms for *_, ms in found), found[SHOWN:]
    others = [('others', sum(count for _, count, _ in rest), sum(ms for *_, ms in rest))] if rest else []
    return [(*kernel, kernel[2] / whole) for kernel in found[:SHOWN] + others]
