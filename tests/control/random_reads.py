"""Random programs of branches and loops in each other, and what reads them from outside or has an effect in them: values
of the inside are fetched, of the last iteration or of all, results of one node are fed, something is printed, a variable is
read and assigned, gradients are taken in bodies and in functions that the library's loops call, through loops around or
before them; and what a loop carries beside all that is NaN.

Python runs the same, with complex steps for the gradients with respect to what is fed and to the variable; the gradients
inside it computes by hand, beside the values. What is printed is compared line by line of each `print`: the order in which
different ones print is anybody's.
"""
import contextlib
import io

import numpy

from case import Case
from gradients import slopes
from random_regions import DEEPEST, FEEDS, STATE, TYPES, Program, added, drawn_feeds, ends, placed, spelled, strings, texts

FUNCTIONS = '''
fn of_map(p: f64[], c: f64[N], o: f64[N]) { return sum(grad(sum(c * c), o)) * p }
fn of_scan(a: f64[N], p: f64[], c: f64[N], o: f64[N]) { return a * 0.5 + grad(sum(c * c), o) * p, sum(a) }
fn of_fori(i: i64[], a: f64[N], c: f64[N], o: f64[N]) { return sin(a) + grad(sum(c * c), o) * cast(i, f64) }
fn of_then(c: f64[N], o: f64[N]) { return grad(sum(sin(c)), o) }
fn of_else(c: f64[N], o: f64[N]) { return grad(sum(c), o) * o }
'''

# The next value of a chain, and its slope, element by element.
STEPS = [('sin({c}) * 1.25', 'np.sin({c}) * 1.25', 'np.cos({c}) * 1.25 * {d}'),
         ('{c} * {c} * 0.5', '{c} * {c} * 0.5', '{c} * {d}'),
         ('tanh({c}) + {c} * 0.5', 'np.tanh({c}) + {c} * 0.5', '(1.5 - np.tanh({c}) ** 2) * {d}')]

# What is made of a chain's gradient, {p} being a float vector and {q} a bool: the kind, Leat's words, Python's.
USES = [('g', 'grad(sum({c} * {c}), {o})', '2 * {c} * {d}'),
        ('g', 'map(of_map, {p}, {c}, {o})', 'np.sum(2 * {c} * {d}) * {p}'),
        ('g', 'scan(of_scan, {o}, {p}, {c}, {o})', 'scanned({o}, {p}, 2 * {c} * {d})'),
        ('g', 'fori(cast(2, i64), of_fori, {o}, {c}, {o})', '(np.sin(np.sin({o})) + 2 * {c} * {d})'),
        ('g', 'cond({q}, of_then, of_else, {c}, {o})', '(np.cos({c}) * {d} if {q} else {d} * {o})'),
        ('f', 'sum(jvp({c}, {o}, {p}))', 'np.sum({d} * {p})')]


def scanned(a, xs, slope):
    for x in xs:
        a = a * 0.5 + slope * x
    return a


class Tapped(dict):
    """Variables: what is read of `level` has the tap in it, what is assigned is a number."""
    tap = 0

    def __getitem__(self, name):
        return super().__getitem__(name) + (self.tap if name == 'level' else 0)


