"""The project examples/embedding, built against an installed Leat as its Makefile and its CMakeLists.txt do."""
import os
import re
import shutil
import subprocess

WAYS = {'cmake, shared': ['cmake'], 'cmake, static': ['cmake', '-DLEAT_IN_PROGRAM=ON'],
        'make, shared': ['make'], 'make, static': ['make', 'LEAT=leat_static']}


def lacks(way):
    """What this machine has not, or ''."""
    tools = [tool for tool in (WAYS[way][0], 'cc', 'c++', 'pkg-config') if not shutil.which(tool)]
    return f'there is no {tools[0]}' if tools else ''


class Built:
    """The build as it stands, which nobody installed."""

    def __init__(self, build, source):
        self.prefix, self.libdir, self.source = build, '', source

    def environment(self):
        return {**{name: value for name, value in os.environ.items() if not name.startswith(('LEAT_', 'XDG_'))},
                'PATH': f'{self.prefix}:{os.environ["PATH"]}', 'PKG_CONFIG_PATH': self.prefix,
                'LEAT_MODULE_PATH': self.prefix}  # of a program with libleat.a in it, which lies elsewhere


def problem(way, tree, place):
    """What is wrong when it is built and run below `place`, or ''."""
    tool, *options = WAYS[way]
    env = {**tree.environment(), 'XDG_CACHE_HOME': place}
    if way.endswith('shared'):  # where its library lies; a program that has it inside looks below the prefix
        env['LEAT_MODULE_PATH'] = ''
    folder = f'{place}/{type(tree).__name__} {way}'
    source = getattr(tree, 'source', f'{tree.prefix}/share/doc/leat')
    shutil.copytree(f'{source}/examples/embedding', folder)
    made = folder if tool == 'make' else f'{folder}/made'
    commands = [['make', '-s', *options]]
    if tool == 'cmake':
        commands = [['cmake', '-S', '.', '-B', 'made', *options], ['cmake', '--build', 'made']]
    for program in ('learn', 'learn_cc'):
        commands += [[f'{made}/{program}', 'line.leat', 'line.safetensors'], [f'{made}/predict', 'line.safetensors', '1', '2', '3']]
    commands.append(['readelf', '-d', f'{made}/learn'])
    said = []
    for command in commands:
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
        said.append(done.stdout)
        if done.returncode or re.search(r'\.(c|cc|h|hpp):\d.*warning', done.stderr):
            return f'{way}: {" ".join(command)}:\n{done.stdout}{done.stderr}'
    if said[-4] != '14.000\n' or said[-2] != '14.000\n':
        return f'{way}: predict says {said[-4:-1]}'
    shared = 'libleat.so' in said[-1] and os.path.exists(f'{tree.prefix}/{tree.libdir}/libleat.so')
    return '' if shared == way.endswith('shared') else f'{way}: learn needs\n{said[-1]}'
