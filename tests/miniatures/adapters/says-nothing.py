# Never says hello.
import sys

sys.stdin.read()
