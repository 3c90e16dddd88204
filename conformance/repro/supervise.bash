
### From here on every such script is the same: launch, wait, tell.

digest() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi <"$1" | cut -d ' ' -f 1
}

size_and_digest() {
  printf '%d bytes, sha256 %s\n' "$(wc -c <"$1")" "$(digest "$1")"
}

# Everything that the launch started knows this value, wherever it went.
strays() {
  grep -lsF "CONFORMANCE_CASE=$token" /proc/[0-9]*/environ | cut -d / -f 3
}

kill_tree() {
  kill -KILL -- "-$1"
  for stray in $(strays); do kill -KILL "$stray"; done
}

alive() {
  for one in "$@"; do if kill -0 "$one"; then return 0; fi; done
  return 1
}

# Let the streams end, for so many ticks at most.
await_readers() {
  left=$1
  while alive "${readers[@]}" && [ "$left" -gt 0 ]; do
    left=$((left - 1))
    sleep 0.05
  done
}

# Run the launch, with what bash says of it itself out of the way.
supervise() {
  mkfifo "$folder/stdin.pipe" "$folder/stdout.pipe" "$folder/stderr.pipe"
  cat "$folder/stdout.pipe" >"$folder/stdout" &
  readers=("$!")
  cat "$folder/stderr.pipe" >"$folder/stderr" &
  readers+=("$!")
  feed >"$folder/stdin.pipe" &
  feeder=$!
  set -m # gives the launch a process group of its own, and no signal that is ignored
  launch <"$folder/stdin.pipe" >"$folder/stdout.pipe" 2>"$folder/stderr.pipe" &
  pid=$!
  set +m
  running=$pid

  left=$total_ticks status=
  while alive "$pid"; do
    if [ -n "$after_start_ticks" ] && [ -s "$folder/record" ]; then
      left=$after_start_ticks after_start_ticks=
    fi
    if [ "$left" -le 0 ]; then
      status='timed out'
      break
    fi
    left=$((left - 1))
    sleep 0.05
  done
  if [ -z "$status" ]; then
    jobs -l >"$folder/jobs" # which tells a code above 128 from a signal
    wait "$pid"
    code=$?
    status="exited $code"
    if [ "$code" -gt 128 ] && ! grep -Eq " $pid (Exit|Done)" "$folder/jobs"; then
      status="signalled $((code - 128))"
    fi
    await_readers "$linger_ticks"
  fi
  kill_tree "$pid"
  running=
  kill "$feeder"
  await_readers 100
  kill "${readers[@]}"
  wait "${readers[@]}"
}

tell_stream() {
  printf '%s: ' "$1"
  size_and_digest "$folder/$1"
  if [ "$(wc -c <"$folder/$1")" -le 256 ]; then od -An -v -t x1 "$folder/$1"; fi
}

# Compare what came of $1, which is $3, with what the contract asks for: one of the lines of $2.
judge() {
  if [ "$2" != anything ] && ! grep -Fqx -- "$3" <<<"$2"; then
    broken="$broken $1"
    echo "expected $1: ${2//$'\n'/, or }"
  fi
}

: >"$folder/stdout"
: >"$folder/stderr"
# Arguments that no process can take are known before anything is launched.
(env -i "${environment[@]}" true "${argv[@]}") 2>/dev/null </dev/null
if [ $? -eq 126 ]; then status='failed to start'; else supervise 2>/dev/null; fi

started=no
if [ -s "$folder/record" ]; then started=yes; fi
received=$(sed -n 's/^received \([0-9]*\) /\1 bytes, sha256 /p' "$folder/record" 2>/dev/null)
echo "status: $status"
tell_stream stdout
tell_stream stderr
echo "started: $started"
if [ -n "$received" ]; then echo "received: $received"; fi

broken=
judge status "$expected_status" "$status"
judge stdout "$expected_stdout" "$(size_and_digest "$folder/stdout")"
judge stderr "$expected_stderr" "$(size_and_digest "$folder/stderr")"
judge started "$expected_started" "$started"
judge received "$expected_received" "$(grep -Fx -- "$expected_received" <<<"$received")"
if [ -n "$broken" ]; then
  echo "contract: broken in$broken"
  exit 1
fi
echo 'contract: kept'
