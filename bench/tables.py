"""Results as lines for a terminal and as a page of Markdown."""
import datetime
import math
import os
import platform
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def kind_of(result):
    """Which table a result is in: kernels, networks, builds, profile or times."""
    for key, kind in (('gflops', 'kernels'), ('systems', 'networks'), ('binary_mb', 'builds'), ('launches', 'profile')):
        if key in result:
            return kind
    return 'times'


def case_of(result):
    if 'text' in result:
        return f'{result["text"]}, {result["nodes"]} nodes, {result["mb"]} MB'
    return result.get('case', '')


def percent(share):
    return f'{share:.0%}' if share >= 0.1 else f'{share:.1%}'


def met(result):
    if 'target' not in result or 'ratio' not in result:
        return ''
    return 'yes' if result['ratio'] >= result['target'] else 'no'


def system(result, name):
    return f'{result["systems"][name]["ms"]:.4g}' if name in result['systems'] else ''


# By table: the columns, each its head and how it is written; '' where a result has none.
COLUMNS = {
    'times': {
        'workload': lambda r: r['workload'], 'case': case_of, 'threads': lambda r: r['threads'],
        'Leat ms': lambda r: f'{r["leat_ms"]:.4g}', 'peer': lambda r: r['peer'], 'peer ms': lambda r: f'{r["peer_ms"]:.4g}',
        'ratio': lambda r: f'{r["ratio"]:.2f}', 'target': lambda r: r['target'], 'met': met},
    'kernels': {
        'workload': lambda r: r['workload'], 'kernel': lambda r: r['case'], 'kind': lambda r: r['kind'],
        'CPU': lambda r: r['cpu'], 'threads': lambda r: r['threads'], 'ms': lambda r: f'{r["leat_ms"]:.4g}',
        'GF/s': lambda r: f'{r["gflops"]:.1f}', 'share': lambda r: percent(r['share']),
        'at best': lambda r: percent(r['best_share']), 'of': lambda r: r['bound'],
        'others': lambda r: f'{r["foreign"]:.0%}'},
    'networks': {
        'workload': lambda r: r['workload'], 'case': lambda r: r['case'], 'threads': lambda r: r['threads'],
        'Leat ms': lambda r: f'{r["leat_ms"]:.4g}', 'GF/s': lambda r: r['gf_s'], 'of peak': lambda r: f'{r["of_peak"]:.0%}',
        'executable ms': lambda r: system(r, 'executable'),
        'best peer': lambda r: r['peer'], 'peer ms': lambda r: f'{r["peer_ms"]:.4g}', 'ratio': lambda r: f'{r["ratio"]:.2f}',
        'at best': lambda r: f'{r["best_ratio"]:.2f}', 'MB': lambda r: r['memory_mb'],
        'least peer MB': lambda r: r['peer_memory_mb'], 'others': lambda r: f'{r["foreign"]:.0%}',
        'note': lambda r: r['note']},
    'profile': {
        'workload': lambda r: r['workload'], 'case': lambda r: r['case'], 'kernel': lambda r: r['kernel'],
        'launches': lambda r: r['launches'], 'ms': lambda r: f'{r["leat_ms"]:.3g}', 'of all': lambda r: f'{r["part"]:.0%}'},
    'builds': {
        'workload': lambda r: r['workload'], 'case': lambda r: r['case'], 'empty cache ms': lambda r: f'{r["leat_ms"]:.0f}',
        'full cache ms': lambda r: f'{r["warm_ms"]:.0f}', 'MB': lambda r: r['memory_mb'], 'build ms': lambda r: f'{r["build_ms"]:.0f}',
        'result MB': lambda r: r['binary_mb']},
}
WIDE = {'case': 26, 'kernel': 58, 'workload': 13, 'kind': 22, 'note': 18}


def cells(result):
    """By column of its table."""
    def cell(write):
        try:
            return str(write(result))
        except KeyError:
            return ''
    return {head: cell(write) for head, write in COLUMNS[kind_of(result)].items()}


def padded(texts):
    def one(head, text):
        return text.ljust(WIDE[head]) if head in WIDE else text.rjust(max(len(head), 8))
    return '  '.join(one(head, text) for head, text in texts.items()).rstrip()


