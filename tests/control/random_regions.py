"""Random programs of branches and loops in each other, in Leat's words and in Python's.

A program has whole numbers, which wrap, floats, strings, vectors of these, bools, and variables. Whole numbers must come out
exactly. Conditions that compare floats have a distance that no rounding crosses, but by a rare chance. With `smooth` the
program asks for gradients too; Python then runs it with complex steps. What is assigned to a variable has no gradient.
"""
import random

import numpy

from case import Case
from gradients import slopes

TYPES = {'i': 'i64[]', 'v': 'i64[N]', 'f': 'f64[]', 'g': 'f64[N]', 's': 'str[]', 'w': 'str[N]', 'p': 'bool[]'}
FEEDS = {'a': 'i', 'k': 'v', 'x': 'f', 'y': 'g', 'q': 's', 'z': 'w'}
STATE = {'count': ('i', 3), 'level': ('f', 0.5)}
DEEPEST, SIZES = 3, (1, 2, 5)
WORDS = ('', 'a', 'Bc', 'twelve bytes')

# Ways to make a value of a kind: Leat's text, Python's, and the kinds of what stands in it.
RECIPES = {
    'i': [('({} + {})', '({} + {})', 'ii'), ('({} - {})', '({} - {})', 'ii'), ('({} * {})', '({} * {})', 'ii'),
          ('maximum({}, {})', 'np.maximum({}, {})', 'ii'), ('({} % 7)', 'np.mod({}, 7)', 'i'),
          ('sum({})', 'np.sum({})', 'v'), ('{}[bit_and({}, 7) % N]', '{}[({} & 7) % N]', 'vi'),
          ('where({}, {}, {})', 'np.where({}, {}, {})[()]', 'pii'), ('bit_xor({}, {})', '({} ^ {})', 'ii'),
          ('str_length({})', 'np.int64(len({}))', 's'), ('sum({0}[{0} > {1}])', 'np.sum({0}[{0} > {1}])', 'vi')],
    'v': [('({} + {})', '({} + {})', 'vv'), ('({} * {})', '({} * {})', 'vi'), ('roll({}, 1)', 'np.roll({}, 1)', 'v'),
          ('where({} > {}, {}, {})', 'np.where({} > {}, {}, {})', 'vivi'), ('cumsum({})', 'np.cumsum({})', 'v'),
          ('scatter_add({0}, bit_and({1}, 7) % N, {2}, axis=0)', 'added({0}, ({1} & 7) % N, {2})', 'vii')],
    'f': [('({} + {})', '({} + {})', 'ff'), ('({} * tanh({}))', '({} * np.tanh({}))', 'ff'), ('sin({})', 'np.sin({})', 'f'),
          ('(sum({}) * 0.25)', '(np.sum({}) * 0.25)', 'g'), ('where({}, {}, {})', 'np.where({}, {}, {})[()]', 'pff'),
          ('(0.5 * {} - {})', '(0.5 * {} - {})', 'ff'), ('{}[bit_and({}, 7) % N]', '{}[({} & 7) % N]', 'gi'),
          ('(cast({} % 5, f64) * 0.25)', '(np.mod({}, 5) * 0.25)', 'i'),
          ('(sum({}[{} > {}]) * 0.5)', '(np.sum({}[{} > {}]) * 0.5)', 'gvi')],
    'g': [('({} + {})', '({} + {})', 'gg'), ('({} * {})', '({} * {})', 'gf'), ('tanh({})', 'np.tanh({})', 'g'),
          ('roll({}, 1)', 'np.roll({}, 1)', 'g'), ('sin({} - {})', 'np.sin({} - {})', 'gf'),
          ('where({} > 0, {}, {})', 'np.where({} > 0, {}, {})', 'vgg'),
          ('scatter_set({0}, bit_and({1}, 7) % N, {2}, axis=0)', 'placed({0}, ({1} & 7) % N, {2})', 'gif')],
    's': [('substring({} + {}, start=-9, size=9)', '({} + {})[-9:]', 'ss'), ('number_to_str({})', 'str({})', 'i'),
          ('str_upper({})', '{}.upper()', 's'), ('{}[bit_and({}, 7) % N]', '{}[({} & 7) % N]', 'wi'),
          ('where({}, {}, {})', '({1} if {0} else {2})', 'pss')],
    'w': [('substring({} + {}, start=-9, size=9)', 'ends({} + {})', 'ws'), ('roll({}, 1)', 'np.roll({}, 1)', 'w'),
          ('number_to_str({})', 'spelled({})', 'v'), ('where({} > {}, {}, {})', 'np.where({} > {}, {}, {})', 'viww'),
          ('scatter_set({0}, bit_and({1}, 7) % N, {2}, axis=0)', 'placed({0}, ({1} & 7) % N, {2})', 'wis')],
    'p': [('({} > {})', '({} > {})', 'ii'), ('({} % 2 == 0)', '(np.mod({}, 2) == 0)', 'i'),
          ('({} > 0.125)', '({}.real > 0.125)', 'f'), ('(not {})', '(not {})', 'p'), ('({} and {})', '({} and {})', 'pp'),
          ('(sum({}) > {})', '(np.sum({}) > {})', 'vi'), ('({} < {})', '({} < {})', 'ss')],
}
LITERALS = {'i': ('cast({}, i64)', 'np.int64({})'), 'f': ('cast({}.5, f64)', '({} + 0.5)')}


