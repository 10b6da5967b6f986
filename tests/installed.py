"""The build, installed below a folder, as somebody has it who has nothing else."""
import os
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get('LEAT_BUILD', f'{ROOT}/build'))


def tree_folder(prefix):
    """A temporary folder for a tree: one without blanks, which make and what pkg-config says in $(…) do not survive."""
    return tempfile.TemporaryDirectory(prefix=prefix, dir='/tmp' if ' ' in tempfile.gettempdir() else None)


class Tree:
    """`prefix` is what /usr/local would be, `libdir` the part of it that has the libraries."""

    def __init__(self, folder, is_there=False):
        if not is_there:
            subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet', '--destdir', folder], check=True,
                           capture_output=True)
        self.folder = folder
        self.prefix = os.path.dirname(self.find('bin/leat')).removesuffix('/bin')
        self.libdir = os.path.relpath(self.find('libleat.a'), self.prefix).removesuffix('/libleat.a')

    def find(self, end):
        """The installed file whose path ends so."""
        paths = (os.path.join(folder, name) for folder, _, names in os.walk(self.folder) for name in names)
        return next((path for path in paths if path.endswith('/' + end)), f'{self.folder}/{end}')

    def environment(self):
        """What a shell is told that shall find the tree where it lies, and not the build."""
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith(('LEAT_', 'XDG_'))},
            'PATH': f'{self.prefix}/bin:' + os.environ['PATH'].removeprefix(f'{BUILD}:'),
            'PKG_CONFIG_PATH': os.path.dirname(self.find('leat.pc')), 'PKG_CONFIG_SYSROOT_DIR': self.folder,
            'LD_LIBRARY_PATH': f'{self.prefix}/{self.libdir}', 'LEAT_MODULE_PATH': f'{self.prefix}/{self.libdir}/leat', 'PREFIX': self.prefix, 'CMAKE_PREFIX_PATH': self.prefix, 'LIBDIR': self.libdir,
        }