class Reads(Program):
    turns = ('1', '1'), ('3', '3'), ('bit_and({}, 3)', '({} & 3)')

    def __init__(self, seed):
        super().__init__(seed)
        self.path = []      # of the open regions: (the name, whether it is a loop)
        self.inside = {}    # name of a value in regions → its path, and its kind

    def note(self, depth, name, kind):
        """What is fetched must have been computed."""
        if self.path and all(region for region, _ in self.path) and kind in 'ifvg':
            self.inside[name] = list(self.path), kind
            self.write(depth, '', [f"note('{name}', {name})"])

    def bind(self, depth, name, kind, value, scope):
        """A value of its own, where another name for one of outside would be that."""
        value = [f'({one} {"+ 0" if kind in "iv" else "* 1"})' for one in value]
        self.write(depth, f'{name} = {value[0]}', [f'{name} = {value[1]}'])
        self.note(depth, name, kind)
        scope[name] = kind

    def chain(self, scope, depth):
        """A loop that gradients go through, further down or in what is called."""
        o, c, d, t = (self.new(kind) for kind in 'gcdt')
        value = self.value('g', scope)
        turns = self.rng.choice([('2', '2'), ('bit_and({}, 3)', '({} & 3)')])
        if '{' in turns[0]:
            count = self.value('i', scope)
            turns = turns[0].format(count[0]), turns[1].format(count[1])
        first, second = self.rng.choice(STEPS), self.rng.choice(STEPS)
        self.write(depth, f'{o} = sin({value[0]})', [f'{o} = np.sin({value[1]})', f'{c}, {d} = {o}, np.ones(N)'])
        self.write(depth, f'{t}, {c} = while ({t}: i64[] = 0, {c} = {o}) {t} < {turns[0]} {{', [f'for {t} in range({turns[1]}):'])
        if self.rng.random() < 0.5:
            self.write(depth + 1, f'{c}_1 = if {t} % 2 == 0 {{ yield {first[0].format(c=c)} }} else {{ yield {second[0].format(c=c)} }}', [])
            self.write(depth + 1, f'next {t} + 1, {c}_1', [f'if {t} % 2 == 0:'])
            self.write(depth + 2, '', [f'{c}, {d} = {first[1].format(c=c)}, {first[2].format(c=c, d=d)}'])
            self.write(depth + 1, '', ['else:'])
            self.write(depth + 2, '', [f'{c}, {d} = {second[1].format(c=c)}, {second[2].format(c=c, d=d)}'])
        else:
            self.write(depth + 1, f'next {t} + 1, {first[0].format(c=c)}',
                       [f'{c}, {d} = {first[1].format(c=c)}, {first[2].format(c=c, d=d)}'])
        self.write(depth, '}', [])
        scope['#'] = [*scope.get('#', []), (o, c, d)]

    def use(self, scope, depth):
        o, c, d = self.rng.choice(scope['#'])
        kind, leat, python = self.rng.choice(USES)
        p, q, name = self.value('g', scope), self.value('p', scope), self.new(kind)
        target = f'{name}, _' if leat.startswith('scan') else name
        self.write(depth, f'{target} = {leat.format(o=o, c=c, p=p[0], q=q[0])}',
                   [f'{name} = {python.format(o=o, c=c, d=d, p=p[1], q=q[1])}'])
        if target == name:
            self.note(depth, name, kind)
        scope[name] = kind

    def block(self, scope, depth, nesting):
        for _ in range(self.rng.randrange(1, 4 if nesting < 2 else 3)):
            draw = self.rng.random()
            if nesting < DEEPEST and draw < 0.12:
                self.branch(scope, depth, nesting + 1)
            elif nesting < DEEPEST and draw < 0.26:
                self.loop(scope, depth, nesting + 1)
            elif draw < 0.3:
                self.growing(scope, depth)
            elif draw < 0.36:
                self.chain(scope, depth)
            elif draw < 0.5 and scope.get('#'):
                self.use(scope, depth)
            elif draw < 0.6:
                value, site = self.value('i', scope), self.new('print')
                self.write(depth, f'print("{site}", {value[0]})', [f"say('{site}', {value[1]})"])
            elif draw < 0.7:
                name = self.rng.choice(list(STATE))
                leat, python = self.value(STATE[name][0], scope)
                self.write(depth, f'{name} := {leat}', [f"state['{name}'] = ({python}).real"])
            else:
                kind = self.rng.choice('iivfffggg')
                self.bind(depth, self.new(kind), kind, self.value(kind, scope), scope)

    def kinds(self, least):
        return [self.rng.choice('iivffggp') for _ in range(self.rng.randrange(least, 4))]

    def in_region(self, region, loop, work):
        self.path.append((region, loop))
        work()
        self.path.pop()

    def side(self, names, scope, depth, nesting):
        self.in_region(names[0] if names else '', False, lambda: self.block(scope, depth, nesting))

    def loop(self, scope, depth, nesting):
        kinds = self.kinds(0)
        names, turn = [self.new(kind) for kind in kinds], self.new('t')
        begins = [self.value(kind, scope) for kind in kinds]
        inner = {**scope, **dict(zip(names, kinds)), turn: 'i'}
        condition = self.condition(turn, scope, inner)
        spoilt = self.rng.random() < 0.4  # nobody uses what is NaN here
        bad = self.new('bad')
        carried = [f'{turn}: i64[] = 0'] + [f'{name}: {TYPES[kind]} = {one}' if kind in 'if' else f'{name} = {one}'
                                            for name, kind, (one, _) in zip(names, kinds, begins)]
        targets, spoil = [turn] + names + ['_'] * spoilt, [f'sqrt({bad} - 99.0) * {bad}'] * spoilt
        carried += [f'{bad}: f64[] = {self.value("f", scope)[0]}'] * spoilt
        self.write(depth, f'{", ".join(targets)} = while ({", ".join(carried)}) {condition[0]} {{',
                   [f'{", ".join([turn] + names)} = {", ".join(["np.int64(0)"] + [one for _, one in begins])}',
                    f"forget('{turn}')", f'while {condition[1]}:'])
        self.write(depth + 1, '', [f"forget('{turn}')"])
        self.path.append((turn, True))
        for name, kind in zip(names, kinds):
            if self.rng.random() < 0.5:
                self.note(depth + 1, name, kind)
        self.block(inner, depth + 1, nesting)
        self.path.pop()
        values = [self.value(kind, inner) for kind in kinds]
        self.write(depth + 1, f'next {", ".join([turn + " + 1"] + [one for one, _ in values] + spoil)}',
                   [f'{", ".join([turn] + names)} = {", ".join([turn + " + 1"] + [one for _, one in values])}'])
        self.write(depth, '}', [])
        scope.update(zip(names, kinds))
        scope[turn] = 'i'


