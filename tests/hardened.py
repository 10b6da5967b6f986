"""What a program or a shared object must have so that a fault in it is no way in, as readelf sees it."""
import os
import re
import subprocess

SANITIZED = 'LEAT_SANITIZED' in os.environ


def weaknesses(path, checks=True):
    """What it lacks, in words. checks: of what is large enough to have some: of its stack and of libc's copies."""
    done = subprocess.run(['readelf', '-hldW', '--dyn-syms', path], capture_output=True, text=True,
                          env={**os.environ, 'LC_ALL': 'C'})
    has = lambda pattern: re.search(pattern, done.stdout, re.M)
    found = {
        'an address of chance': has(r'^ *Type: +DYN'),
        'tables that are read-only': has(r'^ *GNU_RELRO ') and has(r'BIND_NOW|Flags:.* NOW'),
        'a stack that is no code': has(r'^ *GNU_STACK .* RW +0x'),
        'code that nobody writes': not has(r'^ *LOAD .* RWE '),
        'a guarded stack': not checks or has(r' __stack_chk_fail\b'),
        'guarded copies': not checks or SANITIZED or has(r' __\w+_chk\b'),
    }
    return [words for words, there in found.items() if not there] or ([done.stderr] if done.returncode else [])
