"""Strings that loops make: so many that those which are not carried are freed on the way."""
from case import case

TEXT = 'the quick brown fox jumps over the lazy '


def decoded(array):
    return [one.decode() for one in array]


# 800 MB of them in all.
@case('''
entry main(x: str[], n: i64[]) -> (s: str[]) {
  long = str_replace(str_replace("..........", ".", "......"), ".", x)
  _, s = while (t: i64[] = 0, s = "") t < n { next t + 1, substring(s + long + number_to_str(t), start=-2400, size=2400) }
}''', {'x': TEXT, 'n': 0}, {'x': TEXT, 'n': 80_000}, memory=400)
def only_the_last_string_stays(x, n):
    return f'{x * 60}{n - 1}'[-2400:] if n else ''


@case('''
entry main(x: str[], n: i64[]) -> (rows: str[7], last: str[]) {
  long = str_replace(str_replace("..........", ".", "......"), ".", x)
  _, rows, last = while (t: i64[] = 0, rows = broadcast(long, shape=[7]), last = "none") t < n {
    next t + 1, scatter_set(rows, t % 7, long + number_to_str(t), axis=0), rows[t % 7]
  }
}''', {'x': TEXT, 'n': 1}, {'x': TEXT, 'n': 1000})
def one_row_of_a_table_is_new(x, n):
    rows, last = [x * 60] * 7, 'none'
    for t in range(n):
        last = rows[t % 7]
        rows[t % 7] = f'{x * 60}{t}'
    return rows, last


@case('''
entry main(x: str[N], n: i64[]) -> (a: str[N], b: str[N]) {
  _, a, b = while (t: i64[] = 0, a = x, b = str_upper(x)) t < n { next t + 1, b, substring(a + number_to_str(t) + x, start=-1000, size=1000) }
}''', {'x': ['a', TEXT, ''], 'n': 4}, {'x': [TEXT, 'b', 'cd', TEXT], 'n': 500})
def two_tables_change_places(x, n):
    x = decoded(x)
    a, b = x, [one.upper() for one in x]
    for t in range(n):
        a, b = b, [f'{old}{t}{one}'[-1000:] for old, one in zip(a, x)]
    return a, b


@case('''
entry main(x: str[], n: i64[], m: i64[]) -> (s: str[], size: i64[]) {
  _, s, size = while (t: i64[] = 0, s = x, size: i64[] = 0) t < n {
    head = substring(s, start=0, size=20) + "."
    _, longer = while (u: i64[] = 0, v = s) u < m and str_length(str_lower(v)) < 900 {
      w = if u % 3 == 1 { yield str_upper(v) } else { yield v }
      next u + 1, head + w + x
    }
    next t + 1, substring(longer, start=1, size=300) + head, size + str_length(longer)
  }
}''', {'x': TEXT, 'n': 3, 'm': 0}, {'x': TEXT, 'n': 200, 'm': 9})
def strings_of_loops_in_loops(x, n, m):
    s, size = x, 0
    for t in range(n):
        head, v, u = s[:20] + '.', s, 0
        while u < m and len(v) < 900:
            v, u = head + (v.upper() if u % 3 == 1 else v) + x, u + 1
        s, size = v[1:301] + head, size + len(v)
    return s, size


@case('''
entry main(x: str[], n: i64[]) -> (s: str[]) {
  long = str_replace(str_replace("..........", ".", "......"), ".", x)
  t, s = while (t: i64[] = 0, s = x) t < n {
    z = long + number_to_str(t)
    next t + 1, str_upper(z)
  }
}''', {'x': TEXT, 'n': 0}, {'x': TEXT, 'n': 300}, fetch={'t/z:all': 'str'})
def all_strings_of_a_loop(x, n):
    rows = [f'{x * 60}{t}' for t in range(n)]
    return rows[-1].upper() if rows else x, rows


@case('''
entry main(x: str[], n: i64[]) -> (s: str[]) {
  _, words, s = while (t: i64[] = 0, words = split_strings(x, " ", size=8), s = "") t < n {
    next t + 1, roll(split_strings(str_join(words, " "), " ", size=8), 1), substring(s + x + words[0], start=-500, size=500)
  }
}''', {'x': 'a b c d e f g h', 'n': 1}, {'x': 'these are words that are parts of one', 'n': 2000})
def parts_of_one_string_are_carried(x, n):
    words, s = x.split(' '), ''
    for _ in range(n):
        words, s = words[-1:] + words[:-1], (s + x + words[0])[-500:]
    return s


@case('''
entry main(x: str[], n: i64[]) -> (s: str[]) {
  _, s = while (t: i64[] = 0, s = x) t < n {
    y = s + x + x
    if t % 100 == 99 { print(substring(y, start=-5, size=5)) }
    next t + 1, substring(y + number_to_str(t), start=-1500, size=1500)
  }
}''', {'x': TEXT, 'n': 3}, {'x': TEXT, 'n': 400})
def strings_are_made_where_something_is_printed(x, n):
    s = x
    for t in range(n):
        y = s + x + x
        if t % 100 == 99:
            print(f'"{y[-5:]}"')
        s = f'{y}{t}'[-1500:]
    return s


@case('''
entry main(x: str[], n: i64[]) -> (last: str[], size: i64[]) {
  _, rows = while (t: i64[] = 0, rows: str[?] = broadcast(x, shape=[1])) t < n {
    next t + 1, concat([rows, broadcast(x + number_to_str(t), shape=[1])], axis=0)
  }
  last = rows[-1]
  size = sum(str_length(rows))
}''', {'x': TEXT, 'n': 0}, {'x': TEXT, 'n': 500})
def a_list_of_strings_grows(x, n):
    rows = [x, *(f'{x}{t}' for t in range(n))]
    return rows[-1], sum(map(len, rows))