def lines(result, before):
    """For a terminal; with the columns' names where the result before was of another table, or there was none."""
    kind = kind_of(result)
    if not before or kind_of(before) != kind:
        yield padded({head: head for head in COLUMNS[kind]})
    yield padded(cells(result))


def means(results):
    """Of the kernels of each kind: its name, the geometric means of their shares, median and best, and how many they are."""
    kinds = {}
    for result in results:
        if kind_of(result) == 'kernels':
            kinds.setdefault(result['kind'], []).append(result)
    for kind, its in kinds.items():
        share, best = (math.exp(sum(math.log(r[key]) for r in its) / len(its)) for key in ('share', 'best_share'))
        yield kind, share, best, len(its)


def processor():
    with open('/proc/cpuinfo', encoding='utf-8') as info:
        names = [line.split(':', 1)[1].strip() for line in info if line.startswith('model name')]
    return names[0] if names else platform.machine()


def commit():
    """That of the tree, '' where there is none."""
    return subprocess.run(['git', '-C', ROOT, 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True).stdout.strip()


def table(heads, rows):
    yield '| ' + ' | '.join(heads) + ' |'
    yield '|' + '|'.join('---' if head in WIDE or head in ('peer', 'best peer', 'CPU', 'of', 'met') else '--:' for head in heads) + '|'
    for row in rows:
        yield '| ' + ' | '.join(row) + ' |'
    yield ''


ABOUT = {
    'times': ['ratio = peer ms / Leat ms; a target is the least ratio that is promised.'],
    'networks': [
        'Training: a step of `bench/training/*.leat` beside JAX and TensorFlow, with XLA and without, from the same variables',
        'on the same batch. Inference: ONNX files with drawn weights, one example, beside ONNX Runtime and OpenVINO. float32',
        'everywhere. ratio = the best peer\'s median / Leat\'s; at best: of the least times. A ratio counts where the results',
        'are equal (losses of steps 1 and 5; outputs), in the versions of `bench/peers.txt`, and others had less than 5 % of',
        'the processors; else the row says `noisy` or who differs. Times of one thread are the processor\'s, those of several',
        'and of executables the wall\'s. MB is the most that the process held, Python and its packages included. GF/s are of',
        'products and convolutions as they stand (Winograd\'s transforms need fewer, so that a share may pass 100 %); the peak is '
        'that of the threads\' processors in the same rounds.'],
    'profile': ['Where the time of a step goes, with one thread: kernels by the ops in them, those that take longest.'],
    'builds': [
        'From a file to a session\'s compiled step on all processors, with an empty and a full cache, and the most that its',
        'process held; `leat build`, from exec to exit, and how large what it makes is.'],
    'kernels': [
        'Shapes of `bench/kernels.txt`; share: of the FMA peak of the CPU level (`peak`), or of the bandwidth at which one',
        'processor reads (`read`), both measured in the same rounds.'],
}


def page(results, load):
    """The results as Markdown."""
    workloads = ' '.join(dict.fromkeys(result['workload'] for result in results))
    commits = dict.fromkeys(result['commit'] for result in results)
    text = ['# Performance', '',
            f'Written by `./dev bench --markdown docs/performance.md {workloads}`. Programs take turns, each alone for a moment',
            'on processors of its own; figures are medians of the rounds.', '',
            f'{datetime.date.today()}, commit {", ".join(commits)}, {processor()}, {os.cpu_count()} processors, '
            f'load {load[0]:.1f} before and {os.getloadavg()[0]:.1f} after.', '']
    for kind, heads in COLUMNS.items():
        mine = [result for result in results if kind_of(result) == kind]
        if mine:
            text += [*ABOUT[kind], '']
            if kind == 'kernels':
                text += table(['kind', 'kernels', 'geometric mean of shares', 'at best'],
                              [[kind, str(count), percent(share), percent(best)] for kind, share, best, count in means(mine)])
            text += table(heads, [[('**no**' if head == 'met' and cell == 'no' else cell) for head, cell in cells(r).items()]
                                  for r in mine])
    return '\n'.join(text)
