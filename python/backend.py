"""How pip builds the package: by setuptools, once it is clear that it can work. Another python3 may come
first on the path; a module of the distribution's would not load there, so that is said and nothing built."""

import subprocess
import sys
import sysconfig

_HELP = ("Make an environment by `/usr/bin/python3 -m venv --system-site-packages FOLDER` and install "
         "with its pip: `FOLDER/bin/pip install --no-build-isolation .`")


def _require_distribution() -> None:
    ask = "import sysconfig; print(sysconfig.get_config_var('SOABI'))"
    try:
        theirs = subprocess.run(["/usr/bin/python3", "-c", ask], capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        sys.exit("tutti: there is no /usr/bin/python3, for which its module is built")
    ours = sysconfig.get_config_var("SOABI")
    if ours != theirs:
        sys.exit(f"tutti: its module is built for the distribution's Python (/usr/bin/python3, {theirs}), and this "
                 f"is {sys.executable} ({ours}). {_HELP}")
    missing = []
    for module in ("setuptools", "wheel", "numpy"):
        try:
            __import__(module)
        except ImportError:
            missing.append("python3-" + module)
    if missing:
        sys.exit(f"tutti: {sys.executable} doesn't see the packages {' '.join(missing)}. {_HELP}")


_require_distribution()

from setuptools.build_meta import *  # noqa: E402,F401,F403
