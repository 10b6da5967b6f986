"""Random programs of branches and loops in each other that carry arrays too large to be copied in each turn, in Leat's
words and in Python's: elements are changed, and read before and behind that, arrays change their places, also all in a
circle, are passed on by branches and changed by loops in loops, printed, and fetched as they are inside. They are of two
sizes, and what prints makes tasks of what it stands in, so that pools of several arrays lie beside each other.

Whatever is changed in place must look as if it had been copied.
"""
import numpy

from case import Case
from random_regions import Program, added, placed

EXTENTS = {'v': 4100, 'w': 6200}  # of f32: above what is copied without more ado (codegen/in_place.c)
TYPES = {'i': 'i64[]', 'p': 'bool[]', **{kind: f'f32[{extent}]' for kind, extent in EXTENTS.items()}}
FEEDS, ARRAYS = {'n': 'i', 'a': 'i'}, {'x': 'v', 'y': 'v', 'z': 'w'}
PRINTS = 3
AT = 'bit_and({}, 1023)', '({} & 1023)'


def changed(op, python):
    return (f'scatter_{op}({{0}}, bit_and({{1}}, 1023), cast(bit_and({{2}}, 31), f32))',
            f'{python}({{0}}, {{1}} & 1023, np.float32({{2}} & 31))', 'vii')


RECIPES = {
    'i': [('({} + {})', '({} + {})', 'ii'), (f'cast({{}}[{AT[0]}], i64)', f'np.int64({{}}[{AT[1]}])', 'vi'),
          (f'cast({{0}}[{AT[0].format("{1}")}] * 3 + {{2}}[{AT[0].format("{1}")}], i64)',
           f'np.int64({{0}}[{AT[1].format("{1}")}] * 3 + {{2}}[{AT[1].format("{1}")}])', 'viv'),
          ('cast(sum({}), i64)', 'np.int64(np.sum({}))', 'v'), ('cast(sum({} * {}), i64)', 'np.int64(np.sum({} * {}))', 'vv')],
    'v': [changed('set', 'placed'), changed('add', 'added'), ('roll({}, 1)', 'np.roll({}, 1)', 'v'),
          ('(31.0 - {})', '(np.float32(31) - {})', 'v'), ('minimum({}, {})', 'np.minimum({}, {})', 'vv')],
    'p': [('({} % 2 == 0)', '({} % 2 == 0)', 'i'), ('({} > {})', '({} > {})', 'ii'),
          (f'({{}}[{AT[0]}] > 1.5)', f'({{}}[{AT[1]}] > 1.5)', 'vi')],
}
RECIPES['w'] = [(leat, python, kinds.replace('v', 'w')) for leat, python, kinds in RECIPES['v']]
RECIPES['i'] += [(leat, python, kinds.replace('v', 'w')) for leat, python, kinds in RECIPES['i'] if kinds == 'vi']


class Places(Program):
    recipes, most, prints = RECIPES, 2, 0
    turns = ('2', '2'), ('3', '3'), ('bit_and({}, 3)', '({} & 3)')

    def value(self, kind, scope, depth=0):
        """An array is mostly one of those that there are, so that several values are of one, and arrays change places."""
        known = [name for name, one in scope.items() if one == kind]
        if depth and known and self.rng.random() < 0.7 or kind in EXTENTS and (depth or self.rng.random() < 0.3):
            return (self.rng.choice(known[-3:]),) * 2
        if kind == 'i' and not depth:  # all that there is shows in it, whenever that is read
            numbers = [name for name, one in scope.items() if one == 'i'][-3:]
            parts = [(name, name) for name in numbers] + [super(Places, self).value('i', scope, 1) for _ in range(2)]
            return tuple(' + '.join(texts) for texts in zip(*parts))
        return super().value(kind, scope, depth)

    def kinds(self, least):
        return ['v', *(self.rng.choice('vvwi') for _ in range(self.rng.randrange(4)))]

    def given(self, kinds, carried, scope):
        """Half of them: arrays in another order, most as they are, some changed or made of one."""
        known = {one: [name for name in carried or scope if scope[name] == one][-kinds.count(one):] for one in EXTENTS}
        if any(len(names) < kinds.count(one) for one, names in known.items()) or self.rng.random() < 0.5:
            return super().given(kinds, carried, scope)
        for names in known.values():
            self.rng.shuffle(names)
        return [self.moved(known[kind].pop(), scope) if kind in EXTENTS else self.value(kind, scope) for kind in kinds]

    def moved(self, name, scope):
        draw = self.rng.random()
        if draw < 0.7:
            return name, name
        if draw < 0.85:
            at, value = self.value('i', scope, 1), self.value('i', scope, 1)
            leat, python, _ = changed('set', 'placed')
            return leat.format(name, at[0], value[0]), python.format(name, at[1], value[1])
        return self.rng.choice([(f'roll({name}, 1)', f'np.roll({name}, 1)'), (f'(31.0 - {name})', f'(np.float32(31) - {name})')])

    def growing(self, scope, depth):
        pass

    def block(self, scope, depth, nesting):
        for _ in range(self.rng.randrange(1, 5 - nesting)):
            draw = self.rng.random()
            if nesting < 3 and draw < 0.25:
                self.branch(scope, depth, nesting + 1)
            elif nesting < 3 and draw < 0.4:
                self.loop(scope, depth, nesting + 1)
            elif draw < 0.5 and self.prints < PRINTS:
                self.prints += 1
                leat, python = self.value('i', scope)
                self.write(depth, f'print("p{self.prints}", {leat})', [f"print('p{self.prints}', {python})"])
            else:
                kind = self.rng.choice('ivvw')
                name, (leat, python) = self.new(kind), self.value(kind, scope)
                self.write(depth, f'{name} = {leat}', [f'{name} = {python}'])
                scope[name] = kind


def random_places(seed):
    """A case of one run."""
    program = Places(seed)
    rng, scope = program.rng, {**FEEDS, **ARRAYS}
    for name, more in ('x', 'a'), ('y', 'n'), ('z', 'a'):
        extent = EXTENTS[ARRAYS[name]]
        program.write(1, f'{name} = cast(bit_and(iota([{extent}], dtype=i64) * {more}, 3), f32)',
                      [f'{name} = (np.arange({extent}) * {more} & 3).astype(np.float32)'])
    program.loop(scope, 1, 0)
    program.block(scope, 1, 1)
    made = [name for name in scope if name not in FEEDS and name not in ARRAYS]
    takes = ', '.join(f'{name}: {TYPES[kind]}' for name, kind in FEEDS.items())
    results = ', '.join(f'{name}: {TYPES.get(scope[name], "i64[]")}' for name in made)
    text = f'entry main({takes}) -> ({results}) {{\n' + '\n'.join(program.leat) + '\n}\n'
    python = 'def main(n, a):\n' + '\n'.join(program.python) + f'\n    return {"".join(name + ", " for name in made)}\n'
    space = {'np': numpy, 'added': added, 'placed': placed}
    exec(python, space)
    feeds = {'n': rng.randrange(9), 'a': rng.randrange(1024)}
    return Case(f'random_places_{seed}', text, lambda n, a: space['main'](n[()], a[()]), (feeds,), [], {},
                ('cpu', 'ref', 'c'), 8, prints_anyhow=program.prints > 1)
