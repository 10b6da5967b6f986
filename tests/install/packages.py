"""What debian/ says, and what is installed: the packages themselves are made by tests/soak/package."""
import os
import re
import sys
from fnmatch import fnmatchcase
from glob import glob

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from installed import BUILD, ROOT  # noqa: E402

NOT_ASKED = {'gcc', 'libc6-dev', 'python3-dev'}  # build-essential; the Python package is a wheel


def read(path):
    with open(f'{ROOT}/{path}', encoding='utf-8') as file:
        return file.read()


def patterns():
    """(package, pattern) of each line of debian/*.install; of debian/not-installed the package is ''."""
    for path in sorted(glob(f'{ROOT}/debian/*.install')) + [f'{ROOT}/debian/not-installed']:
        package = os.path.basename(path).removesuffix('.install') if path.endswith('.install') else ''
        for line in read(os.path.relpath(path, ROOT)).splitlines():
            yield package, line.split()[0]


def matches(name, pattern):
    """As dh_install does: a folder with all in it; `*` does not match `/`."""
    parts, wanted = name.split('/'), pattern.split('/')
    return len(parts) >= len(wanted) and all(fnmatchcase(part, want) for part, want in zip(parts, wanted))


def problems(tree):
    """One item for each thing that is looked at: what is wrong with it, or ''."""
    names = [os.path.relpath(os.path.join(folder, name), tree.prefix) for folder, _, names in os.walk(tree.prefix)
             for name in names]
    lines = list(patterns())
    for name in names:
        takers = [package for package, pattern in lines if matches(f'usr/{name}', pattern)]
        yield '' if len(takers) == 1 else f'{name}: in the packages {takers} of debian/*.install'
    for package, pattern in lines:
        module = re.search(r'leat/(leat-\w+)\.so$', pattern)
        needed = not module or os.path.exists(f'{BUILD}/{module[1]}.so')
        there = any(matches(f'usr/{name}', pattern) for name in names)
        yield '' if there or not needed else f'{package}: nothing installed is {pattern}'
    control = read('debian/control')
    wanted = re.search(r'Build-Depends:\n(.*?)\n\n', control, re.S)[1]
    for name in re.search(r'^build_packages=\((.*?)\)', read('dev'), re.M | re.S)[1].split():
        there = name in NOT_ASKED or re.search(rf'^ {re.escape(name)}(:any)?,$', wanted, re.M)
        yield '' if there else f'debian/control: Build-Depends lacks {name}'
    version = re.search(r'LEAT_VERSION "(.*?)"', read('include/leat/leat.h'))[1]
    yield '' if f'leat ({version})' in read('debian/changelog').splitlines()[0] else f'debian/changelog is not of {version}'
    soname = re.search(r"soversion = '(\d+)'", read('meson.build'))[1]
    symbols = read(f'debian/libleat{soname}.symbols') if os.path.exists(f'{ROOT}/debian/libleat{soname}.symbols') else ''
    for node in re.findall(r'^(LEAT_[\d.]+) \{', read('libleat.map'), re.M):
        yield '' if f'(symver){node} ' in symbols else f'debian/libleat{soname}.symbols does not say when {node} came'
