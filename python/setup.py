"""The wheel: what `./tutti build python` builds (and installs packages for, where some are missing), as
cmake's component `python` installs it. It has the module, the command `tutti`, SimGrid's worker and the
data of both, and links the libraries of the distribution that it was built on, which its version names."""

import pathlib
import platform
import re
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent.parent
SYSTEM = platform.freedesktop_os_release()
VERSION = re.search(r"project\(Tutti VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


class Build(build_py):
    def run(self):
        subprocess.run([str(ROOT / "tutti"), "build", "python"], check=True)
        subprocess.run(["cmake", "--install", str(ROOT / "build" / "release"), "--component", "python", "--strip",
                        "--prefix", str(pathlib.Path(self.build_lib).resolve() / "tutti")], check=True)


class WithModule(Distribution):
    def has_ext_modules(self):
        return True


setup(name="tutti", version=f"{VERSION}+{SYSTEM['ID']}{SYSTEM.get('VERSION_ID', '')}", packages=["tutti"],
      description="Collective algorithms for any network, verified and simulated",
      long_description=f"Built on and for {SYSTEM.get('PRETTY_NAME', SYSTEM['ID'])}: it links that system's libraries.",
      license="MIT", python_requires=">=3.11", install_requires=["numpy"], distclass=WithModule,
      cmdclass={"build_py": Build}, entry_points={"console_scripts": []})