def added(x, place, value):
    x = x.copy()
    x[place] += value
    return x


def placed(x, place, value):
    x = x.astype(numpy.result_type(x, value) if x.dtype != object else object)
    x[place] = value
    return x


def strings(values):
    return numpy.array(list(values), object)


def spelled(x):
    return strings(map(str, x))


def ends(x):
    return strings(one[-9:] for one in x)


class Program:
    recipes, most = RECIPES, 4  # … and how many of them are tried where expressions are deep
    turns = ('0', '0'), ('1', '1'), ('3', '3'), ('bit_and({}, 3)', '({} & 3)')

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.names, self.leat, self.python = 0, [], []

    def new(self, kind):
        self.names += 1
        return f'{kind}_{self.names}'

    def write(self, depth, leat, python):
        if leat:
            self.leat.append('  ' * depth + leat)
        for line in python:
            self.python.append('    ' * depth + line)

    def value(self, kind, scope, depth=0):
        """Both texts of an expression."""
        known = [name for name, one in scope.items() if one == kind]
        draw = self.rng.random()
        if kind in LITERALS and draw < 0.1:
            number = self.rng.randrange(4)
            return tuple(text.format(number) for text in LITERALS[kind])
        if known and (depth > 2 or draw < 0.35):
            name = self.rng.choice(known[-4:])
            return name, f"state['{name}']" if name in STATE else name
        leat, python, kinds = self.rng.choice(self.recipes[kind][:self.most] if depth > 3 else self.recipes[kind])
        parts = [self.value(one, scope, depth + 1) for one in kinds]
        return leat.format(*(part[0] for part in parts)), python.format(*(part[1] for part in parts))

    def block(self, scope, depth, nesting):
        for _ in range(self.rng.randrange(1, 4 if nesting < 2 else 3)):
            draw = self.rng.random()
            if nesting < DEEPEST and draw < 0.15:
                self.branch(scope, depth, nesting + 1)
            elif nesting < DEEPEST and draw < 0.3:
                self.loop(scope, depth, nesting + 1)
            elif draw < 0.35:
                self.growing(scope, depth)
            elif draw < 0.48:
                name = self.rng.choice(list(STATE))
                leat, python = self.value(STATE[name][0], scope)
                leat = f'stop_gradient({leat})' if STATE[name][0] == 'f' else leat
                self.write(depth, f'{name} := {leat}', [f"state['{name}'] = ({python}).real"])
            else:
                kind = self.rng.choice('iivffggsw')
                name, (leat, python) = self.new(kind), self.value(kind, scope)
                self.write(depth, f'{name} = {leat}', [f'{name} = {python}'])
                scope[name] = kind

    def kinds(self, least):
        return [self.rng.choice('iivffggpsw') for _ in range(self.rng.randrange(least, 4))]

    def given(self, kinds, carried, scope):
        """What a body gives at its end; `carried`: the names of that in a loop."""
        return [self.value(kind, scope) for kind in kinds]

    def side(self, names, scope, depth, nesting):
        """What one side of a branch does, which gives the names."""
        self.block(scope, depth, nesting)

    def branch(self, scope, depth, nesting):
        kinds = self.kinds(0)
        names = [self.new(kind) for kind in kinds]
        leat, python = self.value('p', scope)
        targets = ', '.join(names) + ' = ' if names else ''
        self.write(depth, f'{targets}if {leat} {{', [f'if {python}:'])
        for last in (False, True):
            inner = dict(scope)
            self.side(names, inner, depth + 1, nesting)
            values = self.given(kinds, [], inner)
            self.write(depth + 1, 'yield ' + ', '.join(one for one, _ in values) if names else '',
                       [f'{", ".join(names)} = {", ".join(one for _, one in values)}'] if names else ['pass'])
            if last or not names and self.rng.random() < 0.5:
                break
            self.write(depth, '} else {', ['else:'])
        self.write(depth, '}', [])
        scope.update(zip(names, kinds))

    def condition(self, turn, scope, inner):
        """Of a loop that counts its turns: Leat's words and Python's."""
        most = self.rng.choice(self.turns)
        if '{' in most[0]:
            counted = self.value('i', scope)
            most = most[0].format(counted[0]), most[1].format(counted[1])
        condition = f'{turn} < {most[0]}', f'{turn} < {most[1]}'
        if self.rng.random() < 0.3:
            more = self.value('p', inner)
            condition = f'{condition[0]} and {more[0]}', f'{condition[1]} and {more[1]}'
        return condition

    def loop(self, scope, depth, nesting):
        kinds = self.kinds(0)
        names, turn = [self.new(kind) for kind in kinds], self.new('t')
        begins = [self.value(kind, scope) for kind in kinds]
        inner = {**scope, **dict(zip(names, kinds)), turn: 'i'}
        condition = self.condition(turn, scope, inner)
        carried = ', '.join([f'{turn}: i64[] = 0'] + [f'{name}: {TYPES[kind]} = {one}' if kind in 'ifs' else f'{name} = {one}'
                                                      for name, kind, (one, _) in zip(names, kinds, begins)])
        self.write(depth, f'{", ".join([turn] + names)} = while ({carried}) {condition[0]} {{',
                   [f'{", ".join([turn] + names)} = {", ".join(["np.int64(0)"] + [one for _, one in begins])}',
                    f'while {condition[1]}:'])
        self.block(inner, depth + 1, nesting)
        values = self.given(kinds, names, inner)
        self.write(depth + 1, f'next {", ".join([turn + " + 1"] + [one for one, _ in values])}',
                   [f'{", ".join([turn] + names)} = {", ".join([turn + " + 1"] + [one for _, one in values])}'])
        self.write(depth, '}', [])
        scope.update(zip(names, kinds))
        scope[turn] = 'i'

    def growing(self, scope, depth):
        """A loop whose vector gets longer or shorter in each iteration, and a number that is made of it."""
        name, turn, total = self.new('h'), self.new('t'), self.new('i')
        first, most = self.value('v', scope), self.rng.randrange(4)
        more, least = self.value('v', {**scope, turn: 'i'}), self.value('i', {**scope, turn: 'i'})
        leat, python = self.rng.choice([('concat([{0}, {1}], axis=0)', 'np.concatenate([{0}, {1}])'),
                                        ('{0}[{0} > {2}]', '{0}[{0} > {2}]'),
                                        ('concat([{0}[{0} > {2}], {1}], axis=0)', 'np.concatenate([{0}[{0} > {2}], {1}])')])
        begin = f'{turn} = np.int64(0)', f'{name} = {first[1]}', f'while {turn} < {most}:'
        self.write(depth, f'_, {name} = while ({turn}: i64[] = 0, {name}: i64[?] = {first[0]}) {turn} < {most} {{', begin)
        self.write(depth + 1, f'next {turn} + 1, {leat.format(name, more[0], least[0])}',
                   [f'{turn}, {name} = {turn} + 1, {python.format(name, more[1], least[1])}'])
        self.write(depth, '}', [])
        self.write(depth, f'{total} = sum({name}) * 3 + shape({name})[0]', [f'{total} = np.sum({name}) * 3 + len({name})'])
        scope[total] = 'i'