class Seen:
    """The values inside of regions, as they come: of the last iterations, and of all."""

    def __init__(self, inside):
        self.inside, self.last, self.all = inside, {}, {name: [] for name in inside}

    def note(self, name, value):
        self.last[name] = value
        self.all[name].append(value)

    def forget(self, loop):
        for name, (path, _) in self.inside.items():
            if (loop, True) in path:
                self.last.pop(name, None)


def rows_of(one, kind, n):
    """Stacked, with the shape that no rows have too."""
    shape = (n,) if kind in 'vg' else ()
    return numpy.real(one).astype('i8' if kind in 'iv' else 'f8').reshape(len(one), *shape)


def random_reads(seed):
    """A case of one run."""
    program = Reads(seed)
    rng, scope = program.rng, {**FEEDS, **{name: kind for name, (kind, _) in STATE.items()}}
    program.write(1, 'top, place = top_k(y, 1)', ['top, place = topmost(y)'])
    program.bind(1, program.new('f'), 'f', ('top[0] * 0.5', 'top[0] * 0.5'), scope)
    program.bind(1, program.new('i'), 'i', ('cast(place[0], i64) + 1', '(np.int64(place[0]) + 1)'), scope)
    program.chain(scope, 1)
    for _ in range(rng.randrange(1, 4)):
        program.block(scope, 1, 0)
        (program.branch if rng.random() < 0.4 else program.loop)(scope, 1, 1)
    program.use(scope, 1)
    made = [name for name in scope if name != '#' and name not in FEEDS and name not in STATE and name[0] != 't']
    floats = [name for name in made if scope[name] in 'fg'][-3:]
    results = [f'{name}: {TYPES[scope[name]]}' for name in made]
    loss = ' + '.join(f'sum(tanh({name}))' for name in floats)
    results += ['dx: f64[]', 'dy: f64[N]', 'dl: f64[]']
    text, python = texts(program, results, [*program.leat, f'  dx, dy, dl = grad({loss}, [x, y, level])'], made)
    feeds = drawn_feeds(rng)
    n = len(feeds['k'])
    if rng.random() < 0.3:
        feeds['main/top'] = numpy.array([rng.uniform(-2, 2)])
    if rng.random() < 0.3:
        feeds['main/place'] = numpy.array([rng.randrange(n)], 'i4')
    space = {'np': numpy, 'added': added, 'placed': placed, 'spelled': spelled, 'ends': ends, 'scanned': scanned}
    exec(python, space)

    def run(a, k, x, y, q, z, tap=0, say=lambda *_: None, fed=None):
        def topmost(y):
            """What is fed stands for the value; the gradient goes where the place says."""
            where = [numpy.argmax(y.real)]
            place = (fed or {}).get('main/place', where)
            return (fed or {}).get('main/top', y[where].real) + 1j * y[place].imag, place
        seen = Seen(program.inside)
        state = Tapped({name: numpy.int64(value) if kind == 'i' else value for name, (kind, value) in STATE.items()})
        state.tap = tap
        space.update(state=state, say=say, note=seen.note, forget=seen.forget, topmost=topmost)
        return space['main'](a[()], k, x[()], y, q, z), seen, tuple(dict.values(state))

    def wanted(seen):
        """The names to fetch, and what they are: they were computed."""
        found = {}
        for name, (path, kind) in sorted(program.inside.items()):
            whole = '/'.join(region for region, _ in path) + '/' + name
            if name in seen.last:
                found[whole] = numpy.real(seen.last[name])
            if [loop for _, loop in path] == [True]:
                found[whole + ':all'] = rows_of(seen.all[name], kind, n)
        return found

    def oracle(a, k, x, y, q, z, **fed):
        z = strings(one.decode() for one in z)
        values, seen, last = run(a, k, x, y, q, z, say=print, fed=fed)

        def total(x, y, level):
            return sum(numpy.sum(numpy.tanh(run(a, k, x, y, q, z, level, fed=fed)[0][made.index(name)])) for name in floats) + 0j
        found = wanted(seen)
        return (*map(numpy.real, values), *slopes(total, x, y, 0), *last, *(found[name] for name in chosen))

    given = {name: numpy.array(value) for name, value in feeds.items()}
    with numpy.errstate(all='ignore'), contextlib.redirect_stdout(io.StringIO()):
        _, seen, _ = run(given['a'], given['k'], given['x'], given['y'], feeds['q'], strings(feeds['z']),
                         fed={name: value for name, value in given.items() if '/' in name})
    could = wanted(seen)
    chosen = sorted(rng.sample(sorted(could), min(len(could), rng.randrange(5))))
    fetch = {name: TYPES[kind][:3] for name, (kind, _) in STATE.items()}
    for name in chosen:
        kind = program.inside[name.split('/')[-1].removesuffix(':all')][1]
        fetch[name] = 'i64' if kind in 'iv' else 'f64'
    return Case(f'random_reads_{seed}', FUNCTIONS + text, oracle, (feeds,), [], fetch, ('cpu', 'ref', 'c'), 1e5, prints_anyhow=True)
