"""Runs a command and writes its duration in seconds, and nothing else, to stderr."""

import subprocess
import sys
import time

started = time.monotonic()
run = subprocess.run(sys.argv[1:], stderr=subprocess.PIPE)
seconds = time.monotonic() - started
# The command's stderr is shown only if it failed, so that otherwise the number is alone.
if run.returncode:
    sys.stderr.buffer.write(run.stderr)
else:
    print(f"{seconds:.3f} s", file=sys.stderr)
sys.exit(run.returncode)
