# Writes all of stdin to the body before it reads any of stdout: a body that echoes more than a pipe holds never ends.
import subprocess
import sys

hook = subprocess.Popen(["/bin/sh", "-c", sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
assert hook.stdin is not None
assert hook.stdout is not None
hook.stdin.write(sys.stdin.buffer.read())
hook.stdin.close()
sys.stdout.buffer.write(hook.stdout.read())
sys.exit(hook.wait())