def texts(program, results, lines, made):
    """The program in Leat, which gives the results, and in Python, which gives what is made."""
    takes = ', '.join(f'{name}: {TYPES[kind]}' for name, kind in FEEDS.items())
    text = ''.join(f'var {name}: {TYPES[kind]} = {value}\n' for name, (kind, value) in STATE.items())
    text += f'entry main({takes}) -> ({", ".join(results)}) {{\n' + '\n'.join(lines) + '\n}\n'
    python = 'def main(a, k, x, y, q, z):\n    N = len(k)\n' + '\n'.join(program.python)
    return text, f'{python}\n    return ({"".join(name + ", " for name in made)})\n'


def drawn_feeds(rng):
    n = rng.choice(SIZES)
    return {'a': rng.randrange(-9, 10), 'k': [rng.randrange(-9, 10) for _ in range(n)], 'x': rng.uniform(-2, 2),
            'y': [rng.uniform(-2, 2) for _ in range(n)], 'q': rng.choice(WORDS), 'z': [rng.choice(WORDS) for _ in range(n)]}


def random_case(seed, smooth):
    """A case of one run; its oracle has run it once already."""
    program = Program(seed)
    rng, scope = program.rng, {**FEEDS, **{name: kind for name, (kind, _) in STATE.items()}}
    for _ in range(rng.randrange(1, 4)):
        program.block(scope, 1, 0)
        (program.branch if rng.random() < 0.5 else program.loop)(scope, 1, 1)
    made = [name for name in scope if name not in FEEDS and name not in STATE and name[0] != 't']
    floats = [name for name in made if scope[name] in 'fg'][-3:]
    results = [f'{name}: {TYPES[scope[name]]}' for name in made]
    lines = list(program.leat)
    if smooth and floats:
        results += ['dx: f64[]', 'dy: f64[N]']
        loss = ' + '.join(f'sum(tanh({name}))' for name in floats)
        lines += [f'  slopes = grad({loss}, [x, y])', '  dx = slopes[0]', '  dy = slopes[1]']
    text, python = texts(program, results, lines, made)
    space = {'np': numpy, 'added': added, 'placed': placed, 'spelled': spelled, 'ends': ends}
    exec(python, space)

    def oracle(a, k, x, y, q, z):
        z = strings(one.decode() for one in z)

        def run(x, y):
            space['state'] = {name: numpy.int64(value) if kind == 'i' else value for name, (kind, value) in STATE.items()}
            return space['main'](a[()], k, x[()], y, q, z)
        values = run(x, y)
        ends = tuple(space['state'].values())
        if smooth and floats:
            loss = lambda x, y: sum(numpy.sum(numpy.tanh(run(x, y)[made.index(name)])) for name in floats) + 0j
            return *values, *slopes(loss, x, y), *ends
        return *values, *ends

    return Case(f'random_{seed}', text, oracle, (drawn_feeds(rng),), [], {name: TYPES[kind][:3] for name, (kind, _) in STATE.items()},
                ('cpu', 'ref', 'c'), 1e5)
