"""Steps of tests/oracle/chains that are branches and loops, in each other, on their values: `if`, `while`, and the
library's cond, fori, scan and map, against lax.cond, lax.while_loop, lax.fori_loop, lax.scan and lax.map.

Of Leat's a step is statements, of JAX's one expression of lambdas. What decides, a comparison of sums, is `above` in
JAX's: while a program is drafted it refuses what lies so near that a rounding decides. JAX has no gradient backwards
through lax.while_loop: where gradients are computed `turns` is a scan of as many turns as are ever made.
"""
import numpy
from jax import lax

from chain_steps import NAMES, gap, is_wide, one_of, pick

DEPTH, MOST_ELEMENTS, MOST_TURNS = 3, 300, 24


class Statements(str):
    """A step's Leat text behind `targets =`, of which {} is the step's name; `define`: the functions that it needs."""
    targets, define = '{}', ''


class Near(Exception):
    """A rounding decides."""


# -- What the words mean to JAX, and as drafts ------------------------------------------------------------------------

def turns_of_scan(holds, body, init):
    def turn(carried, _):
        return lax.cond(holds(*carried), lambda c: tuple(body(*c)), lambda c: c, carried), None
    return lax.scan(turn, init, None, length=MOST_TURNS)[0]


def turns_of_while(holds, body, init):
    return lax.while_loop(lambda c: holds(*c), lambda c: tuple(body(*c)), init)


JAX = {'turns': turns_of_while, 'above': lambda x, y: x > y, 'int32': lambda x: x.astype('int32')}
SMOOTH = {**JAX, 'turns': turns_of_scan}


def draft_above(x, y):
    if abs(x - y) <= gap(numpy.asarray(x)):
        raise Near
    return bool(x > y)


def draft_turns(holds, body, init):
    count = 0
    while holds(*init):
        init, count = tuple(body(*init)), count + 1
        if count > MOST_TURNS:
            raise Near
    return init


def draft_scan(body, carried, rows):
    made = []
    for row in rows:
        carried, one = body(carried, row)
        made.append(one)
    return carried, numpy.stack(made)


def draft_fori(begin, end, body, carried):
    for i in range(begin, int(end)):
        carried = body(numpy.int32(i), carried)
    return carried


DRAFT = {**JAX, 'turns': draft_turns, 'above': draft_above}
DRAFT_LAX = {'cond': lambda p, f, g: f() if p else g(), 'scan': draft_scan, 'fori_loop': draft_fori,
             'map': lambda f, rows: numpy.stack([f(row) for row in rows])}


# -- Texts ------------------------------------------------------------------------------------------------------------

EXPRESSIONS = [('tanh({0})', 'np.tanh({0})'), ('sin({0}) - {1} / 4', 'np.sin({0}) - {1} / 4'),
               '{0} * 0.7 + {1} * 0.3', '{0} / (2 + {1} * {1})', '({0} - {1}) * 0.5',
               ('{0} * cos({1})', '{0} * np.cos({1})'), ('{0} - sum({1}) / 50', '{0} - np.sum({1}) / 50'),
               ('exp(0.1 * {0}) * {1} / 2', 'np.exp(0.1 * {0}) * {1} / 2'), '{0}', '{1}']


