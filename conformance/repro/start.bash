
if [ -z "${BASH_VERSION:-}" ]; then
  echo 'This script needs bash: run it with bash.' >&2
  exit 3
fi
set +o posix
export LC_ALL=C

fail() {
  printf '%s\n' "$1" >&2
  exit 3
}

# Set REPLY to where a program is.
find_program() {
  REPLY=$(type -P -- "$1") || fail "$1 is missing, so this script can show nothing. Install it, or mend PATH."
  case $REPLY in
    /*) ;;
    *) REPLY=$PWD/$REPLY ;;
  esac
}

# Set REPLY to what is fed, without its last newline, and with the folder's path where it belongs.
text() {
  IFS= read -r -d '' REPLY || :
  REPLY=${REPLY%$'\n'}
  REPLY=${REPLY//@MARKER@/"$folder"}
}
