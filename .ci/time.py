"""Runs a command and writes the seconds that it took, and nothing else, to stderr."""

import subprocess
import sys
import time

started = time.monotonic()
run = subprocess.run(sys.argv[1:], stderr=subprocess.PIPE)
seconds = time.monotonic() - started
# What the command says is shown only when it failed, so that the number stands alone.
if run.returncode:
    sys.stderr.buffer.write(run.stderr)
else:
    print(f"{seconds:.3f} s", file=sys.stderr)
sys.exit(run.returncode)