class Writer:
    """The text of one step; its functions do not see what is around them, its blocks do."""

    def __init__(self, rng, dtype):
        self.rng, self.dtype, self.functions, self.count = rng, dtype, [], 0
        self.own = f'_{rng.randrange(10**9)}'
        self.within = 0  # how many functions

    def name(self, kind):
        self.count += 1
        return f'{kind}{self.count}{self.own}'

    def expression(self, scope):
        row = self.rng.choice(EXPRESSIONS)
        names = self.rng.choice(scope[-3:]), self.rng.choice(scope)
        return [text.format(*names) for text in ((row, row) if isinstance(row, str) else row)]

    def indexed(self, pair, turn):
        """What depends on the number of the turn."""
        if self.rng.random() < 0.5:
            return pair
        return [f'({pair[0]}) * (1 + 0.1 * cast({turn}, {NAMES[self.dtype]}))',
                f'({pair[1]}) * (1 + 0.1 * {turn}.astype(np.{self.dtype}))']

    def block(self, scope, rank, depth):
        """(lines, value, value in JAX's words), a value of the shape of what is in scope."""
        pair = self.expression(scope)
        if depth == 0 or self.rng.random() < 0.4:
            return [], *pair
        inner = self.name('v')
        targets, lines, value = self.region(scope, rank, depth - 1)
        lines[0] = f'{targets.format(inner)} = {lines[0]}'
        return lines, f'({inner} + {pair[0]}) / 2', f'(({value}) + {pair[1]}) / 2'

    def region(self, scope, rank, depth):
        """(targets, the lines of the statement behind them, JAX's expression)."""
        kinds = [self.branch, self.counted, self.narrowing, self.called_branch, self.called_loop]
        if rank:
            kinds += [self.scanned, self.scanned, self.mapped]
        return self.rng.choice(kinds)(scope, rank, depth)

    def decision(self, scope):
        x, limit = self.rng.choice(scope), self.rng.choice([-3, 0, 0.5, 2])
        return f'sum({x}) > {limit}', f'above(np.sum({x}), {limit})'

    def count_of(self):
        data = [] if self.within else [('(sum(x2 * x2) % 5)', 'int32(np.sum(x2 * x2) % 5)')] * 3
        return self.rng.choice([('0', '0'), ('1', '1'), ('3', '3'), ('6', '6'), *data])

    def branch(self, scope, rank, depth):
        decision, (then, a, jax_a), (otherwise, b, jax_b) = (
            self.decision(scope), self.block(scope, rank, depth), self.block(scope, rank, depth))
        lines = [f'if {decision[0]} {{', *then, f'yield {a}', '} else {', *otherwise, f'yield {b}', '}']
        return '{}', lines, f'lax.cond({decision[1]}, lambda: {jax_a}, lambda: {jax_b})'

    def counted(self, scope, rank, depth):
        t, c, (count, jax_count) = self.name('t'), self.name('c'), self.count_of()
        first = self.rng.choice(scope)
        lines, *pair = self.block([*scope, c], rank, depth)
        value, jax_value = self.indexed(pair, t)
        return '_, {}', [f'while ({t} = 0, {c} = {first}) {t} < {count} {{', *lines, f'next {t} + 1, {value}', '}'], (
            f'turns(lambda {t}, {c}: {t} < {jax_count}, lambda {t}, {c}: ({t} + 1, {jax_value}), '
            f'(np.int32(0), {first}))[1]')

    def narrowing(self, scope, rank, depth):
        """As long as it is large: what it carries is halved at least."""
        c, first, limit = self.name('c'), self.rng.choice(scope), self.rng.choice([0.3, 1, 4])
        lines, value, jax_value = self.block([*scope, c], rank, depth)
        head, next_one = f'while ({c} = {first}) sum({c} * {c}) > {limit} {{', f'next 0.5 * {c} * cos({value})'
        return '{}', [head, *lines, next_one, '}'], (
            f'turns(lambda {c}: above(np.sum({c} * {c}), {limit}), '
            f'lambda {c}: (0.5 * {c} * np.cos({jax_value}),), ({first},))[0]')

    def body(self, scope, rank, depth):
        """A block that is a function's, which sees its parameters alone."""
        self.within += 1
        made = self.block(scope, rank, depth)
        self.within -= 1
        return made

    def function(self, parameters, captures, lines, value):
        name = self.name('f')
        taken = [*parameters, *(f'{one}: any' for one in captures)]
        self.functions.append('\n  '.join([f'fn {name}({", ".join(taken)}) {{', *lines, f'return {value}']) + '\n}\n')
        return name

    def taken(self, scope):
        """Names that a function is called with."""
        return sorted({self.rng.choice(scope) for _ in range(2)})

    def called_branch(self, scope, rank, depth):
        decision, names, made = self.decision(scope), self.taken(scope), []
        for _ in range(2):
            lines, value, jax_value = self.body(names, rank, depth)
            # A value that is only passed on would be one of other names.
            made.append((self.function([], names, lines, f'{value} + 0.0'), jax_value))
        (f, jax_f), (g, jax_g) = made
        return '{}', [f'cond({decision[0]}, {f}, {g}, {", ".join(names)})'], (
            f'lax.cond({decision[1]}, lambda: {jax_f} + 0.0, lambda: {jax_g} + 0.0)')

    def called_loop(self, scope, rank, depth):
        i, c, names, (count, jax_count) = self.name('i'), self.name('c'), self.taken(scope), self.count_of()
        lines, *pair = self.body([*names, c], rank, depth)
        value, jax_value = self.indexed(pair, i)
        known = 'x2' not in count
        if not known: # lax.fori_loop has a gradient of counts that are known
            jax_loop = (f'turns(lambda {i}, {c}: {i} < {jax_count}, lambda {i}, {c}: ({i} + 1, {jax_value}), '
                        f'(np.int32(0), {names[0]}))[1]')
        else:
            jax_loop = f'lax.fori_loop(0, {count}, lambda {i}, {c}: {jax_value}, {names[0]})'
        f = self.function([f'{i}: i32[]', f'{c}: any'], names, lines, value)
        return '{}', [f'fori({count}, {f}, {names[0]}, {", ".join(names)})'], jax_loop

    def scanned(self, scope, rank, depth):
        first, rows, c, row = self.rng.choice(scope), self.rng.choice(scope), self.name('c'), self.name('row')
        lines, after, jax_after = self.body([c, row], rank - 1, depth)
        value, jax_value = self.expression([c, row])
        f = self.function([f'{c}: any', f'{row}: any'], [], lines, f'{after}, {value}')
        part = self.rng.randrange(2)
        of_all = f' + 0 * {first}' * (part == 0)  # what is carried has the shape of a row
        return '{}', [f'scan({f}, {first}[0], {rows})[{part}]{of_all}'], (
            f'(lax.scan(lambda {c}, {row}: ({jax_after}, {jax_value}), {first}[0], {rows})[{part}]{of_all})')

    def mapped(self, scope, rank, depth):
        row, rows = self.name('row'), self.rng.choice(scope)
        lines, value, jax_value = self.body([row], rank - 1, depth)
        f = self.function([f'{row}: any'], [], lines, f'{value} + 0.0')
        return '{}', [f'map({f}, {rows})'], f'lax.map(lambda {row}: {jax_value} + 0.0, {rows})'


# -- The maker --------------------------------------------------------------------------------------------------------

def region(rng, values):
    suits = lambda x: is_wide(x) and 0 < x.size <= MOST_ELEMENTS and 1 <= x.ndim <= 3
    a = pick(rng, values, suits)
    if not a:
        return None
    like = lambda x: x.shape == values[a].shape and x.dtype == values[a].dtype
    scope = sorted({a, pick(rng, values, like)})
    writer = Writer(rng, values[a].dtype.name)
    targets, lines, value = writer.region(scope, values[a].ndim, rng.randrange(DEPTH))
    text = Statements('\n  '.join(lines))
    text.targets, text.define = targets, ''.join(writer.functions)
    return one_of(rng, [(text, value)])


MAKERS = [region] * 4
