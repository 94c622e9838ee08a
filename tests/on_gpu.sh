#!/usr/bin/env bash
# What needs a GPU, from release binaries that were built elsewhere: tests, a soak, a trace and times.
#
#   tests/on_gpu.sh BINARIES RESULTS PART...
#
# BINARIES has every test binary as test-NAME, every benchmark as bench-NAME, and the programs by their names.
# RESULTS gets a text file for each part. The parts:
#   suites:FORM  tests whose names have `cuda`, JOBS suites at a time (8 if unset). FORM is a name of `form` below
#   soak:SECONDS `edges` with 4 workers, over and over, its memory every 20 s, and `overlap` beside it
#   trace        calls of CUDA's API below libraries' plans. Needs gcc and CUPTI
#   nvmath       the programs of nvmath-python's page about streams. Needs that package, or CuPy
#   workers      hand-overs, and ticks with workers
#   libraries    plans in turns with the libraries called by hand. Needs nvcc
#   floor        ticks in turns with programs by hand, FLOOR_ARGS. Needs nvcc
# The exit status is 1 if a part failed. Several of these commands may run at the same time, on one GPU too: suites that take
# all of its memory wait until they are alone.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
binaries="$(cd "$1" && pwd)" results="$(mkdir -p "$2" && cd "$2" && pwd)"
shift 2
export STREAMFLOW_REQUIRE_CUDA=1 STREAMFLOW_REQUIRE_NVRTC=1 PATH="$PATH:/usr/local/cuda/bin"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

# What a form sets in the environment.
form() {
  case "$1" in
    plain) ;;
    race) echo STREAMFLOW_RACE_CHECK=1 ;;
    workers-*) echo STREAMFLOW_WORKERS="${1#workers-}" ;;
    race-workers-*) echo STREAMFLOW_RACE_CHECK=1 STREAMFLOW_WORKERS="${1#race-workers-}" ;;
    planned) echo STREAMFLOW_ASSIGN=planned:2 ;;
    replayed) echo STREAMFLOW_REPLAY=always ;;
    race-replayed) echo STREAMFLOW_RACE_CHECK=1 STREAMFLOW_REPLAY=always ;;
    planned-replayed) echo STREAMFLOW_ASSIGN=planned:2 STREAMFLOW_REPLAY=always ;;
    *) return 1 ;;
  esac
}

# Held by each suite that runs, and by those that take all memory of the device alone.
export DEVICE_LOCK="${TMPDIR:-/tmp}/streamflow-device-memory.lock"

# The suites of a test binary that have tests for a GPU.
suites_of() { "./$1" --list | sed -nE 's/^([a-z0-9_]+)::.*::cuda: test$/\1/p' | sort -u; }

# A suite of a test binary: a line, and the end of its output if it failed. A binary takes one filter, which is the suite, so its
# tests of the host are skipped by their names. `all`: a binary without suites.
one_suite() {
  local binary="$1" suite="$2" log status=0 how=--shared filter="$2::" other skips=()
  case "$suite" in
    errors | free_memory) how=--exclusive ;;
  esac
  if [ "$suite" = all ]; then
    filter=cuda
  else
    for other in $("./$binary" "$filter" --list | sed -n 's/: test$//p' | grep -vE "^$suite::.*::cuda$"); do
      skips+=(--skip "$other")
    done
  fi
  log="$(flock "$how" "$DEVICE_LOCK" timeout "${LIMIT:-150}" "./$binary" "$filter" --test-threads=1 "${skips[@]}" 2>&1)" || status=$?
  echo "$binary $suite: exit $status, $(grep '^test result' <<<"$log" | tail -1)"
  [ "$status" = 0 ] || { grep -v ' \.\.\. ok$' <<<"$log" | tail -60 | sed 's/^/    /'; return 1; }
}
export -f one_suite suites_of

# Each test binary with each of its suites.
each_suite() {
  local binary names
  for binary in test-*; do
    names="$(suites_of "$binary")"
    sed "s/^/$binary /" <<<"${names:-all}"
  done
}

suites() {
  local variables pairs
  variables="$(form "$1")" || { echo "there is no form $1" >&2; return 2; }
  # But those of compilers, and what has a part of its own.
  pairs="$(cd "$binaries" && each_suite | grep -vE 'ui|api_trace|nvmath|kernels_compile')"
  echo "variables: $variables"
  # shellcheck disable=SC2086 # Each variable is a word.
  (cd "$binaries" && env $variables xargs -P "${JOBS:-8}" -I{} bash -c 'one_suite {}' <<<"$pairs")
}

# Checks the values of each measurement itself.
overlap() {
  local count=0
  while [ ! -e "$scratch/soaked" ]; do
    "$binaries/overlap" --platform cuda --count 100 --json >"$scratch/measurements" || return
    count=$((count + 100))
  done
  echo "overlap: $count measurements, all values right; the last: $(tail -1 "$scratch/measurements")"
}

soak() {
  local status=0
  overlap &
  local beside=$!
  edges "$1" || status=$?
  touch "$scratch/soaked"
  wait "$beside" && return "$status"
}

edges() {
  local end=$((SECONDS + $1)) run=0
  while [ "$SECONDS" -lt "$end" ]; do
    run=$((run + 1))
    "$binaries/edges" "$here/../examples/data/astronaut.png" "$scratch/out.png" --platform cuda --workers 4 --report \
      --repeat "${TICKS:-300000}" &
    local pid=$! start=$SECONDS
    while kill -0 "$pid" 2>"$scratch/null"; do
      sleep 20
      [ ! -e "/proc/$pid/status" ] || echo "run $run after $((SECONDS - start)) s: $(grep VmRSS "/proc/$pid/status")"
    done
    wait "$pid" || return
    echo "run $run: $((SECONDS - start)) s, result $(sha256sum <"$scratch/out.png")"
  done
}

trace() {
  local cuda=/usr/local/cuda wheels cupti header
  # In the toolkit, or in a wheel.
  wheels="$(python3 -c 'import site; print(site.getsitepackages()[0])')/nvidia"
  header="$(find -L "$cuda" "$wheels" -name cupti.h -print -quit)"
  cupti="$(find -L "$cuda" "$wheels" -name 'libcupti.so*' -print -quit)"
  [ -n "$header" ] && [ -n "$cupti" ] || { echo "there is no CUPTI: '$header', '$cupti'"; return 1; }
  echo "CUPTI: $header, $cupti"
  gcc -O2 -shared -fPIC "-I$cuda/include" "-I$(dirname "$header")" "$here/api_trace/api_trace.c" -o "$scratch/libapi_trace.so" \
    "$cupti" "-Wl,-rpath,$(dirname "$cupti")" || return
  cd "$binaries" || return
  CUDA_INJECTION64_PATH="$scratch/libapi_trace.so" STREAMFLOW_REQUIRE_API_TRACE=1 ./test-alone api_trace::
}

nvmath() {
  local package=cupy
  ! python3 -c 'import nvmath' || package=nvmath
  echo "package: $package"
  python3 "$here/../examples/numpy/nvmath_streams.py" run "$scratch/nvmath" "$package" || return
  STREAMFLOW_NVMATH_RESULTS="$scratch/nvmath" "$binaries/test-alone" nvmath_results::
}

# In several processes, since the speed of a process differs from that of the next one.
workers() {
  local process
  for process in 1 2 3; do
    echo "== process $process"
    "$binaries/bench-workers" || return
  done
  echo "== lateness"
  "$binaries/bench-workers" lateness
}

libraries() {
  nvcc -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC "$here/benches/libraries/by_hand.cu" \
    -o "$scratch/libby_hand.so" -lcufft -lcublasLt -lcusparse -lcusolver || return
  STREAMFLOW_LIBRARY_DIR=/usr/local/cuda/lib64 "$binaries/bench-libraries" --by-hand "$scratch/libby_hand.so"
}

floor() {
  # shellcheck disable=SC2086 # Each argument is a word.
  "$binaries/bench-floor" ${FLOOR_ARGS:-}
}

failed=0
for part in "$@"; do
  file="$results/${part//:/-}.txt" start=$SECONDS status=0
  case "${part%%:*}" in
    suites) suites "${part#*:}" ;;
    soak) soak "${part#*:}" ;;
    trace | nvmath | workers | libraries | floor) ("$part") ;;
    *) echo "there is no part $part"; false ;;
  esac >"$file" 2>&1 || { status=$? failed=1; }
  echo "exit: $status after $((SECONDS - start)) s" >>"$file"
  echo "$part: exit $status after $((SECONDS - start)) s"
done
exit "$failed"
